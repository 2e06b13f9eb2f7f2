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
from threadpoolctl import threadpool_limits

from consilience._check import check_count, check_seed
from consilience._random import stream
from consilience._types import Floats
from consilience.alternatives.condens import CondEns
from consilience.alternatives.data import group_means
from consilience.alternatives.diagnostics import quality
from consilience.alternatives.given import NoSplitError, TooSmallError, check_given, joint
from consilience.ensemble import Ensemble
from consilience.measures import adjusted_rand
from consilience.tables import check_matrix

WIDEST = 1000  # features of a cloud at most; its covariance is a square of them


def reproducibility(X: Any, given: Any, model: CondEns, *, n_splits: int = 2, random_state: Any = 0) -> float:
    """Adjusted Rand index of the answers for all objects learned from two random halves of them, over several splits.

    0 for a split where the base finds nothing in a half, NaN where a half leaves too few objects.

    Examples
    --------
    >>> from consilience.alternatives import CondEns, reproducibility
    >>> from consilience.datasets import orthogonal_multinomials
    >>> X, given, hidden = orthogonal_multinomials(2, random_state=0)
    >>> round(reproducibility(X, given, CondEns(2, center="group", random_state=0)), 2)
    0.98
    """
    seed, (X, given) = check_seed(random_state), _checked(X, given)
    values = []
    for split in range(check_count("n_splits", n_splits)):
        half = stream(seed, "alternatives.halves", split).permutation(X.shape[0]) % 2 == 0
        try:
            answers = [clone(model).fit(X, given, learn=part, progress=False).labels_ for part in (half, ~half)]
            values.append(adjusted_rand(*answers))
        except TooSmallError:
            return float("nan")
        except NoSplitError:  # what is not found in a half is not found again
            values.append(0.0)
    return float(np.mean(values))


def surprise(X: Any, given: Any, model: CondEns, *, n_clouds: int = 5, random_state: Any = 0) -> float:
    """By how many standard deviations the answer explains more of the variance than such answers do of plain clouds.

    What counts is the share explained beyond the known groups. NaN for sparse or very wide tables, which have no covariance to
    draw clouds from, and where no object has all known labels. A cloud in which the base finds nothing has nothing explained.

    Examples
    --------
    >>> from consilience.alternatives import CondEns, surprise
    >>> from consilience.datasets import orthogonal_multinomials
    >>> X, given, hidden = orthogonal_multinomials(2, random_state=0)
    >>> model = CondEns(2, center="group", random_state=0)
    >>> surprise(X, [given], model) > 4, surprise(X, [given, hidden], model) < 2
    (True, True)
    """
    seed, (X, given) = check_seed(random_state), _checked(X, given)
    check_count("n_clouds", n_clouds, 2)
    cells = np.zeros(X.shape[0], np.int32) if given is None else joint(given.labels)
    known = cells >= 0
    if sparse.issparse(X) or X.shape[1] > WIDEST or not known.any():
        return float("nan")
    found = _gain(X, given, cells, model)
    clouds = []
    for i in range(n_clouds):
        cloud = _cloud(X, cells, known, stream(seed, "alternatives.null", i))
        try:
            clouds.append(_gain(cloud, given, cells, model))
        except (NoSplitError, TooSmallError):
            clouds.append(0.0)
    return float((found - np.mean(clouds)) / max(float(np.std(clouds, ddof=1)), 1e-12))


def _checked(X: Any, given: Any) -> tuple[Any, Ensemble | None]:
    index, X = X, check_matrix(X)
    return X, None if given is None else check_given(given, X.shape[0], index).ensemble


def _gain(X: Floats, given: Ensemble | None, cells: NDArray[Any], model: CondEns) -> float:
    """q(C, Z) − q(Z) of what the model finds."""
    labels = clone(model).fit(X, given, progress=False).labels_
    return quality(X, joint(np.column_stack([cells, labels]))) - quality(X, cells)


def _cloud(X: Floats, cells: NDArray[Any], known: NDArray[Any], rng: np.random.Generator) -> Floats:
    """Rows drawn around the means of their cells with the covariance inside cells; rows of no cell around the mean of all."""
    means = np.where(known[:, None], group_means(X, cells, int(cells.max()) + 1)[cells], X[known].mean(axis=0))
    residuals = X[known] - means[known]
    with threadpool_limits(1):  # so that no sum depends on the number of threads
        values, vectors = np.linalg.eigh(residuals.T @ residuals / len(residuals))
        # The symmetric root is one and the same whatever signs and bases the eigenvectors come in.
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return np.asarray(means + rng.normal(size=X.shape) @ root)
