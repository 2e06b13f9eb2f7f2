"""A table as it was found, before anyone asked for numbers or labels: columns, and where they came from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse

from consilience._check import InputError, check_choice, listed, nearest, show
from consilience._names import unique_names

Body: TypeAlias = Any  # pa.Table of strings, DataFrame, ndarray or csr_matrix
Column: TypeAlias = Any  # pa.ChunkedArray of strings or Series
Names: TypeAlias = str | int | Sequence[str | int]
#: How the command line calls an option; messages name both, since they serve both.
FLAGS = {"id_column": "--id", "known": "--known, --given", "columns": "--columns", "types": "--type"}


@dataclass(frozen=True)
class Options:
    kind: str
    header: bool | None = None
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    key: str | None = None
    name: str | None = None  # how messages call what is in memory


@dataclass(frozen=True, eq=False)
class RawTable:
    """One table: its body, what stands beside it, and where its rows lie in the file."""

    source: str
    body: Body  # of a text file strings, so that nothing is lost before it is known what a column is for
    names: list[str] | None = None
    beside: pd.DataFrame | None = None  # `obs`, vectors of an npz file: of the rows, but no values; behind the body's
    index: np.ndarray | None = None  # names the rows on request, by its own name or as "index"
    index_name: str = "index"
    index_is_ids: bool = False  # it names them unasked
    line: Callable[[int], int] | None = None
    decimal: str = "."
    told_decimal: str | None = None  # the decimal sign that some column of text tells
    missing: tuple[str, ...] = ()  # words that count as missing beside the usual ones
    pickled: tuple[str, ...] = ()  # names of vectors that are never loaded
    notices: tuple[str, ...] = ()  # what was found out about the file
    has_options: bool = True  # advice may name those of `read_table`
    answers: tuple[str, ...] = ()  # columns that consilience wrote, which are read only where they are named

    @property
    def n_rows(self) -> int:
        return int(self.body.shape[0])

    @property
    def width(self) -> int:
        return int(self.body.shape[1])

    @cached_property
    def column_names(self) -> list[str]:
        """Every name that can be asked for: of the body (its positions, if it has none), then beside it."""
        names = self.names if self.names is not None else [str(i) for i in range(self.width)]
        return names if self.beside is None else [*names, *map(str, self.beside.columns)]

    def column(self, position: int) -> Column:
        """One column, as strings (text files) or as a Series."""
        if position >= self.width:
            assert self.beside is not None
            return self.beside.iloc[:, position - self.width]
        if isinstance(self.body, pa.Table):
            return self.body.column(position)
        if isinstance(self.body, pd.DataFrame):
            return self.body.iloc[:, position]
        if sparse.issparse(self.body):
            return pd.Series(self.body[:, [position]].toarray()[:, 0])
        return pd.Series(self.body[:, position])

    def find(self, reference: str | int, option: str) -> int:
        """Position of the column a user named, or counted, in `option`; digits that are not a name count."""
        names = self.column_names
        if isinstance(reference, str) and reference in names:
            return names.index(reference)
        if reference in self.pickled:
            said = f"{reference!r} holds pickled Python objects, which are never loaded"
            raise self.error(f"{said}: save it as numbers or text, such as {reference}.astype(str)")
        if isinstance(reference, str) and reference.isascii() and reference.isdigit():
            reference = int(reference)
        said = f"{option} ({FLAGS[option]})"
        if isinstance(reference, (int, np.integer)) and not isinstance(reference, bool):
            if 0 <= reference < self.width:
                return int(reference)
            raise self.error(f"{said} {reference} is not there: the columns are 0 to {self.width - 1}")
        if option == "id_column" and self.index is not None and self.index_name not in names:
            names = [*names, self.index_name]
        near = nearest(reference, names, 5, short_for=False)
        hint = f"did you mean {near[0]!r}? " if near else ""
        shown = listed([name or f"column {i}" for i, name in enumerate(names)], 20)
        raise self.error(f"no column {show(reference)} for {said}: {hint}choose from {shown}")

    def find_all(self, references: Names, option: str) -> list[int]:
        """Positions of the columns named, counted or matched by a pattern such as 'leiden_*'; a leading - or ! leaves out instead."""
        asked = [references] if isinstance(references, (str, int)) else list(references)
        names = self.column_names
        kept: list[int] = []
        for i, reference in enumerate(asked):
            leaves_out = isinstance(reference, str) and reference not in names and reference[:1] in ("-", "!")
            found = self._matching(reference[1:] if leaves_out else reference, option)  # type: ignore[index]
            if leaves_out:
                kept = [position for position in (kept if i else range(self.width)) if position not in found]
            else:
                kept += found
        return list(dict.fromkeys(kept))

    def named(self, references: Names) -> list[int]:
        """Positions of the columns named or counted, and not only matched by a pattern."""
        asked = [references] if isinstance(references, (str, int)) else references
        names = self.column_names
        single = [name for name in asked if isinstance(name, int) or name in names or name.isdigit()]
        return [self.find(name, "columns") for name in single]

    def _matching(self, reference: str | int, option: str) -> list[int]:
        names = self.column_names
        if not isinstance(reference, str) or reference in names or not set(reference) & set("*?["):
            return [self.find(reference, option)]
        # What stands beside a matrix is not part of it, so a pattern for its columns does not mean that.
        within = names[: self.width] if option == "columns" else names
        if found := [position for position, name in enumerate(within) if fnmatchcase(name, reference)]:
            return found
        near = nearest(reference.strip("*?"), within, 3, short_for=False)
        shown = listed([repr(name) for name in near or within if name])
        raise self.error(f"{option} ({FLAGS[option]}) {reference!r} matches no column: choose from {shown}")

    def place(self, row: int | None = None, column: int | None = None) -> str:
        """Words for a place: file, row (counted from 1), line of a text file, column."""
        words = [self.source]
        if row is not None:
            words.append(f"row {row + 1}" + ("" if self.line is None else f" (line {self.line(row)})"))
        if column is not None:
            words.append(self.column_words(column))
        return ", ".join(words)

    def error(self, said: str, row: int | None = None, column: int | None = None) -> InputError:
        return InputError(f"{self.place(row, column)}: {said}")

    def column_words(self, position: int) -> str:
        """`column 'height'`, or by position where columns have no names."""
        if position < self.width and not (self.names and self.names[position]):
            return f"column {position} (the first is 0)"
        return f"column {self.column_names[position]!r}"

    def with_own_names(self) -> Self:
        """Names that stand over several columns numbered from the second on, which is noticed; numbers, which may be data, as they are."""
        given = self.names or []
        numbered = unique_names(given)
        names = [old if not old or is_number(old) else new for old, new in zip(given, numbered, strict=True)]
        said = "the name {!r} stands over several columns: column {} (the first is 0) is {!r}"
        notices = [
            said.format(old, j, new) for j, (old, new) in enumerate(zip(given, names, strict=True)) if old != new
        ]
        return replace(self, names=names, notices=(*self.notices, *notices)) if notices else self

    def check_shape(self) -> None:
        """Refuse a table without rows or columns, and names that occur twice."""
        if self.n_rows == 0 or self.width == 0:
            raise self.error(f"has no {'rows' if self.width else 'columns'}: give at least one")
        first: dict[str, int] = {}
        for position, name in enumerate(self.names or []):
            if name and name in first:
                data = ", or give header=False (--no-header) if the first line is data" if is_number(name) else ""
                both = f"two columns, {first[name]} and {position} (the first is 0)"
                raise self.error(f"the name {name!r} stands over {both}: rename one of them{data}")
            first[name] = position


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


PARSING = ("header", "sep", "decimal", "encoding")  # how to parse a file, of all that says how to read it
#: What verbs pass to read_table.
READING = (*PARSING, "id_column", "known", "columns", "missing", "key", "types", "transpose")


def split_reading(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    reading = {name: value for name, value in options.items() if name in READING}
    return reading, {name: value for name, value in options.items() if name not in READING}


def check_reading(reading: Mapping[str, Any], verb: str) -> dict[str, Any]:
    for name in reading:
        check_choice(name, READING, f"option of {verb}")
    return dict(reading)


def given_reading(reading: Mapping[str, Any]) -> dict[str, Any]:
    """What was said of how to read, without what was left out."""
    for name in reading:
        check_choice(name, (*READING, "triples"), "option of reading")
    said = {name: list(value) if isinstance(value, np.ndarray) else value for name, value in reading.items()}
    empty = [name for name, value in said.items() if value is None or value in ([], (), {})]
    empty += [] if said.get("transpose") else ["transpose"]
    return {name: value for name, value in said.items() if name not in empty}


def parsing(reading: Mapping[str, Any]) -> dict[str, Any]:
    return {name: reading[name] for name in PARSING if reading.get(name) is not None}


def refuse_reading(source: str, state: str, reading: Mapping[str, Any]) -> None:
    if reading:
        flags = {"id_column": "id", "types": "type"}
        words = ", ".join(f"{name}= (--{flags.get(name, name)})" for name in reading)
        raise InputError(f"{source} {state}: {words} say how to read a table, so leave them out, or name that table")
