"""Distances of m items as SciPy's condensed vector, m (m − 1) / 2 numbers, and how to look things up in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import num_obs_y

from consilience._types import Floats, Ints


def distances_from(condensed: Floats, item: int, others: Ints) -> Floats:
    """Distances of one item to others (itself at 0)."""
    m = num_obs_y(condensed)
    low, high = np.minimum(item, others), np.maximum(item, others)
    places = low * (2 * m - low - 3) // 2 + high - 1
    return np.where(low == high, 0.0, condensed[np.where(low == high, 0, places)])


def totals(condensed: Floats, items: Ints, others: Ints) -> Floats:
    """For every item the sum of its distances to the others."""
    return np.array([distances_from(condensed, item, others).sum() for item in items])


def medoid_of(condensed: Floats, items: Ints, among: Ints | None = None) -> int:
    """The item with the least mean distance to the items; of `among` if given. Cost O(items²)."""
    among = items if among is None else among
    return int(among[totals(condensed, among, items).argmin()])


def square(condensed: Floats, dtype: Any = np.float32) -> NDArray[Any]:
    """The m × m matrix, in single precision by default: half of what the doubles would need."""
    m = num_obs_y(condensed)
    matrix = np.zeros((m, m), dtype)
    end = 0
    for i in range(m - 1):
        begin, end = end, end + m - 1 - i
        matrix[i, i + 1 :] = matrix[i + 1 :, i] = condensed[begin:end]
    return matrix
