"""Who does the work on blocks: this process, in threads, or the workers of a Dask cluster; and giving back what each object has.

Imports stay few here and in :mod:`consilience.blocks.distinct_rows`: a worker needs none of what an answer is made with.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from joblib import delayed

from consilience._check import InputError
from consilience._run.parallel import Form, There, active_client, measured, open_client, pack, unpack, workers
from consilience._run.progress import Where, is_logging, record
from consilience._run.row_blocks import computed
from consilience._types import Array
from consilience.blocks.distinct_rows import Beside, Coded, Layout, collapse_part, read_part

T = TypeVar("T")
TOGETHER = 4  # safeguard: neighbors that are merged at a time: more read rows less often, and need more memory


class Workers:
    """This process, in threads. Functions and arguments must survive pickling all the same; `what` is the work's name in the run log."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def fold(self, what: str, function: Callable[..., T], parts: Sequence[Any], merge: Callable[[Sequence[T]], T]) -> T:
        """``function(part)`` of all parts, some neighbors at a time merged; only a few results wait on each level of the tree."""
        levels: list[list[T]] = [[]]
        tasks = (delayed(step)(part) for step, part in zip(steps(what, function, parts), parts, strict=True))
        for result in workers(self.n_jobs, lazily=True)(tasks):
            levels[0].append(result)
            for level, waiting in enumerate(levels):
                if len(waiting) == TOGETHER:
                    if level + 1 == len(levels):
                        levels.append([])
                    levels[level + 1].append(merge(waiting))
                    waiting.clear()
        whole: list[T] = []
        for waiting in levels:  # those of higher levels come before
            whole = [*waiting, *whole]
            whole = [merge(whole)] if len(whole) > 1 else whole
        return whole[0]

    def each(
        self, what: str, function: Callable[..., T], parts: Sequence[Any], shared: Any, more: Iterable[Any]
    ) -> Iterator[T]:
        """``function(part, shared, one of more)`` of every part, in their order."""
        each = zip(steps(what, function, parts), parts, more, strict=True)
        yield from workers(self.n_jobs, lazily=True)(delayed(step)(part, shared, one) for step, part, one in each)


class Step:
    """A function of a part, which is fetched first if it is elsewhere, under a name that the run log has."""

    def __init__(self, what: str, function: Callable[..., Any], number: int, n_parts: int) -> None:
        self.function, self.kind = function, what
        self.__name__ = f"{what}, part {number:,} of {n_parts:,}"

    def __call__(self, part: Any, *more: Any) -> Any:
        """The function's result."""
        return self.function(_here(part), *more)


def steps(what: str, function: Callable[..., Any], parts: Sequence[Any]) -> Iterator[Step]:
    """The function as a step of every part."""
    return (Step(what, function, number, len(parts)) for number in range(1, len(parts) + 1))


def _here(part: Any) -> Any:
    """A part, fetched if it is elsewhere."""
    if isinstance(part, There):  # of a task that runs where it was given out
        return _here(part.value)
    if isinstance(part, Beside):
        return [collapse_part(_here(one), layout) for one, layout in zip(part.parts, part.layouts, strict=True)]
    kind = elsewhere(part)
    return computed([part])[0] if kind == "dask" else part.result() if kind == "distributed" else part


def elsewhere(part: Any) -> str:
    """The package of a part that is still to be made ("dask") or on a worker ("distributed"); empty if it is here."""
    if isinstance(part, Beside):
        return max(map(elsewhere, part.parts))
    package = type(part).__module__.partition(".")[0]
    return package if package in ("dask", "distributed") else ""


class OnDask(Workers):
    """The workers of a cluster; what a worker loses by dying is done again by another."""

    def __init__(self, client: Any) -> None:
        from consilience._run.cluster import ClusterWorkers

        self.client = client
        self._side = ClusterWorkers(client, Form(lazily=True, logged=is_logging()))

    def fold(self, what: str, function: Callable[..., T], parts: Sequence[Any], merge: Callable[[Sequence[T]], T]) -> T:
        """A tree of tasks, always the same for as many parts, so that only one result comes back."""
        from consilience._run.cluster import settled

        ((whole, lines),) = settled(self.client, lambda: [self._tree(what, function, parts, merge)])
        for name, seconds, where in lines:
            record("task", seconds, where, name=name)
        return whole

    def _tree(
        self, what: str, function: Callable[..., T], parts: Sequence[Any], merge: Callable[[Sequence[T]], T]
    ) -> Any:
        submit = partial(self.client.submit, pure=False)
        each = zip(steps(what, function, parts), parts, strict=True)
        level = [submit(_measured_part, step, _there(self.client, part)) for step, part in each]
        while len(level) > 1:
            groups = [level[i : i + TOGETHER] for i in range(0, len(level), TOGETHER)]
            level = [submit(_merged, merge, *group) for group in groups]
        return level[0]

    def each(
        self, what: str, function: Callable[..., T], parts: Sequence[Any], shared: Any, more: Iterable[Any]
    ) -> Iterator[T]:
        """In order; a few more than there are workers are under way at a time, and what is shared travels once."""
        data, arrays = pack(shared)
        packed = np.frombuffer(data, np.uint8), arrays
        yield from self._side(
            delayed(_Shared(step))(There(part, partial(_there, part=part)) if elsewhere(part) else part, packed, one)
            for step, part, one in zip(steps(what, function, parts), parts, more, strict=True)
        )


def _measured_part(function: Callable[..., T], part: Any) -> tuple[T, list[Any]]:
    result, *line = measured((function, (part,), {}))
    return result, [line]


def _merged(merge: Callable[[Sequence[T]], T], *some: tuple[T, list[Any]]) -> tuple[T, list[Any]]:
    if len(some) == 1:
        return some[0]
    lines = [line for _, before in some for line in before]
    begin = time.perf_counter()
    result = merge([one for one, _ in some])
    return result, [*lines, ["merging parts", time.perf_counter() - begin, Where.here()]]


class _Shared:
    """A step with what all of them share, as it travels."""

    def __init__(self, step: Step) -> None:
        self.step, self.kind, self.__name__ = step, step.kind, step.__name__

    def __call__(self, part: Any, packed: tuple[Array, list[Array]], one: Any) -> Any:
        return self.step(part, unpack(packed[0].tobytes(), packed[1]), one)


def _there(client: Any, part: Any) -> Any:
    """A part of a Dask collection as what will be there, parts of sites as what each will send; any other as it is."""
    if isinstance(part, Beside):
        each = zip(part.parts, part.layouts, strict=True)
        return [client.submit(collapse_part, _there(client, one), layout, pure=False) for one, layout in each]
    return client.compute(part) if elsewhere(part) == "dask" else part


def workers_for(parts: Sequence[Any], n_jobs: int | None) -> Workers:
    """Those of the cluster that tasks go to, or of the client that is open where the parts are Dask's; else this process."""
    client = open_client() if any(map(elsewhere, parts)) else active_client()
    return Workers(n_jobs) if client is None else OnDask(client)


# An answer for distinct rows, given back to the objects block by block: as arrays, or as Parquet parts.

# safeguard: rows of answers at a time; larger arrays are asked of the system anew for every block, a quarter of the time of writing
ANSWER_ROWS = 2**18


class Answers(Protocol):
    """What gives the objects of a block their values."""

    def look_up(self, block: Coded) -> dict[str, Array]:
        """Values by name."""


@dataclass(frozen=True, eq=False)
class Reading:
    """Labels to be read: their parts, how these are laid out, and who reads them."""

    parts: Sequence[Any]
    layout: Layout
    workers: Workers

    def each(
        self, what: str, function: Callable[..., T], shared: Any = None, more: Iterable[Any] | None = None
    ) -> Iterator[T]:
        """``function(part, shared, one of more, layout=…)`` of every part, in their order."""
        task = partial(function, layout=self.layout)
        return self.workers.each(what, task, self.parts, shared, [None] * len(self.parts) if more is None else more)


def spread(reading: Reading, table: Answers, lengths: Sequence[int]) -> dict[str, Array]:
    """Values of all objects, and their ids where they have some, by another reading of the labels."""
    found: dict[str, Array] = {}
    ids = []
    starts = [0, *accumulate(lengths)]
    each = reading.each("answers", _look_up_part, table, lengths)
    for begin, end, (part, names) in zip(starts[:-1], starts[1:], each, strict=True):
        for name, some in part.items():
            if name not in found:
                found[name] = np.empty((starts[-1], *some.shape[1:]), some.dtype)
            found[name][begin:end] = some
        if names is not None:
            ids.append(names)
    return found | ({"id": np.concatenate(ids)} if ids else {})


def write_parts(folder: Path, reading: Reading, table: Answers, lengths: Sequence[int]) -> None:
    """Write the ids and the values of all objects as Parquet, a file for every part of the blocks, each by who reads the part."""
    folder.mkdir()
    wanted = list(zip(part_names(len(lengths)), [0, *accumulate(lengths)][:-1], strict=True))
    each = reading.each("writing answers", partial(_write_part, folder=str(folder)), table, wanted)
    for (name, _), length, written in zip(wanted, lengths, each, strict=True):
        if written != length or not (folder / name).is_file():
            raise InputError(
                f"{folder.parent}: the workers do not write where this process reads: give an output folder that all of them share"
            )
    for left in set(os.listdir(folder)) - {name for name, _ in wanted}:  # by a worker that was killed
        (folder / left).unlink()


def part_names(n_parts: int) -> list[str]:
    """Names of files whose alphabetical order is that of the parts, however many."""
    width = max(5, len(str(n_parts - 1)))
    return [f"part-{i:0{width}d}.parquet" for i in range(n_parts)]


def _look_up_part(part: Any, table: Answers, length: int, layout: Layout) -> tuple[dict[str, Array], Array | None]:
    found, ids = [], []
    for block in read_part(part, layout):
        found.append(table.look_up(block))
        ids.append(block.ids)
    joined = {name: np.concatenate([some[name] for some in found]) for name in found[0]}
    names = None if layout.id_column is None else np.concatenate([some.to_numpy(zero_copy_only=False) for some in ids])
    if any(len(some) != length for some in joined.values()):
        raise InputError(
            f"{layout.source}: the labels have changed since they were first read: keep them until the answer is there"
        )
    return joined, names


def _encodings(rows: pa.Table, layout: Layout) -> dict[str, Any]:
    """Numbers as ids are written as differences; text and answers, which repeat, by a dictionary."""
    if not pa.types.is_integer(rows.schema.field(layout.id_heading).type):
        return {}
    repeated = [name for name in rows.column_names if name != layout.id_heading]
    return {"use_dictionary": repeated, "column_encoding": {layout.id_heading: "DELTA_BINARY_PACKED"}}


def _write_part(part: Any, table: Answers, wanted: tuple[str, int], layout: Layout, folder: str) -> int:
    """Write a file under a name of its own and rename it, since a part may be done twice where workers come and go."""
    name, begin = wanted
    start, writer, few = begin, None, replace(layout, rows=min(layout.rows, ANSWER_ROWS))
    unfinished = Path(folder) / f".{secrets.token_hex(8)}-{name}"
    try:
        for block in read_part(part, few):
            columns = {
                layout.id_heading: block.ids
                if block.ids is not None
                else pa.array(np.arange(start, start + len(block.codes)))
            }
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
