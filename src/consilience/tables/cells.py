"""Columns into numbers or labels; what does not fit is refused by row and column."""

from __future__ import annotations

import decimal
import numbers
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from consilience._check import InputError, show
from consilience.tables.sheet import Column, Sheet

#: Cells of a text file that hold no label and no number; of labels also -1. Nothing else counts as missing.
MISSING = ("", "NA", "NaN", "nan", "null", "None")
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity|nan)$"


def numbers_of(sheet: Sheet, position: int, *, whole: bool = False) -> np.ndarray:
    """One column as float64, or where `whole` and possible as int64; missing cells become NaN."""
    column = sheet.column(position)
    if isinstance(column, pa.ChunkedArray):
        cast = _text_numbers(column, (pa.int64(), pa.float64()) if whole else (pa.float64(),))
        if cast is not None:
            return cast.to_numpy()
        is_text = pc.fill_null(pc.invert(pc.match_substring_regex(_tidy(column), _NUMBER)), False)
        raise _not_a_number(sheet, position, column, is_text.to_numpy(), pc.is_null(_tidy(column)).to_numpy())
    missing = column.isna().to_numpy()
    if not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_complex_dtype(column.dtype):
        cells = column.astype(object)
        strange = ~missing & np.fromiter((not _is_real(cell) for cell in cells), bool, len(cells))
        if strange.any():
            raise _not_a_number(sheet, position, column, strange, missing)
        column = cells
    if missing.any():
        return column.astype(object).where(~missing, np.nan).to_numpy(dtype=np.float64)
    values = column.to_numpy()
    if values.dtype == object:
        values = np.array(values.tolist())
    return plain(values, whole)


def plain(values: np.ndarray, whole: bool) -> np.ndarray:
    """Numbers of any width as float64, or as int64 where `whole` and they fit."""
    fits = values.dtype.kind in "bi" or (values.dtype.kind == "u" and values.max(initial=0) <= 2**63 - 1)
    return values.astype(np.int64 if whole and fits else np.float64, copy=False)


def _is_real(cell: Any) -> bool:
    return isinstance(cell, (numbers.Real, np.bool_, decimal.Decimal)) or cell is None or cell is pd.NA


def _not_a_number(sheet: Sheet, position: int, column: Column, bad: np.ndarray, missing: np.ndarray) -> InputError:
    row = int(bad.argmax())
    cell = column[row].as_py() if isinstance(column, pa.ChunkedArray) else column.iloc[row]
    if (bad | missing).all():
        what = "text" if isinstance(cell, str) else f"values of type {type(cell).__name__}"
        return InputError(
            f"{sheet.place(row)}: {sheet.column_words(position)} holds {what}, such as {show(cell)}: "
            "name it with id_column= (--id) or known= (--known), or leave it out"
        )
    return InputError(
        f"{sheet.place(row, position)}: {show(cell)} is not a number: write it as plain digits with a "
        "decimal point, such as 1234.5, or leave the column out"
    )


def _tidy(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without the spaces around cells, and null where missing."""
    cells = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.is_in(cells, pa.array(MISSING)), pa.scalar(None, pa.string()), cells)


def _text_numbers(column: pa.ChunkedArray, types: tuple[pa.DataType, ...]) -> pa.ChunkedArray | None:
    """The column as the first of `types` that holds every cell, or None."""
    tidied = None
    for target in types:
        if (done := _cast(column, target)) is not None:
            return done
        if tidied is None:
            tidied = pc.replace_substring_regex(_tidy(column), r"^\+([0-9.])", r"\1")
        if (done := _cast(tidied, target)) is not None:
            return done
    return None


def _cast(cells: pa.ChunkedArray, target: pa.DataType) -> pa.ChunkedArray | None:
    try:
        done = pc.cast(cells, target)
    except pa.ArrowInvalid:
        return None
    # Arrow reads 0x10 as an integer; a person who writes it means text.
    if target == pa.int64() and pc.any(pc.match_substring(cells, "x", ignore_case=True)).as_py():
        return None
    return done


def labels_of(sheet: Sheet, position: int) -> pd.Series:
    """One column of labels: integers where all are whole numbers, otherwise objects; None where missing."""
    column = sheet.column(position)
    if isinstance(column, pa.ChunkedArray):
        return _text_labels(sheet, position, column)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu":
        return column.reset_index(drop=True)
    cells = column.astype(object).to_numpy(copy=True)
    cells[column.isna().to_numpy()] = None
    inferred = pd.api.types.infer_dtype(cells, skipna=True)
    if inferred in ("integer", "floating", "mixed-integer-float"):
        numbers_ = np.array([np.nan if cell is None else float(cell) for cell in cells])
        _refuse_fractions(sheet, position, numbers_, cells)
        return _whole_labels(cells)
    return pd.Series(cells, dtype=object)


def _refuse_fractions(sheet: Sheet, position: int, values: np.ndarray, cells: Any) -> None:
    """Numbers that are not whole are measurements, or names of sub-clusters that should be written as such."""
    fraction = np.isfinite(values) & (values != np.floor(values))
    if fraction.any():
        row = int(fraction.argmax())
        text = str(cells[row]).strip()
        raise InputError(
            f"{sheet.place(row, position)}: {text} is not a label, since labels are whole numbers or names, and this "
            f"looks like measured data; if {text} is the name of a sub-cluster, write it as text such as c{text}"
        )


def _text_labels(sheet: Sheet, position: int, column: pa.ChunkedArray) -> pd.Series:
    ints = _text_numbers(column, (pa.int64(),))
    if ints is not None:
        exact = ints.to_pandas(integer_object_nulls=True)
        return exact if exact.dtype.kind == "i" else pd.Series(exact.to_numpy(), dtype=object)
    floats = _text_numbers(column, (pa.float64(),))
    if floats is not None:
        values = floats.to_numpy()
        _refuse_fractions(sheet, position, values, column)
        # From 2**53 on, neighboring labels would become the same float.
        if (np.isnan(values) | ((abs(values) < 2**53) & (values == np.floor(values)))).all():
            return _whole_labels(np.array([None if np.isnan(value) else value for value in values], object))
    coded = _tidy(column).combine_chunks().dictionary_encode()
    words = np.array([None if word == "-1" else word for word in coded.dictionary.to_pylist()] + [None], object)
    codes = pc.fill_null(coded.indices, len(words) - 1).to_numpy(zero_copy_only=False)
    return pd.Series(words[codes], dtype=object)


def _whole_labels(cells: np.ndarray) -> pd.Series:
    """Integers in place of numbers such as 1.0, if all are whole."""
    present = [cell for cell in cells if cell is not None]
    if not all(isinstance(cell, numbers.Integral) or float(cell).is_integer() for cell in present):
        return pd.Series(cells, dtype=object)
    whole = [None if cell is None else int(cell) for cell in cells]
    small = all(-(2**63) <= cell < 2**63 for cell in whole if cell is not None)
    return pd.Series(whole, dtype=np.int64 if small and len(present) == len(cells) else object)


def ids_of(sheet: Sheet, position: int) -> np.ndarray:
    """One column of names of rows or columns: text as written, anything else as it is; none may be empty."""
    column = sheet.column(position)
    if isinstance(column, pa.ChunkedArray):
        ids = pc.utf8_trim_whitespace(column).to_numpy()
    else:
        ids = column.to_numpy()
    check_present(sheet, ids, position)
    return ids


def check_present(sheet: Sheet, ids: np.ndarray, position: int | None = None) -> None:
    """Refuse an empty id."""
    empty = pd.isna(ids) | (ids == "")
    if empty.any():
        raise InputError(f"{sheet.place(int(np.argmax(empty)), position)}: the id is missing: give every row one")


def check_unique(sheet: Sheet, ids: np.ndarray, position: int | None = None) -> None:
    """Refuse an id that two rows share."""
    twice = pd.Series(ids).duplicated().to_numpy()
    if twice.any():
        second = int(twice.argmax())
        first = int(np.flatnonzero(ids[:second] == ids[second])[0])
        raise InputError(
            f"{sheet.place(second, position)}: the id {show(ids[second])} is already that of "
            f"{sheet.place(first).removeprefix(sheet.source + ', ')}: make ids unique"
        )
