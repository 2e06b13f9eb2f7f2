"""One block of labels, wherever it comes from, as codes of its own and what each code stands for."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from consilience import _kernels
from consilience._check import InputError, encode_labels, kind_of, show
from consilience._types import Array, Ints, Labels
from consilience.ensemble import Ensemble
from consilience.ensemble.info import object_vector
from consilience.tables.in_memory import frame_of, plain_source, raw_frame
from consilience.tables.table_kinds import ColumnError, labels_of

ANSWERS = ("cluster", "confidence", "support")  # columns of what is given back
SMALL = 2**16  # safeguard: whole numbers below it are their own codes
CHANGED = "the labels have changed since they were first read: keep them as they are until the answer is there"
CACHED_ROWS = 8192  # safeguard: rows whose labels, side by side, stay in the cache


@dataclass(frozen=True)
class Layout:
    """What of a block is labels: names of columns (None: all of an array), the ids (in a column or the index of frames), rows at a time."""

    columns: tuple[str, ...] | None
    id_column: str | None
    source: str
    rows: int
    by_index: bool = False
    kept: tuple[int, ...] | None = None  # of these columns, the clusterings that are combined; None: all

    @property
    def id_heading(self) -> str:
        """What files of answers call the ids: their own name, "id" where they have none or an answer has it."""
        return self.id_column if self.id_column not in (None, "", "index", *ANSWERS) else "id"


@dataclass(frozen=True)
class ParquetPart:
    path: str
    groups: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Coded:
    codes: Labels  # (n, r), of this block alone, −1 missing; narrow: reading and comparing rows is a matter of bytes
    labels: list[list[Any]]  # what the codes of every clustering stand for; some may not occur
    ids: Any = None


def read_part(part: Any, layout: Layout) -> Iterator[Coded]:
    """The blocks of a part: row groups of a Parquet file, a frame or an array; at most `layout.rows` rows each."""
    for one in _blocks_of(part, layout):
        if (kept := layout.kept) is None:
            yield one
        else:
            yield Coded(np.ascontiguousarray(one.codes[:, kept]), [one.labels[j] for j in kept], one.ids)


def _blocks_of(part: Any, layout: Layout) -> Iterator[Coded]:
    if isinstance(part, ParquetPart):
        yield from _read_parquet(part, layout)
        return
    table = plain_source(part)
    if isinstance(table, np.ndarray) and table.ndim == 1:
        table = table[:, None]
    if not isinstance(table, pd.DataFrame) and not (isinstance(table, np.ndarray) and table.ndim == 2):
        kind = kind_of(part)
        raise InputError(f"a block of labels cannot be {kind}: give arrays of objects × clusterings, or data frames")
    for i in range(0, max(1, len(table)), layout.rows):  # one block also of no rows
        some = table[i : i + layout.rows]
        yield _code_frame(some, layout) if isinstance(some, pd.DataFrame) else _code_columns(some.T, layout)


def _read_parquet(part: ParquetPart, layout: Layout) -> Iterator[Coded]:
    columns = list(layout.columns or ())
    wanted = columns if layout.id_column is None else [*columns, layout.id_column]
    with pq.ParquetFile(part.path, memory_map=True) as file:
        for batch in file.iter_batches(layout.rows, row_groups=list(part.groups), columns=wanted, use_threads=False):
            coded = [_code_arrow(batch.column(name), name, layout) for name in columns]
            ids = None if layout.id_column is None else batch.column(layout.id_column)
            yield _stack(coded, ids)


def _code_frame(frame: pd.DataFrame, layout: Layout) -> Coded:
    there = [str(name) for name in frame.columns]
    wanted = layout.columns or there
    known = {*wanted, layout.id_column}
    check_once([name for name in there if name in known], layout.source)
    names = {name: j for j, name in enumerate(there)}
    for name in wanted:
        if name not in names:
            raise InputError(f"{layout.source}: a block has no column {name!r}: give all blocks the same columns")
    chosen = [frame.iloc[:, names[name]] for name in wanted]
    ids = None
    if layout.by_index:
        ids = pa.array(frame.index)
    elif layout.id_column is not None:
        if layout.id_column not in names:
            raise InputError(f"{layout.source}: a block has no column {layout.id_column!r} of ids: check id_column=")
        ids = pa.array(frame.iloc[:, names[layout.id_column]])
    return _code_columns(chosen, layout, ids)


def check_once(names: Sequence[str], source: str) -> None:
    twice = next((name for name, n in Counter(names).items() if n > 1), None)
    if twice is not None:
        raise InputError(f"{source}: two columns are called {show(twice)}: give each a name of its own")


def _code_columns(columns: Sequence[Any] | Array, layout: Layout, ids: Any = None) -> Coded:
    names = layout.columns or range(len(columns))
    return _stack([_code_values(c, f"clustering {n!r}") for n, c in zip(names, columns, strict=True)], ids)


def _stack(coded: list[tuple[Labels, list[Any]]], ids: Any) -> Coded:
    codes = np.empty((len(coded[0][0]), len(coded)), narrowest(labels for _, labels in coded))
    for begin in range(0, len(codes), CACHED_ROWS):
        for j, (column, _) in enumerate(coded):
            codes[begin : begin + CACHED_ROWS, j] = column[begin : begin + CACHED_ROWS]
    return Coded(codes, [labels for _, labels in coded], ids)


def narrowest(labels: Iterable[Sequence[Any]]) -> type[np.signedinteger[Any]]:
    """The narrowest type of codes that number so many labels of every clustering, and −1."""
    most = max(map(len, labels), default=0)
    return np.int8 if most <= 2**7 else np.int16 if most <= 2**15 else np.int32


def _code_values(values: Any, what: str) -> tuple[Any, list[Any]]:
    plain = isinstance(getattr(values, "dtype", None), np.dtype) and not np.ma.is_masked(values)
    if plain and (found := _own_codes(np.asarray(values))) is not None:
        return found
    codes, names = encode_labels(values, what)
    return codes, list(range(int(codes.max(initial=-1)) + 1)) if names is None else list(names)


def _own_codes(values: Array) -> tuple[Array, list[Any]] | None:
    if values.dtype.kind not in "iu" or not len(values):
        return None
    low, high = int(values.min()), int(values.max())
    return (values, list(range(high + 1))) if low >= -1 and high < SMALL else None


def _code_arrow(column: pa.Array, name: str, layout: Layout) -> tuple[Any, list[Any]]:
    # As the same column of a whole file is read: whole numbers, or objects; None where missing.
    if pa.types.is_integer(column.type) and not column.null_count:
        found = _own_codes(column.to_numpy(zero_copy_only=False))
        if found is not None:
            return found
    coded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    codes = pc.fill_null(coded.indices.cast(pa.int32()), -1).to_numpy(zero_copy_only=False)
    raw = raw_frame(layout.source, frame_of(pa.table({name: coded.dictionary})))
    try:
        labels = labels_of(raw, 0)
    except ColumnError as error:
        odd = f"{layout.source}: column {name!r} holds {error.brief}, and labels are whole numbers or names"
        raise InputError(f"{odd}: leave it out with columns= (--columns)") from None
    new, names = encode_labels(labels, f"clustering {name!r}")
    known = list(range(int(new.max(initial=-1)) + 1)) if names is None else list(names)
    return np.append(new, np.int32(-1))[codes], known


# Distinct rows of labels with counts, block by block: each block has its own, and two make one. Every method that sees only labels works
# on the distinct rows with their counts, so they are all that has to travel. A block's rows stand in the order of their first objects,
# and so do those of two neighboring blocks after merging: the result is what :meth:`consilience.Ensemble.signatures` finds of all rows at
# once, however they were cut into blocks and in whatever order neighbors were merged.

# safeguard: bytes that combining takes: of a row, of each of its labels, and of its membership in each cluster
BYTES = 60, 16, 60


class TooManyRowsError(InputError):
    """More distinct rows than there is room for."""


@dataclass(frozen=True, eq=False)
class DistinctRows:
    rows: Labels  # in the order of their first objects; −1 missing
    counts: Ints  # objects with each row
    labels: list[list[Any]]  # what the codes of every clustering stand for
    lengths: tuple[int, ...]  # objects of every part

    @property
    def n_objects(self) -> int:
        return sum(self.lengths)

    def n_labels(self, clustering: int) -> int:
        return int(np.count_nonzero(np.bincount(self.rows[:, clustering].astype(np.int64) + 1)[1:]))

    def merge(self, *others: "DistinctRows") -> "DistinctRows":
        """These rows and those of the blocks that follow, in their order. Cost O(rows · r)."""
        n = len(self.labels)
        for other in others:
            if len(other.labels) != n:
                found = f"a block has {len(other.labels)} clusterings, the one before {n}"
                raise InputError(f"{found}: give all blocks the same")
        every = [self, *others]
        known = _codes_by_label(self.labels)
        for other in others:
            for mine, theirs in zip(known, other.labels, strict=True):
                for label in theirs:
                    mine.setdefault(label, len(mine))
        kind = narrowest(known)  # type: ignore[arg-type]
        rows = np.concatenate([look_up_codes(Coded(one.rows, one.labels), known, kind) for one in every])
        first, inverse, _ = _kernels.signatures(rows)
        counts = np.zeros(len(first), np.int64)
        np.add.at(counts, inverse, np.concatenate([one.counts for one in every]))
        lengths = sum((one.lengths for one in every), ())
        return DistinctRows(rows[first], counts, [list(labels) for labels in known], lengths)

    @property
    def n_bytes(self) -> int:
        row, label, cluster = BYTES
        # Codes may stand for labels that do not occur.
        k = float(np.median([self.n_labels(j) for j in range(len(self.labels))]))
        return int(len(self.counts) * (row + label * len(self.labels) + cluster * k))

    def check_room(self, room: int | None) -> "DistinctRows":
        """Itself, if so many bytes are enough to combine these rows."""
        if room is not None and self.n_bytes > room:
            raise TooManyRowsError(f"{len(self.counts):,} distinct rows of labels need more than {room:,} bytes")
        return self

    def ensemble(self, names: Sequence[str] | None) -> Ensemble:
        codes, label_names = np.empty(self.rows.shape[::-1], np.int32), []
        by_column = np.ascontiguousarray(self.rows.T)
        for j, (labels, column) in enumerate(zip(self.labels, by_column, strict=True)):
            first = np.full(len(labels) + 1, len(column))
            first[column[::-1]] = np.arange(len(column))[::-1]  # the last one written is the first row
            used = np.argsort(first[:-1], kind="stable")[: np.count_nonzero(first[:-1] < len(column))]
            what = f"clustering {j if names is None else names[j]!r}"
            new, found = encode_labels(object_vector([labels[code] for code in used]), what)
            place = np.full(len(labels) + 1, -1, np.int32)
            place[used] = new
            codes[j] = place[column]
            label_names.append(found)
        info = None if names is None else {"name": list(names)}
        return Ensemble.from_codes(np.ascontiguousarray(codes.T), label_names=label_names, info=info)


def of_block(block: Coded) -> DistinctRows:
    first, counts = _kernels.distinct_rows(block.codes)
    return DistinctRows(block.codes[first], counts, block.labels, (len(block.codes),))


def of_part(part: Any, room: int | None, more: None, layout: Layout) -> DistinctRows:
    """Those of a part, read block by block; an error once there are more than so many bytes have room for."""

    def add(found: DistinctRows, block: Coded) -> DistinctRows:
        return found.merge(of_block(block)).check_room(room)

    blocks = read_part(part, layout)
    found = reduce(add, blocks, of_block(next(blocks)).check_room(room))
    return replace(found, lengths=(found.n_objects,))


def merge(parts: Sequence[DistinctRows], room: int | None = None) -> DistinctRows:
    return parts[0].merge(*parts[1:]).check_room(room)


def look_up_codes(block: Coded, codes: Sequence[Mapping[Any, int]], kind: Any = np.int32) -> Labels:
    """The labels of a block in other codes, by clustering and label, of a type that holds them; −1 where there is none."""
    found = block.codes.astype(kind, copy=False)
    for j, (labels, known) in enumerate(zip(block.labels, codes, strict=True)):
        place = np.array([*(known.get(label, -1) for label in labels), -1], np.int32)
        if not np.array_equal(place[:-1], np.arange(len(labels))):
            found = found.copy() if found is block.codes else found
            found[:, j] = place[block.codes[:, j]]
    return found


def codes_of(ens: Ensemble) -> list[dict[Any, int]]:
    return _codes_by_label(map(ens.categories, range(ens.n_clusterings)))


def _codes_by_label(labels: Iterable[Iterable[Any]]) -> list[dict[Any, int]]:
    return [{label: code for code, label in enumerate(some)} for some in labels]


@dataclass(frozen=True, eq=False)
class RowTable:
    rows: Labels
    slots: Array  # by which rows are found: made once, and sent along
    codes: list[dict[Any, int]]  # of every label, clustering by clustering
    values: dict[str, Array]

    @classmethod
    def of(cls, ens: Ensemble, values: dict[str, Array]) -> "RowTable":
        codes = codes_of(ens)
        rows = np.ascontiguousarray(ens.labels, narrowest(codes))  # type: ignore[arg-type]
        return cls(rows, _kernels.slots_of(rows), codes, values)

    def look_up(self, block: Coded) -> dict[str, Array]:
        """The values of the row of every object. Cost O(n · r), and no comparing of text beyond the labels' names."""
        at = _kernels.find_rows(self.rows, self.slots, look_up_codes(block, self.codes, self.rows.dtype))
        if at.min(initial=0) < 0:
            raise InputError(CHANGED)
        return {name: values.take(at, axis=0, mode="clip") for name, values in self.values.items()}
