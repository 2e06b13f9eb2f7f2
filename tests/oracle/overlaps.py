"""Element-centric similarity as it is defined: by the walks from every object, n × n numbers for each clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def walks(labels: NDArray[Any], alpha: float) -> NDArray[np.float64]:
    """Row i: where the walk that returns to object i with probability 1 − α is found; α / size on each object of its cluster."""
    together = labels[:, None] == labels
    return alpha * together / together.sum(axis=1, keepdims=True) + (1 - alpha) * np.eye(len(labels))


def element_scores(a: Any, b: Any, alpha: float = 0.9) -> NDArray[np.float64]:
    """1 − Σ_j |p_ij − q_ij| / 2α of every object labeled in both, NaN of the others."""
    a, b = np.asarray(a), np.asarray(b)
    known = (a >= 0) & (b >= 0)
    out = np.full(len(a), np.nan)
    out[known] = 1 - np.abs(walks(a[known], alpha) - walks(b[known], alpha)).sum(axis=1) / (2 * alpha)
    return out


def overlap_sums(
    codes: NDArray[Any], clusters: NDArray[Any], begin: int, end: int, *, missing: bool
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The scores summed over objects, and how many objects have one, for the pairs a <= b, begin <= b < end; 0 elsewhere."""
    labels = np.where(codes == np.iinfo(codes.dtype).max, -1, codes.astype(np.int64))
    sums, known = np.zeros((end, end - begin)), np.zeros((end, end - begin), np.int64)
    for a in range(end):
        for b in range(max(begin, a), end):
            scores = element_scores(labels[a], labels[b])
            sums[a, b - begin], known[a, b - begin] = np.nansum(scores), (~np.isnan(scores)).sum()
    return sums, known if missing else np.zeros((0, 0), np.int64)


def object_overlaps(
    codes: NDArray[Any], clusters: NDArray[Any], begin: int, end: int, total: NDArray[np.float64]
) -> None:
    """Add every object's score in the pairs begin <= a < end, a < b to `total`."""
    labels = np.where(codes == np.iinfo(codes.dtype).max, -1, codes.astype(np.int64))
    for a in range(begin, end):
        for b in range(a + 1, len(codes)):
            total += np.nan_to_num(element_scores(labels[a], labels[b]))
