"""Is there anything in a clustering? Two tests that need no labels.

**Reproducibility**: structure shows up in both halves of the objects; what a clusterer makes of noise differs from half to half.
**z-score**: any clusterer explains some of the variance even of data without clusters. So the same is done to null data: every group
of what is given redrawn from one normal distribution with the covariance that is found inside the groups. (For two clusters and
nothing given this is SigClust: Y. Liu, D. N. Hayes, A. Nobel and J. S. Marron, Statistical significance of clustering, 2008.)
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from consilience._check import check_count, check_seed
from consilience._run.parallel import own_threads
from consilience._run.random import stream
from consilience._types import EnsembleLike, Floats, Ints, RandomState
from consilience.alternatives.condens import CondEns
from consilience.alternatives.diagnostics import quality_of
from consilience.alternatives.given_groups_and_centering import NoSplitError, TooSmallError, checked, group_means, joint
from consilience.ensemble import Ensemble
from consilience.measures import adjusted_rand

WIDEST = 1000  # safeguard: memory; features of null data at most; its covariance is a square of them


def reproducibility(
    X: Any, given: EnsembleLike | None, model: CondEns, *, n_splits: int = 2, random_state: RandomState = 0
) -> float:
    """Adjusted Rand index of the answers for all objects learned from two random halves of them, over several splits.

    0 for a split where the base finds nothing in a half, NaN where a half leaves too few objects.

    Examples
    --------
    >>> from consilience.alternatives import CondEns, reproducibility
    >>> from consilience.datasets import orthogonal_multinomials
    >>> X, given, hidden = orthogonal_multinomials(2, random_state=0)
    >>> round(reproducibility(X, given, CondEns(2, center="group", random_state=0)), 2)
    1.0
    """
    check_count("n_splits", n_splits)
    return reproducibility_of(*checked(X, given, model), model, n_splits, check_seed(random_state))


def reproducibility_of(X: Any, given: Ensemble | None, model: CondEns, n_splits: int, seed: int) -> float:
    values = []
    for split in range(n_splits):
        half = half_of(X.shape[0], split, seed)
        try:
            answers = [clone(model)._labels(X, given, part) for part in (half, ~half)]
            values.append(adjusted_rand(*answers))
        except TooSmallError:
            return float("nan")
        except NoSplitError:  # what is not found in a half is not found again
            values.append(0.0)
    return float(np.mean(values))


def z_score(
    X: Any, given: EnsembleLike | None, model: CondEns, *, n_null: int = 5, random_state: RandomState = 0
) -> float:
    """By how many standard deviations the answer explains more of the variance than such answers do of null data.

    What counts is the share explained beyond the given groups. NaN for sparse or very wide tables, which have no covariance to
    draw null data from, and where no object has all given labels. Null data in which the base finds nothing have nothing explained.

    Examples
    --------
    >>> from consilience.alternatives import CondEns, z_score
    >>> from consilience.datasets import orthogonal_multinomials
    >>> X, given, hidden = orthogonal_multinomials(2, random_state=0)
    >>> model = CondEns(2, center="group", random_state=0)
    >>> z_score(X, [given], model) > 4, z_score(X, [given, hidden], model) < 2
    (True, True)
    """
    check_count("n_null", n_null, 2)
    return z_score_of(*checked(X, given, model), model, n_null, check_seed(random_state))


def z_score_of(
    X: Any, given: Ensemble | None, model: CondEns, n_null: int, seed: int, labels: Ints | None = None
) -> float:
    """:func:`z_score` of checked data and groupings; `labels` are what the model finds in them, where that is known."""
    cells = np.zeros(X.shape[0], np.int32) if given is None else joint(given.labels)
    known = cells >= 0
    if sparse.issparse(X) or X.shape[1] > WIDEST or not known.any():
        return float("nan")
    found = _gain(X, cells, clone(model)._labels(X, given) if labels is None else labels)
    null = []
    for i in range(n_null):
        drawn = null_data(X, cells, known, i, seed)
        try:
            null.append(_gain(drawn, cells, clone(model)._labels(drawn, given)))
        except (NoSplitError, TooSmallError):
            null.append(0.0)
    return float((found - np.mean(null)) / max(float(np.std(null, ddof=1)), 1e-12))


def _gain(X: Floats, cells: NDArray[Any], labels: Ints) -> float:
    """q(C, Z) − q(Z) of some clusters C."""
    return quality_of(X, joint(np.column_stack([cells, labels])), "variance") - quality_of(X, cells, "variance")


def half_of(n_objects: int, split: int, seed: int) -> NDArray[np.bool_]:
    """Which objects are in the first of two random halves."""
    return np.asarray(stream(seed, "alternatives.halves", split).permutation(n_objects) % 2 == 0)


def null_data(X: Floats, cells: NDArray[Any], known: NDArray[Any], number: int, seed: int) -> Floats:
    """Rows drawn around the means of their cells with the covariance inside cells; rows of no cell around the mean of all."""
    rng = stream(seed, "alternatives.null", number)
    means = np.where(known[:, None], group_means(X, cells, int(cells.max()) + 1)[cells], X[known].mean(axis=0))
    residuals = X[known] - means[known]
    with own_threads():  # so that no sum depends on the number of threads
        values, vectors = np.linalg.eigh(residuals.T @ residuals / len(residuals))
        # The symmetric root is one and the same whatever signs and bases the eigenvectors come in.
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return np.asarray(means + rng.normal(size=X.shape) @ root)
