"""Nearest neighbors of objects, and the weighted graph that they make."""

# Wide tables are reduced to principal components first. An edge's weight is the fuzzy union of what its two ends say (McInnes, Healy and
# Melville 2018, the connectivities of scanpy): exp(−(d − ρ) / σ) with ρ the distance to the nearest neighbor and σ such that the weights
# of an object's k neighbors sum to log₂ (k + 1).

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from consilience._check import InputError
from consilience._run.parallel import own_threads
from consilience._types import ArrayLike, Floats, Ints
from consilience.generation.methods.method import Method, Space

if TYPE_CHECKING:
    from consilience.generation.plan import Plan, Spec

MOST_COMPONENTS = 50  # columns that distances are taken on; beyond, principal components
FEWEST_COMPONENTS = 10  # of these, where a clustering draws how many it takes
NARROW = 2000  # safeguard: columns whose covariances are decomposed whole, 32 MB; the components are the same
EXACT = 100_000  # safeguard: objects up to which every distance is looked at: about a minute there
STEPS = 64  # safeguard: halvings in the search for σ, as many as a float has bits and more


@dataclass(frozen=True, eq=False)
class Points(Space):
    """Coordinates in which distances mean something: the columns, or their scores on principal axes (`mean` has those of the mean)."""

    axes: Floats | None = None
    mean: Floats | None = None

    @classmethod
    def of(cls, columns: ArrayLike) -> Points:
        n, d = columns.shape
        kept = min(MOST_COMPONENTS, n - 1, d - 1)
        if d <= MOST_COMPONENTS or kept < 1:
            return cls(_dense(columns))
        from sklearn.decomposition import PCA

        narrow = d <= min(n, NARROW) and not sparse.issparse(columns)
        model = PCA(kept, svd_solver="covariance_eigh" if narrow else "arpack", random_state=0)
        with own_threads():  # the same numbers whatever the number of threads
            scores = np.ascontiguousarray(model.fit_transform(columns))
        axes = model.components_.T.copy()
        return cls(scores, axes, model.mean_ @ axes)

    def transform(self, columns: ArrayLike) -> Floats:
        return _dense(columns) if self.axes is None else np.asarray(columns @ self.axes - self.mean)

    def settle(self, spec: Spec) -> Spec:
        wanted = spec.drawn.get("n_components")
        if wanted is None or self.axes is None or wanted >= self.width:
            return spec if wanted is None else replace(spec, drawn={**spec.drawn, "n_components": float(self.width)})
        return replace(spec, weights=(np.arange(self.width) < wanted).astype(np.int64))


class OnPoints(Method):
    # For methods that take wide tables by their principal components.
    space = "points"

    def fit_space(self, columns: ArrayLike, plan: Plan) -> Space:
        return Points.of(columns)


def _dense(columns: ArrayLike) -> Floats:
    return np.ascontiguousarray(columns.toarray() if sparse.issparse(columns) else columns, float)


def nearest_neighbors(points: Floats, k: int) -> tuple[Floats, Ints]:
    # Distances (n, k) to the k nearest other objects, rising, and their numbers. Up to 100,000 objects by looking at all distances, O(n²
    # d) with no more than a block of them in memory; beyond by NN-descent (Dong et al. 2011), for which pynndescent must be installed.
    n = len(points)
    k = min(k, n - 1)
    if n > EXACT:
        numbers, distances = _descent(points, k + 1)
    else:
        from sklearn.neighbors import NearestNeighbors

        with own_threads():  # ties fall the same way whatever the number of threads
            distances, numbers = NearestNeighbors(n_neighbors=k + 1).fit(points).kneighbors(points)
    # Each object is its own neighbor, but not always the first one: copies of it are as near.
    own = numbers == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    return distances[~own].reshape(n, k).astype(float), numbers[~own].reshape(n, k).astype(np.int64)


def _descent(points: Floats, k: int) -> tuple[Ints, Floats]:
    try:
        from pynndescent import NNDescent
    except ImportError:
        remedy = "pip install pynndescent, or give a graph"
        raise ImportError(f"the neighbors of more than {EXACT:,} objects need pynndescent: {remedy}") from None
    # One job: with more of them its answer is not the same twice.
    return NNDescent(points.astype(np.float32), n_neighbors=k, random_state=0, n_jobs=1).neighbor_graph


def connectivities(distances: Floats, numbers: Ints) -> Any:
    # (n, n) CSR, symmetric; O(n k) time and memory.
    n, k = distances.shape
    beyond = np.maximum(distances - distances[:, :1], 0)
    wanted, low, high, sigma = np.log2(k + 1), np.zeros(n), np.full(n, np.inf), np.ones(n)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for _ in range(STEPS):
            heavy = np.exp(-beyond / sigma[:, None]).sum(axis=1) > wanted
            high, low = np.where(heavy, sigma, high), np.where(heavy, low, sigma)
            sigma = np.where(np.isinf(high), sigma * 2, (low + high) / 2)
        # Where many neighbors are equally near no σ is small enough, and where the others are not, none is zero.
        sigma = np.maximum(sigma, 1e-3 * np.maximum(distances.mean(axis=1), np.finfo(float).tiny))
        weights = np.exp(-beyond / sigma[:, None])
    graph = sparse.csr_matrix((weights.ravel(), numbers.ravel(), np.arange(0, n * k + 1, k)), (n, n))
    graph.sort_indices()
    both = graph.multiply(graph.T)
    return sparse.csr_matrix(graph + graph.T - both)


def check_graph(graph: Any) -> Any:
    """A square matrix of finite weights that are not negative, as a symmetric CSR matrix without a diagonal."""
    matrix = sparse.csr_matrix(graph, dtype=float, copy=True)
    n, width = matrix.shape
    if n != width:
        raise InputError(f"the graph has {n:,} rows and {width:,} columns: give one row and one column per object")
    if matrix.nnz and not (matrix.data.min() >= 0 and np.isfinite(matrix.data.max())):
        raise InputError("the graph has weights that are negative or not finite: give similarities, not distances")
    if not matrix.has_canonical_format:
        matrix.sum_duplicates()
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    if not matrix.nnz:
        raise InputError("the graph has no edges: there is nothing to cluster")
    is_symmetric = abs(matrix - matrix.T).max() <= 1e-9 * matrix.data.max()
    return matrix if is_symmetric else sparse.csr_matrix(matrix.maximum(matrix.T))
