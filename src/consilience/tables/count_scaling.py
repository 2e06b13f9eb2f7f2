"""Counts (words of documents, molecules of cells): how they are recognized in data, and brought to one scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from consilience._check import count
from consilience._types import Array, Floats

WIDE, EMPTY = 100, 0.9  # columns at least, and share of zeros, of a table of counts
LOOK = 1000  # rows that mostly decide


@dataclass(frozen=True, eq=False)
class CountScaling:
    """1 + log of counts (at least 0), rare columns weighted up, rows to length 1: near means much the same columns, however long the row.

    Attributes
    ----------
    weight : (n_columns,) array
        log((1 + n) / (1 + rows with a count)) + 1, as learned from one table; 0 of columns that are constant.
    constant : (n_columns,) bool array
        Which columns have the same count everywhere, most often none.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.tables.count_scaling import CountScaling
    >>> X = np.array([[4.0, 0.0], [1.0, 2.0]])
    >>> CountScaling.of(X).apply(2 * X).round(2)
    array([[1.  , 0.  ],
           [0.45, 0.89]])
    """

    weight: Floats
    constant: Array

    @classmethod
    def of(cls, X: Any) -> CountScaling:
        """From a dense array or CSR matrix of counts."""
        rows = (
            X.getnnz(axis=0) if sparse.issparse(X) and (X.data != 0).all() else np.asarray((X != 0).sum(axis=0)).ravel()
        )
        constant = ~varying(X)
        return cls(np.where(constant, 0.0, np.log((1 + X.shape[0]) / (1 + rows)) + 1), constant)

    def apply(self, X: Any) -> Any:
        """A table with the same columns, scaled; empty rows stay empty."""
        from sklearn.preprocessing import normalize

        if sparse.issparse(X):
            made = sparse.csr_matrix(X, dtype=float, copy=True)
            made.eliminate_zeros()  # a stored zero would have a logarithm taken
            made.data = np.maximum(1 + np.log(np.maximum(made.data, 1e-300)), 0) * self.weight[made.indices]
            return normalize(made)
        some = np.asarray(X, float)
        return normalize(np.maximum(1 + np.log(np.maximum(some, 1e-300)), 0) * self.weight)

    def describe(self) -> str:
        """What was done, in one line."""
        n = int(self.constant.sum())
        note = f" ({n:,} {'is' if n == 1 else 'are'} constant)" if n else ""
        return f"{count(len(self.weight), 'column')} of counts{note}: 1 + log, rare columns weighted up, rows to length 1 (tf-idf)"


def varying(X: Any) -> Array:
    """(n_columns,) bool: which columns of a dense array or CSR matrix do not hold one number only.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.tables.count_scaling import varying
    >>> varying(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [True, False]
    """
    if not X.shape[0]:
        return np.zeros(X.shape[1], bool)
    low, high = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return np.asarray(low != high)


def looks_like_counts(X: Any) -> bool:
    """Whether a table of data holds counts: wide, whole numbers that are not negative, nine in ten of them 0, some above 1.

    Columns that are the same everywhere, but not 0, do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.tables.count_scaling import looks_like_counts
    >>> words = np.zeros((3, 200)); words[:2, :5] = 2
    >>> looks_like_counts(words), looks_like_counts(words - 1), looks_like_counts(words[:, :50])
    (True, False, False)
    """
    if X.shape[1] < WIDE or not X.shape[0]:
        return False
    aside = ~varying(X[:LOOK])
    aside &= np.asarray((X[:1] != 0).todense() if sparse.issparse(X) else X[0] != 0).ravel()
    if aside.any():
        aside &= ~varying(X)
    if aside.any():
        X = X[:, ~aside]
    if X.shape[1] < WIDE:
        return False
    return _are_counts(X[:LOOK]) and (X.shape[0] <= LOOK or _are_counts(X))


def _are_counts(X: Any) -> bool:
    stored = X.data if sparse.issparse(X) else X[X != 0]
    if stored.size == 0 or np.count_nonzero(stored) > (1 - EMPTY) * np.prod(X.shape):
        return False
    return bool(stored.min() >= 0 and stored.max() > 1 and (stored % 1 == 0).all())
