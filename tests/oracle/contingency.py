"""Counts of label pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def contingency(
    a: NDArray[Any], b: NDArray[Any], shape: tuple[int, int], *, weights: Any = None, table: Any = None
) -> NDArray[Any]:
    """Table of the weight of the objects with label i in `a` and j in `b`; an object missing (−1) in either is out."""
    weights = np.ones(len(a), np.int64) if weights is None else np.asarray(weights)
    if table is None:
        table = np.zeros(shape, np.int64 if weights.dtype.kind in "iu" else np.float64)
    known = (a >= 0) & (b >= 0)
    np.add.at(table, (a[known], b[known]), weights[known])
    return table
