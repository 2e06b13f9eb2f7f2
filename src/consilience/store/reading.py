"""Parts of a store as they are read back: without their labels, or a file that is open."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from consilience._check import InputError
from consilience.store.index import Index
from consilience.store.info import TAKEN, decode_info
from consilience.store.part import FAILED, has_failures
from consilience.store.words import RefusedError, brief


@contextlib.contextmanager
def opened(path: Path) -> Iterator[pq.ParquetFile]:
    """A part that was whole when the store was opened; it may have changed since."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            yield file
    except RefusedError as reason:
        raise InputError(f"{path} {reason}") from None
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path} has changed since the store was opened, open it again: {brief(error)}") from error


def read_info(index: Index, columns: Sequence[str] | None, *, failed: bool) -> pd.DataFrame:
    """Info of the clusterings of all parts, or of those that could not be made, by number; of some columns, or all."""
    tables = []
    for name, lost in index.files():
        if failed and lost is None:
            continue
        with opened(index.path / name) as file:
            own = {*TAKEN, FAILED} if has_failures(file.schema_arrow) else TAKEN
            there = [column for column in file.schema_arrow.names if column not in own]
            names = ["number", *(column for column in there if columns is None or column in columns)]
            table = file.read(columns=names, use_threads=False).select(names)
            tables.append(table if lost is None else table.filter(pa.array(lost if failed else ~lost)))
    numbers = np.concatenate([table["number"].to_numpy() for table in tables] or [np.empty(0, np.int64)])
    frame = decode_info([table.drop_columns("number") for table in tables], pd.Index(numbers, name="number"))
    return (frame if failed else frame[~frame.index.duplicated()]).sort_index(kind="stable")
