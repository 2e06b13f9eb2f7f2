"""Names of labels and ids of objects in Parquet: text stays text, numbers stay numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from consilience._check import InputError, count, show
from consilience._types import Array
from consilience.store.info import Column

NAMES, TYPE = "label_names", "label_type"
TYPES = {str: "text", int: "integer", float: "number", bool: "boolean"}  # several in one clustering: "mixed"


def encode_names(label_names: Sequence[Any] | None, n_clusterings: int) -> dict[str, Column]:
    """Columns of the label names and their type; none if no clustering has names."""
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


def decode_names(table: pa.Table) -> list[Array | None]:
    """The label names of each row of a part that has such columns."""
    found: list[Array | None] = []
    for texts, kind in zip(table[NAMES].to_pylist(), table[TYPE].to_pylist(), strict=True):
        names = None
        if texts is not None:
            names = np.fromiter(texts if kind == "text" else map(json.loads, texts), object, len(texts))
        found.append(names)
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
