"""Columns of data of every kind as finite numbers: those of a first table, and those of new rows as that was read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse

from consilience._check import count, listed, nearest
from consilience._types import Ints
from consilience.tables.column_roles import class_names
from consilience.tables.column_types import cells_as, check_types, doubts_of_codes, find_type, names_rows, other_decimal
from consilience.tables.encoder import Encoder, describe_aside, named_kind
from consilience.tables.filling import Gaps
from consilience.tables.raw_table import RawTable
from consilience.tables.table_kinds import check_not_negative, data_of, plain_numbers

MOST_SAID = 5  # safeguard: for reading, columns whose unreadable cells are told one by one


@dataclass(frozen=True, eq=False)
class Reading:
    encoder: Encoder | None = None  # None where all columns were numbers, none of them missing
    original: pd.DataFrame | None = None  # the columns that the encoder uses, as they came
    gaps: Gaps | None = None  # the cells that were missing and are filled
    aside: Mapping[str, str] = field(default_factory=dict)  # columns that are not used, and why
    counts: bool | None = None  # whether the data holds counts, where it was said
    decimal: str = "."  # decimal sign of a text file
    raw: RawTable | None = None  # the table before it was read, so that another encoder can read it
    rows: Ints | None = None  # which of its rows these are, where not all

    def of_rows(self, places: Ints) -> Self:
        original = None if self.original is None else self.original.iloc[places].reset_index(drop=True)
        gaps = None if self.gaps is None else self.gaps.of_rows(places)
        rows = None if self.raw is None else places if self.rows is None else self.rows[places]
        return replace(self, original=original, gaps=gaps, rows=rows)


@dataclass(frozen=True, eq=False)
class DataColumns:
    values: Any
    reading: Reading
    positions: Sequence[int] = ()  # of the columns in use, where they stand in `values` as they came
    names_objects: int | None = None  # position of a column of text that does
    said: Sequence[str] = ()


def data_columns(
    raw: RawTable,
    kept: list[int],
    types: Any,
    *,
    encoder: Encoder | None = None,
    named: Sequence[int] = (),
    decimal: str | None = None,
    has_ids: bool = True,
) -> DataColumns:
    """Columns of any kind as finite numbers, and a line on what was done unless all were numbers."""
    if encoder is not None:
        if types:
            raise raw.error("the model knows the types of its columns: leave types= (--type) out")
        return encoded_as(raw, encoder, decimal)
    counts = None if types is None else types == "counts"
    values: Any
    if counts:
        values = data_of(raw, kept)
        check_not_negative(raw, values, kept, "counts")
        return DataColumns(values, Reading(counts=True), kept)
    asked = check_types(raw, types, kept)
    if sparse.issparse(raw.body) and types == "number":
        asked = {}
    used = set(named)
    if not asked and (values := plain_numbers(raw, kept)) is not None and not _name_rows(raw, kept, values, used):
        return DataColumns(values, Reading(counts=counts), kept, said=_doubts(raw, kept, values))
    if sparse.issparse(raw.body):
        raise raw.error("types= (--type) are of the columns of a full table, not of a sparse one: leave it out")
    typed = {p: find_type(raw, p, asked.get(p), named=p in used) for p in kept}
    names = [p for p, column in typed.items() if column.names_objects]
    own = names[0] if len(names) == 1 and not has_ids else None
    if own is not None:
        typed[own] = replace(typed[own], why="names the objects")
    # What is set aside has no say in how the others are read.
    plain = [p for p, column in typed.items() if column.kind != "ignore"]
    if plain and not set(plain) & set(asked) and (values := plain_numbers(raw, plain)) is not None:
        there = set(plain)
        aside = {column.name: column.why for p, column in typed.items() if p not in there}
        done = f"{named_kind('number', [typed[p].name for p in plain])}; {describe_aside(aside)}"
        reading = Reading(aside=aside, counts=counts)
        return DataColumns(values, reading, plain, own, [done, *_doubts(raw, plain, values)])
    made, values, gaps = Encoder.learn(list(typed.values()), raw.source)
    original = pd.DataFrame({column.name: column.cells for column in typed.values() if column.kind != "ignore"})
    said = [made.describe(), *class_names(list(original))]
    for name, cells in original.items():
        if cells.dtype.kind == "f":
            said += doubts_of_codes(repr(name), cells.to_numpy())
    return DataColumns(values, Reading(made, original, gaps, made.aside, counts), (), own, said)


def _name_rows(raw: RawTable, positions: Sequence[int], values: Any, used: set[int]) -> bool:
    """Whether some, not all, columns of a table of numbers name its rows; columns of a matrix have no names, and stay."""
    if raw.names is None or not isinstance(raw.body, (pa.Table, pd.DataFrame)):
        return False
    names = raw.column_names
    name = [p not in used and bool(names_rows(names[p], values[:, j])) for j, p in enumerate(positions)]
    return any(name) and not all(name)


def _doubts(raw: RawTable, positions: Sequence[int], values: Any) -> list[str]:
    if sparse.issparse(values):
        return []
    negative = np.flatnonzero(values.min(axis=0) < 0).tolist()
    return [doubt for j in negative for doubt in doubts_of_codes(raw.column_words(positions[j]), values[:, j])]


def encoded_as(raw: RawTable, encoder: Encoder, decimal: str | None) -> DataColumns:
    """New rows, read and encoded as those of another table; a decimal sign that was said is that of the new rows."""
    names = raw.column_names
    lost = [column.name for column in encoder.columns if column.name not in names]
    if lost:
        near = nearest(lost[0], names, short_for=False) if len(lost) == 1 else []
        remedy = f"if it is {near[0]!r}, rename that" if near else "add what is missing, if need be with empty cells"
        lacks = f"column{'s' if len(lost) > 1 else ''} {listed(list(map(repr, lost)), 3)}"
        raise raw.error(f"the new table lacks {lacks} that the model was fitted on: {remedy}")
    said = []
    if decimal is None:
        signs = ((names.index(one.name), one.decimal, one.unit) for one in encoder.columns if one.decimal)
        decimal = other_decimal(raw, signs)
        if decimal is not None:
            sign = "commas" if decimal == "," else "points"
            said = [f"{sign} are decimal signs here, unlike in the first table; decimal= (--decimal) says otherwise"]
    cells, unread = {}, []
    for column in encoder.columns:
        cells[column.name], notes = cells_as(raw, names.index(column.name), column, decimal)
        unread += [f"{column.name}: {note}" for note in notes]
    values, gaps, notices = encoder.encode(cells.values())
    if gaps is not None:
        said.append(f"{count(gaps.n_cells, 'missing cell')} filled from similar rows of the first table")
    if len(unread) > MOST_SAID:
        unread[MOST_SAID:] = [f"so do cells of {len(unread) - MOST_SAID:,} more columns"]
    return DataColumns(values, Reading(encoder, pd.DataFrame(cells), gaps), said=[*said, *unread, *notices])
