"""Sums over the contingency tables of many pairs of clusterings, one table at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracle.contingency import contingency


def square(x: NDArray[np.int64]) -> NDArray[np.uint64]:
    return (x * x).astype(np.uint64)


def x_log_x(x: NDArray[np.int64]) -> NDArray[np.float64]:
    return x * np.log(np.maximum(x, 1))


TERMS: dict[str, Any] = {"square": square, "xlogx": x_log_x}


def pair_sums(
    codes: NDArray[Any], clusters: NDArray[Any], begin: int, end: int, *, term: str, missing: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """For the pairs (a, b), a < end, begin <= b < end: the term summed over cells, rows, columns; and the total."""
    f, width = TERMS[term], end - begin
    kind = np.uint64 if term == "square" else np.float64
    joint, own, other = (np.zeros((end, width), kind) for _ in range(3))
    known = np.zeros((end, width), np.int64)
    labels = np.where(codes == np.iinfo(codes.dtype).max, -1, codes.astype(np.int64))
    for a in range(end):
        for b in range(begin, end):
            table = contingency(labels[a], labels[b], (clusters[a], clusters[b]))
            at = a, b - begin
            joint[at], known[at] = f(table).sum(), table.sum()
            own[at], other[at] = f(table.sum(axis=1)).sum(), f(table.sum(axis=0)).sum()
    nothing = np.zeros((0, end, width), kind)
    return (joint, own, other, known) if missing else (joint, nothing, nothing, np.zeros((0, 0), np.int64))
