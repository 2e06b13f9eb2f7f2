"""A consensus of labels in row blocks: read once for the distinct rows, answered in this process, and given back block by block."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from consilience._check import InputError, is_number, show
from consilience._files import check_folder, write_folder
from consilience._types import Array, PathLike
from consilience.blocks.distinct_rows import RowTable, TooManyRowsError, codes_of
from consilience.blocks.label_blocks import LabelBlocks
from consilience.blocks.passes import Passes, refine
from consilience.blocks.result import WrittenConsensus, fields_of, read_column, tally
from consilience.blocks.running import Answers, Reading, spread, write_parts
from consilience.blocks.sample_and_place import Placed, cluster_table, sum_clusters, take_sample, tally_of
from consilience.consensus import Consensus
from consilience.consensus.combine import combine_problem
from consilience.consensus.rows.problem import check_problem

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
FIXED = 500 * 10**6  # safeguard: bytes that the process, and a block while it is read, take
OF_OBJECT = 40  # safeguard: bytes, where the answer stays in memory


def combine_blocks(
    blocks: LabelBlocks,
    *,
    n_clusters: int | str | None,
    method: str,
    how: dict[str, Any],
    options: dict[str, Any],
    progress: bool | None = None,
    sample_weight: Any = None,
    memory_limit: int | str | None = None,
    output: PathLike | None = None,
    call: str = "",
    start: float = 0.0,
) -> Consensus:
    """What :func:`consilience.combine` does for labels in blocks.

    Labels are read twice: for the distinct rows, and to give every object the answer of its row. Cost O(n_objects · clusterings), shared
    among the workers, beside that of the method for the distinct rows, which this process pays. Where there is no room for the
    distinct rows, the method is fitted to a sample (:mod:`consilience.blocks.sample_and_place`).
    """
    if sample_weight is not None:
        raise InputError("labels in blocks take no sample_weight: every object counts once")
    room = None if memory_limit is None else bytes_of(memory_limit)
    folder = None if output is None else check_output(output)
    reading = Reading(blocks.parts, blocks.layout, how["n_jobs"])
    asked: dict[str, Any] = {"method": method, "n_clusters": n_clusters, "how": how, "options": options}
    try:
        rows = blocks.distinct(None if room is None else room - FIXED, how["n_jobs"])
    except TooManyRowsError:
        return _sample_and_place(blocks, reading, asked, folder, room, progress, call, start)
    if folder is None:
        _check_objects(rows.n_objects, room, rows.n_bytes)
    ens = rows.ensemble(blocks.names)
    number = None if isinstance(n_clusters, str) else n_clusters
    problem = check_problem(ens, number, copies=rows.counts, even=blocks.even)
    of_rows = combine_problem(ens, problem, **asked, progress=progress, call=call)
    values: dict[str, Array] = {"cluster": of_rows.labels.astype(np.int32)}
    values |= {"confidence": of_rows.confidence, "support": of_rows.support}
    row_values = {name: getattr(of_rows, name) for name in ("membership", "scale_labels", "scale_confidence")}
    table = RowTable.of(ens, values)
    more = {name: replace(table, values={"values": some}) for name, some in row_values.items() if some is not None}
    tallied = tally(of_rows, rows.counts)
    return _give(reading, rows.lengths, table, more, fields_of(of_rows), tallied, folder, room, start)


def _sample_and_place(
    blocks: LabelBlocks,
    reading: Reading,
    asked: dict[str, Any],
    folder: Path | None,
    room: int | None,
    progress: bool | None,
    call: str,
    start: float,
) -> Consensus:
    """The answer of a sample of the objects, and where it places all others."""
    check = partial(_check_objects, room=None if folder is not None else room)
    rows, lengths = take_sample(reading, check)
    sample = rows.ensemble(blocks.names)[np.repeat(np.arange(len(rows.counts)), rows.counts)]
    number = None if isinstance(asked["n_clusters"], str) else asked["n_clusters"]
    if asked["method"] == "nbce" and number is None and sum(lengths) > sample.n_objects:
        asked = asked | {"options": {"inference": "vb"} | asked["options"]}  # as in memory of so many objects
    problem = check_problem(sample, number, even=blocks.even)
    answer = combine_problem(sample, problem, **asked, progress=progress, call=call)
    passes = Passes(reading, codes_of(sample), problem.with_clusters(answer.n_clusters))
    answer, rule = refine(passes, sample, answer, number, asked["how"], asked["options"])
    placed = Placed.of(sample, answer, rule)
    placed, sums = sum_clusters(placed, reading)
    said = f"by {len(sample.labels):,} of the objects; the others are placed by their labels, since distinct rows have no room"
    fields = fields_of(answer) | dict.fromkeys(("curve", "scales", "splits"))
    fields |= {"n_clusters": len(placed.order), "note": "; ".join(filter(None, [answer.note, said]))}
    assert answer.clusters is not None
    fields["clusters"] = cluster_table(sums, placed.order, answer.clusters)
    more = {"membership": replace(placed, wanted=("membership",))}
    return _give(reading, lengths, placed, more, fields, tally_of(sums), folder, room, start)


def _give(
    reading: Reading,
    lengths: Sequence[int],
    table: Answers,
    more: Mapping[str, Answers],
    fields: dict[str, Any],
    tallied: dict[str, Any],
    folder: Path | None,
    room: int | None,
    start: float,
) -> Consensus:
    """The record, with what concerns single objects in arrays or written; what is in `more` comes when it is asked for."""
    later = {name: partial(_one, reading, some, lengths) for name, some in more.items()}
    fields = fields | {"seconds": time.perf_counter() - start}
    if folder is None:
        given: dict[str, Any] = spread(reading, table, lengths)
        given |= {"labels": given.pop("cluster").astype(np.int64), "ids": given.pop("id", None)}
        scales = {name: later.pop(name)() for name in list(later) if name != "membership"}
        return Consensus(**fields | later | scales | given | {"seconds": time.perf_counter() - start})
    write_folder(folder, lambda there: write_parts(there, reading, table, lengths))
    columns = {"labels": "cluster", "confidence": "confidence", "support": "support"}
    columns |= {} if reading.layout.id_column is None else {"ids": reading.layout.id_heading}
    read = {name: partial(read_column, folder, column) for name, column in columns.items()}
    fields |= {"output": str(folder), "tally": tallied, "seconds": time.perf_counter() - start}
    return WrittenConsensus(**fields | later | read)


def _check_objects(n_objects: int, room: int | None, beside: int = 0) -> None:
    """Refuse objects whose answers have no room beside so many bytes."""
    if room is not None and FIXED + beside + OF_OBJECT * n_objects > room:
        raise InputError(
            f"{n_objects:,} objects have no room in {room:,} bytes beside their rows: give output= (--output), a folder for their labels"
        )


def _one(reading: Reading, table: Answers, lengths: Sequence[int]) -> Array:
    """The only value that a table gives the objects."""
    return next(iter(spread(reading, table, lengths).values()))


def bytes_of(limit: int | str) -> int:
    """A number of bytes, from a number or from text such as "4GB"."""
    number: Any = limit
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", limit)
        unit = None if found is None else UNITS.get(found[2].upper())
        number = None if found is None or unit is None else float(found[1]) * unit
    if not is_number(number) or not np.isfinite(number) or number <= FIXED:
        raise InputError(
            f"memory_limit (--memory-limit) must be bytes, or text such as '4GB', and more than {FIXED / 1e9:g} GB, which the process "
            f"itself takes; got {show(limit)}"
        )
    return int(number)


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
