"""Means of the clusters of clusterings."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from consilience._types import ArrayLike, Floats, Ints, Labels


def cluster_means(table: ArrayLike, labels: Labels, sizes: Ints | None = None) -> tuple[Floats, Ints, Ints]:
    """The means of all clusters of some clusterings one below the other, their numbers of objects, and how many each has.

    Parameters
    ----------
    table : (n_objects, n_columns) array or CSR matrix
    labels : (n_objects, n_clusterings) int array
        −1 where an object has no label.
    sizes : (n_clusterings,) int array, optional
        Numbers of clusters, where the last ones may have no object.

    Returns
    -------
    means : (all clusters, n_columns) array
        0 for a cluster without objects.
    counts : (all clusters,) int array
    sizes : (n_clusterings,) int array

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.generation.cluster_means import cluster_means
    >>> means, counts, sizes = cluster_means(np.array([[1.0], [3.0], [8.0]]), np.array([[0, 0], [0, 1], [1, -1]]))
    >>> means.ravel().tolist(), counts.tolist(), sizes.tolist()
    ([2.0, 8.0, 1.0, 3.0], [2, 1, 1, 1], [2, 2])
    """
    if sizes is None:
        sizes = labels.max(axis=0).astype(np.int64) + 1
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    rows, which = np.nonzero(labels >= 0)
    numbers = labels[rows, which] + offsets[which]
    members = sparse.csr_array((np.ones(len(rows)), (numbers, rows)), (int(offsets[-1]), len(labels)))
    sums = members @ table
    means = np.asarray(sums.todense() if sparse.issparse(sums) else sums)
    counts = np.bincount(numbers, minlength=len(means))
    return means / np.maximum(counts, 1)[:, None], counts, sizes
