"""Mutual information adjusted for chance: exact under the permutation (hypergeometric) model.

With φ(x) = x log x and Φ its sum over the cells of the contingency table, dealing the objects out anew at the same cluster sizes changes
nothing but Φ, and E[Φ] is the sum of E[φ(X)] over the cells, X the objects that a cluster of size a and one of size b share by chance.
That depends on (n, a, b) alone: E[Φ] of all pairs is N E Nᵀ, N the number of clusters of each size in each clustering.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from consilience import _kernels
from consilience._check import check_choice
from consilience._kernels import x_log_x
from consilience._run.progress import track
from consilience._types import Array, Floats, Labels
from consilience.ensemble import Ensemble
from consilience.measures import counts
from consilience.measures.counts import Sums, check_pair, codes_of, ratio, unknown
from consilience.measures.information import shared_and_entropies

ROWS = 64  # safeguard: memory; sizes looked up with all others at a time
AVERAGES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "arithmetic": lambda own, other: (own + other) / 2,
    "min": np.minimum,
}


def adjusted_mutual_information(a: Any, b: Any, average: str = "arithmetic") -> float:
    """Mutual information adjusted for chance: (I − E[I]) / (average of both entropies − E[I]) (Vinh, Epps and Bailey 2010).

    0 on average for unrelated clusterings whatever their numbers of clusters, 1 if equal; can be negative. E[I] is exact, over
    all ways to deal the objects out at the same cluster sizes. Equal to ``sklearn.metrics.adjusted_mutual_info_score`` on the
    objects labeled in both.

    Parameters
    ----------
    a, b : (n_objects,) label vectors
        Objects missing in either are left out.
    average : {"arithmetic", "min"}
        With "min", the smaller entropy, a clustering and its refinement score 1: the coarser one can be read off the finer. In
        :func:`pairwise` and wherever a measure is named that is "shared_information".

    Returns
    -------
    float
        If a clustering is one cluster, or all single objects, chance and agreement are the same: 0, or 1 if both are.

    Notes
    -----
    Cost O(n) and for every two different cluster sizes a and b a sum of about 20 √(ab/n) terms.

    Examples
    --------
    >>> from consilience.measures import adjusted_mutual_information
    >>> round(adjusted_mutual_information([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.571
    >>> round(adjusted_mutual_information([0, 0, 1, 1], [0, 0, 1, 2], average="min"), 3)
    1.0
    """
    check_choice(average, AVERAGES, "average")
    a, b = check_pair(a, b)
    both = (a >= 0) & (b >= 0)
    a, b = a[both], b[both]
    (own, own_times), (other, other_times) = _sizes(a), _sizes(b)
    expected = own_times @ _kernels.expected_xlogx(len(a), own, other) @ other_times
    return float(adjusted_from(counts.sums_with_each(a, b[:, None], "xlogx"), expected, average)[0])


def shared_information(a: Any, b: Any) -> float:
    """How much of what the coarser of two clusterings says the other says too, by chance 0: 1 where one refines the other."""
    return adjusted_mutual_information(a, b, average="min")


def adjusted_from(s: Sums, expected: Floats, average: str) -> Floats:
    """(Φ − E[Φ]) / (n · average entropy − n · E[I]); 1 where both are one cluster or single objects, 0 where one is."""
    _, own, other = shared_and_entropies(s)
    by_chance = expected - s.own - s.other + x_log_x(s.n)
    value = ratio(s.joint - expected, AVERAGES[average](own, other) - by_chance, 0.0)
    one_cluster, single_objects = (own == 0, other == 0), (s.own == 0, s.other == 0)
    fixed = np.logical_or.reduce(np.broadcast_arrays(*one_cluster, *single_objects))
    equal = (one_cluster[0] & one_cluster[1]) | (single_objects[0] & single_objects[1])
    return unknown(s.n, np.where(equal, 1.0, np.where(fixed, 0.0, np.minimum(value, 1.0))))


def adjusted_all_pairs(ens: Ensemble, threads: int, progress: bool | None, average: str = "arithmetic") -> Floats:
    m = ens.n_clusterings
    codes, clusters = codes_of(ens.labels)
    expected = None if ens.has_missing else _expected_sums(ens, threads, progress)
    out = np.empty((m, m))
    for begin, end, sums in counts.bands_of_sums(ens, "xlogx", "adjusted_mutual_information", threads, progress):
        if expected is None:
            by_chance = _kernels.expected_sums(codes, clusters, begin, end, threads=threads)
        else:
            by_chance = expected[:end, begin:end]
        out[:end, begin:end] = adjusted_from(sums, by_chance, average)
    return counts.mirror(out)


def _expected_sums(ens: Ensemble, threads: int, progress: bool | None) -> Floats:
    """E[Φ] of all pairs of clusterings without missing labels: each pair of cluster sizes is looked at once."""
    own, times = zip(*map(_sizes, ens.labels.T), strict=True)
    sizes, places = np.unique(np.concatenate(own), return_inverse=True)
    starts = np.cumsum([0, *map(len, own)])
    counted = np.concatenate(times).astype(float)
    by_size = sparse.csr_matrix((counted, places, starts), shape=(ens.n_clusterings, len(sizes))).tocsc()
    half = np.zeros((ens.n_clusterings, ens.n_clusterings))
    begins = range(0, len(sizes), ROWS)
    for begin in track(begins, len(begins), "agreement by chance", progress):
        end = min(begin + ROWS, len(sizes))
        table = _kernels.expected_xlogx(ens.n_objects, sizes[begin:end], sizes[begin:], threads=threads)
        table[:, : end - begin] /= 2  # these pairs of sizes stand in the table both ways
        half += by_size[:, begin:end] @ (by_size[:, begin:] @ table.T).T
    return half + half.T


def _sizes(codes: Labels) -> tuple[Array, Array]:
    """The different sizes of the clusters, and how many clusters have each."""
    size = np.bincount(codes) if codes.size else np.zeros(0, np.int64)
    return np.unique(size[size > 0], return_counts=True)
