"""Bring columns or rows to one scale before distances are taken; counts (words, molecules), and how they are recognized."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from consilience._check import InputError, check_choice, count
from consilience._types import Array, Floats, Ints

FAR = 1e140  # safeguard: numbers beyond it, or below its inverse, are brought near 1 first: their squares leave float64
WIDE, EMPTY = 100, 0.9  # columns at least, and share of zeros, of a table of counts
LOOK = 1000  # safeguard: of time, rows that mostly decide


@dataclass(frozen=True, eq=False)
class Standardizer:
    """Columns to standard deviation 1 and, unless sparse, mean 0, as learned from one table.

    Columns of one group are divided by the same number, so that their variances sum to 1 and the group counts as one column; columns
    of words (0 and 1) by a number that is given, so that two different words are as far apart as two numbers are on average. A constant
    column has standard deviation 1 here, so that dense it becomes 0 and sparse it stays as it is.

    Attributes
    ----------
    mean, sd : (n_columns,) array
        Of each column, after multiplication with `factor`; the mean of a sparse column is not taken out.
    factor : (n_columns,) array or None
        Powers of 2 that bring very large and very small numbers near 1; None where no column needs one.
    constant : (n_columns,) bool array
        Which columns hold one number only.
    sparse : bool

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.tables.scaling_and_counts import Standardizer
    >>> found = Standardizer.of(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> found.apply(np.array([[2.0, 5.0], [5.0, 5.0]]))
    array([[0., 0.],
           [3., 0.]])
    >>> found.describe()
    '2 columns, each scaled to mean 0 and standard deviation 1 (1 is constant)'
    """

    mean: Floats
    sd: Floats
    factor: Floats | None
    constant: Array
    sparse: bool
    n_groups: int = 0

    @classmethod
    def of(cls, X: Any, groups: Ints | None = None, units: Floats | None = None) -> Self:
        """From the columns of a dense array or CSR matrix of finite numbers.

        `groups` has the number of its group for each column, `units` what it is divided by, NaN where its group says that.
        """
        is_sparse = sparse.issparse(X)
        low, high = _ends(X)
        top = np.maximum(-low, high)
        is_far = (top > FAR) | ((top < 1 / FAR) & (top > 0))
        factor = np.where(is_far, np.exp2(np.minimum(-np.frexp(top)[1].astype(float), 1023)), 1.0)
        scaled = _times(X, factor) if is_far.any() else X
        if is_sparse:
            mean, square = _dense(scaled.mean(axis=0)), _dense(scaled.multiply(scaled).mean(axis=0))
            sd = np.sqrt(np.maximum(square - np.square(mean), 0))
        else:
            mean, sd = scaled.mean(axis=0), scaled.std(axis=0)
        constant = (low == high) | (sd == 0)
        mean = np.where(constant, low * factor, mean)  # exactly, so that nothing of it is left
        if groups is not None:
            sd = np.where(constant, sd, np.sqrt(np.bincount(groups, np.where(constant, 0, sd) ** 2))[groups])
        if units is not None:
            sd = np.where(np.isnan(units), sd, units)
        n_groups, sd = 0 if groups is None else len(np.unique(groups)), np.where(constant, 1.0, sd)
        return cls(mean, sd, factor if scaled is not X else None, constant, is_sparse, n_groups)

    def apply(self, X: Any) -> Any:
        if self.factor is not None:
            X = _times(X, self.factor)
        if sparse.issparse(X):
            return sparse.csr_matrix(_times(X, 1 / self.sd))
        return (X - self.mean) / self.sd

    def describe(self) -> str:
        what = "standard deviation 1" if self.sparse else "mean 0 and standard deviation 1"
        n = int(self.constant.sum())
        if self.n_groups and self.n_groups < len(self.sd):
            made = f"{count(self.n_groups, 'column')}, encoded as {len(self.sd)} of numbers, scaled to standard deviation 1"
            return f"{made}; two different words are as far apart as two numbers are on average"
        note = f" ({n:,} {'is' if n == 1 else 'are'} constant)" if n else ""
        return f"{count(len(self.sd), 'column')}, each scaled to {what}{note}"


def _dense(row: Any) -> Floats:
    return np.asarray(row.todense() if sparse.issparse(row) else row, float).ravel()


def _times(X: Any, factor: Floats) -> Any:
    return X @ sparse.diags(factor) if sparse.issparse(X) else X * factor


def scale(X: Any, how: str) -> Any:
    """Scale a table of data, dense or CSR.

    Parameters
    ----------
    X : (n_objects, n_columns) array or CSR matrix
    how : {"columns", "rows", "roots", "tfidf"}
        "columns": every column to standard deviation 1 and, unless sparse, mean 0 (:class:`Standardizer`). "rows": every
        row to length 1, so that near means a large cosine. "roots": square roots of counts, then rows to length 1 (Hellinger's
        distance). "tfidf": 1 + log of counts, rare columns weighted up, then rows to length 1.

    Returns
    -------
    array or CSR matrix of float64
        Empty rows stay empty.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.tables import scale
    >>> scale(np.array([[9.0, 16.0], [4.0, 0.0]]), "roots")
    array([[0.6, 0.8],
           [1. , 0. ]])
    """
    check_choice(how, SCALES, "scale")
    X = sparse.csr_matrix(X, dtype=float) if sparse.issparse(X) else np.asarray(X, float)
    values = X.data if sparse.issparse(X) else X
    if how in ("roots", "tfidf") and values.size and values.min() < 0:
        raise InputError(f"scale {how!r} is for counts, and the data has negative values: use 'columns' or 'rows'")
    return SCALES[how](X)


def _rows(X: Any) -> Any:
    from sklearn.preprocessing import normalize

    return normalize(X)


SCALES: dict[str, Callable[[Any], Any]] = {
    "columns": lambda X: Standardizer.of(X).apply(X),
    "rows": _rows,
    "roots": lambda X: _rows(X.sqrt() if sparse.issparse(X) else np.sqrt(X)),
    "tfidf": lambda X: CountScaling.of(X).apply(X),
}


@dataclass(frozen=True, eq=False)
class CountScaling:
    """1 + log of counts (at least 0), rare columns weighted up, rows to length 1: near means the same columns, however long the row."""

    weight: Floats  # log((1 + n) / (1 + rows with a count)) + 1, learned from one table; 0 of columns that are constant
    constant: Array  # which columns have the same count everywhere, most often none

    @classmethod
    def of(cls, X: Any) -> Self:
        """From a dense array or CSR matrix of counts."""
        counted = sparse.issparse(X) and (X.data != 0).all()
        rows = X.getnnz(axis=0) if counted else np.asarray((X != 0).sum(axis=0)).ravel()
        constant = ~varying(X)
        return cls(np.where(constant, 0.0, np.log((1 + X.shape[0]) / (1 + rows)) + 1), constant)

    def apply(self, X: Any) -> Any:
        if not sparse.issparse(X):
            return _rows(_one_plus_log(np.asarray(X, float)) * self.weight)
        made = sparse.csr_matrix(X, dtype=float, copy=True)
        made.eliminate_zeros()  # a stored zero would have a logarithm taken
        made.data = _one_plus_log(made.data) * self.weight[made.indices]
        return _rows(made)

    def describe(self) -> str:
        n = int(self.constant.sum())
        note = f" ({n:,} {'is' if n == 1 else 'are'} constant)" if n else ""
        return f"{count(len(self.weight), 'column')} of counts{note}: 1 + log, rare columns weighted up, rows to length 1 (tf-idf)"


def _one_plus_log(counts: Floats) -> Floats:
    return np.maximum(1 + np.log(np.maximum(counts, 1e-300)), 0)


def varying(X: Any) -> Array:
    """(n_columns,) bool: which columns of a dense array or CSR matrix do not hold one number only."""
    low, high = _ends(X)
    return np.asarray(low != high)


def _ends(X: Any) -> tuple[Floats, Floats]:
    """The least and the largest number of every column; 0 without rows."""
    return (_dense(X.min(axis=0)), _dense(X.max(axis=0))) if X.shape[0] else (np.zeros(X.shape[1]),) * 2


def looks_like_counts(X: Any) -> bool:
    """Whether a table of data holds counts: wide, whole numbers that are not negative, nine in ten of them 0, some above 1."""
    if X.shape[1] < WIDE or not X.shape[0]:
        return False
    # Columns that are the same everywhere, but not 0, do not count.
    aside = ~varying(X[:LOOK]) & (_dense(X[:1]) != 0)
    if aside.any():
        X = X[:, ~aside | varying(X)]
    return X.shape[1] >= WIDE and _are_counts(X[:LOOK]) and (X.shape[0] <= LOOK or _are_counts(X))


def _are_counts(X: Any) -> bool:
    stored = X.data if sparse.issparse(X) else X[X != 0]
    if stored.size == 0 or np.count_nonzero(stored) > (1 - EMPTY) * np.prod(X.shape):
        return False
    return bool(stored.min() >= 0 and stored.max() > 1 and (stored % 1 == 0).all())
