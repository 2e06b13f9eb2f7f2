"""Rows of labels: collapsed, counted against clusters, scored, voted on, sampled."""

import numpy as np
from numpy.typing import NDArray

import consilience._native as _native
from consilience._check import InputError
from consilience._kernels.numbers import check_out, labels_fit
from consilience._types import Array, Floats, Ints, Labels

Colors = NDArray[np.uint64]
PRIORS = ("tsb", "fsd")  # truncated stick-breaking, finite symmetric Dirichlet


def signatures(labels: Labels) -> tuple[Ints, Ints, Ints]:
    """Equal rows collapsed: the first object of each signature, every object's signature, the number of objects."""
    # Labels of one or two bytes stay as they are; others are taken as int32.
    rows = _as_bytes(labels)
    inverse = np.empty(len(rows), np.int64)
    first, count = _native.signatures(rows, inverse)
    return first, inverse, count


def distinct_rows(labels: Labels) -> tuple[Ints, Ints]:
    """The first object of each distinct row, and the number of objects: :func:`signatures` without those of the objects."""
    first, count = _native.signatures(_as_bytes(labels), np.empty(0, np.int64))
    return first, count


def slots_of(rows: Labels) -> NDArray[np.uint32]:
    """What :func:`find_rows` needs beside distinct rows of labels to find them again: 8 to 16 bytes a row."""
    slots: NDArray[np.uint32] = _native.slots_of(_as_bytes(rows))
    return slots


def find_rows(rows: Labels, slots: NDArray[np.uint32], wanted: Labels) -> Ints:
    """(n,) the number of each wanted row among distinct rows of labels, −1 where it is none of them."""
    # Both have labels of the same type, and `slots` are what `slots_of` makes of `rows`.
    here, there, slots = _as_bytes(wanted), _as_bytes(rows), np.ascontiguousarray(slots, np.uint32)
    n = len(slots)
    if here.shape[1] != there.shape[1] or np.asarray(rows).itemsize != np.asarray(wanted).itemsize:
        raise InputError(f"rows of {here.shape[1]} bytes cannot be found among rows of {there.shape[1]}")
    if n < 2 * len(there) or n < 1 or n & (n - 1) or (slots + np.uint32(1)).max() > len(there):
        raise InputError("rows are found by the slots that slots_of made of them")
    found = np.empty(len(here), np.int64)
    _native.find_rows(there, slots, here, found)
    return found


def _as_bytes(labels: Labels) -> NDArray[np.uint8]:
    """(n, bytes of a row): labels of one or two bytes as they are, others as int32."""
    narrow = isinstance(labels, np.ndarray) and labels.dtype.kind in "iu" and labels.dtype.itemsize <= 2
    rows = np.ascontiguousarray(labels, None if narrow else np.int32)
    return rows.view(np.uint8).reshape(len(rows), rows.shape[1] * rows.itemsize)


def color_rows(labels: Labels, offsets: Ints, colors: Colors, own: Colors) -> tuple[Colors, Colors]:
    """Colors of the rows, mixed from their own and those of their labels, and for every label the sum over its rows."""
    # `offsets` (one more than clusterings) say where each clustering's labels begin; missing labels (−1) have no color.
    # Sums wrap around at 2⁶⁴, so they are exact whatever the order.
    labels, offsets = np.ascontiguousarray(labels, np.int32), np.ascontiguousarray(offsets, np.int64)
    colors, own = np.ascontiguousarray(colors, np.uint64), np.ascontiguousarray(own, np.uint64)
    if not labels_fit(labels.T, offsets) or colors.shape != (offsets[-1],) or own.shape != (len(labels),):
        raise InputError("rows and labels need a color each, and a label must lie inside its clustering's part")
    rows, sums = np.empty(len(labels), np.uint64), np.zeros(len(colors), np.uint64)
    _native.color_rows(labels, offsets, colors, own, rows, sums)
    return rows, sums


def row_scores(labels: Labels, offsets: Ints, table: Floats, scores: Floats, *, threads: int = 1) -> None:
    """Add to each row's scores (rows × clusters) what the table (labels × clusters) says of every label it has."""
    # scores[i] += Σ_q table[offsets[q] + labels[i, q]]; a missing label (−1) adds nothing.
    labels, offsets = np.ascontiguousarray(labels, np.int32), np.ascontiguousarray(offsets, np.int64)
    table = np.ascontiguousarray(table, np.float64)
    sizes = np.diff(np.append(offsets[: labels.shape[1]], len(table)))
    fits = len(sizes) == labels.shape[1] and (labels.max(axis=0, initial=-1) < sizes).all()
    if not fits or offsets.min(initial=0) < 0:
        raise InputError("a label is outside its clustering's part of the table")
    if scores.shape != (len(labels), table.shape[1]):
        raise InputError(f"the scores have shape {scores.shape}, not {(len(labels), table.shape[1])}")
    check_out(scores, (np.float64,), "scores")
    _native.row_scores(labels, offsets, table, scores, int(threads))


def column_scores(columns: Array, offsets: Ints, table: Floats, *, threads: int = 1) -> Floats:
    """Each row's scores (rows × clusters), as :func:`row_scores` of labels that are clusterings × rows."""
    # `columns` and `offsets` as in `label_tables`. The labels need no copy, and a clustering's part of the table stays in the cache.
    columns, offsets = _check_columns(columns, offsets)
    table = np.ascontiguousarray(table, np.float64)
    if table.ndim != 2 or len(table) != offsets[-1]:
        raise InputError(f"{offsets[-1]} labels need a row of the table each; got shape {table.shape}")
    scores = np.empty((columns.shape[1], table.shape[1]))
    _native.column_scores(columns, offsets, table, scores, int(threads))
    return scores


def label_tables(
    columns: Array, offsets: Ints, clusters: Labels, n_clusters: int, *, weights: Array | None = None, threads: int = 1
) -> Array:
    """Weight of the rows with every label (of all clusterings, below each other) in every cluster: Σ k_q × n_clusters."""
    # `columns` is clusterings × rows, `offsets` (one more than clusterings) says where each one's labels begin; missing labels and clusters
    # (−1, and the largest value of columns without a sign) count nowhere. Whole-number weights give int64 counts, others float64.
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


def label_votes(columns: Array, offsets: Ints, owner: Labels, n_clusters: int, *, threads: int = 1) -> Labels:
    """How many clusterings vote for each cluster in every row (rows × clusters), by the cluster that `owner` gives each label."""
    # `columns` and `offsets` as in `label_tables`; missing labels (−1) do not vote.
    columns, offsets = _check_columns(columns, offsets)
    owner = np.ascontiguousarray(owner, np.int32)
    if owner.shape != (offsets[-1],) or owner.min(initial=0) < 0 or owner.max(initial=0) >= n_clusters:
        raise InputError(f"{offsets[-1]} labels need an owner each, from 0 to {n_clusters - 1}")
    votes = np.empty((columns.shape[1], n_clusters), np.int32)
    _native.label_votes(columns, offsets, owner, votes, int(threads))
    return votes


def _check_columns(columns: Array, offsets: Ints) -> tuple[Array, Ints]:
    """Clusterings × rows, and where each clustering's labels begin in what is below each other."""
    # Columns of bytes or pairs of bytes, as `encode_codes` makes them, stay as they are.
    short = isinstance(columns, np.ndarray) and columns.dtype in (np.uint8, np.uint16)
    columns = np.ascontiguousarray(columns, None if short else np.int32)
    offsets = np.ascontiguousarray(offsets, np.int64)
    sizes = np.diff(offsets)
    if len(sizes) != len(columns) or offsets.min(initial=0) < 0 or (sizes < 0).any():
        raise InputError(f"{len(columns)} clusterings need one offset more, in rising order; got {len(offsets)}")
    tops = (columns + columns.dtype.type(1)).max(axis=1, initial=0) - 1.0 if short else columns.max(axis=1, initial=-1)
    if (tops >= sizes).any():  # missing labels of a type without a sign wrap around to 0
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
    power: float = 1.0,
    moves: int = 0,
) -> tuple[Ints, Ints]:
    """Draw a new cluster for every object from its conditional distribution; `clusters` are changed in place."""
    # `offsets` number the labels of all clusterings through (r + 1 numbers); the likelihood of each clustering counts
    # to `power`. After the objects come as many split–merge `moves`. Returns the members with each label (labels ×
    # clusters) and the sizes of the clusters afterwards.
    labels, offsets = _check_gibbs(labels, offsets, clusters, n_clusters)
    table, sizes = np.empty((int(offsets[-1]), n_clusters), np.int64), np.empty(n_clusters, np.int64)
    sticks = PRIORS.index(prior) == 0
    hyper = float(alpha), float(beta), float(power)
    _native.gibbs_sweep(labels, offsets, clusters, sticks, *hyper, moves, seed, unit, table, sizes)
    return table, sizes


def gibbs_conditionals(
    labels: Labels,
    offsets: Ints,
    clusters: Labels,
    *,
    n_clusters: int,
    prior: str,
    alpha: float,
    beta: float,
    power: float = 1.0,
) -> Floats:
    """Probabilities of the clusters (objects × clusters) for every object, given the clusters of the others."""
    labels, offsets = _check_gibbs(labels, offsets, clusters, n_clusters)
    found = np.empty((len(labels), n_clusters))
    sticks = PRIORS.index(prior) == 0
    _native.gibbs_conditionals(labels, offsets, clusters, sticks, float(alpha), float(beta), float(power), found)
    return found


def _check_gibbs(labels: Labels, offsets: Ints, clusters: Labels, n_clusters: int) -> tuple[Labels, Ints]:
    labels, offsets = np.ascontiguousarray(labels, np.int32), np.ascontiguousarray(offsets, np.int64)
    if not labels_fit(labels.T, offsets):
        raise InputError("a label is outside its clustering's part of the table")
    if clusters.shape != (len(labels),) or clusters.min(initial=0) < 0 or clusters.max(initial=0) >= n_clusters:
        raise InputError(f"the sampler needs {len(labels)} clusters in 0 … {n_clusters - 1}")
    check_out(clusters, (np.int32,), "clusters")
    return labels, offsets
