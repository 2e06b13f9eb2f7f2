"""Stable Component Consensus Clustering (Bekkerman et al. 2009, section 5.3): large groups that stay together seed the clusters."""

# 1. Rank the stable components (the distinct rows) by falling size; equal sizes in canonical order.
# 2. Go down the list: a component becomes a seed if its Hamming distance to every earlier seed is at least g; stop at k.
# 3. Every other component joins its nearest seed; ties go to the larger seed, then to the earlier.
#
# The seed gap g is free. As in the paper, all gaps 1 … r that yield k seeds are tried (g = 0 is the same as 1 unless labels are
# missing), and how alike their results are tells how stable the method is here. They average the gaps' scores; one result is the one
# that shares most information with the clusterings. Missing labels, which they do not have: the distance is taken over the clusterings
# that label both, and scaled to all r; components that share none are at distance r.

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from consilience._check import InputError, check_choice
from consilience._kernels import x_log_x
from consilience._types import Floats, Ints, Labels
from consilience.consensus.methods.estimator import Answer, CheckedMethod
from consilience.consensus.rows.problem import Problem, incidence, row_distances
from consilience.ensemble import Ensemble
from consilience.measures import stability
from consilience.measures.counts import Sums
from consilience.measures.information import nmi_from

DISTANCES = 2**22  # safeguard: distances to seeds kept at a time, 32 MB
FIRST = 1024  # safeguard: ranked components looked at together, doubled as the search goes on; most searches end early


def _gaps(problem: Problem, gap: int | str) -> Sequence[int]:
    if isinstance(gap, str):
        check_choice(gap, ["all"], "gap")
        return range(0 if (problem.labels < 0).any() else 1, problem.n_clusterings + 1)
    if not isinstance(gap, (int, np.integer)) or isinstance(gap, bool) or not 0 <= gap <= problem.n_clusterings:
        raise InputError(f"gap must be 'all' or a whole number from 0 to {problem.n_clusterings}; got {gap!r}")
    return [int(gap)]


def _hamming(problem: Problem, rows: Labels, others: Labels) -> Floats:
    """Distances in labels; rounded, since a missing label makes them fractions and gaps are whole."""
    return np.asarray(np.round(problem.n_clusterings * row_distances(rows, others), 9))


def _seeds(problem: Problem, ranked: Ints, gap: int) -> tuple[int, ...] | None:
    seeds: list[int] = []
    begin, size = 0, FIRST
    while begin < len(ranked) and len(seeds) < problem.n_clusters:
        block = ranked[begin : begin + min(size, DISTANCES // (len(seeds) + 1) + 1)]
        rows = problem.labels[block]
        free = (_hamming(problem, rows, problem.labels[seeds]) >= gap).all(axis=1)
        while free.any() and len(seeds) < problem.n_clusters:
            at = int(free.argmax())
            seeds.append(int(block[at]))
            free &= _hamming(problem, rows, rows[at : at + 1])[:, 0] >= gap
            free[at] = False
        begin, size = begin + len(block), 2 * size
    return tuple(seeds) if len(seeds) == problem.n_clusters else None


def _nearest(problem: Problem, seeds: Ints) -> Ints:
    if (problem.labels >= 0).all():
        # The nearest seed shares the most labels; few seeds share any, which counts where there are thousands of them.
        shared = incidence(problem)
        return np.asarray((shared @ shared[seeds].T).argmax(axis=1)).ravel()
    labels = _hamming(problem, problem.labels, problem.labels[seeds]).argmin(axis=1)
    labels[seeds] = np.arange(len(seeds))  # with missing labels a seed may be as near to another
    return labels


def _shared(problem: Problem, labels: Ints) -> float:
    """Average NMI with the clusterings, each weighted by what it labels; as `anmi`, on rows with weights."""
    values, totals = [], []
    for column, size in zip(problem.labels.T, problem.sizes, strict=True):
        known = column >= 0
        mine, theirs, weights = labels[known], column[known], problem.weights[known]
        # Only the cells that occur: with thousands of clusters a whole table would be nearly empty.
        cell = np.unique(mine * size + theirs, return_inverse=True)[1].ravel()
        sides = [float(x_log_x(np.bincount(codes, weights)).sum()) for codes in (cell, mine, theirs)]
        totals.append(float(weights.sum()))
        values.append(float(nmi_from(Sums(np.float64(totals[-1]), *sides))))
    return float(np.average(values, weights=totals))


@dataclass(eq=False, repr=False, kw_only=True)
class SCCC(CheckedMethod):
    """Consensus around stable components: the largest groups that every clustering keeps together.

    Parameters
    ----------
    gap : "all" or int, default "all"
        In how many clusterings two seeds must differ. "all" tries every gap that yields `n_clusters` seeds, and the labels are those with
        the highest average NMI with the clusterings: under label noise this found the best gap, where the result most like the others fell
        behind (NMI .984 against .947 at 30 % noise). A number uses that gap alone.

    Attributes
    ----------
    gap_ : int
        The gap of `labels_`.
    gaps_ : array
        The gaps that yield enough seeds; 0 is tried only if labels are missing.
    labels_by_gap_ : Ensemble
        The result of every gap, on the objects.
    seeds_ : (n_clusters, n_clusterings) array
        Labels of the seeds of `labels_`, largest first.
    stability_ : Stability or None
        Mean Jaccard index over the pairs of gaps ± standard error; None with a single gap.

    Notes
    -----
    Time O(rows · clusterings · clusters) for every gap. Clusterings that differ a lot, or very many of them, leave no large
    components; the seeds are then almost arbitrary. So are they where most objects have few labels in common: for
    clusterings of parts of the objects use another method.

    Examples
    --------
    >>> from consilience.consensus import SCCC
    >>> labels = [[0, 0, 0, 1, 1, 2, 2], [1, 1, 1, 2, 2, 0, 0], [0, 0, 1, 1, 2, 2, 2]]
    >>> found = SCCC(n_clusters=3).fit(labels)
    >>> found.labels_.tolist(), found.gaps_.tolist(), found.gap_
    ([0, 0, 0, 1, 1, 2, 2], [1, 2, 3], 1)
    >>> found.stability_
    Stability: jaccard 1.0000 ± 0.0000 over 3 pairs
    """

    gap: int | str = "all"

    def _combine(self, problem: Problem) -> Answer:
        ranked = np.argsort(-problem.weights, kind="stable")
        seeds = {g: found for g in _gaps(problem, self.gap) if (found := _seeds(problem, ranked, g)) is not None}
        if not seeds:
            k = problem.n_clusters
            raise InputError(f"a gap of {self.gap} leaves fewer than {k} seeds; use a smaller gap or gap='all'")
        results = {found: _nearest(problem, np.array(found)) for found in dict.fromkeys(seeds.values())}
        by_gap = np.column_stack([results[found] for found in seeds.values()])
        ensemble = Ensemble(problem.to_objects(by_gap, -1), info={"gap": list(seeds)})
        at = int(np.argmax([_shared(problem, labels) for labels in by_gap.T]))
        extras = {
            "gap": list(seeds)[at],
            "gaps": np.array(list(seeds)),
            "labels_by_gap": ensemble,
            "seeds": problem.as_given(problem.labels[list(list(seeds.values())[at])]),
            "stability": stability(ensemble, "jaccard") if len(seeds) > 1 else None,
        }
        return Answer(by_gap[:, at], extras=extras)
