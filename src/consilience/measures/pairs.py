"""Measures that count pairs of objects: together or apart in two clusterings.

With S = Σ n_ij² over the cells of the contingency table, A = Σ a_i² and B = Σ b_j² over its margins, twice the number of pairs together in
both is S − n, in the first A − n, in the second B − n. Only objects labeled in both clusterings count; if there are none it is NaN.
"""

from typing import Any

import numpy as np

from consilience._types import Floats
from consilience.measures.counts import Sums, of_pair, ratio, unknown


def rand(a: Any, b: Any) -> float:
    """Rand index: the share of pairs on which two clusterings agree. 0 … 1; 1 if they are equal.

    Equal to ``sklearn.metrics.rand_score`` on the objects labeled in both.

    Examples
    --------
    >>> from consilience.measures import rand
    >>> round(rand([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.833
    """
    return of_pair(rand_from, a, b, "square")


def cluster_difference(a: Any, b: Any) -> float:
    """Cluster Difference (Caruana et al. 2006): the share of pairs on which two clusterings differ, 1 − Rand.

    A metric on clusterings of the same objects; 0 … 1, and 0 if they are equal.

    Examples
    --------
    >>> from consilience.measures import cluster_difference
    >>> round(cluster_difference([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.167
    """
    return of_pair(cluster_difference_from, a, b, "square")


def adjusted_rand(a: Any, b: Any) -> float:
    """Rand index adjusted for chance (Hubert and Arabie): 0 on average for unrelated clusterings, 1 if equal.

    Equal to ``sklearn.metrics.adjusted_rand_score`` on the objects labeled in both; can be negative.

    Examples
    --------
    >>> from consilience.measures import adjusted_rand
    >>> round(adjusted_rand([0, 0, 1, 1], [0, 0, 1, 2]), 3)
    0.571
    """
    return of_pair(adjusted_rand_from, a, b, "square")


def jaccard(a: Any, b: Any) -> float:
    """Jaccard index of pairs: together in both, over together in either. 0 … 1; 1 if equal.

    The stability of Bekkerman et al. 2009 is its mean over all pairs of runs. Two clusterings into single objects
    have no pair together and are equal: 1.

    Examples
    --------
    >>> from consilience.measures import jaccard
    >>> jaccard([0, 0, 1, 1], [0, 0, 1, 2])
    0.5
    """
    return of_pair(jaccard_from, a, b, "square")


def cluster_difference_from(s: Sums) -> Floats:
    """(A + B − 2S) / n(n − 1)."""
    return unknown(s.n, ratio(s.own + s.other - 2 * s.joint, s.n * (s.n - 1), 0.0))


def rand_from(s: Sums) -> Floats:
    """1 − Cluster Difference."""
    return 1 - cluster_difference_from(s)


def jaccard_from(s: Sums) -> Floats:
    """(S − n) / (A + B − S − n)."""
    return unknown(s.n, ratio(s.joint - s.n, s.own + s.other - s.joint - s.n, 1.0))


def adjusted_rand_from(s: Sums) -> Floats:
    """2 (tp·tn − fn·fp) / ((tp + fn)(fn + tn) + (tp + fp)(fp + tn)), each of them counted over ordered pairs."""
    tp = s.joint - s.n
    fn, fp = s.own - s.joint, s.other - s.joint
    tn = np.square(s.n) - s.own - s.other + s.joint
    scale = np.where(s.n > 1, np.square(s.n), 1.0)  # shares instead of counts: no overflow at large n
    tp, fn, fp, tn = tp / scale, fn / scale, fp / scale, tn / scale
    value = ratio(2 * (tp * tn - fn * fp), (tp + fn) * (fn + tn) + (tp + fp) * (fp + tn), 1.0)
    return unknown(s.n, np.where((fn == 0) & (fp == 0), 1.0, value))
