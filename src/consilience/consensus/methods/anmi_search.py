"""Direct search for the partition with the largest average NMI.

ANMI(C) = Σ_q c_q NMI(C, λ_q) / Σ_q c_q with coverage weights c_q (A. Strehl and J. Ghosh, Cluster ensembles, JMLR 3, 2002).
"""

# Their greedy scheme starts from the single clustering with the highest ANMI and moves objects one at a time, each to the label that
# raises it most, until a whole pass moves none. It depends on its start, so the search here also polishes the answers of the
# other methods and random starts, and keeps the best. On noisy ensembles the best ANMI lies above that of the truth: a larger value
# is not always a better answer.

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from consilience._check import InputError, check_choice, check_seed
from consilience._run.random import child_seed
from consilience._types import Array, Labels
from consilience.consensus.methods.estimator import Answer, CheckedMethod
from consilience.consensus.methods.information_and_quadratic import best_start, problem_views, rows_of_start
from consilience.consensus.rows.problem import Problem
from consilience.engine.objective import objective_of
from consilience.engine.search import Engine, Search, batch_scores
from consilience.engine.views import Views

OTHERS = "quadratic", "vote", "mcla", "information", "hbgf", "sccc", "cspa", "evidence", "hgpa"
SLOW = "cspa", "evidence", "hgpa"  # left out by default where there are many rows


def _check_starts(init: Any, problem: Problem, many: int = 20_000) -> list[Any]:
    """The starts as a list; a single name counts as one, and None is all of them."""
    names = ["greedy", "random", *OTHERS]
    if init is None:
        return [name for name in names if problem.n_rows <= many or name not in SLOW]
    given = [init] if isinstance(init, str) else init
    if not isinstance(given, Iterable) or not (starts := list(given)):
        raise InputError(f"init must be a list of at least one of {', '.join(names)}, or of labels of the objects")
    for start in starts:
        if isinstance(start, str):
            check_choice(start, names, "init")
    return starts


def _start(start: Any, problem: Problem, views: Views, *, n_init: int, seed: int, n_jobs: int | None) -> Labels:
    if not isinstance(start, str):
        return _fill(rows_of_start(problem, start), views, problem.n_clusters)
    if start == "greedy":
        return greedy_start(problem, views)
    if start == "random":
        how: dict[str, Any] = {"batch": 0, "max_iter": 20, "seed": seed, "n_jobs": n_jobs}
        return best_start(views, problem.n_clusters, objective="normalized", n_init=n_init, **how)
    from consilience.consensus.methods import METHODS  # of which this is one

    answer = METHODS[start](random_state=seed)._combine(problem)
    return np.unique(answer.labels, return_inverse=True)[1].astype(np.int32)


def greedy_start(problem: Problem, views: Views) -> Labels:
    """The clustering with the highest ANMI, of those with at most k clusters; objects it misses join by their other labels."""
    # If all have more clusters, the k largest of the best one are kept and the rest of its objects join them.
    k = problem.n_clusters
    allowed = np.flatnonzero(problem.sizes <= k)
    best, best_value = np.zeros(problem.n_rows, np.int32), -np.inf
    for q in allowed if len(allowed) else range(problem.n_clusterings):
        column = problem.labels[:, q]
        if problem.sizes[q] > k:
            weight = np.bincount(column[column >= 0], problem.weights[column >= 0])
            rank = np.append(np.argsort(np.argsort(-weight, kind="stable")), k)
            column = np.where(rank[column] < k, rank[column], -1)
        labels = _fill(column, views, k)
        value = objective_of(views, labels, k, "normalized")
        if value > best_value:
            best, best_value = labels, value
    return best


def _fill(column: Array, views: Views, k: int) -> Labels:
    known = np.flatnonzero(column >= 0)
    if len(known) == len(column):
        return column.astype(np.int32)
    part = views.rows(known)
    scores = batch_scores(part, column[known], k, "normalized", rows=views)
    return np.where(column >= 0, column, scores.argmax(axis=1)).astype(np.int32)


@dataclass(eq=False, repr=False, kw_only=True)
class ANMISearch(CheckedMethod):
    """The partition with the largest average NMI that greedy search finds from several starts.

    Parameters
    ----------
    init : sequence of names or label vectors
        "greedy" (the scheme of Strehl and Ghosh), "quadratic", "vote", "mcla" (answers of those methods), "random", or
        labels of the objects; where those are missing (−1), the other labels of the row say where it starts.
    n_init : int
        Random starts that compete for "random".
    max_iter : int
        Passes at most from each start.

    Attributes
    ----------
    labels_, membership_
        A cluster may run empty, so there can be fewer than asked.
    anmi_ : float
        Equal to :func:`consilience.measures.anmi` of the labels.
    init_ : str
        The start that won.
    init_anmi_, init_polished_ : dict
        ANMI of every start, before and after.
    history_, n_iter_

    Notes
    -----
    A pass costs O(rows · r · k). Never below the greedy scheme or any start. ANMI grows with k and cannot choose it.

    Examples
    --------
    >>> from consilience.consensus import ANMISearch
    >>> example = [[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 3, 3, 3], [1, 2, None, 1, 2, None, None]]
    >>> search = ANMISearch(3, random_state=0).fit(example)
    >>> search.labels_, round(search.anmi_, 4)
    (array([0, 0, 0, 1, 1, 2, 2]), 0.7178)
    """

    init: Sequence[Any] | None = None
    n_init: int = 10
    max_iter: int = 50
    n_jobs: int | None = None

    def _combine(self, problem: Problem) -> Answer:
        starts = _check_starts(self.init, problem)
        seed = check_seed(self.random_state)
        scale, views = float(problem.coverage.sum()), problem_views(problem, problem.coverage)
        engine = Engine(views, problem.n_clusters, objective="normalized", keep_clusters=False)
        found: dict[str, Search] = {}
        values: dict[str, float] = {}
        for number, start in enumerate(starts):
            name = start if isinstance(start, str) else f"given {number}"
            own = child_seed(seed, "consensus.inits", number)
            labels = _start(start, problem, views, n_init=self.n_init, seed=own, n_jobs=self.n_jobs)
            values[name] = objective_of(views, labels, problem.n_clusters, "normalized") / scale
            own = child_seed(seed, "consensus.anmi")
            found[name] = engine.search(labels, max_iter=self.max_iter, seed=own, unit=number)
        best = max(found, key=lambda name: found[name].objective)
        polished = {name: search.objective / scale for name, search in found.items()}
        extras: dict[str, Any] = {"init": best, "init_anmi": values, "init_polished": polished}
        extras |= {"history": [value / scale for value in found[best].history], "n_iter": len(found[best].moves)}
        return Answer(found[best].labels, extras=extras)
