"""Columns of words in an order, typed: one that the words tell, or one that was said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, count, show
from consilience._types import Array
from consilience.tables.ordered import Order, find_order, is_beside, said_order
from consilience.tables.sheet import Sheet
from consilience.tables.typed_column import Found, coded, meant_unknown, says_nothing, sizes_of


def ordered_column(name: str, codes: Array, words: list[str], *, asked: bool) -> Found | None:
    """A column of words in an order that these tell themselves; None where they do not."""
    order = find_order(words, sizes_of(codes, words), asked=asked)
    return None if order is None else _on_scale(name, codes, words, order, asked=asked)


def column_in_order(sheet: Sheet, position: int, name: str, column: Any, levels: tuple[str, ...]) -> Found:
    """A column whose levels were said, from the lowest; other words are refused, but for those that mean that nothing is known."""
    codes, words = coded(sheet, column, frozenset(levels))
    if why := says_nothing(int((codes >= 0).sum()), len(codes), len(words)):
        return Found(name, "ignore", None, why)
    order = said_order(levels, words)
    for code, word in enumerate(words):
        if np.isnan(order.places[code]) and not is_beside(word):
            given = " < ".join(show(level, 30) for level in levels[:5]) + (" < …" if len(levels) > 5 else "")
            raise InputError(
                f"{sheet.place(int((codes == code).argmax()), position)}: {show(word, 30)} is not in the order that was given, {given}: "
                "add it, or say that it means missing with missing= (--missing)"
            )
    said = {float(place): level for place, level in enumerate(levels)}
    return _on_scale(name, codes, words, order, said, asked=True)


def _on_scale(
    name: str, codes: Array, words: list[str], order: Order, levels: dict[float, str] | None = None, *, asked: bool
) -> Found:
    sizes, gone = sizes_of(codes, words), np.isnan(order.places)
    levels = levels or order.levels(words, sizes)
    there = np.array([levels.get(place) for place in order.places.tolist()] + [None], object)
    notes: tuple[str, ...] = ()
    if gone.any():
        n, first = int(sizes[gone].sum()), words[int(np.argmax(np.where(gone, sizes, 0)))]
        is_, counts = ("is", "counts") if n == 1 else ("are", "count")
        notes = (f"{count(n, 'cell')} that {is_} not on its scale, such as {show(first, 30)}, {counts} as missing",)
    cells = pd.Series(there[codes], dtype=object)
    absent = meant_unknown(words, gone)
    return Found(name, "ordered", cells, "", notes, asked, absent=absent, levels=levels, scale=order.scale)
