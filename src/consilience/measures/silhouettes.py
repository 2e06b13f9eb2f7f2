"""Scikit-learn's scores of clusterings on the data, for every clustering of an ensemble on the same objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from consilience._run.progress import track
from consilience._types import Floats, Ints
from consilience.ensemble import Ensemble


def silhouettes(
    X: Any, ens: Ensemble, objects: Ints, *, metric: str = "euclidean", progress: bool | None = None
) -> Floats:
    """Mean silhouette of some objects in every clustering, NaN unless it has 2 … n − 1 clusters of them.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> silhouettes(X, cs.Ensemble([[0, 0, 1, 1], [0, 1, 0, 1]]), np.arange(4)).round(2).tolist()
    [0.89, -0.44]
    """
    from sklearn.metrics import pairwise_distances, silhouette_score

    if metric == "precomputed":
        distances = X[np.ix_(objects, objects)]
    else:
        distances = pairwise_distances(X[objects])
        np.fill_diagonal(distances, 0)

    def of(places: Any, labels: Any) -> float:
        return float(silhouette_score(distances[np.ix_(places, places)], labels, metric="precomputed"))

    return _each(ens, objects, "silhouette", progress, of)


def davies_bouldins(X: Any, ens: Ensemble, objects: Ints, *, progress: bool | None = None) -> Floats:
    """The index of Davies and Bouldin of some objects in every clustering; small is good."""
    from sklearn.metrics import davies_bouldin_score

    some = X[objects].toarray() if sparse.issparse(X) else X[objects]
    return _each(
        ens, objects, "Davies–Bouldin", progress, lambda places, labels: davies_bouldin_score(some[places], labels)
    )


def _each(ens: Ensemble, objects: Ints, what: str, progress: bool | None, of: Callable[..., float]) -> Floats:
    """``of(places, labels)`` of every clustering's labeled objects among some; NaN unless 2 … n − 1 clusters are left."""
    values = np.full(ens.n_clusterings, np.nan)
    for j, column in enumerate(track(ens.labels[objects].T, ens.n_clusterings, what, progress)):
        places = np.flatnonzero(column >= 0)
        if 2 <= len(np.unique(column[places])) < len(places):
            values[j] = of(places, column[places])
    return values
