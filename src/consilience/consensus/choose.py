"""Which method ``method="auto"`` takes, and when it takes back what the walk found."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience._types import Array
from consilience.consensus.methods.dawid_skene import meta_clusters
from consilience.consensus.methods.registry import make_estimator
from consilience.consensus.rows.problem import Problem
from consilience.consensus.rows.row_tree import fits, narrowed
from consilience.consensus.trust.assessment import agreement_of, err_alike

SUPPORTED = 0.25  # mean support of a cluster, at least, that is more than what a tree left over


def choose_method(problem: Problem, how: dict[str, Any]) -> tuple[str, str]:
    """Dawid and Skene's model where the clusterings err independently beside MCLA's answer, and else the walk."""
    if problem.n_clusterings < 3 or problem.n_rows < 2:
        return (
            "walk",
            "walk, since fewer than three clusterings, or one distinct row of labels, leave nothing to choose by",
        )
    narrow = narrowed(problem)
    if not fits(narrow):
        return "vote", "vote, since the clusterings have too many clusters for other methods"
    labels = meta_clusters(narrow, how["random_state"])
    if int(labels.max()) + 1 < problem.n_clusters or err_alike(narrow, labels):
        return "walk", "walk, since the clusterings err alike"
    return "dawid_skene", "dawid_skene, since the clusterings err independently of one another"


def better_cut(problem: Problem, labels: Array, k: int | None, how: dict[str, Any]) -> tuple[Any, Any] | None:
    """LWGP and its answer, where the walk left clusters that hardly any clustering supports, LWGP did not, and agrees more with them."""
    least, anmi = _least_support(problem, labels)
    if least >= SUPPORTED:
        return None
    other = make_estimator("lwgp", k, how, {})
    answered = other._answer(problem)
    supported, better = _least_support(problem, answered[1])
    whole = answered[1].max() == labels.max() and supported >= SUPPORTED
    return (other, answered) if whole and better > anmi else None


def _least_support(problem: Problem, labels: Array) -> tuple[float, float]:
    """Mean support of the objects of the least supported cluster, and the average NMI with the clusterings."""
    support, anmi = agreement_of(problem, labels)
    objects = problem.n_objects_of_rows
    return float(np.min(np.bincount(labels, support * objects) / np.bincount(labels, objects))), anmi
