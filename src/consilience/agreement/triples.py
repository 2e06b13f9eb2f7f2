"""(row, column, count) triples in Parquet files, sorted by row, read row group by row group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from consilience._check import InputError, check_count
from consilience._files import open_parquet

NAMES = ("row", "column", "count")


@dataclass(frozen=True)
class Group:
    """A row group of a file, and the rows and columns of the table that its triples are in."""

    path: Path
    number: int
    first: int
    last: int
    widest: int


@dataclass(frozen=True, eq=False)
class Triples:
    """The rows `first` … `last` − 1 of a table, in the row groups that hold them."""

    groups: tuple[Group, ...]
    names: tuple[str, ...]
    first: int
    last: int
    width: int

    def rows(self, first: int, last: int) -> Any:
        """Some of its rows, as CSR."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        low, high = self.first + first, self.first + last
        read = [
            pq.ParquetFile(group.path).read_row_group(group.number, list(self.names))
            for group in self.groups
            if group.first < high and group.last >= low
        ]
        if not read:
            return sparse.csr_matrix((high - low, self.width))
        row, column, *counts = (values.to_numpy() for values in pa.concat_tables(read).columns)
        if np.any(np.diff(row) < 0):
            raise InputError(
                f"{self.groups[0].path}: the triples are not sorted by row: sort them and write them again"
            )
        here = slice(*np.searchsorted(row, [low, high]))
        values = counts[0][here] if counts else np.ones(len(row[here]))
        return sparse.csr_matrix((values, (row[here] - low, column[here])), shape=(high - low, self.width))


@dataclass(frozen=True, eq=False)
class TripleFiles:
    """Parquet files of triples."""

    groups: list[Group]
    names: tuple[str, ...]
    height: int
    width: int

    @classmethod
    def of(cls, path: Path, shape: tuple[int, int] | None) -> TripleFiles:
        """A file, or the files of a folder in the order of their names; only their ends are read."""
        files = sorted([*path.glob("*.parquet"), *path.glob("*.pq")]) if path.is_dir() else [path]
        if not files or not files[0].exists():
            raise InputError(
                f"{path} holds no counts: a folder of npz files of scipy.sparse.save_npz, or of Parquet files of triples"
            )
        names: tuple[str, ...] = ()
        groups: list[Group] = []
        for file in files:
            held = open_parquet(file)
            have = held.schema_arrow.names
            names = names or (NAMES[:2] if set(have) == set(NAMES[:2]) else NAMES)  # pairs alone count 1 each
            if missing := [name for name in names if name not in have]:
                raise InputError(f"{file} has no column {missing[0]!r}: triples have the columns {', '.join(NAMES)}")
            groups += [_group(file, held, number, names) for number in range(held.num_row_groups)]
        groups = [group for group in groups if group.last >= 0]
        if not groups:
            raise InputError(f"{path} holds no counts")
        for before, after in pairwise(groups):
            if after.first < before.last:
                raise InputError(
                    f"{after.path}: row {after.first} comes after row {before.last}: sort the triples by row"
                )
        height, width = groups[-1].last + 1, max(group.widest for group in groups) + 1
        if shape is not None:
            rows, columns = (check_count("shape", size) for size in shape)
            if rows < height or columns < width:
                raise InputError(
                    f"{path} has counts in row {height - 1} and column {width - 1}: shape={shape} is too small"
                )
            height, width = rows, columns
        return cls(groups, names, height, width)

    @cached_property
    def _ends(self) -> list[int]:
        return sorted({0, self.height, *(group.first for group in self.groups)})

    def parts(self) -> list[Triples]:
        """Blocks that begin with the row groups; a row that lies in two is read from both."""
        made = []
        for first, last in pairwise(self._ends):
            mine = tuple(group for group in self.groups if group.first < last and group.last >= first)
            made.append(Triples(mine, self.names, first, last, self.width))
        return made

    def sizes(self) -> list[int]:
        """Rows of the blocks."""
        return [last - first for first, last in pairwise(self._ends)]


def _group(path: Path, held: Any, number: int, names: tuple[str, ...]) -> Group:
    """Where the triples of a row group are, from its statistics, or where these are missing from itself."""
    about = held.metadata.row_group(number)
    if about.num_rows == 0:
        return Group(path, number, 0, -1, -1)
    places = {about.column(j).path_in_schema: about.column(j).statistics for j in range(about.num_columns)}
    ends = []
    for name in names[:2]:
        known = places[name]
        if known is None or not known.has_min_max:
            values = held.read_row_group(number, [name]).column(0).to_numpy()
            low, high = values.min(), values.max()
        else:
            low, high = known.min, known.max
        if not isinstance(low, (int, np.integer)) or low < 0:
            raise InputError(f"{path}: {name} holds {low!r}, and rows and columns are whole numbers from 0")
        ends.append((int(low), int(high)))
    return Group(path, number, *ends[0], ends[1][1])
