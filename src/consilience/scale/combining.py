"""A consensus of labels in row blocks: read once for the distinct rows, answered in this process, and given back block by block."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from consilience._check import InputError, is_number, show
from consilience._files import write_folder
from consilience._types import Array, PathLike
from consilience.consensus import Consensus
from consilience.consensus.distinct_rows import check_problem
from consilience.scale.blocks import LabelBlocks
from consilience.scale.distinct import DistinctRows, TooManyRowsError
from consilience.scale.giving import check_output, spread_rows, write_parts
from consilience.scale.result import WrittenConsensus, fields_of, read_column, tally
from consilience.scale.running import Workers, workers_for

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
FIXED = 500 * 10**6  # bytes that the process, and a block while it is read, take
OF_OBJECT = 40  # bytes, where the answer stays in memory


def combine_blocks(
    blocks: LabelBlocks,
    answer: Callable[..., Consensus],
    *,
    n_clusters: int | None,
    sample_weight: Any = None,
    memory_limit: int | str | None = None,
    output: PathLike | None = None,
    n_jobs: int | None = None,
    start: float = 0.0,
) -> Consensus:
    """What :func:`consilience.combine` does for labels in blocks; ``answer(ensemble, problem)`` combines the distinct rows.

    Labels are read twice: for the distinct rows, and to give every object the answer of its row. Cost O(n_objects · clusterings), shared
    among the workers, beside that of the method for the distinct rows, which this process pays.
    """
    if sample_weight is not None:
        raise InputError("labels in blocks take no sample_weight: every object counts once")
    room = None if memory_limit is None else bytes_of(memory_limit)
    folder = None if output is None else check_output(output)
    workers = workers_for(blocks.parts, n_jobs)
    found = _distinct(blocks, workers, room, memory_limit)
    if folder is None and room is not None and found.n_bytes + FIXED + OF_OBJECT * found.n_objects > room:
        raise InputError(
            f"{found.n_objects:,} objects have no room in {show(memory_limit)} beside their {len(found.counts):,} distinct rows: give "
            "output= (--output), a folder for their labels"
        )
    ens = found.ensemble(blocks.names)
    of_rows = answer(ens, check_problem(ens, n_clusters, copies=found.counts))
    spread = partial(spread_rows, blocks, workers, ens)
    values: dict[str, Array] = {"cluster": of_rows.labels.astype(np.int32)}
    values |= {"confidence": of_rows.confidence, "support": of_rows.support}
    scales = {
        name: some for name in ("scale_labels", "scale_confidence") if (some := getattr(of_rows, name)) is not None
    }
    fields = fields_of(of_rows) | {"membership": partial(_one, spread, of_rows.membership)}
    if folder is None:
        given: dict[str, Any] = spread(values | scales)
        given |= {"labels": given.pop("cluster").astype(np.int64), "ids": given.pop("id", None)}
        return Consensus(**fields | given | {"seconds": time.perf_counter() - start})
    write_folder(folder, lambda there: write_parts(there, blocks, workers, ens, values))
    fields |= {name: partial(_one, spread, some) for name, some in scales.items()}
    columns = {"labels": "cluster", "confidence": "confidence", "support": "support"}
    columns |= {} if blocks.layout.id_column is None else {"ids": "id"}
    fields |= {name: partial(read_column, folder, column) for name, column in columns.items()}
    fields |= {"output": str(folder), "tally": tally(of_rows, found.counts), "seconds": time.perf_counter() - start}
    return WrittenConsensus(**fields)


def _distinct(blocks: LabelBlocks, workers: Workers, room: int | None, limit: int | str | None) -> DistinctRows:
    """The distinct rows, if there is room for combining them."""
    try:
        return blocks.distinct(workers, None if room is None else room - FIXED)
    except TooManyRowsError as error:
        raise InputError(
            f"{blocks.layout.source}: {error}, which is what {show(limit)} leave beside the process itself: raise memory_limit= "
            "(--memory-limit), or combine fewer clusterings"
        ) from None


def _one(spread: Callable[[dict[str, Array]], dict[str, Array]], values: Array) -> Array:
    """Values of the rows as values of the objects."""
    return spread({"values": values})["values"]


def bytes_of(limit: int | str) -> int:
    """A number of bytes, from a number or from text such as "4GB".

    Examples
    --------
    >>> bytes_of("4GB"), bytes_of("1.5 GiB"), bytes_of(10**9)
    (4000000000, 1610612736, 1000000000)
    """
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
