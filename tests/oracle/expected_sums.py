"""What sums of x log x over contingency tables are by chance, from binomial coefficients."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracle.contingency import contingency
from oracle.pair_sums import x_log_x


def expected_xlogx(n: int, own: Any, other: Any) -> NDArray[np.float64]:
    """E[x log x], x the objects that clusters of a and b of n objects share: P(x) = C(a, x) C(n − a, b − x) / C(n, b)."""
    out = np.zeros((len(own), len(other)))
    for (i, j), _ in np.ndenumerate(out):
        a, b = int(own[i]), int(other[j])
        x = range(max(0, a + b - n), min(a, b) + 1)
        ways = comb(n, b)
        share = [comb(a, y) * comb(n - a, b - y) / ways for y in x]
        out[i, j] = share @ x_log_x(np.array(x))
    return out


def expected_sums(codes: NDArray[Any], clusters: NDArray[Any], begin: int, end: int) -> NDArray[np.float64]:
    """Summed over the table of the objects labeled in both, for the pairs a < b, begin <= b < end; 0 elsewhere."""
    labels = np.where(codes == np.iinfo(codes.dtype).max, -1, codes.astype(np.int64))
    out = np.zeros((end, end - begin))
    for a in range(end):
        for b in range(max(begin, a + 1), end):
            table = contingency(labels[a], labels[b], (clusters[a], clusters[b]))
            (own, own_times), (other, other_times) = (np.unique(table.sum(axis=i), return_counts=True) for i in (1, 0))
            out[a, b - begin] = own_times @ expected_xlogx(int(table.sum()), own, other) @ other_times
    return out
