"""Bring columns or rows to one scale before distances are taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from consilience._check import InputError, check_choice


def scale(X: Any, how: str) -> Any:
    """Scale a table of data, dense or CSR.

    Parameters
    ----------
    X : (n_objects, n_columns) array or CSR matrix
    how : {"columns", "rows", "roots", "tfidf"}
        "columns": every column to standard deviation 1 and, unless sparse, mean 0; constant columns stay as they are. "rows": every
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


def _columns(X: Any) -> Any:
    from sklearn.preprocessing import StandardScaler

    return StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X)


def _rows(X: Any) -> Any:
    from sklearn.preprocessing import normalize

    return normalize(X)


def _roots(X: Any) -> Any:
    return _rows(X.sqrt() if sparse.issparse(X) else np.sqrt(X))


def _tfidf(X: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfTransformer

    counts = sparse.csr_matrix(X, copy=True)
    counts.eliminate_zeros()  # a stored zero would have a logarithm taken
    scaled = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    return scaled if sparse.issparse(X) else scaled.toarray()


SCALES: dict[str, Callable[[Any], Any]] = {"columns": _columns, "rows": _rows, "roots": _roots, "tfidf": _tfidf}
