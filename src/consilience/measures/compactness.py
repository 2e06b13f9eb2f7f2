"""Compactness: the mean distance inside clusters, on the data itself."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from consilience import _kernels
from consilience._check import InputError, check_choice, check_labels, check_same_index
from consilience._run.parallel import n_threads
from consilience._run.progress import track
from consilience._types import Floats, Ints
from consilience.ensemble import Ensemble, check_same_objects
from consilience.tables import check_matrix

BLOCK = 2**22  # safeguard: memory; distances held at once: 32 MB


def compactness(
    X: Any, labels: Any, *, metric: str = "euclidean", n_jobs: int | None = None, progress: bool | None = None
) -> Any:
    """Mean distance between objects of the same cluster, clusters weighted by size (Caruana et al. 2006, Eq. 3).

    (1/N) Σ_c N_c · [mean of d(i, j) over the pairs i < j in cluster c]. Small is compact. Objects missing in a
    clustering are left out of it; a cluster of one object has no pair and adds 0. NaN if every label is missing.

    Parameters
    ----------
    X : (n_objects, n_features) array or sparse matrix, or (n_objects, n_objects) distances
        Always the original data, whatever weights made the clusterings.
    labels : label vector, or Ensemble
    metric : {"euclidean", "precomputed"}
        "precomputed" takes X as the distance matrix: not negative, symmetric, 0 on the diagonal.
    n_jobs : int, optional
        Threads.
    progress : bool, optional
        Show a bar; by default only on a terminal.

    Returns
    -------
    float for a label vector, (n_clusterings,) array for an Ensemble

    Notes
    -----
    Exact. Distances are made in blocks of 32 MB and shared by all the clusterings: O(n² d) for them and O(n² m) to
    sum; a single clustering needs only the distances inside its clusters.

    Examples
    --------
    >>> from consilience.measures import compactness
    >>> compactness([[0.0], [2.0], [9.0], [9.0]], [0, 0, 1, 1])
    1.0
    """
    check_choice(metric, ("euclidean", "precomputed"), "metric")
    threads = n_threads(n_jobs)
    if metric == "precomputed":
        data, distances = check_matrix(X, kind="distances", what="the distance matrix"), _given_distances
    else:
        data = check_matrix(X)
        distances = _sparse_distances if sparse.issparse(data) else _dense_distances
    ens = labels if isinstance(labels, Ensemble) else None
    codes = check_labels(labels)[:, None] if ens is None else ens.labels
    if len(codes) != data.shape[0]:
        raise InputError(f"the data has {data.shape[0]} objects and the labels {len(codes)}; they must be the same")
    check_same_index(X, labels) if ens is None else check_same_objects(ens, X)
    # Sorted by the first clustering, a lone clustering's clusters are runs of objects.
    order = np.argsort(codes[:, 0], kind="stable")
    order = order[(codes[order] >= 0).any(axis=1)]
    table = np.ascontiguousarray(codes[order].T)
    sums = np.zeros((len(table), int(table.max(initial=0)) + 1))
    spans = list(_spans(table))
    for begin, rows, end in track(spans, len(spans), "compactness", progress):
        block = distances(data, order[begin : begin + rows], order[begin:end])
        _kernels.within_sums(block, begin, table, sums, threads=threads)
    values = np.array([_weigh(row, codes) for row, codes in zip(sums, table, strict=True)])
    return float(values[0]) if ens is None else values


def _weigh(sums: Floats, codes: NDArray[np.int32]) -> float:
    """Σ_c N_c · sum_c / (N_c (N_c − 1) / 2) / N."""
    size = np.bincount(codes[codes >= 0], minlength=len(sums))
    inside = np.where(size > 1, 2 * sums / np.maximum(size - 1, 1), 0.0)
    return float(inside.sum() / size.sum()) if size.any() else float("nan")


def _spans(table: NDArray[np.int32]) -> Iterator[tuple[int, int, int]]:
    """Blocks of rows, (begin, number of rows, end of columns), that together hold every pair that matters."""
    begin, n = 0, table.shape[1]
    while begin < n:
        rows, end = max(1, min(n - begin, BLOCK // (n - begin))), n
        if len(table) == 1:
            end = int(np.searchsorted(table[0], table[0, begin + rows - 1], side="right"))
        yield begin, rows, end
        begin += rows


def _dense_distances(data: Any, rows: Any, columns: Any) -> Floats:
    return np.asarray(cdist(data[rows], data[columns]))


def _sparse_distances(data: Any, rows: Any, columns: Any) -> Floats:
    """|x − y|² = |x|² + |y|² − 2 x·y, and by the difference itself where that loses digits."""
    left, right = data[rows], data[columns]
    scale = _squares(left)[:, None] + _squares(right)
    squares = scale - 2 * (left @ right.T).toarray()
    i, j = np.nonzero(squares < 1e-4 * scale)
    for begin in range(0, len(i), 2**14):
        some = slice(begin, begin + 2**14)
        squares[i[some], j[some]] = _squares(left[i[some]] - right[j[some]])
    return np.sqrt(np.maximum(squares, 0.0))


def _squares(rows: Any) -> Floats:
    return np.asarray(rows.multiply(rows).sum(axis=1), float).ravel()


def _given_distances(data: Any, rows: Any, columns: Any) -> Floats:
    return np.asarray(data[np.ix_(rows, columns)])


# Scikit-learn's scores of clusterings on the data, for every clustering of an ensemble on the same objects.


def silhouettes(
    X: Any, ens: Ensemble, objects: Ints, *, metric: str = "euclidean", progress: bool | None = None
) -> Floats:
    """Mean silhouette of some objects in every clustering, NaN unless it has 2 … n − 1 clusters of them."""
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
    return _each(ens, objects, "Davies–Bouldin", progress, lambda at, labels: davies_bouldin_score(some[at], labels))


def _each(ens: Ensemble, objects: Ints, what: str, progress: bool | None, of: Callable[..., float]) -> Floats:
    """``of(places, labels)`` of every clustering's labeled objects among some; NaN unless 2 … n − 1 clusters are left."""
    values = np.full(ens.n_clusterings, np.nan)
    for j, column in enumerate(track(ens.labels[objects].T, ens.n_clusterings, what, progress)):
        places = np.flatnonzero(column >= 0)
        if 2 <= len(np.unique(column[places])) < len(places):
            values[j] = of(places, column[places])
    return values
