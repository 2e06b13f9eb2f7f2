"""What is known of each clustering: cells of a DataFrame to Parquet columns and back."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from consilience._check import InputError, count, show
from consilience._types import Array
from consilience.ensemble.info import check_info

Column = tuple[pa.Array, dict[str, str] | None]
_JSON_MARK = {"consilience": "json"}
STREAM = ("seed", "unit", "around", "jitter")  # what tells the clusterings of the runs in a store apart
TAKEN = ("number", "labels", "label_names", "label_type")  # columns of the parts themselves


def encode_info(info: Any, n_clusterings: int) -> dict[str, Column]:
    if info is None:
        return {}
    if isinstance(info, Mapping) and n_clusterings == 1:  # columns by name, or the only row itself
        info = info if any(isinstance(cell, (list, pd.Series)) for cell in info.values()) else [info]
    info = check_info(info, n_clusterings)
    names = list(info.columns)
    for name in names:
        if not isinstance(name, str) or name in TAKEN or names.count(name) > 1:
            raise InputError(f"info column {name!r} must be named by a string, once, and not one of {', '.join(TAKEN)}")
    return {name: _encode_column(info[name]) for name in names}


def _encode_column(column: pd.Series) -> Column:
    """An array, and the mark for a column that Parquet has no single type for: its cells become JSON text."""
    if column.dtype.kind in "biufmM":
        return pa.array(column, from_pandas=True), None
    cells = [None if _is_missing(cell) else cell for cell in column.tolist()]
    # Cells of mixed types make no Arrow array, but JSON can hold them.
    with contextlib.suppress(TypeError, ValueError, OverflowError, pa.ArrowException):
        array = pa.array(cells)
        is_list = pa.types.is_list(array.type) and not pa.types.is_nested(array.type.value_type)
        if is_list or not pa.types.is_nested(array.type):
            return array, None
    try:
        texts = [None if cell is None else json_text(cell) for cell in cells]
    except (TypeError, ValueError) as error:
        raise InputError(f"info column {column.name!r} cannot be stored: {error}") from None
    return pa.array(texts, pa.string()), _JSON_MARK


def _is_missing(cell: Any) -> bool:
    return cell is None or cell is pd.NA or cell is pd.NaT or (isinstance(cell, (float, np.floating)) and cell != cell)


def decode_info(tables: list[pa.Table], index: pd.Index) -> pd.DataFrame:
    """One DataFrame of parts that may differ in columns and types."""
    columns: dict[str, list[pa.Table]] = {name: [] for table in tables for name in table.column_names}
    for table in tables:
        there = set(table.column_names)
        for name, pieces in columns.items():
            pieces.append(table.select([name]) if name in there else pa.table({name: pa.nulls(len(table))}))
    joined = {name: _join(pieces) for name, pieces in columns.items()}
    return pd.DataFrame(joined, index=range(len(index))).set_axis(index)


def unit_keys(info: pd.DataFrame) -> list[tuple[Any, ...]]:
    """What tells clusterings apart, however often they are appended: seed, unit, center and jitter; the number where none is told."""
    cells = [info[name].tolist() if name in info else [None] * len(info) for name in STREAM]
    keys = []
    for number, seed, unit, *center in zip(info.index.tolist(), *cells, strict=True):
        is_told = isinstance(seed, int) and isinstance(unit, int)
        keys.append((seed, unit, *(None if _is_missing(cell) else cell for cell in center)) if is_told else (number,))
    return keys


def _join(pieces: list[pa.Table]) -> pd.Series:
    """One column from its pieces; where their types have nothing in common, Python objects."""
    fields = [piece.schema.field(0) for piece in pieces]
    marked = {_is_marked(field) for field in fields if not pa.types.is_null(field.type)}
    if marked == {False}:
        with contextlib.suppress(pa.ArrowInvalid, pa.ArrowTypeError):
            return _to_series(pa.concat_tables(pieces, promote_options="permissive").column(0))
    cells: list[Any] = []
    for piece, field in zip(pieces, fields, strict=True):
        values = piece.column(0).to_pylist()
        cells += [None if v is None else json.loads(v) for v in values] if _is_marked(field) else values
    return pd.Series(cells, dtype=object)


def _is_marked(field: pa.Field) -> bool:
    return (field.metadata or {}).get(b"consilience") == b"json"


def _to_series(column: pa.ChunkedArray) -> pd.Series:
    if pa.types.is_nested(column.type):
        return pd.Series(column.to_pylist(), dtype=object)
    if pa.types.is_integer(column.type) and column.null_count:
        exact = "UInt64" if pa.types.is_unsigned_integer(column.type) else "Int64"
        return pd.Series(column.to_pylist(), dtype=exact)
    return column.to_pandas()


# Names of labels and ids of objects in Parquet: text stays text, numbers stay numbers.

NAMES, TYPE = "label_names", "label_type"
TYPES = {str: "text", int: "integer", float: "number", bool: "boolean"}  # several in one clustering: "mixed"


def encode_names(label_names: Sequence[Any] | None, n_clusterings: int) -> dict[str, Column]:
    if label_names is None or all(names is None for names in label_names):
        return {}
    if len(label_names) != n_clusterings:
        raise InputError(f"label_names has {len(label_names)} entries for {count(n_clusterings, 'clustering')}")
    cells = [(None, None) if names is None else _encode(names, j) for j, names in enumerate(label_names)]
    names, types = zip(*cells, strict=True)
    return {NAMES: (pa.array(names, pa.list_(pa.string())), None), TYPE: (pa.array(types, pa.string()), None)}


def _encode(names: Any, clustering: int) -> tuple[list[str], str]:
    """Text as it stands, anything else (and text that is not Unicode) as JSON."""
    cells = [name.item() if isinstance(name, np.generic) else name for name in names]
    kinds = {type(cell) for cell in cells}
    for cell in cells if not kinds <= set(TYPES) else ():
        if type(cell) not in TYPES:
            what = f"clustering {clustering}: the label {show(cell)} of type {type(cell).__name__}"
            raise InputError(f"{what} cannot be stored: make the labels text or numbers first")
    if kinds <= {str} and _is_unicode(cells):
        return cells, "text"
    kind = TYPES[kinds.pop()] if len(kinds) == 1 and str not in kinds else "mixed"
    return [json.dumps(cell) for cell in cells], kind


def _is_unicode(texts: Sequence[str]) -> bool:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


def decode_names(file: pq.ParquetFile) -> list[Array | None]:
    table, found = file.read(columns=[NAMES, TYPE], use_threads=False), []
    for texts, kind in zip(table[NAMES].to_pylist(), table[TYPE].to_pylist(), strict=True):
        cells = texts if texts is None or kind == "text" else map(json.loads, texts)
        found.append(None if texts is None else np.fromiter(cells, object, len(texts)))
    return found


def check_ids(ids: Any, n_objects: int) -> Array | None:
    """Ids of objects as one type that Parquet has: text, whole numbers, floats or booleans."""
    if ids is None:
        return None
    cells = [cell.item() if isinstance(cell, np.generic) else cell for cell in ids]
    if len(cells) != n_objects:
        raise InputError(f"{count(n_objects, 'object')} cannot have {count(len(cells), 'id')}: give one for each")
    kind = type(cells[0])
    for row, cell in enumerate(cells):
        if type(cell) is not kind or kind not in TYPES:
            raise InputError(f"ids must be all text or all numbers; that of object {row} is {show(cell)}")
        if kind is str and not _is_unicode([cell]):
            raise InputError(f"the id {show(cell)} of object {row} is not Unicode text, as of a file name: rename it")
    try:
        return np.array(cells, dtype={str: object, int: np.int64}.get(kind, kind))
    except OverflowError:
        raise InputError("ids that are numbers must fit in 64 bits: give them as text") from None


# Values as JSON text, and as words in a message.


class RefusedError(Exception):
    """Why a file is left out."""


def json_text(value: Any, *, allow_nan: bool = True) -> str:
    """JSON with sorted keys: equal values, equal text."""
    return json.dumps(value, sort_keys=True, allow_nan=allow_nan, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def brief(value: Any) -> str:
    """A value or an error on one line of bearable length."""
    if not isinstance(value, Exception):
        return show(value, 100)
    text = " ".join(str(value).split())
    return text if len(text) <= 100 else f"{text[:99]}…"
