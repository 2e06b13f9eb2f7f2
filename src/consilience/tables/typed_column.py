"""A column as it came: its different words, and what it was found to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from consilience._types import Array
from consilience.tables.column_words import ANSWERS, DASHES, UNKNOWN, has_signs
from consilience.tables.read_cells import ABSENT, missing_of
from consilience.tables.sheet import Sheet

MOST_ABSENT = 0.8  # share of missing cells beyond which a column says too little
MANY = 20  # objects from which on conclusions are drawn from how often words repeat


@dataclass(frozen=True, eq=False)
class Found:
    """One column as it came, typed.

    `cells` are float64 (numbers), datetime64 (dates) or text (all others); NaN, NaT or None where missing. `why` says
    why the column is set aside, where `kind` is "ignore"; `notes` what else was decided. `decimal`, `unit` and `month_first` say how its
    numbers and dates are written, None where the cells do not tell. Of a column that is set aside, `counts_rows` says that it is whole
    numbers that all differ, and `names_objects` that it is short text that does. `absent` are words for unknown, in small letters, that
    count as missing here. Of words in an order, `levels` has the place of each on the `scale` ("" for one of its own);
    of several choices in each cell, `sep` is what separates them.
    """

    name: str
    kind: str  # number, log, category, choices, boolean, ordered, date, ignore
    cells: pd.Series | None
    why: str = ""
    notes: tuple[str, ...] = ()
    asked: bool = False
    decimal: str | None = None
    unit: str = ""
    month_first: bool | None = None
    counts_rows: bool = False
    names_objects: bool = False
    absent: frozenset[str] = frozenset()
    levels: dict[float, str] = field(default_factory=dict)
    scale: str = ""
    sep: str = ""


def says_nothing(n_known: int, n: int, n_different: int, known: Array | None = None) -> str:
    """Why a column cannot tell objects apart; empty where it can."""
    if n_known == 0:
        return "empty"
    if n_different == 1 and (known is None or bool((known == known[0]).all())):
        return "constant"
    if n >= MANY and n_known < (1 - MOST_ABSENT) * n:
        return f"{100 * (1 - n_known / n):.0f} % missing"
    return ""


def meant_unknown(words: list[str], gone: Array) -> frozenset[str]:
    """Of words that count as missing, those that mean so wherever they stand."""
    folded = (word.casefold() for word, lost in zip(words, gone, strict=True) if lost)
    return frozenset(word for word in folded if word in UNKNOWN and word not in ANSWERS)


def coded(sheet: Sheet, column: Any, keep: frozenset[str] = frozenset()) -> tuple[Array, list[str]]:
    """Code of each cell (−1 where missing) and the different words, in the order of their first appearance; those to `keep` are none,
    nor is a dash beside signs."""
    if isinstance(column, pa.ChunkedArray):
        coded = column.combine_chunks().dictionary_encode()
        codes, raw = (
            coded.indices.to_numpy(zero_copy_only=False),
            [str(w).strip() for w in coded.dictionary.to_pylist()],
        )
    else:
        gone = missing_of(sheet, column)
        cells = [None if lost else text_of(cell) for lost, cell in zip(gone, column, strict=True)]
        codes, unique = pd.factorize(np.array(cells, object), use_na_sentinel=True)
        raw = [str(word) for word in unique]
    absent = (ABSENT - keep - (DASHES if has_signs({*raw, *keep}) else set())) | set(sheet.missing)
    known: dict[str, int] = {}
    place = np.array([-1 if word in absent else known.setdefault(word, len(known)) for word in raw] + [-1])
    return place[codes], list(known)


def text_of(cell: Any) -> str:
    """A cell as a word: whole numbers without a fraction, moments in ISO's form."""
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    return str(cell.isoformat() if hasattr(cell, "isoformat") else cell).strip()


def sizes_of(codes: Array, words: list[str]) -> Array:
    """How many cells are each word."""
    return np.bincount(codes[codes >= 0], minlength=len(words))
