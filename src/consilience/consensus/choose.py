"""Which method ``method="auto"`` takes, and when it takes back what the walk found."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience._check import count
from consilience._types import Array
from consilience.consensus.how_many.curve import Scales
from consilience.consensus.how_many.significance import no_room, real_by, say_real
from consilience.consensus.methods.dawid_skene import meta_clusters
from consilience.consensus.methods.nbce import NBCE
from consilience.consensus.methods.registry import make_estimator
from consilience.consensus.rows.problem import Problem
from consilience.consensus.rows.row_tree import fits, narrowed
from consilience.consensus.trust.confidence import agreement_of, err_alike

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


# What is said of an answer: how its number of clusters was found, what was left out, and how far to trust it.


def about_scales(scales: Scales) -> str:
    """How the number of clusters was chosen, and how far to trust it."""
    table = scales.table
    best = table.iloc[0]
    about = "" if best["from_k"] == best["to_k"] else f" (about as well from {best['from_k']} to {best['to_k']})"
    clusters = count(int(best["n_clusters"]), "cluster")
    found = f"two halves of the clusterings agree on {clusters}{about} with ARI {best['stability']:.2f}"
    null = "shuffled labels" if scales.copies else "clouds without clusters"
    cloud = f"{null} with {best['null']:.2f} (up to {best['null_high']:.2f} by chance)"
    if not table["real"].any():
        none = "can be told from chance here" if no_room(table) else "is more stable than chance"
        return f"no number of clusters {none}: {found}, {cloud}"
    if real_by(best.to_dict()) == "nesting":  # the stability says less, and figures of it would deny what was found
        found = (
            f"{clusters} by nesting: the clusterings refine them, or are refined by them, to {best['nesting']:.2f}, where {null} "
            f"come to {best['nesting_high']:.2f} at most; by the agreement of two halves alone (ARI {best['stability']:.2f}) chance "
            "could give as much"
        )
    else:
        found = f"{found}, {cloud}"
    more, also = say_real(table.iloc[1:])
    return f"{found}; also {more}: {', '.join(also)}" if also else found


def about_median(problem: Problem) -> str:
    """Why a number of clusters that was to be found is the median instead."""
    return (
        f"{count(problem.n_clusters, 'cluster')}, the median of the clusterings, since fewer than four clusterings, or "
        "than three distinct rows of labels, leave nothing to choose by"
    )


def about_work(estimator: Any, method: str, problem: Problem) -> list[str]:
    """What a method left out, where there was too much for all of it."""
    if getattr(estimator, "sampled_", False):
        drawn = getattr(estimator, "linkage_rows_", None)
        some = "a sample" if drawn is None else f"{len(drawn):,}"
        return [
            f"{method} clustered {some} of the {count(problem.n_rows, 'distinct row')} of labels, which the others joined"
        ]
    if getattr(estimator, "sparsified_", False):
        rows = count(problem.n_rows, "distinct row")
        return [f"{method} kept the {estimator.n_neighbors} strongest similarities of each of the {rows} of labels"]
    return []


def about_nbce(model: NBCE) -> str:
    """How NBCE found its number of clusters, and how far to trust it."""
    found = count(model.n_clusters_, "cluster")
    worth = about_worth(len(model.label_codes_), model.power_)
    if model.inference != "gibbs":
        return about_bound(model, model.n_clusters_, model.converged_) + worth
    shares = model.n_clusters_posterior_.cumsum()
    low, high = shares.index[shares >= 0.05][0], shares.index[shares >= 0.95][0]
    lone = "" if low <= model.n_clusters_ <= high else ", objects alone in their cluster included"
    span = f"{low}" if low == high else f"{low} to {high}"
    chains = f"{count(model.n_chains, 'chain')} of {count(model.n_iter_, 'sweep')}"
    note = f"{found} by NBCE (prior {model.prior}, {chains}; its samples mostly have {span}{lone})"
    worst = float(model.convergence_["r_hat"].max())
    if high >= model.n_components > 1:
        note += ", which is as many as n_components allows: raise it"
    elif np.isnan(worst):
        note += ", whose chains are too short to be compared: raise max_iter"
    elif worst >= 1.1:
        note += f", whose chains do not agree yet (R-hat {worst:.2f}): raise max_iter"
    return note + worth


def about_bound(model: NBCE, n_clusters: int, converged: bool) -> str:
    """What variational inference found."""
    note = f"{count(n_clusters, 'cluster')} by NBCE ({model.inference}, prior {model.prior})"
    return note if converged else f"{note}, which has not converged: raise max_iter"


def about_worth(n_clusterings: int, power: float) -> str:
    """How many independent clusterings NBCE took them for."""
    return f"; the {count(n_clusterings, 'clustering')} counted as {power * n_clusterings:.1f} independent ones"
