"""The one check of a matrix that a function is given: finite numbers, dense or CSR float64, or one sentence."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from consilience._check import InputError, count
from consilience.tables.file_formats import open_raw
from consilience.tables.raw_table import Options
from consilience.tables.read_table import Table
from consilience.tables.table_kinds import check_exact, data_of, distances_of

LARGEST = 1e140  # safeguard: squares beyond it overflow


def check_matrix(
    X: Any,
    *,
    what: str = "the data",
    kind: str = "data",
    n_objects: int | None = None,
    estimator: Any = None,
    reset: bool = True,
    min_objects: int = 1,
) -> Any:
    """Finite numbers as float64: a dense array, or a CSR matrix if the source is sparse.

    Parameters
    ----------
    X : array, list of rows, sparse matrix, data frame of any library, AnnData or Table
        A float64 array, and a CSR matrix of sorted rows, are not copied.
    what : str
        How to call it in the message.
    kind : {"data", "distances"}
        Distances must be square, not negative, symmetric and 0 on the diagonal.
    n_objects : int, optional
        The number of rows it must have.
    estimator : scikit-learn estimator, optional
        Learns the number and names of the features (`reset`), or has them compared with those it learned.
    reset : bool
    min_objects : int
        The least number of rows.

    Examples
    --------
    >>> from consilience.tables import check_matrix
    >>> check_matrix([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    >>> check_matrix([[1.0, float("nan")]])
    Traceback (most recent call last):
    consilience._check.InputError: the data, row 1, column 1 (the first is 0): missing or infinite value (nan), the only one: \
fill such cells, or drop their rows or columns
    """
    if estimator is not None:
        return _validated(estimator, X, what, reset, min_objects)
    values = _checked(X, what, kind)
    check_rows(values.shape[0], what, min_objects)
    if n_objects is not None and values.shape[0] != n_objects:
        rows = f"{count(values.shape[0], 'row')} for {count(n_objects, 'object')}"
        raise InputError(f"{what} has {rows}: give a row for each")
    stored = values.data if sparse.issparse(values) else values
    top = max(-stored.min(initial=0), stored.max(initial=0))
    if top > LARGEST or 0 < top < 1 / LARGEST:
        large, small = f"beyond {LARGEST:g}, whose squares overflow", "too small for their squares to be told from 0"
        held = f"{large if top > 1 else small} (the largest is {top:.3g})"
        raise InputError(f"{what} holds numbers {held}: multiply them by a constant first")
    return values


def _checked(X: Any, what: str, kind: str) -> Any:
    if isinstance(X, Table):
        if X.kind == "labels" or (kind == "distances") != (X.kind == "distances"):
            raise InputError(f"{X.source}: was read as {X.kind}: read it with kind={kind!r}")
        return X.values.astype(np.float64, copy=False)
    if isinstance(X, Sequence) and not isinstance(X, (str, bytes)):
        X = array_of(X, what)
    raw = replace(open_raw(X, Options(kind, name=what)), has_options=False)
    raw.check_shape()
    return {"data": data_of, "distances": distances_of}[kind](raw, list(range(raw.width)))


def array_of(rows: Any, what: str = "the data") -> Any:
    try:
        return np.array(rows)
    except ValueError:
        raise InputError(f"{what} cannot be read as a table: its rows differ in length") from None


def check_rows(n: int, what: str, least: int = 2) -> None:
    if n < least:
        has = "no rows" if n == 0 else "one row (1 sample)" if n == 1 else f"{n:,} rows"
        raise InputError(f"{what} has {has}: give at least {least}")


def _check_shape(X: Any, what: str, min_objects: int) -> None:
    """Too few rows or columns, and another number of dimensions, in words of our own that scikit-learn's battery takes too."""
    shape = getattr(X, "shape", None)
    if shape is None or any(not isinstance(size, (int, np.integer)) for size in shape):
        return
    if len(shape) != 2:
        remedy = "Reshape your data to objects × columns: X.reshape(-1, 1) is one column, X.reshape(1, -1) one object"
        raise InputError(f"{what} has {count(len(shape), 'dimension')}, not 2. {remedy}")
    if shape[1] == 0:
        raise InputError(f"{what} has no columns: 0 feature(s) (shape={shape[0], 0}) while a minimum of 1 is required.")
    check_rows(shape[0], what, min_objects)


def _validated(estimator: Any, X: Any, what: str, reset: bool, min_objects: int) -> Any:
    """By scikit-learn, whose battery knows its sentences; where a number is missing, ours says where."""
    if np.ma.is_masked(X):  # scikit-learn would take what lies under the mask
        _checked(X, what, "data")
    if isinstance(X, np.ndarray):
        check_exact(X, what)
    from sklearn.utils.validation import validate_data

    options = {"accept_sparse": "csr", "dtype": np.float64, "ensure_min_samples": min_objects, "reset": reset}
    X = X.values if isinstance(X, Table) else X
    _check_shape(X, what, min_objects)
    try:
        found = validate_data(estimator, X, **options)
    except ValueError as error:
        if "NaN" in str(error) or "infinity" in str(error):
            _checked(X, what, "data")
        raise InputError(" ".join(str(error).split())) from None
    return sparse.csr_matrix(found) if sparse.issparse(found) else found
