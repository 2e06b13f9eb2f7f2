"""A consensus of labels in row blocks: read once for the distinct rows, answered in this process, and given back block by block."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from consilience._check import InputError, is_number, show
from consilience._types import Array, PathLike
from consilience._whole_files import check_folder, write_folder
from consilience.blocks.distinct_rows import DistinctRows, RowTable, TooManyRowsError, codes_of
from consilience.blocks.label_blocks import LabelBlocks
from consilience.blocks.reading_and_writing import Answers, Reading, spread, write_parts
from consilience.blocks.sample_and_place import Placed, cluster_table, sum_clusters, sums_of, take_sample, tally_of
from consilience.blocks.vote_mixture_nbce import Passes, refine
from consilience.blocks.written_consensus import WrittenConsensus, fields_of, read_column
from consilience.consensus import Consensus
from consilience.consensus.combine import combine_problem
from consilience.consensus.left_out import left_out
from consilience.consensus.rows.problem import Problem, check_problem
from consilience.ensemble import Ensemble

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
FIXED = 500 * 10**6  # safeguard: bytes that the process, and a block while it is read, take
OF_OBJECT = 40  # safeguard: bytes, where the answer stays in memory
Asked = dict[str, Any]  # what :func:`consilience.combine` was asked


def combine_blocks(
    blocks: LabelBlocks,
    *,
    n_clusters: int | str | None,
    method: str,
    how: dict[str, Any],
    options: dict[str, Any],
    sample_weight: Any = None,
    memory_limit: int | str | None = None,
    output: PathLike | None = None,
    start: float = 0.0,
    keep_all: bool = False,
    **shown: Any,
) -> Consensus:
    # Labels are read twice: for the distinct rows, and to give every object the answer of its row. Cost O(n_objects · clusterings),
    # shared among the workers, beside that of the method for the distinct rows, which this process pays.
    if sample_weight is not None:
        raise InputError("labels in blocks take no sample_weight: every object counts once")
    room = None if memory_limit is None else bytes_of(memory_limit)
    folder = None if output is None else check_output(output)
    reading = Reading(blocks.parts, blocks.layout, how["n_jobs"])
    asked: dict[str, Any] = {"method": method, "n_clusters": n_clusters, "how": how, "options": options}
    number = None if isinstance(n_clusters, str) else n_clusters
    in_memory = room if folder is None else None
    try:
        rows = blocks.distinct(None if room is None else room - FIXED, how["n_jobs"])
    except TooManyRowsError:
        rows, lengths = take_sample(reading, partial(_check_objects, room=in_memory))
        ens, copies = rows.ensemble(blocks.names)[np.repeat(np.arange(len(rows.counts)), rows.counts)], None
        answer = partial(_of_sample, reading, lengths)
    else:
        _check_objects(rows.n_objects, in_memory, rows.n_bytes)
        ens, copies, answer = rows.ensemble(blocks.names), rows.counts, partial(_of_rows, rows)
    problem = check_problem(ens, number, copies=copies, even=blocks.even)
    out, left = left_out(ens, problem, keep_all=keep_all or blocks.are_run)
    if out.any():
        shown |= {"memory_limit": memory_limit, "output": output, "start": start, "left_out": left, "keep_all": True}
        return combine_blocks(blocks.only(np.flatnonzero(~out)), **asked, **shown)
    return _give(reading, answer(ens, problem, asked, shown), folder, start)


@dataclass(frozen=True, eq=False)
class _Found:
    lengths: Sequence[int]  # objects of every part
    table: Answers  # clusters, confidence and support
    more: Mapping[str, Answers]  # what comes when it is asked for
    fields: dict[str, Any]  # of the record
    tally: dict[str, Any]


def _of_rows(rows: DistinctRows, ens: Ensemble, problem: Problem, asked: Asked, shown: Asked) -> _Found:
    answer = combine_problem(ens, problem, **asked, **shown)
    values: dict[str, Array] = {"cluster": answer.labels.astype(np.int32)}
    values |= {"confidence": answer.confidence, "support": answer.support}
    row_values = {name: getattr(answer, name) for name in ("membership", "scale_labels", "scale_confidence")}
    table = RowTable.of(ens, values)
    more = {name: replace(table, values={"values": some}) for name, some in row_values.items() if some is not None}
    sums = sums_of(answer.labels, answer.confidence, answer.support, answer.n_clusters, rows.counts)
    return _Found(rows.lengths, table, more, fields_of(answer), tally_of(sums))


def _of_sample(
    reading: Reading, lengths: Sequence[int], sample: Ensemble, problem: Problem, asked: Asked, shown: Asked
) -> _Found:
    number = None if isinstance(asked["n_clusters"], str) else asked["n_clusters"]
    if asked["method"] == "nbce" and number is None and sum(lengths) > sample.n_objects:
        asked = asked | {"options": {"inference": "vb"} | asked["options"]}  # as in memory of so many objects
    answer = combine_problem(sample, problem, **asked, **shown)
    passes = Passes(reading, codes_of(sample), problem.with_clusters(answer.n_clusters))
    answer, rule = refine(passes, sample, answer, number, asked["how"], asked["options"])
    placed, sums = sum_clusters(Placed.of(sample, answer, rule), reading)
    said = f"by {len(sample.labels):,} of the objects; the others are placed by their labels, since distinct rows have no room"
    fields = fields_of(answer) | dict.fromkeys(("curve", "scales"))
    fields |= {"n_clusters": len(placed.order), "note": "; ".join(filter(None, [answer.note, said]))}
    assert answer.clusters is not None
    fields["clusters"] = cluster_table(sums, placed.order, answer.clusters)
    return _Found(lengths, placed, {"membership": replace(placed, wanted=("membership",))}, fields, tally_of(sums))


def _give(reading: Reading, found: _Found, folder: Path | None, start: float) -> Consensus:
    later = {name: partial(_one, reading, some, found.lengths) for name, some in found.more.items()}
    fields = found.fields | {"seconds": time.perf_counter() - start}
    if folder is None:
        given: dict[str, Any] = spread(reading, found.table, found.lengths)
        given |= {"labels": given.pop("cluster").astype(np.int64), "ids": given.pop("id", None)}
        scales = {name: later.pop(name)() for name in list(later) if name != "membership"}
        return Consensus(**fields | later | scales | given | {"seconds": time.perf_counter() - start})
    write_folder(folder, lambda there: write_parts(there, reading, found.table, found.lengths))
    columns = {"labels": "cluster", "confidence": "confidence", "support": "support"}
    columns |= {} if reading.layout.id_column is None else {"ids": reading.layout.id_heading}
    read = {name: partial(read_column, folder, column) for name, column in columns.items()}
    fields |= {"output": str(folder), "tally": found.tally, "seconds": time.perf_counter() - start}
    return WrittenConsensus(**fields | later | read)


def _check_objects(n_objects: int, room: int | None, beside: int = 0) -> None:
    if room is not None and FIXED + beside + OF_OBJECT * n_objects > room:
        lack = f"{n_objects:,} objects have no room in {room:,} bytes beside their rows"
        raise InputError(f"{lack}: give output= (--output), a folder for their labels")


def _one(reading: Reading, table: Answers, lengths: Sequence[int]) -> Array:
    return next(iter(spread(reading, table, lengths).values()))


def bytes_of(limit: int | str) -> int:
    number: Any = limit
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", limit)
        unit = None if found is None else UNITS.get(found[2].upper())
        number = None if found is None or unit is None else float(found[1]) * unit
    if not is_number(number) or not np.isfinite(number) or number <= FIXED:
        least = f"more than {FIXED / 1e9:g} GB, which the process itself takes"
        wanted = f"memory_limit (--memory-limit) must be bytes, or text such as '4GB', and {least}"
        raise InputError(f"{wanted}; got {show(limit)}")
    return int(number)


def check_output(path: PathLike) -> Path:
    folder = check_folder(path)
    if folder.suffix.lower() in (".csv", ".tsv", ".txt", ".npy", ".npz", ".xlsx"):
        wanted = f"give the output the name of a folder, such as {folder.stem}"
        raise InputError(f"{path}: labels in blocks are given back as a folder of Parquet parts: {wanted}")
    if folder.exists():
        raise InputError(f"{path} is there already: give the output the name of a new folder")
    return folder
