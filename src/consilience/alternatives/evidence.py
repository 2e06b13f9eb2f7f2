"""Is there anything in a clustering? Two tests that need no labels.

**Reproducibility**: structure shows up in both halves of the objects; what a clusterer makes of noise differs from half to half.
**Surprise**: any clusterer explains some of the variance even of a plain cloud. So the same is done to clouds: every group of what is
known redrawn from one normal distribution with the covariance that is found inside the groups. (For two clusters and nothing known this
is the test of Y. Liu, D. N. Hayes, A. Nobel and J. S. Marron, Statistical significance of clustering, 2008.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from consilience._check import check_count, check_seed
from consilience.alternatives.condens import CondEns
from consilience.alternatives.data import Floats, group_means
from consilience.alternatives.diagnostics import quality
from consilience.alternatives.given import TooSmallError, joint
from consilience.comparison import adjusted_rand

HALVES, CLOUDS = 0x68616C66, 0x636C6F75  # salts: these streams must not be those that drew the data from the same seed
WIDEST = 1000  # features of a cloud at most; its covariance is a square of them


def reproducibility(X: Any, given: Any, model: CondEns, *, n_splits: int = 2, random_state: Any = 0) -> float:
    """Adjusted Rand index of the answers for all objects learned from two random halves of them, over several splits.

    NaN where a half leaves too few objects.

    Examples
    --------
    >>> from consilience.alternatives import CondEns, reproducibility
    >>> from consilience.datasets import orthogonal_multinomials
    >>> X, given, hidden = orthogonal_multinomials(2, random_state=0)
    >>> round(reproducibility(X, given, CondEns(2, centre="group", random_state=0)), 2)
    0.98
    """
    seed = check_seed(random_state)
    values = []
    for split in range(check_count("n_splits", n_splits)):
        half = np.random.default_rng([seed, split, HALVES]).permutation(X.shape[0]) % 2 == 0
        try:
            answers = [clone(model).fit(X, given, learn=part, progress=False).labels_ for part in (half, ~half)]
        except TooSmallError:
            return float("nan")
        values.append(adjusted_rand(*answers))
    return float(np.mean(values))


def surprise(X: Any, given: Any, model: CondEns, *, n_clouds: int = 5, random_state: Any = 0) -> float:
    """By how many standard deviations the answer explains more of the variance than such answers do of plain clouds.

    What counts is the share explained beyond the known groups. NaN for sparse or very wide tables, which have no covariance to
    draw clouds from.

    Examples
    --------
    >>> from consilience.alternatives import CondEns, surprise
    >>> from consilience.datasets import orthogonal_multinomials
    >>> X, given, hidden = orthogonal_multinomials(2, random_state=0)
    >>> model = CondEns(2, centre="group", random_state=0)
    >>> surprise(X, [given], model) > 4, surprise(X, [given, hidden], model) < 2
    (True, True)
    """
    if sparse.issparse(X) or X.shape[1] > WIDEST:
        return float("nan")
    seed, X = check_seed(random_state), np.asarray(X, float)
    cells = np.zeros(len(X), np.int32) if given is None else joint(np.column_stack(given))
    known = cells >= 0
    clouds = [
        _gain(cloud, cells, clone(model).fit(cloud, given, progress=False).labels_)
        for cloud in (_cloud(X, cells, known, np.random.default_rng([seed, i, CLOUDS])) for i in range(n_clouds))
    ]
    found = _gain(X, cells, clone(model).fit(X, given, progress=False).labels_)
    return float((found - np.mean(clouds)) / max(float(np.std(clouds, ddof=1)), 1e-12))


def _gain(X: Floats, cells: NDArray[Any], labels: NDArray[Any]) -> float:
    """q(C, Z) − q(Z)."""
    return quality(X, joint(np.column_stack([cells, labels]))) - quality(X, cells)


def _cloud(X: Floats, cells: NDArray[Any], known: NDArray[Any], rng: np.random.Generator) -> Floats:
    """Rows drawn around the means of their cells with the covariance inside cells; rows of no cell around the mean of all."""
    means = np.where(known[:, None], group_means(X, cells, int(cells.max()) + 1)[cells], X[known].mean(axis=0))
    residuals = X[known] - means[known]
    values, vectors = np.linalg.eigh(residuals.T @ residuals / len(residuals))
    return means + rng.normal(size=X.shape) @ (np.sqrt(np.maximum(values, 0.0)) * vectors).T
