"""Distances of rows of labels, and the tree of weighted items."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
JOINS = {"average": np.add, "single": np.minimum, "complete": np.maximum}


def row_distances(columns: NDArray[np.int32], offsets: Ints, weights: Floats) -> Floats:
    """1 − the weights of the shared labels, by the clusterings that label both; 1 where none does."""
    n = columns.shape[1]
    found = np.ones((n, n))
    for i in range(n):
        for j in range(n):
            both = (columns[:, i] >= 0) & (columns[:, j] >= 0)
            shared = both & (columns[:, i] == columns[:, j])
            if both.any():
                found[i, j] = 1 - weights[(offsets[:-1] + columns[:, i])[shared]].sum() / both.sum()
    return found


def linkage(distances: Floats, weights: Floats, kind: str = "average", *, tie: float = 0.0) -> tuple[Ints, Floats]:
    """Nearest-neighbor chains on sums S(A, B) = Σ w_i w_j d_ij, or on smallest or largest distances."""
    n, join, average = len(distances), JOINS[kind], kind == "average"
    total, height, gone = np.array(weights, float), np.zeros(n), np.zeros(n)
    distances = distances * np.outer(total, total) if average else distances.copy()
    merges, heights, chain = [], [], []
    while len(merges) < n - 1:
        chain = chain or [int(gone.argmin())]
        a = chain[-1]
        row = distances[a] / (total * total[a]) if average else distances[a].copy()
        row += gone
        row[a] = np.inf
        near = row <= row.min() + tie
        if len(chain) == 1 or not near[chain[-2]]:
            chain.append(int(near.argmax()))
            continue
        b = chain[-2]
        del chain[-2:]
        kept, lost = min(a, b), max(a, b)
        height[kept] = max(row[b], height[a], height[b])
        merges.append((kept, lost))
        heights.append(height[kept])
        distances[kept] = distances[:, kept] = join(distances[a], distances[b])
        total[kept] += total[lost]
        gone[lost] = np.inf
    return np.array(merges, np.int64).reshape(-1, 2), np.array(heights)
