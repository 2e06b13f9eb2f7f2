"""The experiments of Strehl and Ghosh 2002: noisy copies of a partition, and data seen in pieces.

* :func:`noisy_labels`: the controlled experiment.
* :func:`feature_distributed`: every clusterer sees all objects by a few features.
* :func:`object_distributed`: every clusterer sees some objects by all features; the others are missing.

Every clustering draws from its own stream of random numbers, so it does not depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from consilience._check import InputError, check_count, check_seed
from consilience._run.random import stream
from consilience._types import Array, ArrayLike, Floats, Ints, Labels, RandomState
from consilience.ensemble import Ensemble
from consilience.tables import check_matrix


def noisy_labels(
    n_objects: int = 400,
    n_clusters: int = 10,
    n_clusterings: int = 8,
    noise: float = 0.3,
    *,
    sizes: float | Sequence[float] | None = None,
    random_state: RandomState = 0,
) -> tuple[Ensemble, Labels]:
    """Copies of a random partition, each with a share of its labels replaced at random.

    Parameters
    ----------
    n_objects, n_clusters, n_clusterings : int
        The defaults are those of the slides.
    noise : float, default 0.3
        Share of the labels of every copy, 0 … 1, that are drawn anew, uniformly from all clusters. As in the slides the
        new label may be the old one, so noise p changes p (1 − 1/k) of the labels.
    sizes : float or (n_clusters,) sequence, optional
        None for equal sizes; a ratio by which each cluster is smaller than the one before; or the clusters' relative
        sizes. Every cluster has at least one object.
    random_state : int, generator or None

    Returns
    -------
    ensemble : Ensemble
        `info` has the noise.
    known : (n_objects,) int32 array

    Notes
    -----
    Memory about 12 bytes per label.

    Examples
    --------
    >>> from consilience.datasets import noisy_labels
    >>> ensemble, known = noisy_labels(noise=0.2, random_state=0)
    >>> ensemble
    Ensemble: 8 clusterings of 400 objects
      clusters  10
      made by   noisy copy 8
    >>> round(float((ensemble.labels == known[:, None]).mean()), 2)
    0.82
    """
    for name, value in (("n_objects", n_objects), ("n_clusters", n_clusters), ("n_clusterings", n_clusterings)):
        check_count(name, value)
    if not 0 <= noise <= 1:
        raise InputError(f"noise must be a share between 0 and 1; got {noise!r}")
    seed = check_seed(random_state)
    counts = _cluster_sizes(n_objects, n_clusters, sizes)
    known = stream(seed, "scenarios").permutation(np.repeat(np.arange(n_clusters, dtype=np.int32), counts))
    labels = np.repeat(known[:, None], n_clusterings, axis=1)
    n_replaced = round(noise * n_objects)
    for q in range(n_clusterings):
        rng = stream(seed, "scenarios.views", q)
        replaced = rng.choice(n_objects, n_replaced, replace=False, shuffle=False)
        labels[replaced, q] = rng.integers(n_clusters, size=n_replaced, dtype=np.int32)
    info = {"method": ["noisy copy"] * n_clusterings, "noise": [float(noise)] * n_clusterings}
    return Ensemble(labels, info=info), known


def _cluster_sizes(n: int, k: int, sizes: float | Sequence[float] | None) -> Ints:
    """Whole sizes that add up to n, as near to the wanted shares as they come (largest remainders), none empty."""
    if k > n:
        raise InputError(f"{n} objects cannot fill {k} clusters")
    shares = np.ones(k) if sizes is None else np.asarray(sizes, float)
    if shares.ndim == 0:
        shares = shares ** np.arange(k)
    if shares.shape != (k,) or not np.isfinite(shares).all() or (shares <= 0).any():
        raise InputError(f"sizes must be a positive ratio or {k} positive relative sizes; got {sizes!r}")
    wanted = shares / shares.sum() * n
    counts = np.floor(wanted + 1e-9).astype(np.int64)
    counts[np.argsort(counts - wanted, kind="stable")[: n - counts.sum()]] += 1
    while not counts.all():
        counts[counts.argmax()] -= 1
        counts[counts.argmin()] += 1
    return counts


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
    >>> from consilience.datasets.scenarios import feature_distributed, gaussians_8d5k
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
    >>> from consilience.datasets.scenarios import gaussians_8d5k, object_distributed
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


def gaussians_8d5k(
    n_objects: int = 1000, *, cluster_std: float = 0.1, random_state: RandomState = 0
) -> tuple[Floats, Labels]:
    """Draw data like the slides' 8D5K: five Gaussian clusters of equal size in eight dimensions.

    Parameters
    ----------
    n_objects : int, default 1000
    cluster_std : float, default 0.1
        Standard deviation of every cluster in every dimension.
    random_state : int, generator or None

    Returns
    -------
    X : (n_objects, 8) array
    known : (n_objects,) int32 array
        In random order, so that no method gains from the order of the rows.

    Notes
    -----
    The slides give the dimensions and the clusters. They leave open the number of objects, the means and the standard deviation: here the
    means are uniform in the unit cube, and the default one is that at which k-means comes nearest to their NMI: 1.00 on
    all features and .62 to .77 (mean .70) on five pairs of features; here 1.00 and .59 to .83 (mean .71) over ten seeds.

    Examples
    --------
    >>> from consilience.datasets.scenarios import gaussians_8d5k
    >>> X, known = gaussians_8d5k(random_state=0)
    >>> X.shape, sorted(set(known.tolist()))
    ((1000, 8), [0, 1, 2, 3, 4])
    """
    check_count("n_objects", n_objects)
    rng = stream(check_seed(random_state), "datasets.gaussians")
    known = rng.permutation(np.repeat(np.arange(5, dtype=np.int32), _cluster_sizes(n_objects, 5, None)))
    return rng.random((5, 8))[known] + rng.normal(0, cluster_std, (n_objects, 8)), known


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
