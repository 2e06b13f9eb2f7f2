"""Similarities of objects other than Euclidean nearness: k-means and graphs of neighbors by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist

from consilience._types import Floats


def kmeans_by(X: Floats, n_clusters: int, name: str, seed: int) -> NDArray[Any]:
    """K-means with the similarity to the mean in place of the distance; the best of ten starts by mean similarity."""
    from sklearn.cluster import KMeans, kmeans_plusplus

    if name == "euclidean":
        return np.asarray(KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(X))
    similarity, best, most = SIMILARITIES[name], np.zeros(len(X), np.int64), -np.inf
    for start in range(10):
        means, labels = kmeans_plusplus(X, n_clusters, random_state=(seed + start) % 2**32)[0], None
        for _ in range(100):
            found = similarity(X, means)
            new = found.argmax(axis=1)
            if labels is not None and (new == labels).all():
                break
            labels = new
            members = csr_matrix((np.ones(len(X)), (labels, np.arange(len(X)))), (n_clusters, len(X)))
            counts = np.bincount(labels, minlength=n_clusters)[:, None]
            means = np.where(counts > 0, members @ X / np.maximum(counts, 1), means)
        if (value := found.max(axis=1).mean()) > most:
            best, most = new, value
    return best


def neighbors_by(X: Floats, name: str, n_neighbors: int) -> csr_matrix:
    """Similarities of every object with those most similar to it, if positive; block by block of rows."""
    n, count = len(X), min(n_neighbors, len(X) - 1)
    near, values = np.empty((n, count), np.int64), np.empty((n, count))
    step = max(1, 2**24 // n)
    for begin in range(0, n, step):
        rows = np.arange(begin, min(begin + step, n))
        found = SIMILARITIES[name](X[rows], X)
        found[rows - begin, rows] = -np.inf
        near[rows] = np.argpartition(-found, count - 1, axis=1)[:, :count]
        values[rows] = np.take_along_axis(found, near[rows], axis=1)
    graph = csr_matrix((np.maximum(values, 0).ravel(), near.ravel(), np.arange(0, n * count + 1, count)), (n, n))
    graph.eliminate_zeros()
    return graph


def _nearness(X: Floats, Y: Floats) -> Floats:
    return np.asarray(1 / (1 + cdist(X, Y)))


def _cosine(X: Floats, Y: Floats) -> Floats:
    lengths = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))
    return np.divide(X @ Y.T, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _correlation(X: Floats, Y: Floats) -> Floats:
    return _cosine(X - X.mean(axis=1, keepdims=True), Y - Y.mean(axis=1, keepdims=True))


def _extended_jaccard(X: Floats, Y: Floats) -> Floats:
    shared = X @ Y.T
    union = (X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1) - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


SIMILARITIES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "euclidean": _nearness,
    "cosine": _cosine,
    "correlation": _correlation,
    "extended Jaccard": _extended_jaccard,
}
