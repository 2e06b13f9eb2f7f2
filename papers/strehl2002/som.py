"""A self-organizing map (Kohonen 1982) as a clusterer: each unit of a small grid also moves its neighbors.

Batch rule: with u(i) the unit nearest to object i and h(u, v) = exp(−d(u, v)² / 2σ²) on the grid, every unit becomes
m_v = Σ_i h(u(i), v) x_i / Σ_i h(u(i), v), while σ falls from half the grid's length to a third of a step.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from consilience._check import InputError, check_seed
from consilience._types import ArrayLike, Floats, Labels, RandomState

LAST = 1 / 3  # width of the neighborhood in the end, in steps of the grid: h is 0.01 at the next unit


class SOM(ClusterMixin, BaseEstimator):
    """Self-organizing map with one unit per cluster, on the grid nearest to a square.

    Parameters
    ----------
    n_clusters : int, default 8
        Units; 12 are a 3 × 4 grid, a prime number is a chain.
    max_iter : int, default 30
        Passes over the data.
    random_state : int, generator or None
        For the start: objects drawn as for k-means++.

    Attributes
    ----------
    labels_ : (n_objects,) array
        The nearest unit; a unit may stay without objects.
    cluster_centers_ : (n_clusters, n_features) array
    grid_ : tuple of int
    n_iter_ : int

    Examples
    --------
    >>> from papers.strehl2002.som import SOM
    >>> SOM(n_clusters=2, random_state=0).fit_predict([[0.0], [0.1], [5.0], [5.1]]).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """

    def __init__(self, n_clusters: int = 8, *, max_iter: int = 30, random_state: RandomState = None) -> None:
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> SOM:
        """Learn the units of `X`, dense (n_objects, n_features). Cost O(max_iter · n · features · units)."""
        from sklearn.cluster import kmeans_plusplus

        X = validate_data(self, X, dtype=float)
        if self.n_clusters < 1 or self.n_clusters > len(X):
            raise InputError(f"a map of {self.n_clusters} units needs as many objects; there are {len(X)}")
        self.grid_, squared = _grid(self.n_clusters)
        seed = check_seed(self.random_state) % 2**32
        units = _along_grid(kmeans_plusplus(X, self.n_clusters, random_state=seed)[0])
        for width in np.geomspace(max(max(self.grid_) / 2, LAST), LAST, self.max_iter):
            units = _learn(X, units, np.exp(-squared / (2 * width**2)))
        self.cluster_centers_, self.n_iter_ = units, self.max_iter
        self.labels_ = _nearest(X, units)
        return self

    def predict(self, X: ArrayLike) -> Labels:
        """The nearest unit of each row of `X`."""
        check_is_fitted(self)
        return _nearest(validate_data(self, X, dtype=float, reset=False), self.cluster_centers_)


def _nearest(X: Floats, units: Floats) -> Labels:
    from sklearn.metrics import pairwise_distances_argmin

    return np.asarray(pairwise_distances_argmin(X, units), np.int32)


def _grid(n_units: int) -> tuple[tuple[int, int], Floats]:
    """Sides of the grid, and the squared distances of its units."""
    height = max(side for side in range(1, int(np.sqrt(n_units)) + 1) if n_units % side == 0)
    places = np.stack(np.divmod(np.arange(n_units), n_units // height), axis=1)
    return (height, n_units // height), ((places[:, None] - places[None]) ** 2).sum(axis=2).astype(float)


def _along_grid(units: Floats) -> Floats:
    """Units in the order of their first principal component, so that the map starts untwisted."""
    centered = units - units.mean(axis=0)
    return np.asarray(units[np.argsort(centered @ np.linalg.svd(centered, full_matrices=False)[2][0], kind="stable")])


def _learn(X: Floats, units: Floats, influence: Floats) -> Floats:
    nearest = _nearest(X, units)
    sums, counts = np.zeros_like(units), np.bincount(nearest, minlength=len(units))
    np.add.at(sums, nearest, X)
    total = influence @ counts
    return np.where(total[:, None] > 0, influence @ sums / np.where(total > 0, total, 1)[:, None], units)
