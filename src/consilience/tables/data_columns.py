"""Columns of data of every kind as finite numbers: those of a first table, and those of new rows as that was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
from scipy import sparse

from consilience._check import InputError, check_choice, count, kind_of, listed, nearest, show
from consilience.tables.column_types import TYPES, cells_as, find_kind, other_decimal
from consilience.tables.columns import class_names
from consilience.tables.encoding import Encoder, describe_aside, named_kind
from consilience.tables.filling import Gaps
from consilience.tables.near_ids import near_ids
from consilience.tables.ordered import shared_levels
from consilience.tables.sheet import Sheet
from consilience.tables.typed_column import Found
from consilience.tables.values import check_not_negative, data_of, plain_numbers

MOST_SAID = 5  # columns whose unreadable cells are told one by one


@dataclass(frozen=True, eq=False)
class Encoded:
    """Data as numbers, and how they became that.

    `positions` are the columns in use where they stand in `values` as they came, `aside` those that are not used, and why, and `names` is
    the position of a column of text that is not used since it names the objects.
    """

    values: Any
    encoder: Encoder | None = None
    original: pd.DataFrame | None = None
    gaps: Gaps | None = None
    positions: list[int] = field(default_factory=list)
    aside: dict[str, str] = field(default_factory=dict)
    names: int | None = None


def data_columns(
    sheet: Sheet,
    kept: list[int],
    types: Any,
    *,
    encoder: Encoder | None = None,
    named: Sequence[int] = (),
    decimal: str | None = None,
    has_ids: bool = True,
) -> tuple[Encoded, list[str]]:
    """Columns of any kind as finite numbers, and a line on what was done unless all were numbers.

    What is set aside has no say in how the others are read: where these are numbers throughout and none is missing, the table is one of
    nothing but numbers.
    """
    if encoder is not None:
        if types:
            raise InputError(f"{sheet.source}: the model knows the types of its columns: leave types= (--type) out")
        return encoded_as(sheet, encoder, decimal)
    values: Any
    if types == "series":
        found = [cells_as(sheet, i, "number") for i in kept]
        made, values = Encoder.of_series(found)
        frame = pd.DataFrame({one.name: one.cells for one in found})
        return Encoded(values, made, frame), [made.describe(), *_unread(found)]
    if types == "counts":
        values = data_of(sheet, kept)
        check_not_negative(sheet, values, kept, "counts")
        return Encoded(values, positions=kept), []
    asked = _check_types(sheet, types, kept)
    if sparse.issparse(sheet.body) and types == "number":
        asked = {}
    near = _near_ids(sheet, [p for p in kept if p not in asked and p not in named])
    if not asked and not near and (values := plain_numbers(sheet, kept)) is not None:
        return Encoded(values, positions=kept), []
    if sparse.issparse(sheet.body):
        raise InputError(
            f"{sheet.source}: types= (--type) are of the columns of a full table, not of a sparse one: leave it out"
        )
    found = [near[p] if p in near else find_kind(sheet, p, asked.get(p), named=p in named) for p in kept]
    absent = frozenset[str]().union(*(one.absent for one in found))
    found = [
        find_kind(sheet, p, named=p in named, absent=absent) if _holds(one, absent) else one
        for p, one in zip(kept, found, strict=True)
    ]
    found = _with_shared_levels(found)
    names = None if has_ids else _names_objects(found, kept)
    if names is not None:
        found[kept.index(names)] = replace(found[kept.index(names)], why="names the objects")
    plain = [p for p, one in zip(kept, found, strict=True) if one.kind != "ignore" or one.counts_rows]
    if plain and not set(plain) & set(asked) and (values := plain_numbers(sheet, plain)) is not None:
        aside = {one.name: one.why for p, one in zip(kept, found, strict=True) if p not in plain}
        done = f"{named_kind('number', [sheet.column_names()[p] for p in plain])}; {describe_aside(aside)}"
        return Encoded(values, positions=plain, aside=aside, names=names), [done]
    made, values, gaps = Encoder.learn(found, sheet.source)
    original = pd.DataFrame({one.name: one.cells for one in found if one.kind != "ignore"})
    said = [made.describe(), *class_names(list(original))]
    return Encoded(values, made, original, gaps, aside=made.aside, names=names), said


def _with_shared_levels(found: Sequence[Found]) -> list[Found]:
    """Words in an order with the levels that any column on the same scale has, so that a step is as long in all of them."""
    ordered = [one for one in found if one.kind == "ordered"]
    levels = shared_levels((one.scale, one.levels) for one in ordered)
    known = {
        id(one): {float(place): word for place, word in enumerate(words)}
        for one, words in zip(ordered, levels, strict=True)
    }
    return [replace(one, levels=known[id(one)]) if id(one) in known else one for one in found]


def _near_ids(sheet: Sheet, positions: Sequence[int]) -> dict[int, Found]:
    """Columns that are named like ids and would be some, were it not for a few cells."""
    if sheet.names is None or sparse.issparse(sheet.body):
        return {}
    why = {position: near_ids(sheet, position) for position in positions}
    return {p: Found(sheet.column_names()[p], "ignore", None, words) for p, words in why.items() if words}


def _holds(one: Found, absent: frozenset[str]) -> bool:
    """Whether a category, of which nobody said that it is one, has a word that counts as missing in another column."""
    if one.kind != "category" or one.asked or one.cells is None:
        return False
    return any(str(word).casefold() in absent for word in one.cells.dropna().unique())


def _names_objects(found: Sequence[Found], kept: Sequence[int]) -> int | None:
    """Position of the one column of short text that has another value for every object; None without one, or with several."""
    some = [p for p, one in zip(kept, found, strict=True) if one.names_objects]
    return some[0] if len(some) == 1 else None


def encoded_as(sheet: Sheet, encoder: Encoder, decimal: str | None) -> tuple[Encoded, list[str]]:
    """New rows, read and encoded as those of another table; a decimal sign that was said is that of the new rows."""
    names, found = sheet.column_names(), []
    lost = [column.name for column in encoder.columns if column.name not in names]
    if lost:
        near, named = (
            nearest(lost[0], names, short_for=False),
            f"column{'' if len(lost) == 1 else 's'} {listed(list(map(repr, lost)), 3)}",
        )
        add = "add it, if need be with empty cells" if len(lost) == 1 else "add them, if need be with empty cells"
        raise InputError(
            f"{sheet.source}: the new table lacks {named} that the model was fitted on: "
            + (f"if it is {near[0]!r}, rename that" if near and len(lost) == 1 else add)
        )
    said = []
    if decimal is None:
        signs = ((names.index(one.name), one.decimal, one.unit) for one in encoder.columns if one.decimal)
        decimal = other_decimal(sheet, signs)
        if decimal is not None:
            sign = "commas" if decimal == "," else "points"
            said = [f"{sign} are decimal signs here, unlike in the first table; decimal= (--decimal) says otherwise"]
    for column in encoder.columns:
        written = {"decimal": decimal or column.decimal, "unit": column.unit, "month_first": column.month_first}
        if column.kind in ("ordered", "category", "boolean"):
            written["levels"] = (*column.levels, *([] if column.zero is None else [column.zero]))  # type: ignore[assignment]
        found.append(cells_as(sheet, names.index(column.name), column.kind, **written))  # type: ignore[arg-type]
    cells = {one.name: one.cells for one in found if one.cells is not None}
    values, gaps, notices = encoder.encode(cells.values())
    filled = (
        [] if gaps is None else [f"{count(gaps.n_cells, 'missing cell')} filled from similar rows of the first table"]
    )
    return Encoded(values, encoder, pd.DataFrame(cells), gaps), [*said, *filled, *_unread(found), *notices]


def _unread(found: Sequence[Found]) -> list[str]:
    """Notices of cells that are not what their columns are, of the first columns that have some."""
    said = [f"{one.name}: {note}" for one in found for note in one.notes]
    return (
        said
        if len(said) <= MOST_SAID
        else [*said[:MOST_SAID], f"so do cells of {len(said) - MOST_SAID:,} more columns"]
    )


def _check_types(sheet: Sheet, types: Any, kept: Sequence[int]) -> dict[int, str | tuple[str, ...]]:
    """The types that were said, by position, levels of an order as a tuple; those of columns that are not kept are refused."""
    if types is None:
        return {}
    if isinstance(types, str) and "<" not in types:
        return dict.fromkeys(kept, check_choice(types, (*TYPES, "counts", "series"), "type of columns (--type)"))
    if isinstance(types, str):
        return dict.fromkeys(kept, _check_levels(types, "all columns"))
    if not isinstance(types, Mapping):
        raise InputError(
            f"types must map columns to types, such as {{'zip': 'category'}}; got {kind_of(types)}, {show(types)}"
        )
    asked: dict[int, str | tuple[str, ...]] = {}
    for reference, kind in types.items():
        if kind == "id":
            raise InputError(f"ids are no type: name their column with id_column={reference!r} (--id {reference})")
        if isinstance(kind, (list, tuple)) or (isinstance(kind, str) and "<" in kind):
            kind = _check_levels(kind, repr(reference))
        else:
            check_choice(kind, TYPES, f"type of {reference!r} (--type)")
        for position in sheet.find_all([reference], "types"):
            if position in kept:
                asked[position] = kind
    return asked


def _check_levels(said: str | Sequence[Any], where: str) -> tuple[str, ...]:
    """The levels of an order, from the lowest: two at least, all different."""
    levels = tuple(str(level).strip() for level in (said.split("<") if isinstance(said, str) else said))
    if len(levels) < 2 or len(set(levels)) < len(levels) or not all(levels):
        raise InputError(
            f"the order of {where} must have two levels or more, all different, from the lowest, such as ['low', 'medium', 'high'] "
            f"(--type NAME='low<medium<high'); got {show(said)}"
        )
    return levels
