"""Equal rows, collapsed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def signatures(labels: NDArray[np.int32]) -> tuple[Ints, Ints, Ints]:
    """First object of each distinct row, every object's row, and the counts; rows in the order they appear."""
    _, first, inverse, count = np.unique(labels, axis=0, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)  # from sorted rows to rows as they appear
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse.ravel()], count[order]


def distinct_rows(labels: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """First object of each distinct row and the counts."""
    first, _, count = signatures(labels)
    return first, count


def find_rows(rows: NDArray[np.int32], wanted: NDArray[np.int32]) -> Ints:
    """The number of each wanted row among distinct rows, −1 where it is none of them."""
    same = (wanted[:, None] == rows).all(axis=2)
    return np.where(same.any(axis=1), same.argmax(axis=1), -1)
