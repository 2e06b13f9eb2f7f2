"""Who does the work on blocks: this process, in threads, or the workers of a Dask cluster; and giving back what each object has."""

# Imports stay few here and in :mod:`consilience.blocks.distinct_rows`: a worker needs none of what an answer is made with.

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from joblib import delayed

from consilience._check import InputError
from consilience._run.parallel import is_elsewhere, on_cluster, open_client, workers
from consilience._run.row_blocks import here
from consilience._types import Array
from consilience.blocks.distinct_rows import CHANGED, Coded, DistinctRows, Layout, merge, of_part, read_part

T = TypeVar("T")
TOGETHER = 4  # safeguard: neighbors that are merged at a time: more read rows less often, and need more memory
# safeguard: rows of answers at a time; larger arrays are asked of the system anew for every block, a quarter of the time of writing
ANSWER_ROWS = 2**18


class Answers(Protocol):
    def look_up(self, block: Coded) -> dict[str, Array]: ...


@dataclass(frozen=True, eq=False)
class Reading:
    """Labels to be read: their parts, how these are laid out, and by how many jobs where no cluster is open that has parts of them."""

    parts: Sequence[Any]
    layout: Layout
    n_jobs: int | None = None

    def each(
        self, what: str, function: Callable[..., T], shared: Any = None, more: Iterable[Any] | None = None
    ) -> Iterator[T]:
        """``function(part, shared, one of more, layout=…)`` of every part, in their order; `what` is its name in the run log."""
        n = len(self.parts)
        each = zip(self.parts, [None] * n if more is None else more, strict=True)
        step = partial(function, layout=self.layout)
        tasks = (
            delayed(_Step(f"{what}, part {at:,} of {n:,}", step))(part, shared, one)
            for at, (part, one) in enumerate(each, 1)
        )
        with on_cluster(open_client() if any(map(is_elsewhere, self.parts)) else None):
            side_by_side = workers(self.n_jobs, lazily=True)
        yield from side_by_side(tasks)

    def distinct(self, room: int | None) -> DistinctRows:
        """The distinct rows of all parts, some neighbors at a time merged; only a few results wait on each level of the tree."""
        levels: list[list[DistinctRows]] = [[]]
        for rows in self.each("distinct rows", of_part, room):
            levels[0].append(rows)
            for level, waiting in enumerate(levels):
                if len(waiting) == TOGETHER:
                    if level + 1 == len(levels):
                        levels.append([])
                    levels[level + 1].append(merge(waiting, room))
                    waiting.clear()
        return merge([rows for waiting in reversed(levels) for rows in waiting], room)


class _Step:
    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.__name__, self.function = name, function

    def __call__(self, part: Any, *more: Any) -> Any:
        return self.function(here(part), *more)


def spread(reading: Reading, table: Answers, lengths: Sequence[int]) -> dict[str, Array]:
    found: dict[str, Array] = {}
    ids, starts = [], [0, *accumulate(lengths)]
    each = reading.each("answers", _look_up_part, table, lengths)
    for (begin, end), part in zip(pairwise(starts), each, strict=True):
        ids += [part.pop("id")] if "id" in part else []
        for name, some in part.items():
            if name not in found:
                found[name] = np.empty((starts[-1], *some.shape[1:]), some.dtype)
            found[name][begin:end] = some
    return found | ({"id": np.concatenate(ids)} if ids else {})


def write_parts(folder: Path, reading: Reading, table: Answers, lengths: Sequence[int]) -> None:
    """Write the ids and the values of all objects as Parquet, a file for every part of the blocks, each by who reads the part."""
    folder.mkdir()
    width = max(5, len(str(len(lengths) - 1)))  # so that the alphabetical order of files is that of the parts
    names = [f"part-{i:0{width}d}.parquet" for i in range(len(lengths))]
    wanted = list(zip(names, [0, *accumulate(lengths)][:-1], strict=True))
    each = reading.each("writing answers", partial(_write_part, folder=str(folder)), table, wanted)
    for (name, _), length, written in zip(wanted, lengths, each, strict=True):
        if written != length or not (folder / name).is_file():
            away = f"{folder.parent}: the workers do not write where this process reads"
            raise InputError(f"{away}: give an output folder that all of them share")
    for left in set(os.listdir(folder)) - set(names):  # by a worker that was killed
        (folder / left).unlink()


def _look_up_part(part: Any, table: Answers, length: int, layout: Layout) -> dict[str, Array]:
    found = []
    for block in read_part(part, layout):
        ids = {} if layout.id_column is None else {"id": block.ids.to_numpy(zero_copy_only=False)}
        found.append(table.look_up(block) | ids)
    joined = {name: np.concatenate([some[name] for some in found]) for name in found[0]}
    if any(len(some) != length for some in joined.values()):
        raise InputError(f"{layout.source}: {CHANGED}")
    return joined


def _encodings(rows: pa.Table, layout: Layout) -> dict[str, Any]:
    # Numbers as ids are written as differences; text and answers, which repeat, by a dictionary.
    if not pa.types.is_integer(rows.schema.field(layout.id_heading).type):
        return {}
    repeated = [name for name in rows.column_names if name != layout.id_heading]
    return {"use_dictionary": repeated, "column_encoding": {layout.id_heading: "DELTA_BINARY_PACKED"}}


def _write_part(part: Any, table: Answers, wanted: tuple[str, int], layout: Layout, folder: str) -> int:
    # Written under a name of its own and renamed, since a part may be done twice where workers come and go.
    name, begin = wanted
    start, writer, few = begin, None, replace(layout, rows=min(layout.rows, ANSWER_ROWS))
    unfinished = Path(folder) / f".{secrets.token_hex(8)}-{name}"
    try:
        for block in read_part(part, few):
            ids = pa.array(np.arange(start, start + len(block.codes))) if block.ids is None else block.ids
            columns = {layout.id_heading: ids}
            for column, some in table.look_up(block).items():
                missing = some < 0 if column == "cluster" else None
                columns[column] = pa.array(some, mask=missing if missing is not None and missing.any() else None)
            rows = pa.table(columns)
            if writer is None:
                writer = pq.ParquetWriter(unfinished, rows.schema, compression="zstd", **_encodings(rows, layout))
            writer.write_table(rows, row_group_size=few.rows)
            start += rows.num_rows
    finally:
        if writer is not None:
            writer.close()
    os.replace(unfinished, Path(folder) / name)
    return start - begin
