"""One part of a store: a Parquet file of numbers, info, label names and labels."""

import contextlib
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from consilience._check import InputError
from consilience._types import Array, Ints, Labels
from consilience.ensemble.store.columns import NAMES, STREAM, TAKEN, Column, RefusedError, brief, decode_info, unit_keys
from consilience.ensemble.store.manifest_and_lock import SAME_RUN, difference, parse_manifest

# What must be known of a damaged part stands in its name: its number, the next number that was free once it was written, and the CRC-32
# of the file (Parquet's own checksums leave out the footer and page headers).
PART_NAME = re.compile(r"part-(?P<number>\d{8,})(?:-(?P<next_number>\d+))?-(?P<crc>[0-9a-f]{8})\.parquet")
FAILED = "failed"  # column of a part with clusterings that could not be made
LABELS_PER_ROW_GROUP = 4_000_000  # safeguard: what reading holds in memory beside the result, 16 MB


def _labels_type(n_objects: int) -> pa.DataType:
    # Without nulls Parquet keeps no definition levels: half the time to read.
    return pa.list_(pa.field("element", pa.int32(), nullable=False), n_objects)


def check_rows(labels: Any, n_objects: int) -> np.ndarray:
    array = np.asarray(labels)
    if array.ndim == 2 and array.shape[1] == 0:
        array = array.astype(np.int32)
    if array.ndim != 2 or array.shape[0] != n_objects or array.dtype.kind not in "iu":
        what = f"labels must be whole numbers of shape ({n_objects}, n_clusterings), one column per clustering"
        raise InputError(f"{what}; got {array.dtype} of shape {array.shape}")
    if array.size and (array.min() < -1 or array.max() > np.iinfo(np.int32).max):
        row, column = np.argwhere((array < -1) | (array > np.iinfo(np.int32).max))[0]
        what = "labels must lie between -1 (missing) and 2**31 - 1"
        raise InputError(f"{what}; labels[{row}, {column}] is {array[row, column]}")
    return array.T


def encode_part(manifest: dict[str, Any], numbers: Ints, labels: Labels, columns: dict[str, Column]) -> pa.Buffer:
    """The bytes of a part, in row groups that bound what reading holds in memory."""
    n_objects = labels.shape[1]
    fields = [pa.field("number", pa.int64(), nullable=False)]
    fields += [pa.field(name, c.type, metadata=mark) for name, (c, mark) in columns.items()]
    fields += [pa.field("labels", _labels_type(n_objects), nullable=False)]
    schema = pa.schema(fields, metadata={"consilience": json.dumps(manifest)})
    head = [pa.array(numbers), *(column for column, _ in columns.values())]
    rows = max(1, LABELS_PER_ROW_GROUP // n_objects)
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema, compression="zstd", write_page_checksum=True) as writer:
        for start in range(0, len(numbers), rows):
            block = np.ascontiguousarray(labels[start : start + rows], dtype=np.int32)
            lists = pa.FixedSizeListArray.from_arrays(pa.array(block.ravel()), type=_labels_type(n_objects))
            writer.write_table(pa.table([*(column.slice(start, rows) for column in head), lists], schema=schema))
    return sink.getvalue()


def add_failures(columns: dict[str, Column], failed: Any, rows: np.ndarray) -> np.ndarray | None:
    """Enter a column of the clusterings that could not be made, where there are any."""
    if failed is None or not np.any(failed):
        return None
    lost = np.asarray(failed, bool)
    if lost.shape != (len(rows),) or (rows[lost] >= 0).any():
        raise InputError("failed must say of each clustering whether it could not be made, and such have no labels")
    if FAILED in columns:
        raise InputError(f"info column {FAILED!r} is the store's own where clusterings failed: rename it")
    columns[FAILED] = pa.array(lost, pa.bool_()), {"consilience": FAILED}  # the mark tells it from one of the user's
    return lost


def has_failures(schema: pa.Schema) -> bool:
    return FAILED in schema.names and (schema.field(FAILED).metadata or {}).get(b"consilience") == FAILED.encode()


def part_name(number: int, next_number: int, data: Any) -> str:
    return f"part-{number:08d}-{next_number}-{zlib.crc32(data):08x}.parquet"


def check_part(path: Path, manifest: dict[str, Any]) -> tuple[np.ndarray, bool, np.ndarray | None]:
    """Numbers of the clusterings in a part that is whole and of this run, whether it has label names, and which failed."""
    name = PART_NAME.fullmatch(path.name)
    try:
        if name and _file_crc(path) != int(name["crc"], 16):
            raise RefusedError("it does not match the checksum in its name, so it is damaged or cut short")
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            schema = file.schema_arrow
            _check_origin(schema, manifest)
            if not name:
                raise RefusedError("it was renamed, so its checksum is lost: give it back its name")
            marked = has_failures(schema)
            table = file.read(columns=["number", *([FAILED] if marked else [])], use_threads=False)
            failed = table[FAILED].to_numpy(zero_copy_only=False).astype(bool) if marked else None
            return table["number"].to_numpy(), NAMES in schema.names, failed
    except (OSError, pa.ArrowException) as error:
        raise RefusedError(f"it cannot be read as Parquet ({brief(error)})") from None


def _check_origin(schema: pa.Schema, manifest: dict[str, Any]) -> None:
    text = (schema.metadata or {}).get(b"consilience")
    if text is None:
        raise RefusedError("it was not written by consilience")
    try:
        key = difference(parse_manifest(text), manifest)
    except InputError as error:
        raise RefusedError(str(error)) from None
    except ValueError as error:
        raise RefusedError(f"its copy of the manifest is damaged ({brief(error)})") from None
    if key:
        raise RefusedError(f"it belongs to another run, which differs in its {SAME_RUN[key]}")
    found = {field.name: field.type for field in schema}
    if found.get("number") != pa.int64() or found.get("labels") != _labels_type(manifest["n_objects"]):
        raise RefusedError(f"its columns are not a number and {manifest['n_objects']} labels")


def _file_crc(path: Path) -> int:
    crc = 0
    with open(path, "rb") as file:
        while block := file.read(1 << 22):
            crc = zlib.crc32(block, crc)
    return crc


def fill(result: np.ndarray, targets: np.ndarray, file: pq.ParquetFile, rows: np.ndarray) -> None:
    """Read `rows` of a part into the `targets` rows of the result, a row group at a time."""
    start = 0
    for group in range(file.num_row_groups):
        stop = start + file.metadata.row_group(group).num_rows
        here = (rows >= start) & (rows < stop)
        if here.any():
            column = file.read_row_group(group, columns=["labels"], use_threads=False)["labels"]
            block = column.combine_chunks().flatten().to_numpy().reshape(-1, result.shape[1])
            if block.min() < -1:
                what = f"holds the label {block.min()}, which is below −1 (missing)"
                raise RefusedError(f"{what}: correct it, or remove the file")
            result[targets[here]] = block[rows[here] - start]
        start = stop


# Parts of a store as they are read back: without their labels, or a file that is open.


@dataclass(frozen=True, eq=False)
class Part:
    path: Path
    has_names: bool
    failed: Array | None  # which of its rows could not be made


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


def read_info(parts: Sequence[Part], columns: Sequence[str] | None, *, failed: bool) -> pd.DataFrame:
    """Info of the clusterings of parts, or of those that could not be made, by number; of some columns, or all."""
    tables = []
    for part in parts:
        if failed and part.failed is None:
            continue
        with opened(part.path) as file:
            own = {*TAKEN, FAILED} if has_failures(file.schema_arrow) else TAKEN
            there = [column for column in file.schema_arrow.names if column not in own]
            names = ["number", *(column for column in there if columns is None or column in columns)]
            table = file.read(columns=names, use_threads=False).select(names)
            tables.append(table if part.failed is None else table.filter(pa.array(part.failed == failed)))
    numbers = np.concatenate([table["number"].to_numpy() for table in tables] or [np.empty(0, np.int64)])
    frame = decode_info([table.drop_columns("number") for table in tables], pd.Index(numbers, name="number"))
    return (frame if failed else frame[~frame.index.duplicated()]).sort_index(kind="stable")


def read_failures(parts: Sequence[Part], columns: Sequence[str] | None) -> pd.DataFrame:
    found = read_info(parts, None if columns is None else [*columns, *STREAM], failed=True)
    if found.empty:
        return found
    made, keys = set(unit_keys(read_info(parts, STREAM, failed=False))), unit_keys(found)
    first = {key: place for place, key in reversed(list(enumerate(keys)))}
    own = [name for name in found if columns is None or name in columns]
    return found.iloc[sorted(place for key, place in first.items() if key not in made)][own]
