"""Rows of a file that are no objects: a title above the names, names in two rows, a row of units, totals at the end."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from consilience._check import count, listed, show
from consilience.tables.column_words import UNKNOWN
from consilience.tables.parse_text import is_number, written_numbers
from consilience.tables.read_cells import ABSENT
from consilience.tables.sheet import Sheet

LOOK = 20  # rows that say what stands above them
LEAST = 3  # columns of a table that has a title
WIDE, LABELED = 5, 2  # columns from which on a line above the names may have two cells: "exported", "3 May 2024"
_PART = r"(?:[x×]?\s?10(?:[²³⁴-⁹]|\s?(?:\^|\*{1,2}|e)\s?-?\d{1,2})|100 ?[^\d,;:/]{0,8}|1\.73 ?m(?:\^?2|²)|[^\d,;:/^]{1,12}(?:\^?-?[1-4])?)"
_UNIT = re.compile(
    rf"[\[(]?(?=.*[^\W\d_]|.*[%‰°$€£#]){_PART}(?:\s?/\s?{_PART})*[\])]?", re.IGNORECASE
)  # kg/m2, 10^9/L, mg/100 ml
_SURE_UNIT = re.compile(
    r"[\[(]?([^\W\d_]{1,6}\d?/[^\W\d_].*|.*[\^µ²³·].*|.*\d.*|[%‰°$€£][^\W\d_]*|[mckdµnp][mgl]|mm?ol|sec|min|hrs?|yrs?|years?|days?|mmhg|bpm|usd|eur|iu)[\])]?"
)
_NOT_MEASURED = {
    "n/d",
    "n/r",
    "n/t",
    "w/o",
    "nd",
    "n.d.",
    "nt",
    "n.t.",
    "bdl",
    "bql",
    "blq",
    "<lod",
    "<loq",
    "not detected",
    "not done",
    "not tested",
    "pending",
    "failed",
}
_TOTAL = re.compile(
    r"((grand |overall |sub ?)?totals?|sum|all|averages?|mean|gesamt|summe|insgesamt|mittelwert|durchschnitt)\W*",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\s*(19|20)\d\d(\.0)?\s*")
NEARLY = 0.005  # of a total: what rounding may take from it


def rows_above(rows: Sequence[Sequence[str]]) -> int:
    """How many of the first rows are a title, and not names of columns: they hold one cell, or two of five columns or more.

    Examples
    --------
    >>> rows_above([["Report 2024", "", ""], ["", "", ""], ["store", "sales", "staff"], ["a", "1", "2"]])
    2
    >>> rows_above([["store", "", ""], ["a", "1", "2"]])
    0
    """
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows[:LOOK]]
    width = max(filled, default=0)
    first = next((i for i, n in enumerate(filled) if 2 * n > width), 0)
    most = LABELED if width >= WIDE else 1
    if width < LEAST or not first or max(filled[:first]) > most or not _are_names(rows[first : first + LOOK]):
        return 0
    if any(_is_number(cell) for cell in rows[first]) and any(
        row and not row[0].strip() and any(row) for row in rows[:first]
    ):
        return 0  # years below names of groups
    return first


def _are_names(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row has words, and no number that is no year, and some below it have one."""
    first, *below = ([cell for cell in row if cell.strip()] for row in rows)
    numbers = [cell for cell in first if _is_number(cell)]
    named = not numbers or (len(numbers) < len(first) and _are_years(numbers))
    return named and any(_is_number(cell) for row in below for cell in row)


def _are_years(cells: Sequence[str]) -> bool:
    """Whether numbers are years that follow each other, as names of columns do."""
    if not all(map(_YEAR.fullmatch, cells)):
        return False
    years = {int(float(cell)) for cell in cells}
    return len(years) > 1 and max(years) - min(years) < len(years)


def without_title(raw: bytes, separators: str) -> tuple[bytes, int]:
    """Text without the lines of a title above the names of the columns, and how many these are.

    Examples
    --------
    >>> without_title(b"Sales 2024\\n\\nstore;sales;staff\\na;1;2\\n", ",;")
    (b'store;sales;staff\\na;1;2\\n', 2)
    >>> without_title(b"store,sales,staff\\na,1,2\\n", ",;")
    (b'store,sales,staff\\na,1,2\\n', 0)
    """
    lines = raw[: 1 << 16].splitlines(keepends=True)[: 2 * LOOK]
    text = [line.decode(errors="replace") for line in lines]
    gone, most = 0, 0
    for sep in separators:
        reader = csv.reader(text, delimiter=sep)
        try:
            rows = [(reader.line_num, row) for row in reader]  # a cell may hold several lines
        except csv.Error:  # said with its line where cells are split
            continue
        width = max((len(row) for _, row in rows), default=0)
        first, second = [row for _, row in [*rows, (0, []), (0, [])][:2]]
        named = sum(bool(cell.strip()) for cell in first)
        if len(first) == len(second) and named >= max(2, len(first) - 1):  # names, and cells below them
            return raw, 0
        if width > most or (width == most and not gone):
            n = rows_above([row for _, row in rows])
            most, gone = width, rows[n - 1][0] if n else 0
    return raw[sum(map(len, lines[:gone])) :], gone


def tidied(sheet: Sheet) -> Sheet:
    """A sheet with names from two rows in one, and without a row of units and totals, each of which is said."""
    if sheet.names is None or not isinstance(sheet.body, (pa.Table, pd.DataFrame)):
        return sheet
    sheet = _with_both_names(sheet)
    head = _rows(sheet, range(min(LOOK, sheet.n_rows)))
    if len(head) > 2 and (units := _units(head[0], head[1:])):
        sheet = _without(
            sheet, 1, 0, f"{sheet.place(0).removeprefix(sheet.source + ', ')} holds units ({listed(units)})"
        )
    for _ in range(2):
        word = _total(sheet)
        if not word:
            break
        sheet = _without(sheet, 0, 1, f"the last row holds totals ({show(word, 30)})")
    return sheet


def _with_both_names(sheet: Sheet) -> Sheet:
    """Names of groups of columns with those of the columns below them, where the first row of cells holds such."""
    head = _rows(sheet, range(min(LOOK, sheet.n_rows)))
    given = list(sheet.names or [])
    if len(head) < 2:
        return sheet
    below, rest = head[0], head[1:]
    open_ = [j for j, name in enumerate(given) if not name or given.count(name) > 1]
    years = [j for j, cell in enumerate(below) if _YEAR.fullmatch(cell)]
    if any(_mostly([row[j] for row in rest], _YEAR) for j in years):
        years = []  # a column of them
    if years and not _are_years([below[j] for j in years]):
        return sheet
    if len(open_) < 2 or any(_is_number(cell) for j, cell in enumerate(below) if j not in years):
        return sheet
    below = [cell.removesuffix(".0") if j in years else cell for j, cell in enumerate(below)]
    named = [below[j] for j in open_ if below[j] and below[j] not in ABSENT and below[j].casefold() not in UNKNOWN]
    over_numbers = [j for j, cell in enumerate(below) if cell and _mostly_numbers([row[j] for row in rest])]
    numeric = len(set(over_numbers).intersection(open_))
    blank = [j for j, name in enumerate(given) if not name and not below[j] and any(row[j] for row in rest)]
    if len(named) < len(open_) or (2 * numeric < len(open_) and len(over_numbers) < 3) or blank:
        return sheet
    names, group = [], ""
    for name, own in zip(given, below, strict=True):
        group = name or (group if own else "")
        names.append(f"{group} {own}".strip() if own != group else group)
    if len(set(names)) < len(names):
        return sheet
    return _without(replace(sheet, names=names), 1, 0, "the names of the columns stand in two rows", left_out=False)


def _units(first: Sequence[str], below: Sequence[Sequence[str]]) -> list[str]:
    """The units in a row, over columns of numbers, beside which it holds nothing unless they are sure; empty where it is another row."""
    found, others = [], 0
    for j, cell in enumerate(first):
        if not cell or cell in ABSENT:
            continue
        if not _mostly_numbers([row[j] for row in below], 0.5):  # beside words for what could not be measured
            others += 1
            continue
        if _is_number(cell) or not _UNIT.fullmatch(cell) or cell.casefold() in UNKNOWN | _NOT_MEASURED:
            return []
        found.append(cell)
    sure = len({cell for cell in found if _SURE_UNIT.fullmatch(cell.casefold())})
    again = any(cell in {row[j] for row in below} for j, cell in enumerate(first) if cell in found)
    return (
        found if len(found) >= 2 and not again and (not others or (sure >= 2 and 2 * sure >= len(set(found)))) else []
    )


def _total(sheet: Sheet) -> str:
    """The word for a total in the last row, where its numbers are the sums, or the means, of the columns; else nothing."""
    if sheet.n_rows < 4:
        return ""
    last = _rows(sheet, [sheet.n_rows - 1])[0]
    word = next((cell for cell in last if cell), "")
    if not _TOTAL.fullmatch(word):
        return ""
    tried = right = 0
    for j, cell in enumerate(last):
        if not _is_number(cell):
            continue
        cells = _column(sheet, j)
        values = written_numbers(cells, sheet.decimal)[0]
        others = values[:-1][~np.isnan(values[:-1])]
        if not len(others) or np.ptp(others) == 0:
            continue  # any mean is that number
        wanted = (others.sum(), others.mean())
        tried += 1
        right += any(abs(values[-1] - one) <= NEARLY * abs(one) + 1e-9 for one in wanted)
    return word if right and 2 * right >= tried else ""


def _without(sheet: Sheet, first: int, last: int, why: str, *, left_out: bool = True) -> Sheet:
    body: Any = sheet.body
    n = sheet.n_rows - first - last
    body = body.slice(first, n) if isinstance(body, pa.Table) else body.iloc[first : first + n].reset_index(drop=True)
    line = sheet.line
    shifted = None if line is None else (lambda row: line(row + first))
    notice = f"{why} and is left out" if left_out else why
    return replace(sheet, body=body, line=shifted, notices=(*sheet.notices, notice))


def _rows(sheet: Sheet, which: Sequence[int]) -> list[list[str]]:
    """Some rows as text, "" where nothing is."""
    columns = [_cells(sheet, j, list(which)) for j in range(sheet.width)]
    return [list(row) for row in zip(*columns, strict=True)]


def _column(sheet: Sheet, position: int) -> list[str]:
    return _cells(sheet, position, list(range(sheet.n_rows)))


def _cells(sheet: Sheet, position: int, which: list[int]) -> list[str]:
    column = sheet.column(position)
    if isinstance(column, pa.ChunkedArray):
        return [str(cell or "").strip() for cell in column.take(which).to_pylist()]
    return ["" if pd.isna(cell) else str(cell).strip() for cell in column.iloc[which]]


def _is_number(cell: str) -> bool:
    return bool(cell.strip()) and is_number(cell)


def _mostly(cells: Sequence[str], pattern: re.Pattern[str]) -> bool:
    return 2 * sum(pattern.fullmatch(cell) is not None for cell in cells) > len(cells)


def _mostly_numbers(cells: Sequence[str], least: float = 0.8) -> bool:
    known = [cell for cell in cells if cell not in ABSENT and cell.casefold() not in _NOT_MEASURED]
    return bool(known) and sum(map(_is_number, known)) >= least * len(known)


def count_title(n: int) -> str:
    """A notice of a title that was left out."""
    return f"{count(n, 'line')} above the names of the columns left out"
