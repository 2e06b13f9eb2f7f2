"""The typed door to the native kernels: contiguous arrays of the right type in, new arrays out.

Each function has a plain NumPy twin of the same name in `tests/oracle`, which is its definition. Kernels release
the GIL and take an explicit number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import consilience._native as _native
from consilience._check import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Labels = NDArray[np.int32]
PRIORS = ("tsb", "fsd")  # truncated stick-breaking, finite symmetric Dirichlet
OBJECTIVES = ("shannon", "quadratic", "normalised")  # of the sweep, in the order of native/sweep.hpp
INITS = ("random", "k-means++", "given")  # of k-means, in the order of native/lloyd.hpp


def contingency(
    a: Labels, b: Labels, shape: tuple[int, int], *, weights: NDArray[Any] | None = None, table: Any = None
) -> NDArray[Any]:
    """Count label pairs of the objects labelled in both; into `table` if given, so that partial counts merge.

    Whole-number `weights` give exact int64 counts, others float64.
    """
    a, b = np.ascontiguousarray(a, np.int32), np.ascontiguousarray(b, np.int32)
    if a.shape != b.shape or a.ndim != 1:
        raise InputError(f"two label vectors of one length are needed; got shapes {a.shape} and {b.shape}")
    if a.size and (a.max() >= shape[0] or b.max() >= shape[1]):
        raise InputError(f"a label is outside the table of shape {shape}")
    whole = weights is None or np.asarray(weights).dtype.kind in "biu"
    if table is None:
        table = np.zeros(shape, np.int64 if whole else np.float64)
    if not whole and table.dtype != np.float64:
        raise InputError(f"fractional weights need a table of float64; got {table.dtype}")
    _check_out(table, (np.int64, np.float64), "table")
    if table.shape != tuple(shape):
        raise InputError(f"the table has shape {table.shape}, not {tuple(shape)}")
    if weights is None:
        _native.contingency(a, b, table)
    else:
        weights = np.ascontiguousarray(weights, table.dtype)
        if weights.shape != a.shape:
            raise InputError(f"{len(a)} objects need as many weights; got shape {weights.shape}")
        _native.contingency(a, b, weights, table)
    return table


def _check_out(array: Any, kinds: tuple[Any, ...], what: str) -> None:
    """Refuse an array that a kernel could not write to in place: it would fill a copy, and the result would be lost."""
    if array.dtype not in kinds or not array.flags.c_contiguous or not array.flags.writeable:
        names = " or ".join(np.dtype(kind).name for kind in kinds)
        raise InputError(f"the {what} must be a writable C-contiguous array of {names}; got {array.dtype}")


def encode_codes(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels (objects × clusterings) as clustering-major codes of the smallest type; missing is its largest value."""
    top = int(labels.max(initial=0)) + 1
    kind = np.uint8 if top < 2**8 else np.uint16 if top < 2**16 else np.uint32
    return np.ascontiguousarray(labels.T.astype(kind))


def pair_sums(
    codes: NDArray[Any],
    clusters: Labels,
    begin: int,
    end: int,
    *,
    term: str,
    missing: bool,
    rows: int | None = None,
    threads: int = 1,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Ints]:
    """Sums over the contingency tables of the pairs (a, b) with a < rows (by default `end`) and begin <= b < end.

    `term` is "square" or "xlogx". Returns arrays of shape (rows, end − begin): the term summed over the cells
    (joint), over the clusters of a (own), over the clusters of b (other), and the number of objects labelled in both.
    Without missing labels the last three are left empty, since they belong to a clustering alone.
    """
    clusters = np.ascontiguousarray(clusters, np.int32)
    if codes.ndim != 2 or codes.dtype not in (np.uint8, np.uint16, np.uint32) or not codes.flags.c_contiguous:
        raise InputError("codes must be a C-contiguous table of uint8, uint16 or uint32, as encode_codes makes it")
    if not 0 <= begin <= end <= len(codes) or len(clusters) < end or clusters.min(initial=0) < 0:
        raise InputError(f"clusterings {begin} … {end - 1} are not among the {min(len(codes), len(clusters))} given")
    if codes.shape[1] >= 2**32:
        raise InputError(f"{codes.shape[1]:,} objects are more than the kernel can number")
    rows = end if rows is None else rows
    if not 0 <= rows <= end:
        raise InputError(f"{rows} rows are not among the first {end} clusterings")
    shape = int(rows), int(end - begin)
    sums = np.empty((3 if missing else 1, *shape), np.uint64 if term == "square" else np.float64)
    known = np.empty(shape if missing else (0, 0), np.int64)
    _native.pair_sums(codes, clusters, int(begin), sums, known, threads)
    nothing = sums[:0]
    return (sums[0], sums[1], sums[2], known) if missing else (sums[0], nothing, nothing, known)


def signatures(labels: Labels) -> tuple[Ints, Ints, Ints]:
    """Equal rows collapsed: the first object of each signature, every object's signature, the number of objects."""
    labels = np.ascontiguousarray(labels, np.int32)
    inverse = np.empty(len(labels), np.int64)
    first, count = _native.signatures(labels, inverse)
    return first, inverse, count


def row_scores(labels: Labels, offsets: Ints, table: Floats, scores: Floats, *, threads: int = 1) -> None:
    """Add to each row's scores (rows × clusters) what the table (labels × clusters) says of every label it has.

    scores[i] += Σ_q table[offsets[q] + labels[i, q]]; a missing label (−1) adds nothing.
    """
    labels, offsets = np.ascontiguousarray(labels, np.int32), np.ascontiguousarray(offsets, np.int64)
    table = np.ascontiguousarray(table, np.float64)
    sizes = np.diff(np.append(offsets[: labels.shape[1]], len(table)))
    if (
        len(sizes) != labels.shape[1]
        or (len(labels) and (labels.max(axis=0) >= sizes).any())
        or offsets.min(initial=0) < 0
    ):
        raise InputError("a label is outside its clustering's part of the table")
    if scores.shape != (len(labels), table.shape[1]):
        raise InputError(f"the scores have shape {scores.shape}, not {(len(labels), table.shape[1])}")
    _check_out(scores, (np.float64,), "scores")
    _native.row_scores(labels, offsets, table, scores, int(threads))


def label_tables(
    columns: Labels,
    offsets: Ints,
    clusters: Labels,
    n_clusters: int,
    *,
    weights: NDArray[Any] | None = None,
    threads: int = 1,
) -> NDArray[Any]:
    """Weight of the rows with every label (of all clusterings, below each other) in every cluster: Σ k_q × n_clusters.

    `columns` is clusterings × rows, `offsets` (one more than clusterings) says where each one's labels begin; missing
    labels and clusters (−1) count nowhere. Whole-number weights give int64 counts, others float64.
    """
    columns, offsets = _check_columns(columns, offsets)
    clusters = np.ascontiguousarray(clusters, np.int32)
    if columns.shape[1:] != clusters.shape or clusters.max(initial=-1) >= n_clusters:
        raise InputError(f"{columns.shape[1]} rows need as many clusters below {n_clusters}")
    whole = weights is None or np.asarray(weights).dtype.kind in "biu"
    table = np.zeros((int(offsets[-1]), n_clusters), np.int64 if whole else np.float64)
    weighed = np.empty(0, table.dtype) if weights is None else np.ascontiguousarray(weights, table.dtype)
    if weights is not None and weighed.shape != clusters.shape:
        raise InputError(f"{len(clusters)} rows need as many weights; got shape {weighed.shape}")
    _native.label_tables(columns, offsets, clusters, weighed, table, int(threads))
    return table


def label_votes(
    columns: Labels, offsets: Ints, owner: Labels, n_clusters: int, *, threads: int = 1
) -> NDArray[np.int32]:
    """How many clusterings vote for each cluster in every row (rows × clusters), by the cluster that `owner` gives each label.

    `columns` and `offsets` as in :func:`label_tables`; missing labels (−1) do not vote.
    """
    columns, offsets = _check_columns(columns, offsets)
    owner = np.ascontiguousarray(owner, np.int32)
    if owner.shape != (offsets[-1],) or owner.min(initial=0) < 0 or owner.max(initial=0) >= n_clusters:
        raise InputError(f"{offsets[-1]} labels need an owner each, from 0 to {n_clusters - 1}")
    votes = np.empty((columns.shape[1], n_clusters), np.int32)
    _native.label_votes(columns, offsets, owner, votes, int(threads))
    return votes


def _check_columns(columns: Labels, offsets: Ints) -> tuple[Labels, Ints]:
    """Clusterings × rows, and where each clustering's labels begin in what is below each other."""
    columns, offsets = np.ascontiguousarray(columns, np.int32), np.ascontiguousarray(offsets, np.int64)
    sizes = np.diff(offsets)
    if len(sizes) != len(columns) or offsets.min(initial=0) < 0 or (sizes < 0).any():
        raise InputError(f"{len(columns)} clusterings need one offset more, in rising order; got {len(offsets)}")
    if columns.size and (columns.max(axis=1) >= sizes).any():
        raise InputError("a label is outside its clustering's part of the table")
    return columns, offsets


def gibbs_sweep(
    labels: Labels,
    offsets: Ints,
    clusters: Labels,
    *,
    n_clusters: int,
    prior: str,
    alpha: float,
    beta: float,
    seed: int,
    unit: int,
) -> tuple[Ints, Ints]:
    """Draw a new cluster for every object from its conditional distribution; `clusters` are changed in place.

    `offsets` number the labels of all clusterings through (r + 1 numbers). Returns the members with each label
    (labels × clusters) and the sizes of the clusters afterwards.
    """
    labels, offsets = _check_gibbs(labels, offsets, clusters, n_clusters)
    table, sizes = np.empty((int(offsets[-1]), n_clusters), np.int64), np.empty(n_clusters, np.int64)
    sticks = PRIORS.index(prior) == 0
    _native.gibbs_sweep(labels, offsets, clusters, sticks, float(alpha), float(beta), seed, unit, table, sizes)
    return table, sizes


def gibbs_conditionals(
    labels: Labels, offsets: Ints, clusters: Labels, *, n_clusters: int, prior: str, alpha: float, beta: float
) -> Floats:
    """Probabilities of the clusters (objects × clusters) for every object, given the clusters of the others."""
    labels, offsets = _check_gibbs(labels, offsets, clusters, n_clusters)
    found = np.empty((len(labels), n_clusters))
    sticks = PRIORS.index(prior) == 0
    _native.gibbs_conditionals(labels, offsets, clusters, sticks, float(alpha), float(beta), found)
    return found


def _check_gibbs(labels: Labels, offsets: Ints, clusters: Labels, n_clusters: int) -> tuple[Labels, Ints]:
    labels, offsets = np.ascontiguousarray(labels, np.int32), np.ascontiguousarray(offsets, np.int64)
    if (
        len(offsets) != labels.shape[1] + 1
        or offsets[0] != 0
        or (labels.max(axis=0, initial=0) >= np.diff(offsets)).any()
    ):
        raise InputError("a label is outside its clustering's part of the table")
    if clusters.shape != (len(labels),) or clusters.min(initial=0) < 0 or clusters.max(initial=0) >= n_clusters:
        raise InputError(f"the sampler needs {len(labels)} clusters in 0 … {n_clusters - 1}")
    _check_out(clusters, (np.int32,), "clusters")
    return labels, offsets


def within_sums(block: Floats, begin: int, labels: Labels, sums: Floats, *, threads: int = 1) -> None:
    """Add the distances of pairs inside each cluster (clusterings × clusters) from one block of the distance matrix.

    `block` holds the distances of objects begin … begin + rows − 1 to objects begin … begin + columns − 1, and
    counts each pair i < j once; `labels` is clusterings × objects.
    """
    if begin < 0 or begin + block.shape[1] > labels.shape[1] or block.shape[0] > block.shape[1]:
        raise InputError("the block reaches beyond the objects")
    if labels.max(initial=-1) >= sums.shape[1] or len(labels) != len(sums):
        raise InputError("the sums have no room for these labels")
    _check_out(sums, (np.float64,), "sums")
    block, labels = np.ascontiguousarray(block, np.float64), np.ascontiguousarray(labels, np.int32)
    _native.within_sums(block, int(begin), labels, sums, threads)


def xlogx(x: Any, *, limit: int = 2**20) -> tuple[Floats, Floats]:
    """φ(x) = x log x of whole numbers and φ(x + 1) − φ(x), from a table up to `limit` and by log beyond."""
    x = np.ascontiguousarray(x, np.uint64).ravel()
    value, rise = np.empty(x.shape), np.empty(x.shape)
    _native.xlogx(x, limit, value, rise)
    return value, rise


def random_bits(seed: int, unit: int, size: int) -> NDArray[np.uint64]:
    """64-bit numbers of the stream (seed, unit)."""
    out = np.empty(size, np.uint64)
    _native.random_bits(seed, unit, out)
    return out


def random_uniform(seed: int, unit: int, size: int) -> Floats:
    """Uniform numbers in [0, 1) of the stream (seed, unit)."""
    out = np.empty(size)
    _native.random_uniform(seed, unit, out)
    return out


def random_below(seed: int, unit: int, n: int, size: int) -> NDArray[np.uint64]:
    """Unbiased whole numbers in [0, n) of the stream (seed, unit)."""
    if n < 1:
        raise InputError(f"there is no whole number in [0, {n})")
    out = np.empty(size, np.uint64)
    _native.random_below(seed, unit, n, out)
    return out


def random_permutation(seed: int, unit: int, n: int) -> Ints:
    """A permutation of 0 … n − 1 from the stream (seed, unit)."""
    out = np.empty(n, np.int64)
    _native.random_permutation(seed, unit, out)
    return out


def merge_clusters(table: Floats, merges: int, *, order: Ints | None = None) -> tuple[Labels, int]:
    """Merge clusters, `merges` times, where the least information is lost; (new label of every cluster, how many are left).

    `table` (clusters × columns) holds their counts. With `order`, a permutation, each cluster in turn takes the nearest free one
    and none merges twice; without, the cheapest pair of all merges first, and merged clusters may merge again.
    """
    table = np.ascontiguousarray(np.asarray(table, np.float64).T)
    k = table.shape[1]
    if not 0 <= merges < k or (table.size and not table.min() >= 0):
        raise InputError(f"{merges} merges need more clusters than {k}, and counts that are not negative")
    order = np.empty(0, np.int64) if order is None else np.ascontiguousarray(order, np.int64)
    if order.size and not np.array_equal(np.sort(order), np.arange(k)):
        raise InputError(f"the order must name each of the {k} clusters once")
    labels = np.empty(k, np.int32)
    return labels, int(_native.merge_clusters(table, order, int(merges), labels))


def has_avx2() -> bool:
    """Whether the wide kernels are in use on this machine."""
    return bool(_native.has_avx2())


def sweep(
    start: Ints,
    column: Labels,
    value: NDArray[Any],
    weight: NDArray[Any],
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
) -> tuple[float, float, int]:
    """One pass of the information engine over the rows in `order`; `labels` are changed in place.

    Returns the objective before and after (without what does not depend on the partition), and the number of moves.
    The arrays are those of `consilience.information.Views`; `group` has shape (0, 0) where columns are not grouped.
    """
    if not (labels.min(initial=0) >= 0 and labels.max(initial=0) < n_clusters and len(labels) == len(weight)):
        raise InputError(f"the sweep needs {len(weight)} labels in 0 … {n_clusters - 1}")
    if order.size and not (order.min() >= 0 and order.max() < len(weight)):
        raise InputError("the order names a row that is not there")
    _check_out(labels, (np.int32,), "labels")
    fits = len(start) == len(weight) + 1 and start[0] == 0 and start[-1] == len(column) and (np.diff(start) >= 0).all()
    if not (fits and len(value) in (0, len(column))):
        raise InputError("the rows and their entries do not fit together")
    width = group.shape[1] if group.size else len(view_of)
    if column.min(initial=0) < 0 or column.max(initial=-1) >= width:
        raise InputError("an entry is in a column that is not there")
    if group.size and not (len(group) == len(scale) and group.min() >= -1 and group.max() < len(view_of)):
        raise InputError("the groups name a view or a column that is not there")
    if len(view_of) and not (view_of[0] >= 0 and view_of[-1] < len(scale) and (np.diff(view_of) >= 0).all()):
        raise InputError("the columns of a view must stand together, and its number exist")
    return tuple(
        _native.sweep(
            start,
            column,
            value,
            weight,
            view_of,
            scale,
            group,
            labels,
            order,
            int(n_clusters),
            OBJECTIVES.index(objective),
            float(temperature),
            float(capacity),
            bool(keep_clusters),
            int(shortlist),
            int(seed),
            int(unit),
            int(block),
            int(threads),
        )
    )


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
    """Run k-means once for every entry of `clusters`, from the stream (seed, unit) of each.

    `X` is a C-contiguous float64 table, or float64 CSR with int32 columns; the contract of values is that of
    `consilience.generation.kmeans`. Returns labels (runs × objects), inertia, steps and seconds of each run.
    """
    runs, (n, d) = len(clusters), X.shape
    weights = np.empty((0, 0)) if weights is None else weights
    starts = np.empty((0, 0), np.int64) if starts is None else starts
    if n < 1 or len(units) != runs or (runs and not (clusters.min() >= 1 and clusters.max() <= n)):
        raise InputError(f"every run needs a stream and between 1 and {n} clusters")
    if weights.size and weights.shape != (runs, d):
        raise InputError(f"the weights have shape {weights.shape}, not {(runs, d)}")
    if starts.size and (
        len(starts) != runs or starts.shape[1] < clusters.max() or starts.min() < 0 or starts.max() >= n
    ):
        raise InputError("the starts name an object that is not there, or too few")
    labels, scores, steps = np.empty((runs, n), np.int32), np.empty((runs, 2)), np.empty(runs, np.int32)
    table = (X.indptr.astype(np.int64), X.indices, X.data, int(d)) if sparse.issparse(X) else (X,)
    how = INITS.index("given" if starts.size else init)
    _native.lloyd(
        *table, clusters, units, weights, starts, how, int(max_iter), int(seed), int(threads), labels, scores, steps
    )
    return labels, scores[:, 0].copy(), steps, scores[:, 1].copy()
