"""Sums of distances inside clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def within_sums(block: NDArray[np.float64], begin: int, labels: NDArray[np.int32], sums: NDArray[np.float64]) -> None:
    """Add to sums[q, c] the distances of the pairs i < j of the block that lie in cluster c of clustering q."""
    rows, columns = block.shape
    for q, own in enumerate(labels[:, begin : begin + columns]):
        for i in range(rows):
            for j in range(i + 1, columns):
                if own[i] == own[j] >= 0:
                    sums[q, own[i]] += block[i, j]
