"""Many k-means runs (Lloyd 1982) over one table: feature weights, number of clusters and random stream per run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience import _kernels
from consilience._check import InputError, check_choice, check_count, count, kind_of
from consilience.tables import check_matrix


@dataclass(frozen=True)
class Prepared:
    """A checked table, as `prepare` makes it: float64, C-contiguous or CSR."""

    X: Any

    @property
    def n_objects(self) -> int:
        """Rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Columns."""
        return int(self.X.shape[1])


@dataclass(frozen=True)
class Runs:
    """What came of many k-means runs.

    Attributes
    ----------
    labels : (runs, n_objects) int32 array
        0 … k − 1, all of them used where there are as many distinct objects.
    inertia : (runs,) array
        Squared distances to the means of the clusters, summed, in the weighted space.
    steps : (runs,) int32 array
        Passes over the objects, the last of which changed nothing; `max_iter` where it was cut short.
    seconds : (runs,) array
        Wall time of each run.
    """

    labels: NDArray[np.int32]
    inertia: NDArray[np.float64]
    steps: NDArray[np.int32]
    seconds: NDArray[np.float64]


def prepare(X: Any) -> Prepared:
    """Check a table once for many calls of `kmeans_runs`.

    Parameters
    ----------
    X : (n_objects, n_features) array or sparse matrix
        Finite numbers. A C-contiguous float64 array is kept, not copied.

    Examples
    --------
    >>> from consilience.generation.kmeans import prepare
    >>> prepare([[0, 1], [2, 3], [4, 5]]).n_objects
    3
    """
    if isinstance(X, Prepared):
        return X
    data = check_matrix(X)
    return Prepared(_sorted_rows(data) if sparse.issparse(data) else np.ascontiguousarray(data))


def _sorted_rows(data: Any) -> Any:
    """CSR without duplicates, int32 columns; the caller's own stays as it was."""
    if data.shape[1] >= 2**31:
        raise InputError(f"{data.shape[1]:,} features are more than k-means can number")
    if not data.has_canonical_format:
        data = data.copy()
        data.sum_duplicates()
    rows = sparse.csr_matrix(data.shape, dtype=np.float64)
    rows.data = np.ascontiguousarray(data.data)
    rows.indices, rows.indptr = data.indices.astype(np.int32, copy=False), data.indptr
    return rows


def kmeans_runs(
    X: Any,
    n_clusters: Any,
    *,
    weights: Any = None,
    n_runs: int | None = None,
    units: Any = None,
    seed: int = 0,
    init: str = "random",
    starts: Any = None,
    max_iter: int = 300,
    threads: int = 1,
) -> Runs:
    """K-means (Lloyd's algorithm) many times over one table.

    Minimizes Σ_i Σ_j w_j² (x_ij − c_{z(i) j})² over labels z and centers c. Each run stops when no label changes. An
    emptied cluster takes the object farthest from its center. The labels are those of arithmetic in float64: the
    kernel scores in float32 and decides again in float64 where rounding could have mattered.

    Parameters
    ----------
    X : (n_objects, n_features) array or sparse matrix, or what `prepare` made of it
    n_clusters : int or (runs,) array of int
    weights : (runs, n_features) array, optional
        Features are multiplied by them; not negative. All 1 by default.
    n_runs : int, optional
        How many, where no other argument says it; 1 by default.
    units : (runs,) array of int, optional
        Stream numbers, 0 … runs − 1 by default. Run r depends on (`seed`, units[r]) and its own row of the other
        arguments alone, so any run can be made again by itself.
    seed : int
    init : {"random", "k-means++"}
        Start from distinct objects drawn at random, or drawn far apart in the weighted space.
    starts : (runs, n_clusters) array of int, optional
        Objects to start from, instead of `init`; with several numbers of clusters, the first of each row count.
    max_iter : int
    threads : int
        Runs are shared out among them; the result does not depend on it.

    Returns
    -------
    Runs

    Notes
    -----
    O(steps · n · k · d) for each run at worst.

    Examples
    --------
    >>> from consilience.generation.kmeans import kmeans_runs
    >>> X = [[0.0, 9.0], [1.0, 0.0], [8.0, 9.0], [9.0, 0.0]]
    >>> found = kmeans_runs(X, 2, weights=[[1, 0], [0, 1]], starts=[[0, 2], [0, 1]])
    >>> found.labels.tolist()
    [[0, 0, 1, 1], [0, 1, 0, 1]]
    >>> found.inertia.tolist()
    [1.0, 0.0]
    """
    table = prepare(X)
    check_choice(init, ("random", "k-means++"), "init")
    runs = _number_of_runs(n_runs, n_clusters=n_clusters, weights=weights, units=units, starts=starts)
    clusters = _whole(n_clusters, "n_clusters", np.int32, 1, table.n_objects)
    clusters = np.ascontiguousarray(np.broadcast_to(clusters, runs))
    streams = np.arange(runs, dtype=np.uint64) if units is None else _whole(units, "units", np.uint64, 0, 2**64 - 1)
    given = None if starts is None else _check_starts(starts, clusters, table.n_objects)
    found = _kernels.lloyd(
        table.X,
        clusters,
        streams,
        weights=None if weights is None else _check_weights(weights, (runs, table.n_features)),
        starts=given,
        init=init,
        max_iter=check_count("max_iter", max_iter),
        seed=check_count("seed", seed, 0),
        threads=check_count("threads", threads),
    )
    return Runs(*found)


def _number_of_runs(n_runs: int | None, **given: Any) -> int:
    """How many runs the arguments with one row per run agree on."""
    lengths = {name: len(value) for name, value in given.items() if value is not None and np.ndim(value)}
    if n_runs is not None:
        lengths["n_runs"] = check_count("n_runs", n_runs, 0)
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} for {length:,}" for name, length in lengths.items())
        raise InputError(f"the number of runs is not clear: {said}")
    return next(iter(lengths.values()), 1)


def _whole(values: Any, name: str, kind: Any, least: int, most: int) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim > 1 or array.dtype.kind not in "iu":
        raise InputError(f"{name} must be a whole number, or one per run; got {kind_of(values)} of {array.dtype}")
    if array.size and not (int(array.min()) >= least and int(array.max()) <= most):
        raise InputError(f"{name} must lie between {least} and {most:,}; got {array.min()} … {array.max()}")
    return np.ascontiguousarray(array, kind)


def _check_weights(weights: Any, shape: tuple[int, int]) -> NDArray[np.float64]:
    array = np.ascontiguousarray(weights, np.float64)
    if array.shape != shape:
        raise InputError(
            f"{count(shape[0], 'run')} of {count(shape[1], 'feature')} need weights of shape {shape}; got {array.shape}"
        )
    if array.size and not (array.min() >= 0 and np.isfinite(array.max())):
        raise InputError("feature weights must be finite and not negative")
    return array


def _check_starts(starts: Any, clusters: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    array = np.asarray(starts)
    if array.ndim != 2 or array.dtype.kind not in "iu" or array.shape[1] < clusters.max(initial=0):
        raise InputError(f"starts must name {clusters.max(initial=0)} objects for each run; got shape {array.shape}")
    if array.size and not (int(array.min()) >= 0 and int(array.max()) < n):
        raise InputError(f"starts must be objects 0 … {n - 1:,}; got {array.min()} … {array.max()}")
    return np.ascontiguousarray(array, np.int64)
