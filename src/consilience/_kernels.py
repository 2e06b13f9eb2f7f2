"""The typed door to the native kernels: contiguous arrays of the right type in, new arrays out.

Each function has a plain NumPy twin of the same name in `tests/oracle`, which is its definition. Kernels release
the GIL and take an explicit number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import consilience._native as _native

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Labels = NDArray[np.int32]


def contingency(
    a: Labels, b: Labels, shape: tuple[int, int], *, weights: NDArray[Any] | None = None, table: Any = None
) -> NDArray[Any]:
    """Count label pairs of the objects labelled in both; into `table` if given, so that partial counts merge.

    Whole-number `weights` give exact int64 counts, others float64.
    """
    a, b = np.ascontiguousarray(a, np.int32), np.ascontiguousarray(b, np.int32)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two label vectors of one length are needed; got shapes {a.shape} and {b.shape}")
    if a.size and (a.max() >= shape[0] or b.max() >= shape[1]):
        raise ValueError(f"a label is outside the table of shape {shape}")
    count = np.int64 if weights is None or np.issubdtype(np.asarray(weights).dtype, np.integer) else np.float64
    if table is None:
        table = np.zeros(shape, count)
    if weights is None:
        _native.contingency(a, b, table)
    else:
        weights = np.ascontiguousarray(weights, table.dtype)
        if weights.shape != a.shape:
            raise ValueError(f"{len(a)} objects need as many weights; got shape {weights.shape}")
        _native.contingency(a, b, weights, table)
    return table


def encode_codes(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels (objects × clusterings) as clustering-major codes of the smallest type; missing is its largest value."""
    top = int(labels.max(initial=0)) + 1
    kind = np.uint8 if top < 2**8 else np.uint16 if top < 2**16 else np.uint32
    return np.ascontiguousarray(labels.T.astype(kind))


def pair_sums(
    codes: NDArray[Any], clusters: Labels, begin: int, end: int, *, term: str, missing: bool, threads: int = 1
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Ints]:
    """Sums over the contingency tables of the pairs (a, b) with a < end and begin <= b < end.

    `term` is "square" or "xlogx". Returns arrays of shape (end, end − begin): the term summed over the cells
    (joint), over the clusters of a (own), over the clusters of b (other), and the number of objects labelled in both.
    Without missing labels the last three are left empty, since they belong to a clustering alone.
    """
    layers = 3 if missing else 1
    sums = np.empty((layers, end, end - begin), np.uint64 if term == "square" else np.float64)
    known = np.empty((end, end - begin) if missing else (0, 0), np.int64)
    _native.pair_sums(codes, np.ascontiguousarray(clusters, np.int32), begin, sums, known, threads)
    nothing = sums[:0]
    return (sums[0], sums[1], sums[2], known) if missing else (sums[0], nothing, nothing, known)


def signatures(labels: Labels) -> tuple[Ints, Ints, Ints]:
    """Equal rows collapsed: the first object of each signature, every object's signature, the number of objects."""
    labels = np.ascontiguousarray(labels, np.int32)
    inverse = np.empty(len(labels), np.int64)
    first, count = _native.signatures(labels, inverse)
    return first, inverse, count


def within_sums(block: Floats, begin: int, labels: Labels, sums: Floats, *, threads: int = 1) -> None:
    """Add the distances of pairs inside each cluster (clusterings × clusters) from one block of the distance matrix.

    `block` holds the distances of objects begin … begin + rows − 1 to objects begin … begin + columns − 1, and
    counts each pair i < j once; `labels` is clusterings × objects.
    """
    if begin + block.shape[1] > labels.shape[1] or block.shape[0] > block.shape[1]:
        raise ValueError("the block reaches beyond the objects")
    if labels.max(initial=-1) >= sums.shape[1] or len(labels) != len(sums):
        raise ValueError("the sums have no room for these labels")
    _native.within_sums(np.ascontiguousarray(block, np.float64), begin, labels, sums, threads)


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
        raise ValueError(f"there is no whole number in [0, {n})")
    out = np.empty(size, np.uint64)
    _native.random_below(seed, unit, n, out)
    return out


def random_permutation(seed: int, unit: int, n: int) -> Ints:
    """A permutation of 0 … n − 1 from the stream (seed, unit)."""
    out = np.empty(n, np.int64)
    _native.random_permutation(seed, unit, out)
    return out


def has_avx2() -> bool:
    """Whether the wide kernels are in use on this machine."""
    return bool(_native.has_avx2())
