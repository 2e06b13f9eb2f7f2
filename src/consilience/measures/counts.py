"""Contingency tables, and the few sums over them from which most measures follow."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from consilience import _kernels
from consilience._check import InputError, check_labels, check_same_index
from consilience._kernels import x_log_x
from consilience._run.progress import track
from consilience._types import Array, Floats, Ints, Labels
from consilience.ensemble import Ensemble

LARGEST = 2**27  # safeguard: memory; cells of a table, 1 GB
# What messages call the two label vectors of a measure.
TWO = ("the first clustering", "the second clustering")
KNOWN = ("the known labels", "the clustering")


def contingency(a: Any, b: Any) -> Array:
    """Count the objects in every pair of clusters of two clusterings.

    Parameters
    ----------
    a, b : (n_objects,) label vectors
        Objects missing in either are left out.

    Returns
    -------
    (k_a, k_b) int64 array
        Rows and columns follow the sorted labels. Tables of parts of the objects add up if the labels are 0 … k − 1.

    Examples
    --------
    >>> from consilience.measures import contingency
    >>> contingency(["x", "x", "y", "y", None], [0, 0, 0, 1, 1])
    array([[2, 0],
           [1, 1]])
    """
    a, b = check_pair(a, b)
    shape = clusters(a), clusters(b)
    if shape[0] * shape[1] > LARGEST:
        raise InputError(f"a table of {shape[0]:,} × {shape[1]:,} clusters is too large; are these labels, or names?")
    return _kernels.contingency(a, b, shape)


def cells(a: Any, b: Any, what: tuple[str, str] = TWO) -> tuple[Ints, Ints, Ints]:
    """The cells of the contingency table that are not 0: row, column, count. Cost O(n log n), whatever the clusters."""
    a, b = check_pair(a, b, what)
    known = (a >= 0) & (b >= 0)
    width = max(clusters(b), 1)
    places, counts = np.unique(a[known].astype(np.int64) * width + b[known], return_counts=True)
    return places // width, places % width, counts


def tables(a: Labels, others: Labels) -> Ints:
    """The contingency tables of codes `a` with every row of `others`: (rows, clusters of a, most clusters of a row)."""
    known = (a >= 0) & (others >= 0)
    shape = len(others), clusters(a), clusters(others)
    places = (np.arange(len(others))[:, None] * shape[1] + a) * shape[2] + others
    return np.bincount(places[known], minlength=int(np.prod(shape))).reshape(shape)


def check_pair(a: Any, b: Any, what: tuple[str, str] = TWO) -> tuple[Labels, Labels]:
    codes = check_labels(a, what[0]), check_labels(b, what[1])
    if len(codes[0]) != len(codes[1]):
        lengths = " and ".join(str(len(x)) for x in codes)
        raise InputError(f"{what[0]} and {what[1]} have {lengths} labels; they must be of the same objects")
    check_same_index(a, b)
    return codes


def clusters(codes: Labels) -> int:
    return int(codes.max(initial=-1)) + 1


@dataclass(frozen=True)
class Sums:
    """Sums of a term over a contingency table, x² or x log x; scalars for one pair, arrays of one shape for many."""

    n: Any  # objects labeled in both
    joint: Any  # over the cells
    own: Any  # over the clusters of the first clustering
    other: Any

    def swapped(self) -> Self:
        return replace(self, own=self.other, other=self.own)


TERMS: dict[str, Callable[[Any], Floats]] = {"square": lambda x: np.square(np.asarray(x, float)), "xlogx": x_log_x}


def sums_with_each(codes: Labels, table: Labels, term: str) -> Sums:
    """The sums of one clustering with every column of a table of codes: O(n) memory however many clusters there are."""
    both = np.column_stack([codes, table])
    sizes = both.max(axis=0, initial=-1) + 1
    codes, end = _kernels.encode_codes(both), both.shape[1]
    *sums, known = _kernels.pair_sums(codes, sizes, 1, end, term=term, missing=True, rows=1)
    return Sums(*(one[0].astype(float) for one in (known, *sums)))


def of_pair(formula: Callable[[Sums], Floats], a: Any, b: Any, term: str, what: tuple[str, str] = TWO) -> float:
    a, b = check_pair(a, b, what)
    return float(formula(sums_with_each(a, b[:, None], term))[0])


def ratio(top: Floats, bottom: Floats, otherwise: Any) -> Floats:
    zero = np.asarray(bottom) == 0
    return np.where(zero, otherwise, np.asarray(top) / np.where(zero, 1, bottom))


def unknown(n: Floats, value: Floats) -> Floats:
    """NaN where the two clusterings share no labeled object, so that there is nothing to compare."""
    return np.where(np.asarray(n) > 0, value, np.nan)


# All pairs of an ensemble, a band of clusterings at a time.

BAND = 128  # safeguard: memory; clusterings compared with all others at a time


def bands(m: int, name: str, progress: bool | None) -> Iterator[tuple[int, int]]:
    begins = range(0, m, BAND)
    for begin in track(begins, len(begins), name, progress):
        yield begin, min(begin + BAND, m)


def codes_of(labels: Labels) -> tuple[Array, Array]:
    """Labels (objects × clusterings) as the kernels take them, and the number of clusters of each clustering."""
    return _kernels.encode_codes(labels), (labels.max(axis=0, initial=-1) + 1).astype(np.int32)


def bands_of_sums(
    ens: Ensemble, term: str, name: str, threads: int, progress: bool | None
) -> Iterator[tuple[int, int, Sums]]:
    """Every band with its sums, (end, end − begin) pairs."""
    (codes, clusters), missing = codes_of(ens.labels), ens.has_missing
    alone = np.array([TERMS[term](np.bincount(column + 1)[1:]).sum() for column in ens.labels.T])
    for begin, end in bands(ens.n_clusterings, name, progress):
        how: dict[str, Any] = {"term": term, "missing": missing, "threads": threads}
        joint, own, other, known = _kernels.pair_sums(codes, clusters, begin, end, **how)
        if missing:
            yield begin, end, Sums(*(one.astype(float) for one in (known, joint, own, other)))
        else:
            every = np.float64(ens.n_objects)
            yield begin, end, Sums(every, joint.astype(float), alone[:end, None], alone[None, begin:end])


def mirror(matrix: Floats, *, is_distance: bool = False) -> Floats:
    """Copy what is above the diagonal below it: symmetric to the last bit, with an exact diagonal, as SciPy's condensed form wants it."""
    diagonal = np.where(np.isnan(np.diag(matrix)), np.nan, 0.0 if is_distance else 1.0)
    for begin in range(0, len(matrix), BAND):
        end = begin + BAND
        block = matrix[begin:end, begin:end]
        block[...] = np.triu(block, 1) + np.triu(block, 1).T
        matrix[begin:end, :begin] = matrix[:begin, begin:end].T
    np.fill_diagonal(matrix, diagonal)
    return matrix
