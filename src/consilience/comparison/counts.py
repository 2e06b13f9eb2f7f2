"""Contingency tables, and the few sums over them from which most measures follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience import _kernels
from consilience._check import InputError, check_labels

Floats = NDArray[np.float64]


def contingency(a: Any, b: Any, *, sample_weight: Any = None) -> NDArray[Any]:
    """Count the objects in every pair of clusters of two clusterings.

    Parameters
    ----------
    a, b : (n_objects,) label vectors
        Objects missing in either are left out.
    sample_weight : (n_objects,) array, optional
        Whole numbers are counted exactly.

    Returns
    -------
    (k_a, k_b) int64 array, or float64 with fractional weights
        Rows and columns follow the sorted labels. Tables of parts of the objects add up if the labels are 0 … k − 1.

    Examples
    --------
    >>> from consilience.comparison import contingency
    >>> contingency(["x", "x", "y", "y", None], [0, 0, 0, 1, 1])
    array([[2, 0],
           [1, 1]])
    """
    a, b = check_pair(a, b)
    return _kernels.contingency(a, b, (clusters(a), clusters(b)), weights=sample_weight)


def check_pair(a: Any, b: Any) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Two label vectors of one length, as codes."""
    a, b = check_labels(a, "the first clustering"), check_labels(b, "the second clustering")
    if len(a) != len(b):
        raise InputError(f"the clusterings have {len(a)} and {len(b)} labels; they must be of the same objects")
    return a, b


def clusters(codes: NDArray[np.int32]) -> int:
    """Number of clusters of a vector of codes."""
    return int(codes.max(initial=-1)) + 1


@dataclass(frozen=True)
class Sums:
    """Sums of a term over a contingency table; scalars for one pair, arrays of one shape for many.

    `joint` is summed over the cells, `own` and `other` over the clusters of the first and second clustering, and `n`
    is the number of objects labelled in both. The term is x² for pair counting, x log x for information.
    """

    n: Any
    joint: Any
    own: Any
    other: Any

    def swapped(self) -> Sums:
        """The same with the two clusterings exchanged."""
        return Sums(self.n, self.joint, self.other, self.own)


def xlogx(x: Any) -> Floats:
    """x log x, 0 at 0."""
    x = np.asarray(x, float)
    return x * np.log(np.where(x > 0, x, 1))


TERMS: dict[str, Callable[[Any], Floats]] = {
    "square": lambda x: np.square(np.asarray(x, float)),
    "xlogx": xlogx,
}


def table_sums(table: NDArray[Any], term: str) -> Sums:
    """The sums of one contingency table."""
    f = TERMS[term]
    n, own, other = table.sum(), table.sum(axis=1), table.sum(axis=0)
    return Sums(float(n), f(table).sum(), f(own).sum(), f(other).sum())


def of_pair(formula: Callable[[Sums], Floats], a: Any, b: Any, term: str) -> float:
    """A measure of two clusterings from its formula."""
    return float(formula(table_sums(contingency(a, b), term)))


def ratio(top: Floats, bottom: Floats, otherwise: Any) -> Floats:
    """Divide, with `otherwise` where the divisor is 0."""
    zero = np.asarray(bottom) == 0
    return np.where(zero, otherwise, np.asarray(top) / np.where(zero, 1, bottom))


def unknown(n: Floats, value: Floats) -> Floats:
    """NaN where the two clusterings share no labelled object, so that there is nothing to compare."""
    return np.where(np.asarray(n) > 0, value, np.nan)
