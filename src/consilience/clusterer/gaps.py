"""Whether the data are sparse between clusters: a sign that labels alone do not carry.

Two halves of one long cloud are found as surely by every clustering as two clusters far apart are; only the data tell them
apart. Between the centers of two clusters a cloud that was cut in two is densest where it was cut, and separated clusters
leave a gap there.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.stats import binom

from consilience._types import Floats, Ints

WIDTH = 0.3  # of a window, as a share of the way between two centers
SHARE = 0.5  # of the sparser cluster's density: a gap has less
LEVEL = 0.01
LEAST = 5  # objects of a cluster that can be judged
ROWS_PER_COLUMN = 5  # with fewer, centers lie far apart by chance alone


def has_gaps(X: Floats, labels: Ints) -> bool:
    """Whether every cluster is apart from each cluster that is next to it.

    Two clusters are next to each other where no third center is nearer to the middle between theirs. The objects of both are
    projected onto the line through their centers; in the window around the middle there must be significantly fewer of them
    than half as many as around the center of either (binomial test, level .01, corrected for the number of pairs).

    Parameters
    ----------
    X : (n_objects, n_columns) array
    labels : (n_objects,) int array
        −1 for objects without a cluster.

    Returns
    -------
    bool
        False also where it cannot be judged: a sparse table, one with fewer than 5 rows for every column, clusters of less than 5 objects.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(200, 1))
    >>> has_gaps(x, (x[:, 0] > 0).astype(int))
    False
    >>> group = np.arange(200) % 2
    >>> has_gaps(x + 8 * group[:, None], group)
    True
    """
    if sparse.issparse(X) or len(X) < ROWS_PER_COLUMN * X.shape[1]:
        return False
    sizes = np.bincount(labels[labels >= 0])
    if len(sizes) < 2 or sizes.min() < LEAST:
        return False
    centers = np.stack([X[labels == c].mean(axis=0) for c in range(len(sizes))])
    pairs = _neighbors(centers)
    return all(_apart(X, labels, centers, a, b, LEVEL / len(pairs)) for a, b in pairs)


def _neighbors(centers: Floats) -> list[tuple[int, int]]:
    pairs = []
    for a in range(len(centers)):
        for b in range(a + 1, len(centers)):
            away = ((centers - (centers[a] + centers[b]) / 2) ** 2).sum(axis=1)
            if away.argsort(kind="stable")[:2].tolist() in ([a, b], [b, a]):
                pairs.append((a, b))
    return pairs


def _apart(X: Floats, labels: Ints, centers: Floats, a: int, b: int, level: float) -> bool:
    way = centers[b] - centers[a]
    length = way @ way
    if length == 0:
        return False
    at = (X[(labels == a) | (labels == b)] - centers[a]) @ way / length
    first, middle, second = (int((np.abs(at - place) < WIDTH / 2).sum()) for place in (0.0, 0.5, 1.0))
    dense = min(first, second)
    return bool(binom.cdf(middle, middle + dense, SHARE / (1 + SHARE)) < level)
