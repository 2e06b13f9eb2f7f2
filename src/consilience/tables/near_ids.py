"""Columns that would name the objects, were it not for a few cells: they are not clustered by, and the first such cell is said."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pyarrow as pa

from consilience._check import show
from consilience._types import Array, Floats
from consilience.tables.columns import is_id_name, is_key_name
from consilience.tables.read_cells import ABSENT
from consilience.tables.sheet import Sheet

MANY = 20  # objects from which on it is concluded
NEARLY, DENSE = 0.9, 0.95  # share of different cells of ids, by their name and by their numbers alone
_FRACTION = re.compile(r"[+-]?\d*[.,]\d+")


def near_ids(sheet: Sheet, position: int) -> str:
    """Why a column that is named like an id does not name the objects, though nearly all its cells differ; empty for any other.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"customer_id": [*range(1000, 1030), 1006]})
    >>> near_ids(Sheet("frame", frame, list(frame)), 0)
    'looks like ids, but row 31 repeats 1006'
    """
    name = sheet.column_names()[position]
    if sheet.names is None or sheet.n_rows < MANY or not (is_id_name(name) or is_key_name(name)):
        return ""
    column = sheet.column(position)
    if isinstance(column, pa.ChunkedArray):
        cells = np.array([word.strip() for word in column.to_pylist()], object)
        absent = np.isin(cells.astype(str), [*ABSENT, *sheet.missing])
        if any(_FRACTION.fullmatch(word) for word in cells):
            return ""
    elif column.dtype.kind in "iufO":
        cells, absent = column.to_numpy(), column.isna().to_numpy()
        if column.dtype.kind == "f" and (cells[~absent] % 1 != 0).any():
            return ""
    else:
        return ""
    return first_doubt(sheet, cells, absent, NEARLY)


def nearly_count_rows(sheet: Sheet, numbers: Floats) -> str:
    """Why n whole numbers in a row, hardly one twice, do not name the objects; empty for any other.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([*range(1000, 1030), 1006.0])
    >>> nearly_count_rows(Sheet("array", rows[:, None]), rows)
    'looks like ids, but row 31 repeats 1006'
    """
    absent, n = np.isnan(numbers), len(numbers)
    if n < MANY or absent.any() or (numbers % 1 != 0).any() or numbers.max() - numbers.min() >= n / DENSE:
        return ""
    return first_doubt(sheet, numbers, absent, DENSE)


def first_doubt(sheet: Sheet, cells: Array, absent: Array, least: float) -> str:
    """The first cell that is missing or was there before, if a share of at least `least` of all is different; else nothing."""
    known = pd.Series(cells[~absent])
    if known.nunique() < least * len(cells) or (known.is_unique and not absent.any()):
        return ""
    rows = np.flatnonzero(~absent)
    first = [*rows[known.duplicated().to_numpy()][:1], *np.flatnonzero(absent)[:1]]
    row = int(min(first))
    cell = cells[row]
    said = (
        f"{cell:.0f}"
        if isinstance(cell, (float, np.floating))
        else show(cell, 30)
        if isinstance(cell, str)
        else f"{cell}"
    )
    where = sheet.place(row).removeprefix(f"{sheet.source}, ")
    return f"looks like ids, but {where} {'has none' if absent[row] else f'repeats {said}'}"
