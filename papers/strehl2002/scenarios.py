"""The experiments of Strehl and Ghosh 2002 on data seen in pieces.

* :func:`feature_distributed`: every clusterer sees all objects by a few features.
* :func:`object_distributed`: every clusterer sees some objects by all features; the others are missing.

Every clustering draws from its own stream of random numbers, so it does not depend on how many there are.
"""

from typing import Any

import numpy as np
from sklearn.base import clone

from consilience._check import InputError, check_count, check_seed
from consilience._run.random import stream
from consilience._types import Array, ArrayLike, Ints, RandomState
from consilience.ensemble import Ensemble
from consilience.tables import check_matrix


def feature_distributed(
    X: ArrayLike,
    n_clusters: int,
    *,
    n_views: int = 5,
    n_features: int = 2,
    base: Any = None,
    random_state: RandomState = 0,
) -> Ensemble:
    """Cluster random views of the data: each all objects, by a few features.

    Features are dealt without replacement until all have been used, so that every feature takes part. (The
    slides only say that the subsets are random. Drawn independently, five pairs leave out two of eight features.)

    Parameters
    ----------
    X : (n_objects, n_all_features) array or sparse matrix
    n_clusters : int
    n_views, n_features : int
        The defaults are the slides' for eight features.
    base : scikit-learn clusterer, optional
        None is k-means with ten starts. `n_clusters` and `random_state` are set where it has them.
    random_state : int, generator or None

    Returns
    -------
    Ensemble
        One clustering per view; `info` has the method and the features.

    Examples
    --------
    >>> from consilience.datasets.scenarios import gaussians_8d5k
    >>> from papers.strehl2002.scenarios import feature_distributed
    >>> X, known = gaussians_8d5k(random_state=0)
    >>> feature_distributed(X, 5, random_state=0).info["features"].tolist()
    [[0, 3], [1, 4], [2, 6], [5, 7], [1, 6]]
    """
    X = check_data(X, n_clusters)
    check_count("n_views", n_views)
    check_count("n_features", n_features)
    if n_features > X.shape[1]:
        raise InputError(f"views of {n_features} features need as many; the data has {X.shape[1]}")
    seed = check_seed(random_state)
    features = _subsets(X.shape[1], n_views, n_features, stream(seed, "scenarios"))
    labels = np.empty((X.shape[0], n_views), np.int32)
    for q, chosen in enumerate(features):
        labels[:, q] = _fit(base, X[:, chosen], n_clusters, stream(seed, "scenarios.views", q))
    info = {"method": [_name(base)] * n_views, "features": [chosen.tolist() for chosen in features]}
    return Ensemble(labels, info=info)


def _subsets(n_features: int, n_views: int, size: int, rng: np.random.Generator) -> list[Ints]:
    """Subsets of different features; all are shuffled again when each has been used."""
    unused, views = rng.permutation(n_features), []
    for _ in range(n_views):
        view, unused = unused[:size], unused[size:]
        if len(view) < size:
            fresh = rng.permutation(np.setdiff1d(np.arange(n_features), view))
            unused = rng.permutation(np.concatenate([view, fresh[size - len(view) :]]))
            view = np.concatenate([view, fresh[: size - len(view)]])
        views.append(np.sort(view))
    return views


def object_distributed(
    X: ArrayLike,
    n_clusters: int,
    *,
    n_parts: int = 5,
    coverage: float = 1.25,
    base: Any = None,
    random_state: RandomState = 0,
) -> Ensemble:
    """Cluster overlapping parts of the objects; labels elsewhere are missing.

    The objects are dealt to the parts at random, so that every object is in one; then every part gets objects of the others,
    drawn at random, until the sizes of all parts add up to `coverage` times the number of objects.

    Parameters
    ----------
    X : (n_objects, n_features) array or sparse matrix
    n_clusters : int
        In every part.
    n_parts : int, default 5
    coverage : float, default 1.25
        Between 1 (no overlap, so that nothing tells which clusters belong together) and `n_parts` (all see everything).
    base : scikit-learn clusterer, optional
        As in :func:`feature_distributed`.
    random_state : int, generator or None

    Returns
    -------
    Ensemble
        One clustering per part; `info` has the method and the number of objects.

    Examples
    --------
    >>> from consilience.datasets.scenarios import gaussians_8d5k
    >>> from papers.strehl2002.scenarios import object_distributed
    >>> X, known = gaussians_8d5k(random_state=0)
    >>> object_distributed(X, 5, random_state=0)
    Ensemble: 5 clusterings of 1,000 objects
      clusters  5
      missing   75 % of the labels, in 5 clusterings
      made by   KMeans 5
    """
    X = check_data(X, n_clusters)
    check_count("n_parts", n_parts)
    n = X.shape[0]
    if not 1 <= coverage <= n_parts:
        raise InputError(f"coverage must be between 1 and the number of parts, {n_parts}; got {coverage!r}")
    seed = check_seed(random_state)
    dealt = stream(seed, "scenarios").permutation(np.arange(n) % n_parts)
    extra = np.diff(np.round(np.linspace(0, (coverage - 1) * n, n_parts + 1)).astype(np.int64))
    labels = np.full((n, n_parts), -1, np.int32)
    for q in range(n_parts):
        rng = stream(seed, "scenarios.views", q)
        others = np.flatnonzero(dealt != q)
        borrowed = rng.choice(others, min(extra[q], len(others)), replace=False)
        part = np.sort(np.concatenate([np.flatnonzero(dealt == q), borrowed]))
        if len(part) < n_clusters:
            raise InputError(f"a part of {len(part)} objects has no {n_clusters} clusters; use fewer parts")
        labels[part, q] = _fit(base, X[part], n_clusters, rng)
    info = {"method": [_name(base)] * n_parts, "n_objects": np.count_nonzero(labels >= 0, axis=0)}
    return Ensemble(labels, info=info)


def check_data(X: ArrayLike, n_clusters: int) -> Any:
    """A matrix with at least as many rows as there shall be clusters."""
    check_count("n_clusters", n_clusters)
    X = check_matrix(X)
    if n_clusters > X.shape[0]:
        raise InputError(f"{X.shape[0]} objects cannot fill {n_clusters} clusters")
    return X


def _name(base: Any) -> str:
    return "KMeans" if base is None else type(base).__name__


def _fit(base: Any, X: Any, n_clusters: int, rng: np.random.Generator) -> Array:
    from sklearn.cluster import KMeans

    model = KMeans(n_init=10) if base is None else clone(base)
    settings = {"n_clusters": n_clusters, "random_state": int(rng.integers(2**32))}
    model.set_params(**{name: settings[name] for name in settings.keys() & model.get_params()})
    return np.asarray(model.fit_predict(X))
