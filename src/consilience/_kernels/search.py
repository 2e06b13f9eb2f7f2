"""Searches: moves of objects, merges of clusters, k-means."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import consilience._native as _native
from consilience._check import InputError
from consilience._kernels.numbers import check_out
from consilience._types import Array, Floats, Ints, Labels

OBJECTIVES = ("shannon", "quadratic", "normalized")  # of the sweep
INITS = ("random", "k-means++", "given")  # of k-means, in the order of native/lloyd.hpp


def merge_clusters(table: Floats, merges: int, *, order: Ints | None = None) -> tuple[Labels, int]:
    """Merge clusters, `merges` times, where the least information is lost; (new label of every cluster, how many are left)."""
    # `table` (clusters × columns) holds their counts. With `order`, a permutation, each cluster in turn takes the nearest free one and none
    # merges twice; without, the cheapest pair of all merges first, and merged clusters may merge again.
    table = np.ascontiguousarray(np.asarray(table, np.float64).T)
    k = table.shape[1]
    if not 0 <= merges < k or (table.size and not table.min() >= 0):
        raise InputError(f"{merges} merges need more clusters than {k}, and counts that are not negative")
    order = np.empty(0, np.int64) if order is None else np.ascontiguousarray(order, np.int64)
    if order.size and not np.array_equal(np.sort(order), np.arange(k)):
        raise InputError(f"the order must name each of the {k} clusters once")
    labels = np.empty(k, np.int32)
    return labels, int(_native.merge_clusters(table, order, int(merges), labels))


def sweep(
    start: Ints,
    column: Labels,
    value: Array,
    weight: Array,
    view_of: Labels,
    scale: Floats,
    group: Labels,
    labels: Labels,
    order: Ints,
    *,
    n_clusters: int,
    objective: str,
    temperature: float = 0.0,
    capacity: float = np.inf,
    keep_clusters: bool = True,
    shortlist: int = 0,
    seed: int = 0,
    unit: int = 0,
    block: int = 1,
    threads: int = 1,
    fixed: int = 0,
) -> tuple[float, float, int]:
    """One pass of the information engine over the rows in `order`; `labels` are changed in place."""
    # Returns the objective before and after (without what does not depend on the partition), and the number of moves.
    # The arrays are those of `consilience.engine.views.Views`; `group` has shape (0, 0) where columns are not
    # grouped. The last `fixed` rows stand for what clusters hold elsewhere, and never move.
    if not (labels.min(initial=0) >= 0 and labels.max(initial=0) < n_clusters and len(labels) == len(weight)):
        raise InputError(f"the sweep needs {len(weight)} labels in 0 … {n_clusters - 1}")
    if not 0 <= fixed <= len(weight) or (order.size and not (order.min() >= 0 and order.max() < len(weight) - fixed)):
        raise InputError("the order names a row that is not there, or one that is fixed")
    check_out(labels, (np.int32,), "labels")
    _check_rows(start, column, value, weight, group.shape[1] if group.size else len(view_of))
    if group.size and not (len(group) == len(scale) and group.min() >= -1 and group.max() < len(view_of)):
        raise InputError("the groups name a view or a column that is not there")
    if len(view_of) and not (view_of[0] >= 0 and view_of[-1] < len(scale) and (np.diff(view_of) >= 0).all()):
        raise InputError("the columns of a view must stand together, and its number exist")
    options = _native.SweepOptions()
    options.clusters, options.objective = int(n_clusters), getattr(_native.Objective, objective)
    options.temperature, options.capacity = float(temperature), float(capacity)
    options.keep_clusters = bool(keep_clusters)
    options.shortlist, options.block, options.threads = int(shortlist), int(block), int(threads)
    options.seed, options.unit, options.fixed = int(seed), int(unit), int(fixed)
    return tuple(_native.sweep(start, column, value, weight, view_of, scale, group, labels, order, options))


def sum_rows(start: Ints, column: Labels, value: Array, weight: Array, group: Labels) -> tuple[Ints, Labels, Array]:
    """The rows of a sweep over one view, summed by its groups of columns (−1: left out): their `start`, `column` and `value`."""
    _check_rows(start, column, value, weight, len(group))
    if group.min(initial=0) < -1:
        raise InputError("the groups name a column that is not there")
    summed = np.empty(len(start), np.int64), np.empty(len(column), np.int32), np.empty(len(column), weight.dtype)
    size = _native.sum_rows(start, column, value, weight, group, int(group.max(initial=-1)) + 1, *summed)
    return summed[0], summed[1][:size], summed[2][:size]


def _check_rows(start: Ints, column: Labels, value: Array, weight: Array, width: int) -> None:
    fits = len(start) == len(weight) + 1 and start[0] == 0 and start[-1] == len(column) and (np.diff(start) >= 0).all()
    if not (fits and len(value) in (0, len(column))):
        raise InputError("the rows and their entries do not fit together")
    if column.min(initial=0) < 0 or column.max(initial=-1) >= width:
        raise InputError("an entry is in a column that is not there")


def allocate(
    start: Ints,
    column: Labels,
    value: Labels,
    weight: Labels,
    scale: Floats,
    labels: Labels,
    order: Ints,
    *,
    square: bool,
    limit: int,
    passes: int,
) -> tuple[int, float]:
    """Put items, in `order`, where Σ_y scale_y Σ_c f(T_yc) is least, until none moves; `labels` are changed in place."""
    # T_yc is the weight of cluster c in column y, f(x) = x² (`square`) or x log x. Entries `start[i]` … of `column` are
    # the columns of item i, their weights `value`, or where that is empty `weight[i]`. A label of −1 is an item that
    # has no cluster yet; there are at most `limit` clusters. Returns the number of moves, and the sum.
    if not (labels.min(initial=0) >= -1 and labels.max(initial=-1) < limit and len(labels) == len(weight)):
        raise InputError(f"allocation needs {len(weight)} labels in -1 … {limit - 1}")
    if order.size and not (order.min() >= 0 and order.max() < len(weight)):
        raise InputError("the order names an item that is not there")
    check_out(labels, (np.int32,), "labels")
    _check_rows(start, column, value, weight, len(scale))
    total = int(weight.sum(dtype=np.int64))
    if weight.min(initial=1) < 1 or value.min(initial=1) < 1 or total >= 2**31:
        raise InputError("weights must be at least 1, and sum to less than 2³¹")
    how = bool(square), int(limit), int(passes), total
    moves, found = _native.allocate(start, column, value, weight, scale, labels, order, *how)
    return int(moves), float(found)


def lloyd(
    X: Any,
    clusters: Labels,
    units: NDArray[np.uint64],
    *,
    weights: Floats | None = None,
    starts: Ints | None = None,
    init: str = "random",
    max_iter: int = 300,
    seed: int = 0,
    threads: int = 1,
) -> tuple[Labels, Floats, Labels, Floats]:
    """Run k-means once for every entry of `clusters`, from the stream (seed, unit) of each."""
    # `X` is a C-contiguous float64 table, or float64 CSR with int32 columns; the contract of values is that of
    # `consilience.generation.kmeans`. Returns labels (runs × objects), inertia, steps and seconds of each run.
    runs, (n, d) = len(clusters), X.shape
    weights = np.empty((0, 0)) if weights is None else weights
    starts = np.empty((0, 0), np.int64) if starts is None else starts
    if n < 1 or len(units) != runs or (runs and not (clusters.min() >= 1 and clusters.max() <= n)):
        raise InputError(f"every run needs a stream and between 1 and {n} clusters")
    if weights.size and weights.shape != (runs, d):
        raise InputError(f"the weights have shape {weights.shape}, not {(runs, d)}")
    short = starts.size and (len(starts) != runs or starts.shape[1] < clusters.max())
    if short or starts.min(initial=0) < 0 or starts.max(initial=0) >= n:
        raise InputError("the starts name an object that is not there, or too few")
    labels, scores, steps = np.empty((runs, n), np.int32), np.empty((runs, 2)), np.empty(runs, np.int32)
    table = (X.indptr.astype(np.int64), X.indices, X.data, int(d)) if sparse.issparse(X) else (X,)
    how = INITS.index("given" if starts.size else init), int(max_iter), int(seed), int(threads)
    _native.lloyd(*table, clusters, units, weights, starts, *how, labels, scores, steps)
    return labels, scores[:, 0].copy(), steps, scores[:, 1].copy()
