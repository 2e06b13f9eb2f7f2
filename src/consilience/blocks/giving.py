"""An answer for distinct rows, given back to the objects block by block: as arrays, or as Parquet parts."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from consilience._check import InputError
from consilience._files import check_folder
from consilience._types import Array, PathLike
from consilience.blocks.coding import Coded, Layout, read_part
from consilience.blocks.label_blocks import LabelBlocks
from consilience.blocks.running import Workers
from consilience.blocks.words import says

ROWS = (
    2**18
)  # of answers at a time: larger arrays are asked of the system anew for every block, a quarter of the time of writing


class Answers(Protocol):
    """What gives the objects of a block their values."""

    def look_up(self, block: Coded) -> dict[str, Array]:
        """Values by name."""


def spread(blocks: LabelBlocks, workers: Workers, table: Answers, lengths: Sequence[int]) -> dict[str, Array]:
    """Values of all objects, and their ids where they have some, by another reading of the labels."""
    found: dict[str, Array] = {}
    look_up, ids = partial(_look_up_part, layout=blocks.layout), []
    starts = [0, *accumulate(lengths)]
    each = workers.each(look_up, blocks.parts, table, lengths)
    for begin, end, (part, names) in zip(starts[:-1], starts[1:], each, strict=True):
        for name, some in part.items():
            if name not in found:
                found[name] = np.empty((starts[-1], *some.shape[1:]), some.dtype)
            found[name][begin:end] = some
        if names is not None:
            ids.append(names)
    return found | ({"id": np.concatenate(ids)} if ids else {})


def write_parts(folder: Path, blocks: LabelBlocks, workers: Workers, table: Answers, lengths: Sequence[int]) -> None:
    """Write the ids and the values of all objects as Parquet, a file for every part of the blocks, each by who reads the part."""
    folder.mkdir()
    wanted = list(zip(part_names(len(lengths)), [0, *accumulate(lengths)][:-1], strict=True))
    write = partial(_write_part, layout=blocks.layout, folder=str(folder))
    each = workers.each(write, blocks.parts, table, wanted)
    for (name, _), length, written in zip(wanted, lengths, each, strict=True):
        if written != length or not (folder / name).is_file():
            raise InputError(
                f"{folder.parent}: the workers do not write where this process reads: give an output folder that all of them share"
            )
    for left in set(os.listdir(folder)) - {name for name, _ in wanted}:  # by a worker that was killed
        (folder / left).unlink()


def part_names(n_parts: int) -> list[str]:
    """Names of files whose alphabetical order is that of the parts, however many.

    Examples
    --------
    >>> part_names(2), part_names(100_001)[-1]
    (['part-00000.parquet', 'part-00001.parquet'], 'part-100000.parquet')
    """
    width = max(5, len(str(n_parts - 1)))
    return [f"part-{i:0{width}d}.parquet" for i in range(n_parts)]


def check_output(path: PathLike) -> Path:
    """A folder that is not there yet, and is not called like a file of another kind."""
    folder = check_folder(path)
    if folder.suffix.lower() in (".csv", ".tsv", ".txt", ".npy", ".npz", ".xlsx"):
        raise InputError(
            f"{path}: labels in blocks are given back as a folder of Parquet parts: give the output the name of a folder, such as "
            f"{folder.stem}"
        )
    if folder.exists():
        raise InputError(f"{path} is there already: give the output the name of a new folder")
    return folder


@says("answers")
def _look_up_part(part: Any, table: Answers, length: int, layout: Layout) -> tuple[dict[str, Array], Array | None]:
    found, ids = [], []
    for block in read_part(part, layout):
        found.append(table.look_up(block))
        ids.append(block.ids)
    joined = {name: np.concatenate([some[name] for some in found]) for name in found[0]}
    names = None if layout.id_column is None else np.concatenate([some.to_numpy(zero_copy_only=False) for some in ids])
    return _checked(joined, length, layout), names


def _checked(found: dict[str, Array], length: int, layout: Layout) -> dict[str, Array]:
    if any(len(some) != length for some in found.values()):
        raise InputError(
            f"{layout.source}: the labels have changed since they were first read: keep them until the answer is there"
        )
    return found


def _encodings(rows: pa.Table, layout: Layout) -> dict[str, Any]:
    """Numbers as ids are written as differences; text and answers, which repeat, by a dictionary."""
    if not pa.types.is_integer(rows.schema.field(layout.id_heading).type):
        return {}
    repeated = [name for name in rows.column_names if name != layout.id_heading]
    return {"use_dictionary": repeated, "column_encoding": {layout.id_heading: "DELTA_BINARY_PACKED"}}


@says("writing answers")
def _write_part(part: Any, table: Answers, wanted: tuple[str, int], layout: Layout, folder: str) -> int:
    """Write a file under a name of its own and rename it, since a part may be done twice where workers come and go."""
    name, begin = wanted
    start, writer, few = begin, None, replace(layout, rows=min(layout.rows, ROWS))
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
