"""Trees of items that stand for many objects each, and their cuts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from consilience._types import Floats, Ints

TIE = 1e-12  # distances this near are equal: sums of fractions are rounded


def weighted_linkage(distances: Floats, weights: Floats, linkage: str = "average") -> Floats:
    """Tree of items that stand for `weights` objects each, in SciPy's format; `distances` (n, n) is used up.

    The last column counts items, not objects. The heights are those of SciPy's linkage with every item repeated as
    often as its weight says, without the merges of equal items.
    """
    n, (join, average) = len(distances), LINKAGES[linkage]
    total, height, gone = np.array(weights, float), np.zeros(n), np.zeros(n)
    if average:
        distances *= total[:, None]
        distances *= total
    merges: list[tuple[int, int, float]] = []
    chain: list[int] = []
    while len(merges) < n - 1:
        chain = chain or [int(gone.argmin())]
        a = chain[-1]
        row = distances[a] / (total * total[a]) if average else distances[a].copy()
        row += gone
        row[a] = np.inf
        near = row <= row.min() + TIE
        if len(chain) == 1 or not near[chain[-2]]:
            chain.append(int(near.argmax()))
            continue
        b = chain[-2]
        del chain[-2:]
        kept, lost = min(a, b), max(a, b)
        height[kept] = max(row[b], height[a], height[b])  # rounding must not put a child above its parent
        merges.append((kept, lost, height[kept]))
        distances[kept] = distances[:, kept] = join(distances[a], distances[b])
        total[kept] += total[lost]
        gone[lost] = np.inf
    return _scipy_format(merges, n)


LINKAGES: dict[str, tuple[Callable[..., Floats], bool]] = {
    "average": (np.add, True),
    "single": (np.minimum, False),
    "complete": (np.maximum, False),
}


def _scipy_format(merges: list[tuple[int, int, float]], n: int) -> Floats:
    """Merges of places (the lower place is kept) as merges of numbered clusters, by rising height."""
    name, size = np.arange(n), np.ones(n)
    tree = np.empty((n - 1, 4))
    for i, (kept, lost, height) in enumerate(sorted(merges, key=lambda merge: merge[2])):  # stable: children first
        size[kept] += size[lost]
        tree[i] = min(name[kept], name[lost]), max(name[kept], name[lost]), height, size[kept]
        name[kept] = n + i
    return tree


def cut_tree(tree: Floats, n_clusters: int) -> Ints:
    """Cluster of every leaf after all but the last `n_clusters` − 1 merges: exactly so many clusters, whatever the ties."""
    n = len(tree) + 1
    done = n - n_clusters
    children, parents = tree[:done, :2].astype(np.int64).ravel(), np.repeat(np.arange(n, n + done), 2)
    links = csr_matrix((np.ones(2 * done), (children, parents)), (n + done, n + done))
    return connected_components(links, directed=False)[1][:n].astype(np.int64)
