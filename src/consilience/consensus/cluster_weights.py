"""How far each cluster can be relied on, by what the other clusterings make of it.

The weight of a cluster is exp(−H / (θ M)): H the entropy, in bits, of the labels that the clusterings give to its objects, summed over
clusterings, and M their number (D. Huang, C.-D. Wang and J.-H. Lai, Locally weighted ensemble clustering, IEEE Trans. Cybernetics 48,
2018). A cluster that every other clustering keeps together weighs 1; one that they tear apart, as a large cluster of a coarse
clustering often is, weighs little. `θ` says how much that counts.

With missing labels an entropy is that over the objects labeled in both, and M counts the clusterings that label any of the
cluster's objects.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from consilience import _kernels
from consilience._check import check_positive
from consilience._types import Floats, Ints, Labels
from consilience.consensus.distinct_rows import Problem

THETA = 0.4
LEAST = 1e-100  # a weight: all of them are above 0
WORK = 10**9  # labels read, beyond which clusterings are judged by some of the others
FEWEST = 20  # of these
CELLS = (
    4 * 10**6
)  # of a table of all clusters and those of one clustering; with more, clusterings are counted one by one


def cluster_weights(problem: Problem, theta: float = THETA, *, work: int | None = None) -> Floats:
    """(Σ k_q,) weights exp(−H / (θ M)) of all clusters, numbered through as in :meth:`Problem.hyperedges`.

    Cost O(rows · clusterings²) and O((Σ k_q)²) time, O(Σ k_q + rows) memory; beyond 10⁹ labels (or `work`) the entropies are means
    over some of the clusterings, at least 20.

    Examples
    --------
    >>> from consilience.consensus.distinct_rows import check_problem
    >>> problem = check_problem([[0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2]], 2)
    >>> weights = cluster_weights(problem)  # half of the large cluster is in each of two others: H = 1, M = 2
    >>> [round(float(one), 4) for one in (weights.min(), np.exp(-1 / (0.4 * 2)), weights.max())]
    [0.2865, 0.2865, 1.0]
    """
    check_positive("theta", theta)
    offsets = problem.offsets
    columns, sizes = np.ascontiguousarray(problem.labels.T), np.diff(offsets)
    r = problem.n_clusterings
    judges = _judges(problem, WORK if work is None else work)

    def judge(q: int) -> tuple[Floats, Floats]:
        if offsets[-1] * sizes[q] <= CELLS:
            return _entropies(cluster_overlap(problem, q, columns=columns, offsets=offsets))
        parts = [_entropies_inside(problem, column, columns[q], k) for column, k in zip(columns, sizes, strict=True)]
        total, bits = (np.concatenate(part) for part in zip(*parts, strict=True))
        return total, bits

    entropies, known = _add_up(judge, judges[sizes[judges] > 0], offsets)
    if len(judges) < r:  # the mean over the others stands for all of them; a cluster's own clustering has entropy 0
        itself = np.repeat(np.isin(np.arange(r), judges), sizes)
        others = np.maximum(known - itself, 0)
        mean = entropies / np.maximum(others, 1) * (r - 1) / r
    else:
        mean = entropies / np.maximum(known, 1)  # a label that no row has is judged by none
    return np.maximum(np.exp(-mean / theta), LEAST)


def weights_of_overlaps(overlaps: Floats, offsets: Ints, theta: float = THETA) -> Floats:
    """The same from the objects that every two clusters share (c × c), by all clusterings."""
    check_positive("theta", theta)
    judges = np.flatnonzero(np.diff(offsets) > 0)
    entropies, known = _add_up(lambda q: _entropies(overlaps[:, offsets[q] : offsets[q + 1]]), judges, offsets)
    return np.maximum(np.exp(-entropies / np.maximum(known, 1) / theta), LEAST)


def _add_up(judge: Callable[[int], tuple[Floats, Floats]], judges: Ints, offsets: Ints) -> tuple[Floats, Floats]:
    """Entropies of all clusters summed over the clusterings that judge them, and how many do."""
    entropies, known = np.zeros(offsets[-1]), np.zeros(offsets[-1])
    for q in judges:
        total, bits = judge(q)
        bits[offsets[q] : offsets[q + 1]] = 0.0
        entropies += bits
        known += total > 0
    return entropies, known


def _entropies(table: Floats) -> tuple[Floats, Floats]:
    """The sum of every row of a table, and its entropy in bits."""
    total = table.sum(axis=1)
    share = table / np.maximum(total, 1e-300)[:, None]
    return total, -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1)


def _entropies_inside(problem: Problem, column: Ints, judge: Ints, k: int) -> tuple[Floats, Floats]:
    """The same for the clusters of one clustering and the labels of another, without the many cells that have nothing."""
    both, width = (column >= 0) & (judge >= 0), int(judge.max()) + 1
    cells, place = np.unique(column[both].astype(np.int64) * width + judge[both], return_inverse=True)
    counts, rows = np.bincount(place, problem.weights[both], minlength=len(cells)), cells // width
    total = np.bincount(rows, counts, minlength=k)
    share = counts / total[rows]
    bits = np.bincount(rows, -share * np.log2(share), minlength=k)
    return np.asarray(total, float), np.asarray(bits, float)  # whole where there is nothing to count


def cluster_overlap(
    problem: Problem,
    q: int,
    *,
    columns: Labels | None = None,
    offsets: Ints | None = None,
    weights: Floats | None = None,
) -> Floats:
    """(Σ k_p, k_q): the weight of the objects that each cluster of any clustering shares with each of clustering q.

    `weights` of the rows stand in for those of the problem; `columns` and `offsets` spare finding them again.
    """
    columns = np.ascontiguousarray(problem.labels.T) if columns is None else columns
    offsets = problem.offsets if offsets is None else offsets
    given = problem.weights if weights is None else weights
    exact = given.astype(np.int64) if weights is None and problem.whole else given
    size = int(offsets[q + 1] - offsets[q])
    return np.asarray(_kernels.label_tables(columns, offsets, columns[q], size, weights=exact).astype(float))


def co_occurrence(problem: Problem) -> Floats:
    """(c, c): the weight of the objects that every two of all c clusters share, numbered as :meth:`Problem.hyperedges`.

    Tables of disjoint sets of objects add up. O(rows · clusterings²) time, 8 c² bytes.
    """
    offsets, columns = problem.offsets, np.ascontiguousarray(problem.labels.T)
    found = np.empty((offsets[-1], offsets[-1]))
    weights = problem.weights.astype(np.int64) if problem.whole else problem.weights
    for q, (begin, end) in enumerate(pairwise(offsets.tolist())):  # what follows it, and by symmetry what it follows
        later = offsets[q:] - begin
        tables = _kernels.label_tables(columns[q:], later, columns[q], end - begin, weights=weights)
        found[begin:, begin:end] = tables
        found[begin:end, begin:] = tables.T
    return found


def _judges(problem: Problem, work: int) -> Ints:
    """Clusterings by whose labels clusters are judged: all, or evenly spread ones where that would take long."""
    r = problem.n_clusterings
    most = max(FEWEST, work // max(1, problem.n_rows * r))
    return np.arange(r) if r <= most else np.unique(np.linspace(0, r - 1, most).astype(np.int64))
