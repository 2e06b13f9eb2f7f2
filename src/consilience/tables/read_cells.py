"""Columns into numbers or labels; what does not fit is refused by row and column."""

from __future__ import annotations

import decimal
import numbers
import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from consilience._check import InputError, show
from consilience.tables.sheet import Column, Sheet

#: Cells of a text file that hold no label and no number; of labels also -1. Nothing else counts as missing unasked.
MISSING = ("", "NA", "NaN", "nan", "null", "None")
#: Words that other programs write for what is missing; as labels they are noticed.
MAYBE_MISSING = ("N/A", "n/a", "#N/A", "<NA>", "NULL", "NaT")
ABSENT = {
    *MISSING,
    *MAYBE_MISSING,
    "?",
    "-",
    "--",
}  # words that mean nothing in data, but for a dash beside signs and None among words
TRUTHS = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
_POSTAL_NAME = re.compile(r"(.*[ _.-])?(zip|plz|(zip|postal|post)[ _.-]?codes?|postleitzahl)", re.IGNORECASE)
DECIMAL_COMMA = r"^\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*$"
_INTEGER, _FLOAT_INTEGER = re.compile(r"-?[1-9][0-9]{,18}|0"), re.compile(r"(-?[1-9][0-9]{,14}|0)\.0")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity|nan)$"


class ColumnError(InputError):
    """One column cannot be used; `brief` says why in a list of several such columns."""

    def __init__(self, message: str, brief: str) -> None:
        super().__init__(message)
        self.brief = brief


def numbers_of(sheet: Sheet, position: int, *, whole: bool = False) -> np.ndarray:
    """One column as float64, or where `whole` and possible as int64; missing cells become NaN."""
    column = sheet.column(position)
    if isinstance(column, pa.ChunkedArray):
        cells = column if sheet.decimal == "." else _with_points(column)
        cast = _text_numbers(sheet, cells, (pa.int64(), pa.float64()) if whole else (pa.float64(),))
        if cast is not None:
            return cast.to_numpy()
        tidied = _tidy(sheet, cells)
        if pc.all(pc.is_in(tidied, pa.array([*TRUTHS, None]))).as_py():
            is_true = pc.is_in(tidied, pa.array([word for word, truth in TRUTHS.items() if truth]))
            return np.where(pc.is_null(tidied).to_numpy(), np.nan, is_true.to_numpy())
        is_text = pc.fill_null(pc.invert(pc.match_substring_regex(tidied, _NUMBER)), False)
        raise _not_a_number(sheet, position, column, is_text.to_numpy(), pc.is_null(tidied).to_numpy())
    missing = missing_of(sheet, column)
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


def are_codes(column: Any) -> bool:
    """Whether a column of text holds codes, such as postal codes: nothing but digits, and zeros before some of them.

    Examples
    --------
    >>> import pandas as pd
    >>> are_codes(pd.Series(["01234", "80331"])), are_codes(pd.Series(["0", "80331"])), are_codes(pd.Series(["0.5", "05"]))
    (True, False, False)
    """
    if not isinstance(column, pa.ChunkedArray):
        if getattr(column, "dtype", None) is None or column.dtype.kind not in "OUT" or not len(column):
            return False
        words = column.dropna()
        if not all(isinstance(word, str) for word in words):
            return False
        column = pa.chunked_array([pa.array(list(words), pa.string())])
    if not pc.any(pc.match_substring_regex(column, r"^\s*0[0-9]+\s*$")).as_py():
        return False
    cells = pc.utf8_trim_whitespace(column.unique())
    known = cells.filter(pc.invert(pc.is_in(cells, pa.array(sorted(ABSENT), pa.string()))))
    return bool(pc.all(pc.match_substring_regex(known, "^[0-9]+$")).as_py())


def is_postal(name: str, column: Any) -> bool:
    """Whether a column holds postal codes: whole numbers under such a name.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> zips = pd.Series([1067.0, np.nan, 80331.0])
    >>> is_postal("ZIP code", zips), is_postal("plz", zips), is_postal("zip", zips / 2), is_postal("zipped", zips)
    (True, True, False, False)
    """
    if _POSTAL_NAME.fullmatch(name) is None:
        return False
    if isinstance(column, pa.ChunkedArray):
        words = {word.strip() for word in column.unique().to_pylist()} - ABSENT
        return bool(words) and all(re.fullmatch(r"\d+(\.0)?", word) for word in words)
    known = column.dropna()
    return column.dtype.kind in "iuf" and len(known) > 0 and bool((known % 1 == 0).all())


def missing_of(sheet: Sheet, column: pd.Series) -> np.ndarray:
    """Which cells of a typed column are missing: what pandas says, and words that were named."""
    missing = column.isna().to_numpy()
    return missing | column.astype(str).isin(sheet.missing).to_numpy() if sheet.missing else missing


def _with_points(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decimal commas as points; what has a point already is not a number then."""
    return pc.replace_substring(pc.replace_substring(column, ".", "·"), ",", ".")


def plain(values: np.ndarray, whole: bool) -> np.ndarray:
    """Numbers of any width as float64, or as int64 where `whole` and they fit."""
    fits = values.dtype.kind in "bi" or (values.dtype.kind == "u" and values.max(initial=0) <= 2**63 - 1)
    return values.astype(np.int64 if whole and fits else np.float64, copy=False)


def _is_real(cell: Any) -> bool:
    return isinstance(cell, (numbers.Real, np.bool_, decimal.Decimal)) or cell is None or cell is pd.NA


def _not_a_number(sheet: Sheet, position: int, column: Column, bad: np.ndarray, missing: np.ndarray) -> ColumnError:
    row = int(bad.argmax())
    cell = column[row].as_py() if isinstance(column, pa.ChunkedArray) else column.iloc[row]
    what = "text" if isinstance(cell, str) else f"values of type {type(cell).__name__}"
    brief = f"{what}, such as {show(cell, 30)}"
    if isinstance(cell, str) and sheet.line is not None and sheet.decimal == "." and re.match(DECIMAL_COMMA, cell):
        return ColumnError(
            f"{sheet.place(row, position)}: {show(cell)} is not a number: if the comma is a decimal sign give decimal=',' "
            "(--decimal ,), otherwise write it as plain digits with a decimal point, such as 1234.5",
            brief,
        )
    if (bad | missing).all():
        return ColumnError(
            f"{sheet.place(row)}: {sheet.column_words(position)} holds {brief}: "
            + (
                "name it with id_column= (--id) or known= (--known), or "
                if sheet.has_options
                else "turn it into numbers, or "
            )
            + "leave it out",
            brief,
        )
    return ColumnError(
        f"{sheet.place(row, position)}: {show(cell)} is not a number: write it as plain digits with a "
        f"decimal {'comma' if sheet.decimal == ',' else 'point'}, such as 1234{sheet.decimal}5, or leave the column out",
        brief,
    )


def _tidy(sheet: Sheet, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without the spaces around cells, and null where missing."""
    cells = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.is_in(cells, pa.array([*MISSING, *sheet.missing])), pa.scalar(None, pa.string()), cells)


def _text_numbers(sheet: Sheet, column: pa.ChunkedArray, types: tuple[pa.DataType, ...]) -> pa.ChunkedArray | None:
    """The column as the first of `types` that holds every cell, or None."""
    tidied = None
    for target in types:
        if not sheet.missing and (done := _cast(column, target)) is not None:
            return done
        if tidied is None:
            tidied = pc.replace_substring_regex(_tidy(sheet, column), r"^\+([0-9.])", r"\1")
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
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu" and not sheet.missing:
        return column.reset_index(drop=True)
    cells = column.astype(object).to_numpy(copy=True)
    cells[missing_of(sheet, column)] = None
    if pd.api.types.infer_dtype(cells, skipna=True) in ("integer", "floating", "mixed-integer-float"):
        values = np.array([np.nan if cell is None else float(cell) for cell in cells])
        if (fraction := np.isfinite(values) & (values != np.floor(values))).any():
            row = int(fraction.argmax())
            raise _fraction(sheet, position, row, str(cells[row]))
        return _whole_labels(cells)
    return pd.Series(cells, dtype=object)


def _fraction(sheet: Sheet, position: int, row: int, text: str) -> ColumnError:
    """Numbers that are not whole are measurements, or names of sub-clusters that should be written as such."""
    return ColumnError(
        f"{sheet.place(row, position)}: {text} is not a label, since labels are whole numbers or names, and this "
        f"looks like measured data; if {text} is the name of a sub-cluster, write it as text such as c{text}, "
        "otherwise leave the column out with columns= (--columns)",
        f"numbers such as {float(text.replace(',', '.')):.4g}",
    )


def _text_labels(sheet: Sheet, position: int, column: pa.ChunkedArray) -> pd.Series:
    """Integers where every label is written as one (1, or 1.0 as pandas does beside missing ones); text as it stands."""
    coded = column.combine_chunks().dictionary_encode()
    codes = coded.indices.to_numpy()
    words: list[Any] = [word.strip() for word in coded.dictionary.to_pylist()]
    missing = {*MISSING, *sheet.missing}
    present = [word for word in words if word not in missing]
    if all(_INTEGER.fullmatch(word) for word in present):
        labels = [None if word in missing else int(word) for word in words]
        if all(-(2**63) <= label < 2**63 for label in labels if label is not None):
            return pd.Series(np.array(labels, np.int64 if len(present) == len(words) else object)[codes])
    elif all(_DECIMAL.fullmatch(word.replace(",", ".") if sheet.decimal == "," else word) for word in present):
        for word in present:
            if float(word.replace(",", ".")) % 1 > 0:
                raise _fraction(sheet, position, int((codes == words.index(word)).argmax()), word)
        if all(_FLOAT_INTEGER.fullmatch(word) for word in present):
            return _whole_labels(np.array([None if word in missing else float(word) for word in words], object)[codes])
    if set(present) in ({"True"}, {"False"}, {"True", "False"}):
        words = [word if word in missing else word == "True" for word in words]
    labels = [None if word in missing or word == "-1" else word for word in words]
    return pd.Series(np.array([*labels, None], object)[codes], dtype=object)


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
