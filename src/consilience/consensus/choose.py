"""The consensus: which method ``method="auto"`` takes, its answer, and what is said of it. Every verb asks here.

Where the errors of the clusterings are independent, as in noisy copies of one grouping, Dawid and Skene's model is right and is taken.
Where they are correlated, as in runs of k-means, it would claim too much: ClusterWalk is taken. Its tree can leave a cluster that hardly
any clustering has; then LWGP's answer stands, if it has no such cluster and agrees more with the clusterings.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from consilience._check import count
from consilience._types import Array, Ints
from consilience.consensus.how_many.stability import STABLE, Found
from consilience.consensus.methods import make_estimator
from consilience.consensus.methods.dawid_skene import grouped
from consilience.consensus.methods.nbce import NBCE
from consilience.consensus.rows.problem import Problem
from consilience.consensus.rows.row_tree import fits, narrowed
from consilience.consensus.trust.confidence import Assessment

SUPPORTED = 0.25  # mean support below which a cluster is what a tree left over


@dataclass(frozen=True, eq=False)
class Chosen:
    estimator: Any
    problem: Problem  # The rows that it worked on
    answer: Any  # Of `estimator._answer`
    method: str
    note: str  # Its reason

    @property
    def labels(self) -> Ints:
        labels: Ints = self.answer[1]
        return labels


def combine_auto(problem: Problem, how: dict[str, Any], choice: tuple[str, str] | None = None) -> Chosen:
    # `choice` is the method, with the reason, where it is known already; `how` holds `random_state` and `n_jobs`
    method, note = choice or choose_method(problem, how)
    rows = narrowed(problem) if method == "dawid_skene" else problem  # what it was judged by
    estimator = make_estimator(method, number_of(problem), how, {})
    answer = estimator._answer(rows)
    if method == "walk" and problem.n_clusterings > 2:
        least, anmi = _least_support(problem, answer[1])
        if least < SUPPORTED:
            other = make_estimator("lwgp", number_of(problem), how, {})
            answer_of_other = other._answer(problem)
            supported, anmi_of_other = _least_support(problem, answer_of_other[1])
            is_whole = answer_of_other[1].max() == answer[1].max() and supported >= SUPPORTED
            if is_whole and anmi_of_other > anmi:
                reason = f"errors are correlated; walk produced a cluster with support below {SUPPORTED}"
                return Chosen(other, problem, answer_of_other, "lwgp", f"lwgp ({reason})")
    return Chosen(estimator, rows, answer, method, note)


def choose_method(problem: Problem, how: dict[str, Any]) -> tuple[str, str]:
    """The method, and the reason: by how the clusterings err beside groups of their clusters, which are quick to find."""
    if problem.n_clusterings < 3 or problem.n_rows < 2:
        return "walk", "walk (with fewer than three clusterings, or one distinct row of labels, no method is better)"
    narrow = narrowed(problem)
    if not fits(narrow):
        return "vote", "vote (the clusterings have too many clusters for the other methods)"
    labels = grouped(narrow)
    if int(labels.max()) + 1 < problem.n_clusters or Assessment(narrow, labels).errors_correlate:
        return "walk", "walk (errors are correlated)"
    return "dawid_skene", "dawid_skene (errors are independent)"


def number_of(problem: Problem) -> int | None:
    """The number of clusters that an estimator is given; a single row leaves none to ask for."""
    return problem.n_clusters if problem.n_rows > 1 else None


def _least_support(problem: Problem, labels: Array) -> tuple[float, float]:
    """Mean support of the objects of the least supported cluster, and the average NMI with the clusterings."""
    found, objects = Assessment(problem, labels), problem.n_objects_of_rows
    return float(np.min(np.bincount(labels, found.support * objects) / np.bincount(labels, objects))), found.anmi


# What is said of an answer: how its number of clusters was found, what was left out, and how far to trust it.


def about_stability(found: Found) -> str:
    best, *others = found.table.to_dict("records")
    clusters = count(int(best["n_clusters"]), "cluster")
    said = f"two halves of the clusterings agree on {clusters} with ARI {best['stability']:.2f}"
    if found.copies:
        return f"{said}; half of the clusterings have so many, and their errors are independent"
    if best["stability"] < STABLE:
        said = f"no number of clusters is stable: {said}, and these are the fewest that are about as stable as any"
    elif not best["real"]:
        said += ", as they can on clouds without clusters"
    also = ", ".join(f"{one['n_clusters']} (ARI {one['stability']:.2f})" for one in others)
    return f"{said}; also on {also}" if also else said


def about_work(estimator: Any, method: str, problem: Problem) -> list[str]:
    rows = count(problem.n_rows, "distinct row")
    if getattr(estimator, "sampled_", False):
        drawn = getattr(estimator, "linkage_rows_", None)
        some = "a sample" if drawn is None else f"{len(drawn):,}"
        return [f"{method} clustered {some} of the {rows} of labels, which the others joined"]
    if getattr(estimator, "sparsified_", False):
        return [f"{method} kept the {estimator.n_neighbors} strongest similarities of each of the {rows} of labels"]
    return []


def about_nbce(model: NBCE) -> str:
    found, n_clusterings = count(model.n_clusters_, "cluster"), len(model.label_codes_)
    worth = f"; the {count(n_clusterings, 'clustering')} counted as {model.power_ * n_clusterings:.1f} independent ones"
    if model.inference != "gibbs":
        doubt = "" if model.converged_ else ", which has not converged: raise max_iter"
        return f"{found} by NBCE ({model.inference}, prior {model.prior}){doubt}{worth}"
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
