"""Measured data as counts, so that tables of numbers can be clustered by information too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._check import check_choice, check_count
from consilience.tables import check_matrix

METHODS = ("bins", "neighbors")


def counts_from_data(X: Any, method: str = "bins", *, n_bins: int = 8, n_neighbors: int = 20) -> Any:
    """Counts (CSR) from a table of measurements, for :func:`agree`.

    Parameters
    ----------
    X : (n_objects, n_features) array, DataFrame or Table
        Finite numbers.
    method : {"bins", "neighbors"}
        "bins": every feature is cut into `n_bins` intervals with equally many objects, and an object counts 1 in one interval of each
        feature; columns are intervals. "neighbors": similarities exp(−d² / s²) to the `n_neighbors` nearest objects, s the
        distance to the last of them; columns are objects, and both sides cluster the same ones.
    n_bins, n_neighbors : int

    Examples
    --------
    >>> from consilience.agreement import counts_from_data
    >>> counts_from_data([[0.1, 5.0], [0.2, 6.0], [0.8, 7.0], [0.9, 8.0]], n_bins=2).toarray().astype(int)
    array([[1, 0, 1, 0],
           [1, 0, 1, 0],
           [0, 1, 0, 1],
           [0, 1, 0, 1]])
    """
    check_choice(method, METHODS, "method")
    values = check_matrix(X)
    values = values.toarray() if sparse.issparse(values) else values
    if method == "bins":
        return _bins(values, check_count("n_bins", n_bins, least=2))
    return _neighbors(values, min(check_count("n_neighbors", n_neighbors), len(values) - 1))


def _bins(values: NDArray[np.float64], n_bins: int) -> Any:
    """One-hot intervals of every feature, those that nothing falls into left out."""
    parts = []
    for column in values.T:
        edges = np.unique(np.quantile(column, np.arange(1, n_bins) / n_bins))
        codes = np.unique(np.searchsorted(edges, column, side="right"), return_inverse=True)[1]
        shape = (len(column), int(codes.max()) + 1)
        parts.append(sparse.csr_matrix((np.ones(len(column)), (np.arange(len(column)), codes)), shape=shape))
    return sparse.hstack(parts, format="csr")


def _neighbors(values: NDArray[np.float64], n_neighbors: int) -> Any:
    from sklearn.neighbors import NearestNeighbors

    distance, near = NearestNeighbors(n_neighbors=n_neighbors + 1).fit(values).kneighbors(values)
    reach = np.maximum(distance[:, -1:], np.finfo(float).tiny)
    weight = np.exp(-np.square(distance / reach))
    rows = np.repeat(np.arange(len(values)), n_neighbors + 1)
    return sparse.csr_matrix((weight.ravel(), (rows, near.ravel())), shape=(len(values), len(values)))
