"""Distances of rows of labels, and the tree of weighted items."""

from __future__ import annotations

import numpy as np

import consilience._native as _native
from consilience._check import InputError
from consilience._kernels.arrays import check_out
from consilience._types import Floats, Ints, Labels

LINKAGES = ("average", "single", "complete")  # in the order of native/linkage.hpp


def row_distances(columns: Labels, offsets: Ints, weights: Floats) -> Floats:
    """(n, n): 1 − the weights of the labels that two rows share, by the clusterings that label both; 1 where none does.

    `columns` is clusterings × rows, `offsets` (one more than clusterings) say where each one's labels begin in `weights`;
    missing labels (−1) are no labels.
    """
    columns, offsets = np.ascontiguousarray(columns, np.int32), np.ascontiguousarray(offsets, np.int64)
    weights, sizes = np.ascontiguousarray(weights, np.float64), np.diff(offsets)
    if (
        len(sizes) != len(columns)
        or offsets[0] != 0
        or (sizes < 0).any()
        or weights.shape != (offsets[-1],)
        or (columns.size and (columns.max(axis=1) >= sizes).any())
    ):
        raise InputError("labels need a weight each, and a label must lie inside its clustering's part")
    distances = np.empty((columns.shape[1], columns.shape[1]))
    missing = bool(columns.size and columns.min() < 0)
    _native.row_distances(columns, offsets, weights, missing, distances)
    return distances


def linkage(distances: Floats, weights: Floats, kind: str = "average", *, tie: float = 0.0) -> tuple[Ints, Floats]:
    """Merges (n − 1, 2) of items that stand for `weights` objects each, and their heights; `distances` (n, n) are used up.

    The merges come as nearest-neighbor chains find them, children first; a pair lives on under its lower number. Distances within `tie`
    of the smallest are equal to it, and the lowest number comes first.
    """
    n, weights = len(distances), np.ascontiguousarray(weights, np.float64)
    if distances.shape != (n, n) or weights.shape != (n,) or not n or not (weights > 0).all():
        raise InputError(f"a tree needs square distances and as many weights above 0; got {distances.shape}")
    check_out(distances, (np.float64,), "distances")
    merges, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    _native.linkage(distances, weights, LINKAGES.index(kind), float(tie), merges, heights)
    return merges, heights
