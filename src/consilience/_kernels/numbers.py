"""Logarithms from a table, and counter-based random numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import consilience._native as _native
from consilience._check import InputError
from consilience._types import Floats, Ints, Labels


def x_log_x(x: Any) -> Floats:
    """x log x of any numbers, 0 at 0."""
    x = np.asarray(x, float)
    return x * np.log(np.where(x > 0, x, 1))


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


def labels_fit(labels: Labels, offsets: Ints) -> bool:
    """Whether offsets say, from 0 on, where each clustering's labels begin, and every label (clusterings × rows) lies in its part."""
    sizes = np.diff(offsets)
    if len(sizes) != len(labels) or offsets[0] != 0 or (sizes < 0).any():
        return False
    return not labels.size or bool((labels.max(axis=1) < sizes).all())


def check_out(array: Any, kinds: tuple[Any, ...], what: str) -> None:
    """Refuse an array that a kernel could not write to in place: it would fill a copy, and the result would be lost."""
    if array.dtype not in kinds or not array.flags.c_contiguous or not array.flags.writeable:
        names = " or ".join(np.dtype(kind).name for kind in kinds)
        raise InputError(f"the {what} must be a writable C-contiguous array of {names}; got {array.dtype}")
