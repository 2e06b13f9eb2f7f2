"""Many k-means runs (Lloyd 1982) over one table: feature weights, number of clusters and random stream per run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from consilience import _kernels
from consilience._check import InputError, check_choice, check_count, count, kind_of
from consilience._types import Array, ArrayLike, Floats, Ints, Labels
from consilience.tables import check_matrix

INITS = ("random", "k-means++")


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
    note : str or None
        Something to say of a single run.
    predictor : object with ``label(rows) -> labels``, optional
        Labels new rows, in the columns of a single run (weighted already), as that run would: a small dataclass, registered in
        :mod:`consilience.ensemble.results` so that a clusterer can be saved.

    A clustering of another kind has inertia NaN and −1 steps.
    """

    labels: Labels
    inertia: Floats
    steps: Labels
    seconds: Floats
    note: str | None = None
    predictor: Any = None

    @classmethod
    def of_labels(cls, labels: ArrayLike, note: str | None = None, predictor: Any = None) -> Runs:
        """One clustering that is not k-means."""
        rows, nothing = np.asarray(labels, np.int32)[None], np.array([np.nan])
        return cls(rows, nothing, np.array([-1], np.int32), np.zeros(1), note, predictor)


def check_table(X: ArrayLike) -> ArrayLike:
    """Finite numbers, as the kernel wants them: C-contiguous float64, or CSR. What is so already is not copied."""
    data = check_matrix(X)
    return _sorted_rows(data) if sparse.issparse(data) else np.ascontiguousarray(data)


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
    init: str | ArrayLike = "random",
    max_iter: int = 300,
    threads: int = 1,
    checked: bool = False,
) -> Runs:
    """K-means (Lloyd's algorithm) many times over one table.

    Minimizes Σ_i Σ_j w_j² (x_ij − c_{z(i) j})² over labels z and centers c. Each run stops when no label changes. An
    emptied cluster takes the object farthest from its center. The labels are those of arithmetic in float64: the
    kernel scores in float32 and decides again in float64 where rounding could have mattered.

    Parameters
    ----------
    X : (n_objects, n_features) array or sparse matrix
    n_clusters : int or (runs,) array of int
    weights : (runs, n_features) array, optional
        Features are multiplied by them; not negative. All 1 by default.
    n_runs : int, optional
        How many, where no other argument says it; 1 by default.
    units : (runs,) array of int, optional
        Stream numbers, 0 … runs − 1 by default. Run r depends on (`seed`, units[r]) and its own row of the other
        arguments alone, so any run can be reproduced by itself.
    seed : int
    init : {"random", "k-means++"} or (runs, n_clusters) array of int
        Start from distinct objects drawn at random, or drawn far apart in the weighted space; or the objects to start from
        (with several numbers of clusters, the first of each row count).
    max_iter : int
    threads : int
        Runs are shared out among them; the result does not depend on it.
    checked : bool
        X comes from :func:`check_table`.

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
    >>> found = kmeans_runs(X, 2, weights=[[1, 0], [0, 1]], init=[[0, 2], [0, 1]])
    >>> found.labels.tolist()
    [[0, 0, 1, 1], [0, 1, 0, 1]]
    >>> found.inertia.tolist()
    [1.0, 0.0]
    """
    table = X if checked else check_table(X)
    starts = None if isinstance(init, str) else init
    if isinstance(init, str):
        check_choice(init, INITS, "init")
    runs = _number_of_runs(n_runs, n_clusters=n_clusters, weights=weights, units=units, init=starts)
    clusters = _whole(n_clusters, "n_clusters", np.int32, 1, table.shape[0])
    clusters = np.ascontiguousarray(np.broadcast_to(clusters, runs))
    streams = np.arange(runs, dtype=np.uint64) if units is None else _whole(units, "units", np.uint64, 0, 2**64 - 1)
    given = None if starts is None else _check_starts(starts, clusters, table.shape[0])
    found = _kernels.lloyd(
        table,
        clusters,
        streams,
        weights=None if weights is None else _check_weights(weights, (runs, table.shape[1])),
        starts=given,
        init=init if isinstance(init, str) else INITS[0],
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


def _whole(values: Any, name: str, kind: Any, least: int, most: int) -> Array:
    array = np.asarray(values)
    if array.ndim > 1 or array.dtype.kind not in "iu":
        raise InputError(f"{name} must be a whole number, or one per run; got {kind_of(values)} of {array.dtype}")
    if array.size and not (int(array.min()) >= least and int(array.max()) <= most):
        raise InputError(f"{name} must lie between {least} and {most:,}; got {array.min()} … {array.max()}")
    return np.ascontiguousarray(array, kind)


def _check_weights(weights: Any, shape: tuple[int, int]) -> Floats:
    array = np.ascontiguousarray(weights, np.float64)
    if array.shape != shape:
        raise InputError(
            f"{count(shape[0], 'run')} of {count(shape[1], 'feature')} need weights of shape {shape}; got {array.shape}"
        )
    if array.size and not (array.min() >= 0 and np.isfinite(array.max())):
        raise InputError("feature weights must be finite and not negative")
    return array


def _check_starts(starts: Any, clusters: Labels, n: int) -> Ints:
    array = np.asarray(starts)
    if array.ndim != 2 or array.dtype.kind not in "iu" or array.shape[1] < clusters.max(initial=0):
        raise InputError(f"init must name {clusters.max(initial=0)} objects for each run; got shape {array.shape}")
    if array.size and not (int(array.min()) >= 0 and int(array.max()) < n):
        raise InputError(f"init must be objects 0 … {n - 1:,}; got {array.min()} … {array.max()}")
    return np.ascontiguousarray(array, np.int64)


# Means of the clusters of clusterings.


def cluster_means(table: ArrayLike, labels: Labels, sizes: Ints | None = None) -> tuple[Floats, Ints, Ints]:
    """The means of all clusters of some clusterings one below the other, their numbers of objects, and how many each has.

    Parameters
    ----------
    table : (n_objects, n_columns) array or CSR matrix
    labels : (n_objects, n_clusterings) int array
        −1 where an object has no label.
    sizes : (n_clusterings,) int array, optional
        Numbers of clusters, where the last ones may have no object.

    Returns
    -------
    means : (all clusters, n_columns) array
        0 for a cluster without objects.
    counts : (all clusters,) int array
    sizes : (n_clusterings,) int array

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.generation.kmeans import cluster_means
    >>> means, counts, sizes = cluster_means(np.array([[1.0], [3.0], [8.0]]), np.array([[0, 0], [0, 1], [1, -1]]))
    >>> means.ravel().tolist(), counts.tolist(), sizes.tolist()
    ([2.0, 8.0, 1.0, 3.0], [2, 1, 1, 1], [2, 2])
    """
    if sizes is None:
        sizes = labels.max(axis=0).astype(np.int64) + 1
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    rows, which = np.nonzero(labels >= 0)
    numbers = labels[rows, which] + offsets[which]
    members = sparse.csr_array((np.ones(len(rows)), (numbers, rows)), (int(offsets[-1]), len(labels)))
    sums = members @ table
    means = np.asarray(sums.todense() if sparse.issparse(sums) else sums)
    counts = np.bincount(numbers, minlength=len(means))
    return means / np.maximum(counts, 1)[:, None], counts, sizes
