"""A sheet's numbers as one matrix, and what must hold for data, counts and distances."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse

from consilience._check import InputError, count, listed
from consilience._types import Array
from consilience.tables.read_cells import ColumnError, are_codes, ids_of, is_postal, numbers_of, plain
from consilience.tables.sheet import Sheet

Matrix: TypeAlias = Any  # ndarray or csr_matrix
# Distances that went through single precision, or were computed in two orders, differ by about this much.
ROUNDING = 1e-6
_BLOCK = 1 << 18


def data_of(sheet: Sheet, positions: list[int]) -> Matrix:
    """Finite numbers: float64, dense or CSR."""
    values = _matrix(sheet, positions, whole=False)
    check_finite(sheet, values, positions)
    return values


def plain_numbers(sheet: Sheet, positions: list[int]) -> Matrix | None:
    """As `data_of`, but None where a column is no number or, in a full table, a number is missing."""
    body = sheet.body
    if sparse.issparse(body):
        return data_of(sheet, positions)
    if isinstance(body, (pa.Table, pd.DataFrame)):
        columns = []
        for position in positions:
            try:
                columns.append(numbers_of(sheet, position))
            except ColumnError:
                return None
            if are_codes(sheet.column(position)) or is_postal(sheet.column_names()[position], sheet.column(position)):
                return None
        values = _side_by_side(columns)
    else:
        values = _matrix(sheet, positions, whole=False)
    if _find(values, np.isnan):
        return None
    check_finite(sheet, values, positions)
    return values


def counts_of(sheet: Sheet, positions: list[int]) -> sparse.csr_matrix:
    """Finite, non-negative numbers as CSR: int64 where all are integers, otherwise float64."""
    values = _matrix(sheet, positions, whole=True)
    check_finite(sheet, values, positions)
    check_not_negative(sheet, values, positions, "counts")
    return sparse.csr_matrix(values)


def triples_of(sheet: Sheet, positions: list[int]) -> tuple[sparse.csr_matrix, np.ndarray, list[str]]:
    """Counts, row names and column names from columns row, column, count; repeated pairs add up."""
    if len(positions) != 3:
        raise InputError(
            f"{sheet.source}: triples need three columns, row, column and count, and there are "
            f"{len(positions)}: choose three with columns= (--columns)"
        )
    counts = numbers_of(sheet, positions[2], whole=True)[:, None]
    check_finite(sheet, counts, positions[2:])
    check_not_negative(sheet, counts, positions[2:], "counts")
    rows, row_names = _codes(ids_of(sheet, positions[0]))
    columns, column_names = _codes(ids_of(sheet, positions[1]))
    shape = (len(row_names), len(column_names))
    return (
        sparse.csr_matrix((counts[:, 0], (rows, columns)), shape),
        row_names,
        [str(c) for c in column_names],
    )


def _codes(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Code of each name, and the unique names: numbers in order, others as they first appear."""
    codes, unique = pd.factorize(names)
    try:
        order = np.argsort([float(name) for name in unique], kind="stable")
    except (TypeError, ValueError):
        return codes, unique
    return np.argsort(order)[codes], unique[order]


def distances_of(sheet: Sheet, positions: list[int]) -> np.ndarray:
    """A full matrix of distances: square, finite, non-negative, zero diagonal, symmetric within rounding."""
    if sparse.issparse(sheet.body):
        raise InputError(f"{sheet.source}: distances must be a full matrix, not a sparse one: fill in every pair")
    values = _matrix(sheet, positions, whole=False)
    n_rows, n_columns = values.shape
    if n_rows != n_columns:
        raise InputError(
            f"{sheet.source}: distances must be square, and there are {n_rows} rows and {n_columns} columns: "
            + (
                "name a column of ids with id_column= (--id), or give kind='data' for a table of measurements"
                if sheet.has_options
                else "give one distance for every pair of objects"
            )
        )
    check_finite(sheet, values, positions)
    check_distances(sheet, values, positions)
    return values


def looks_like_distances(values: Any, ids: Array, names: Sequence[str] | None) -> bool:
    """Whether measurements look like distances: symmetric, 0 on the diagonal, and with columns that have the names of the rows.

    Examples
    --------
    >>> looks_like_distances(np.array([[0.0, 2.0], [2.0, 0.0]]), np.array(["a", "b"]), ["a", "b"])
    True
    """
    if names is None or sparse.issparse(values) or values.shape != (len(ids), len(names)) or len(ids) != len(names):
        return False
    if [str(one) for one in ids] != [str(name) for name in names] or values.diagonal().any():
        return False
    return bool(values.min(initial=0) >= 0 and np.allclose(values, values.T, atol=ROUNDING * values.max(initial=0)))


def new_distances_of(sheet: Sheet, positions: list[int]) -> np.ndarray:
    """Distances of some objects to others, a column for each: finite, non-negative."""
    if sparse.issparse(sheet.body):
        raise InputError(f"{sheet.source}: distances must be a full matrix, not a sparse one: fill in every pair")
    values = _matrix(sheet, positions, whole=False)
    check_finite(sheet, values, positions)
    check_not_negative(sheet, values, positions, "distances")
    return values


def check_distances(sheet: Sheet, values: np.ndarray, positions: list[int]) -> None:
    """Refuse a square matrix that is negative somewhere, not 0 on its diagonal or not symmetric, within rounding."""
    check_not_negative(sheet, values, positions, "distances")
    slack = ROUNDING * values.max(initial=0)
    for row in np.flatnonzero(values.diagonal() > slack)[:1].tolist():
        raise InputError(
            f"{sheet.place(row, positions[row])}: the distance of an object to itself is "
            f"{values[row, row]:.6g}, not 0: are these similarities? turn them into distances"
        )
    _check_symmetric(sheet, values, positions, slack)


def _check_symmetric(sheet: Sheet, values: np.ndarray, positions: list[int], slack: float) -> None:
    worst, row, column = 0.0, 0, 0
    for start, block in _blocks(values):
        gap = block - values[:, start : start + len(block)].T
        np.abs(gap, out=gap)
        if gap.max() > worst:
            worst = float(gap.max())
            row, column = (int(i) for i in np.unravel_index(gap.argmax(), gap.shape))
            row += start
    if worst > slack:
        raise InputError(
            f"{sheet.place(row, positions[column])}: the distance there is {values[row, column]:.6g} and "
            f"{values[column, row]:.6g} the other way round, the worst of the pairs that differ: "
            "are rows and columns in the same order?"
        )


def check_finite(sheet: Sheet, values: Matrix, positions: list[int]) -> None:
    """Refuse NaN and infinity."""
    if found := _find(values, lambda part: ~np.isfinite(part)):
        n_bad, row, column = found
        raise InputError(
            f"{sheet.place(row, positions[column])}: missing or infinite value ({values[row, column]}), "
            f"{_of(n_bad)}{_where_missing(sheet, values, positions)}: fill such cells, or drop their rows or columns"
        )


def _where_missing(sheet: Sheet, values: Matrix, positions: list[int]) -> str:
    """How many there are in each column, if in several."""
    if sparse.issparse(values):
        bad = np.bincount(values.indices[~np.isfinite(values.data)], minlength=values.shape[1])
    else:
        bad = np.zeros(values.shape[1], int)
        for _, block in _blocks(values):
            bad += (~np.isfinite(block)).sum(axis=0)
    found = np.flatnonzero(bad)
    names = sheet.column_names()
    return "" if len(found) < 2 else f" in columns {listed([f'{names[positions[j]]!r} ({bad[j]})' for j in found])}"


def check_not_negative(sheet: Sheet, values: Matrix, positions: list[int], what: str) -> None:
    """Refuse numbers below zero."""
    if found := _find(values, lambda part: part < 0):
        n_bad, row, column = found
        otherwise = "" if what == "distances" else ", or read it as measurements (kind='data', without --type counts)"
        raise InputError(
            f"{sheet.place(row, positions[column])}: {what} must not be negative, and this is "
            f"{values[row, column]}, {_of(n_bad)}: correct it{otherwise}"
        )


def _of(n_bad: int) -> str:
    return "the only one" if n_bad == 1 else f"the first of {n_bad}"


def _find(values: Matrix, is_bad: Callable[[np.ndarray], np.ndarray]) -> tuple[int, int, int] | None:
    """How many values are bad, and row and column of the first."""
    if sparse.issparse(values):
        stored = np.flatnonzero(is_bad(values.data))
        if not stored.size:
            return None
        row = int(np.searchsorted(values.indptr, stored[0], side="right")) - 1
        return int(stored.size), row, int(values.indices[stored[0]])
    n_bad, first = 0, (0, 0)
    for start, block in _blocks(values):
        bad = is_bad(block)
        if bad.any():
            row, column = (int(i) for i in np.unravel_index(bad.argmax(), bad.shape))
            first = first if n_bad else (start + row, column)
            n_bad += int(bad.sum())
    return (n_bad, *first) if n_bad else None


def _blocks(values: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    step = max(1, _BLOCK // max(1, values.shape[1]))
    for start in range(0, len(values), step):
        yield start, values[start : start + step]


def _matrix(sheet: Sheet, positions: list[int], *, whole: bool) -> Matrix:
    body = sheet.body
    if not isinstance(body, (pa.Table, pd.DataFrame)):
        if positions != list(range(sheet.width)):
            body = body[:, positions]
        if sparse.issparse(body):
            body.sort_indices()
            return sparse.csr_matrix((plain(body.data, whole), body.indices, body.indptr), body.shape)
        return plain(body, whole)
    return _side_by_side(_numeric(sheet, positions, whole))


def _side_by_side(columns: list[np.ndarray]) -> np.ndarray:
    values = np.empty((len(columns[0]), len(columns)), np.result_type(*{column.dtype for column in columns}))
    for k, column in enumerate(columns):
        values[:, k] = column
    return values


def _numeric(sheet: Sheet, positions: list[int], whole: bool) -> list[np.ndarray]:
    """The columns as numbers; all that cannot be are named together, with those that have gaps."""
    columns, errors, gaps = [], [], {}
    for position in positions:
        try:
            columns.append(numbers_of(sheet, position, whole=whole))
        except ColumnError as error:
            errors.append(error)
            gaps[position] = error.brief
        else:
            if n := 0 if columns[-1].dtype.kind == "i" else int((~np.isfinite(columns[-1])).sum()):
                gaps[position] = f"{count(n, 'missing cell')}"
    if len(gaps) == 1 and errors:
        raise InputError(str(errors[0])) from None
    if errors:
        names = sheet.column_names()
        raise InputError(
            f"{sheet.source}: {len(gaps)} of {count(len(positions), 'column')} are not numbers throughout: "
            f"{listed([f'{names[position]!r} ({why})' for position, why in gaps.items()])}: "
            + (
                "name ids with id_column= (--id) and known classes with known= (--known), leave others out with columns= "
                "(--columns), and fill missing cells"
                if sheet.has_options
                else "leave them out, or turn them into numbers, and fill missing cells"
            )
        )
    return columns
