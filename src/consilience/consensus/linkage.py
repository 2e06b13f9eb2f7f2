"""Trees of items that stand for several objects each, and clusters cut from them.

With S(A, B) = Σ_{i∈A, j∈B} w_i w_j d_ij, clusters are S(A, B) / (W_A W_B) apart in average linkage, and merging adds rows of S.
Nearest-neighbor chains find the tree in O(n²). Ties go to the cluster with the earliest item.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from consilience import _kernels
from consilience._types import Floats, Ints

LINKAGES = _kernels.LINKAGES
TIE = 1e-12  # distances this near are equal: sums of fractions are rounded


def weighted_linkage(distances: Floats, weights: Floats, linkage: str = "average") -> Floats:
    """Tree of items that stand for `weights` objects each, in SciPy's format; `distances` (n, n) is used up.

    The last column counts items, not objects. The heights are those of SciPy's linkage with every item repeated as
    often as its weight says, without the merges of equal items.
    """
    merges, heights = _kernels.linkage(distances, weights, linkage, tie=TIE)
    order = np.argsort(heights, kind="stable")  # children first
    n, tree = len(distances), np.empty((len(merges), 4))
    name, size = list(range(n)), [1] * n
    for i, (kept, lost) in enumerate(merges[order].tolist()):
        size[kept] += size[lost]
        one, two = name[kept], name[lost]
        tree[i] = (one, two, 0, size[kept]) if one < two else (two, one, 0, size[kept])
        name[kept] = n + i
    tree[:, 2] = heights[order]
    return tree


def cut_tree(tree: Floats, n_clusters: int) -> Ints:
    """Cluster of every leaf after all but the last `n_clusters` − 1 merges: exactly so many clusters, whatever the ties."""
    n = len(tree) + 1
    done = n - n_clusters
    children, parents = tree[:done, :2].astype(np.int64).ravel(), np.repeat(np.arange(n, n + done), 2)
    links = csr_matrix((np.ones(2 * done), (children, parents)), (n + done, n + done))
    return connected_components(links, directed=False)[1][:n].astype(np.int64)
