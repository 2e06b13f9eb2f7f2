"""Columns of a raw table as numbers, labels and names, and as matrices; what does not fit is refused by its place."""

import decimal
import numbers
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from consilience._check import InputError, count, listed, show
from consilience.tables.decimal_signs import DECIMAL_COMMA
from consilience.tables.raw_table import Column, RawTable

#: Cells of a text file that hold no label and no number; of labels also -1. Nothing else counts as missing unasked.
MISSING = ("", "NA", "NaN", "nan", "null", "None")
#: Words that other programs write for what is missing; as labels they are noticed.
MAYBE_MISSING = ("N/A", "n/a", "#N/A", "<NA>", "NULL", "NaT")
#: Words that mean nothing in data.
ABSENT = {*MISSING, *MAYBE_MISSING, "?", "-", "--"}
TRUTHS = ("True", "TRUE", "true", "False", "FALSE", "false")
_INTEGER, _FLOAT_INTEGER = re.compile(r"-?[1-9][0-9]{,18}|0"), re.compile(r"(-?[1-9][0-9]{,14}|0)\.0")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity|nan)$"
Matrix: TypeAlias = Any  # ndarray or csr_matrix
IsBad: TypeAlias = Callable[[np.ndarray], np.ndarray]
ROUNDING = 1e-6  # safeguard: distances that went through single precision, or another order, differ by about this much
_BLOCK = 1 << 18  # safeguard: numbers that are looked at together


class ColumnError(InputError):
    """One column cannot be used; `brief` says why in a list of several such columns."""

    def __init__(self, message: str, brief: str) -> None:
        super().__init__(message)
        self.brief = brief


def numbers_of(raw: RawTable, position: int, *, whole: bool = False) -> np.ndarray:
    """One column as float64, or where `whole` and possible as int64; missing cells become NaN."""
    column = raw.column(position)
    if isinstance(column, pa.ChunkedArray):
        cells = column
        if raw.decimal == ",":  # what has a point already is not a number then
            cells = pc.replace_substring(pc.replace_substring(column, ".", "·"), ",", ".")
        cast = _text_numbers(raw, cells, (pa.int64(), pa.float64()) if whole else (pa.float64(),))
        if cast is not None:
            return cast.to_numpy()
        tidied = _tidy(raw, cells)
        gone = pc.is_null(tidied).to_numpy()
        if pc.all(pc.is_in(tidied, pa.array([*TRUTHS, None]))).as_py():
            return np.where(gone, np.nan, pc.is_in(tidied, pa.array(["True", "TRUE", "true"])).to_numpy())
        is_text = pc.fill_null(pc.invert(pc.match_substring_regex(tidied, _NUMBER)), False)
        raise _not_a_number(raw, position, column, is_text.to_numpy(), gone)
    missing = missing_of(raw, column)
    if not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_complex_dtype(column.dtype):
        column = column.astype(object)
        real = (numbers.Real, np.bool_, decimal.Decimal)
        strange = ~missing & np.fromiter((not isinstance(cell, real) for cell in column), bool, len(column))
        if strange.any():
            raise _not_a_number(raw, position, column, strange, missing)
    if missing.any():
        check_exact(column[~missing].to_numpy(), raw.source)
        return column.astype(object).where(~missing, np.nan).to_numpy(dtype=np.float64)
    values = column.to_numpy()
    if values.dtype == object:
        values = np.array(values.tolist())
    return plain(values, whole, raw.source)


def are_codes(column: Any) -> bool:
    """Whether a column of text holds codes, such as postal codes: nothing but digits, and zeros before some of them."""
    if not isinstance(column, pa.ChunkedArray):
        words = column.dropna().tolist() if column.dtype.kind in "OUT" else []
        if not words or not all(isinstance(word, str) for word in words):
            return False
        column = pa.chunked_array([pa.array(words, pa.string())])
    if not pc.any(pc.match_substring_regex(column, r"^\s*0[0-9]+\s*$")).as_py():
        return False
    cells = pc.utf8_trim_whitespace(column.unique())
    known = cells.filter(pc.invert(pc.is_in(cells, pa.array(sorted(ABSENT), pa.string()))))
    return bool(pc.all(pc.match_substring_regex(known, "^[0-9]+$")).as_py())


def missing_of(raw: RawTable, column: pd.Series) -> np.ndarray:
    missing = column.isna().to_numpy()
    return missing | column.astype(str).isin(raw.missing).to_numpy() if raw.missing else missing


def plain(values: np.ndarray, whole: bool, source: str) -> np.ndarray:
    """Numbers of any width as float64, or as int64 where `whole` and they fit."""
    fits = values.dtype.kind in "bi" or (values.dtype.kind == "u" and values.max(initial=0) <= 2**63 - 1)
    if not (whole and fits):
        check_exact(values, source)
    return values.astype(np.int64 if whole and fits else np.float64, copy=False)


def check_exact(values: np.ndarray, source: str) -> None:
    """Refuse whole numbers that float64 cannot hold: different ones would become the same."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8:
        return
    wide = values[(values > 2**53) | (values < -(2**53))]
    kept = wide.astype(np.float64)
    lost = (kept >= 2.0**63) | (np.minimum(kept, 2.0**62).astype(np.int64) != np.minimum(wide, 2**62).astype(np.int64))
    if lost.any():
        what = f"holds whole numbers beyond 2⁵³, such as {wide[lost][0]}, which lose their last digits"
        raise InputError(f"{source}: {what}: subtract a constant from them, or leave them out if they are names")


def _not_a_number(raw: RawTable, position: int, column: Column, bad: np.ndarray, missing: np.ndarray) -> ColumnError:
    row = int(bad.argmax())
    cell = column[row].as_py() if isinstance(column, pa.ChunkedArray) else column.iloc[row]
    what = "text" if isinstance(cell, str) else f"values of type {type(cell).__name__}"
    brief = f"{what}, such as {show(cell, 30)}"
    has_comma = isinstance(cell, str) and raw.line is not None and re.match(DECIMAL_COMMA, cell) is not None
    if (bad | missing).all() and not has_comma:
        remedy = "name it with id_column= (--id) or known= (--known)" if raw.has_options else "turn it into numbers"
        said = f"{raw.place(row)}: {raw.column_words(position)} holds {brief}: {remedy}, or leave it out"
    else:
        sign = "if the comma is a decimal sign give decimal=',' (--decimal ,), otherwise " if has_comma else ""
        remedy = f"{sign}write it as plain digits, such as 1234{raw.decimal}5, or leave the column out"
        said = f"{raw.place(row, position)}: {show(cell)} is not a number: {remedy}"
    return ColumnError(said, brief)


def _tidy(raw: RawTable, column: pa.ChunkedArray) -> pa.ChunkedArray:
    cells = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.is_in(cells, pa.array([*MISSING, *raw.missing])), pa.scalar(None, pa.string()), cells)


def _text_numbers(raw: RawTable, column: pa.ChunkedArray, types: tuple[pa.DataType, ...]) -> pa.ChunkedArray | None:
    tidied = None
    for target in types:
        if not raw.missing and (done := _cast(column, target)) is not None:
            return done
        if tidied is None:
            tidied = pc.replace_substring_regex(_tidy(raw, column), r"^\+([0-9.])", r"\1")
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


def labels_of(raw: RawTable, position: int) -> pd.Series:
    """One column of labels: integers where all are whole numbers, text as categories, otherwise objects; None or NaN where missing."""
    column = raw.column(position)
    if isinstance(column, pa.ChunkedArray):
        return _text_labels(raw, position, column)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu" and not raw.missing:
        return column.reset_index(drop=True)
    if isinstance(column.dtype, pd.CategoricalDtype) and all(isinstance(word, str) for word in column.cat.categories):
        return column.cat.remove_categories(column.cat.categories.intersection(raw.missing)).reset_index(drop=True)
    cells = column.astype(object).to_numpy(copy=True)
    cells[missing_of(raw, column)] = None
    if pd.api.types.infer_dtype(cells, skipna=True) in ("integer", "floating", "mixed-integer-float"):
        values = np.array([np.nan if cell is None else float(cell) for cell in cells])
        if (fraction := np.isfinite(values) & (values != np.floor(values))).any():
            row = int(fraction.argmax())
            raise _fraction(raw, position, row, str(cells[row]))
        if not np.isinf(values).any():
            whole = [None if cell is None else int(cell) for cell in cells]
            small = all(cell is not None and -(2**63) <= cell < 2**63 for cell in whole)
            return pd.Series(whole, dtype=np.int64 if small else object)
    return pd.Series(cells, dtype=object)


def _fraction(raw: RawTable, position: int, row: int, text: str) -> ColumnError:
    """Numbers that are not whole are measurements, or names of sub-clusters that should be written as such."""
    what = f"{text} is not a label, since labels are whole numbers or names, and this looks like measured data"
    remedy = f"if {text} is the name of a sub-cluster, write it as text such as c{text}"
    said = f"{raw.place(row, position)}: {what}; {remedy}, otherwise leave the column out with columns= (--columns)"
    return ColumnError(said, f"numbers such as {float(text.replace(',', '.')):.4g}")


def _text_labels(raw: RawTable, position: int, column: pa.ChunkedArray) -> pd.Series:
    """Integers where every label is written as one (1, or 1.0 as pandas does beside missing ones); text as it stands, by its codes."""
    dictionary = column.combine_chunks().dictionary_encode()
    codes = dictionary.indices.to_numpy()
    words: list[str] = [word.strip() for word in dictionary.dictionary.to_pylist()]
    missing = {*MISSING, *raw.missing}
    present = [word for word in words if word not in missing]
    labels: list[Any] = [None if word in missing or word == "-1" else word for word in words]
    if all(_INTEGER.fullmatch(word) for word in present):
        numbers = [None if word in missing else int(word) for word in words]
        if all(-(2**63) <= number < 2**63 for number in numbers if number is not None):
            labels = numbers
    elif all(_DECIMAL.fullmatch(word.replace(",", ".") if raw.decimal == "," else word) for word in present):
        for word in present:
            if float(word.replace(",", ".")) % 1 > 0:
                raise _fraction(raw, position, int((codes == words.index(word)).argmax()), word)
        if all(_FLOAT_INTEGER.fullmatch(word) for word in present):
            labels = [None if word in missing else int(float(word)) for word in words]
    elif set(present) <= {"True", "False"}:
        labels = [None if word in missing else word == "True" for word in words]
    if all(type(label) is int for label in labels):
        return pd.Series(np.array(labels, np.int64)[codes])
    known: dict[Any, int] = {}
    place = [-1 if label is None else known.setdefault(label, len(known)) for label in labels]
    words_of = pd.Index(list(known), dtype=object)
    return pd.Series(pd.Categorical.from_codes(np.array([*place, -1], np.int32)[codes], words_of))


def ids_of(raw: RawTable, position: int, *, unique: bool = False) -> np.ndarray:
    """One column of names of rows or columns: text as written, anything else as it is; none may be empty."""
    column = raw.column(position)
    ids = (pc.utf8_trim_whitespace(column) if isinstance(column, pa.ChunkedArray) else column).to_numpy()
    check_ids(raw, ids, position, unique=unique)
    return ids


def check_ids(raw: RawTable, ids: np.ndarray, position: int | None = None, *, unique: bool = True) -> None:
    empty = pd.isna(ids) | (ids == "")
    if empty.any():
        raise raw.error("the id is missing: give every row one", int(np.argmax(empty)), position)
    if unique and (twice := pd.Series(ids).duplicated().to_numpy()).any():
        second = int(twice.argmax())
        first = int(np.flatnonzero(ids[:second] == ids[second])[0])
        where = raw.place(first).removeprefix(f"{raw.source}, ")
        raise raw.error(f"the id {show(ids[second])} is already that of {where}: make ids unique", second, position)


def data_of(raw: RawTable, positions: list[int], *, whole: bool = False) -> Matrix:
    """Finite numbers, dense or CSR: float64, or where `whole` and possible int64."""
    values = _matrix(raw, positions, whole=whole)
    check_finite(raw, values, positions)
    return values


def plain_numbers(raw: RawTable, positions: list[int]) -> Matrix | None:
    """As `data_of`, but None where a column is no number or, in a full table, a number is missing."""
    body = raw.body
    if sparse.issparse(body):
        return data_of(raw, positions)
    if isinstance(body, (pa.Table, pd.DataFrame)):
        columns = []
        for position in positions:
            try:
                columns.append(numbers_of(raw, position))
            except ColumnError:
                return None
            if are_codes(raw.column(position)):
                return None
        values = np.column_stack(columns)
    else:
        values = _matrix(raw, positions, whole=False)
    if _find(values, np.isnan):
        return None
    check_finite(raw, values, positions)
    return values


def counts_of(raw: RawTable, positions: list[int]) -> sparse.csr_matrix:
    """Finite, non-negative numbers as CSR: int64 where all are integers, otherwise float64."""
    values = data_of(raw, positions, whole=True)
    check_not_negative(raw, values, positions, "counts")
    return sparse.csr_matrix(values)


def triples_of(raw: RawTable, positions: list[int]) -> tuple[sparse.csr_matrix, np.ndarray, list[str]]:
    """Counts, row names and column names from columns row, column, count; repeated pairs add up."""
    if len(positions) != 3:
        what = f"triples need three columns, row, column and count, and there are {len(positions)}"
        raise raw.error(f"{what}: choose three with columns= (--columns)")
    counts = numbers_of(raw, positions[2], whole=True)[:, None]
    check_finite(raw, counts, positions[2:])
    check_not_negative(raw, counts, positions[2:], "counts")
    rows, row_names = _codes(ids_of(raw, positions[0]))
    columns, column_names = _codes(ids_of(raw, positions[1]))
    shape = (len(row_names), len(column_names))
    return (sparse.csr_matrix((counts[:, 0], (rows, columns)), shape), row_names, [str(c) for c in column_names])


def _codes(names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Code of each name, and the unique names: numbers in order, others as they first appear."""
    codes, unique = pd.factorize(names)
    try:
        order = np.argsort([float(name) for name in unique], kind="stable")
    except (TypeError, ValueError):
        return codes, unique
    return np.argsort(order)[codes], unique[order]


def new_distances_of(raw: RawTable, positions: list[int]) -> np.ndarray:
    """Distances of some objects to others, a column for each: finite, non-negative."""
    if sparse.issparse(raw.body):
        raise raw.error("distances must be a full matrix, not a sparse one: fill in every pair")
    values = data_of(raw, positions)
    check_not_negative(raw, values, positions, "distances")
    return values


def distances_of(raw: RawTable, positions: list[int]) -> np.ndarray:
    """A full matrix of distances: square, finite, non-negative, zero diagonal, symmetric within rounding."""
    values = new_distances_of(raw, positions)
    n_rows, n_columns = values.shape
    if n_rows != n_columns:
        what = f"distances must be square, and there are {n_rows} rows and {n_columns} columns"
        remedy = "name a column of ids with id_column= (--id), or give kind='data' for a table of measurements"
        raise raw.error(f"{what}: {remedy if raw.has_options else 'give one distance for every pair of objects'}")
    slack = ROUNDING * values.max(initial=0)
    for row in np.flatnonzero(values.diagonal() > slack)[:1].tolist():
        what = f"the distance of an object to itself is {values[row, row]:.6g}, not 0"
        raise raw.error(f"{what}: are these similarities? turn them into distances", row, positions[row])
    worst, row, column = 0.0, 0, 0
    for start, block in _blocks(values):
        gap = block - values[:, start : start + len(block)].T
        np.abs(gap, out=gap)
        if gap.max() > worst:
            worst = float(gap.max())
            row, column = (int(i) for i in np.unravel_index(gap.argmax(), gap.shape))
            row += start
    if worst > slack:
        what = f"the distance there is {values[row, column]:.6g} and {values[column, row]:.6g} the other way round"
        said = f"{what}, the worst of the pairs that differ: are rows and columns in the same order?"
        raise raw.error(said, row, positions[column])
    return values


def check_finite(raw: RawTable, values: Matrix, positions: list[int]) -> None:
    said, remedy = "missing or infinite value ({})", "fill such cells, or drop their rows or columns"
    _refuse(raw, values, positions, lambda part: ~np.isfinite(part), said, remedy)


def check_not_negative(raw: RawTable, values: Matrix, positions: list[int], what: str) -> None:
    otherwise = "" if what == "distances" else ", or read it as measurements (kind='data', without --type counts)"
    said = f"{what} must not be negative, and this is {{}}"
    _refuse(raw, values, positions, lambda part: part < 0, said, f"correct it{otherwise}")


def _refuse(raw: RawTable, values: Matrix, positions: list[int], is_bad: IsBad, said: str, remedy: str) -> None:
    """Say where the first bad value is, and how many there are."""
    if found := _find(values, is_bad):
        n_bad, row, column = found
        which = "the only one" if n_bad == 1 else f"the first of {n_bad}"
        raise raw.error(f"{said.format(values[row, column])}, {which}: {remedy}", row, positions[column])


def _find(values: Matrix, is_bad: IsBad) -> tuple[int, int, int] | None:
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


def _matrix(raw: RawTable, positions: list[int], *, whole: bool) -> Matrix:
    """The columns as numbers; all that cannot be are named together."""
    body = raw.body
    if not isinstance(body, (pa.Table, pd.DataFrame)):
        if positions != list(range(raw.width)):
            body = body[:, positions]
        if sparse.issparse(body):
            body.sort_indices()
            return sparse.csr_matrix((plain(body.data, whole, raw.source), body.indices, body.indptr), body.shape)
        return plain(body, whole, raw.source)
    columns, errors = [], {}
    for position in positions:
        try:
            columns.append(numbers_of(raw, position, whole=whole))
        except ColumnError as error:
            errors[raw.column_names[position]] = error
    if len(errors) == 1:
        raise InputError(str(next(iter(errors.values())))) from None
    if errors:
        what = f"{len(errors)} of {count(len(positions), 'column')} are not numbers throughout"
        those = listed([f"{name!r} ({error.brief})" for name, error in errors.items()])
        remedy = "name ids with id_column= (--id) and known classes with known= (--known), leave others out with columns= (--columns)"
        plainly = "leave them out, or turn them into numbers"
        raise raw.error(f"{what}: {those}: {remedy if raw.has_options else plainly}")
    return np.column_stack(columns)
