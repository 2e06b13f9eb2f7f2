"""The folder of a store: its manifest, the object ids, the lock of its writer."""

import errno
import importlib.metadata
import json
import re
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from consilience._check import InputError, check_count, fingerprint
from consilience._types import Array
from consilience._whole_files import UNFINISHED
from consilience.ensemble.store.columns import RefusedError, brief, json_text

# safeguard: the version of the format; folders of another one are refused by name.
FORMAT, VERSION = "consilience-store", 2
MANIFEST, IDS = "manifest.json", "ids.parquet"
KEYS: dict[str, Any] = {"n_objects": int, "fingerprint": (str, type(None)), "plan": object, "ids": (str, type(None))}


def new_manifest(n_objects: int, data: str | None, plan: Any, ids: Array | None, id_name: str = "id") -> dict[str, Any]:
    try:
        plan = json.loads(json_text(plan, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise InputError(f"the plan must be a JSON value (text, numbers, lists, dicts): {error}") from None
    try:
        version = importlib.metadata.version("consilience")
    except importlib.metadata.PackageNotFoundError:
        version = "not installed"
    body = {
        "format": FORMAT,
        "version": VERSION,
        "n_objects": check_count("n_objects", n_objects),
        "fingerprint": data,
        "plan": plan,
        "ids": None if ids is None else fingerprint(ids),
        "id_name": id_name,
        "consilience": version,
    }
    return body | {"crc32": zlib.crc32(json_text(body).encode())}


def parse_manifest(text: bytes) -> dict[str, Any]:
    """The manifest in `text`; ValueError if it is not one, InputError if it is of another format than ours."""
    try:
        manifest = json.loads(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError("is not the manifest of a consilience store")
    version = manifest.get("version")
    if type(version) is int and version != VERSION:
        newer = f"by a newer consilience, and this one knows format {VERSION}: upgrade consilience"
        older = f"by an older consilience, and this one reads format {VERSION} only: make the run again"
        raise InputError(f"it was written in store format {version} {newer if version > VERSION else older}")
    body = {key: value for key, value in manifest.items() if key != "crc32"}
    if manifest.get("crc32") != zlib.crc32(json_text(body).encode()):
        raise ValueError("does not match its checksum")
    for key, kind in {"version": int, **KEYS}.items():
        value = manifest.get(key)
        if key not in manifest or not isinstance(value, kind) or (kind is int and (value is True or value < 1)):
            raise ValueError(f"has no valid {key}")
    if not isinstance(manifest.get("id_name", "id"), str):
        raise ValueError("has no valid id_name")
    return manifest


def find_manifest(folder: Path) -> tuple[dict[str, Any], str | None]:
    """The manifest of a store, and what is wrong with its file if it had to be taken from the parts."""
    if not folder.exists():
        raise InputError(f"there is no store at {folder}: check the path")
    if not folder.is_dir():
        raise InputError(f"{folder} is a file, and a store is a folder: check the path")
    try:
        return parse_manifest((folder / MANIFEST).read_bytes()), None
    except FileNotFoundError:
        problem = "is missing"
    except InputError as error:
        raise InputError(f"store {folder} cannot be read: {error}") from None
    except (OSError, ValueError) as error:
        problem = f"is damaged ({brief(error)})"
    copies = Counter(copy for path in parquet_files(folder) if (copy := _manifest_copy(path)))
    if not copies:
        raise InputError(f"{folder} is a folder, not a stored run: its {MANIFEST} {problem}, and no part holds a copy")
    return json.loads(copies.most_common(1)[0][0]), f"it {problem}"


def _manifest_copy(path: Path) -> bytes | None:
    try:
        text = (pq.read_schema(path).metadata or {}).get(b"consilience", b"")
        parse_manifest(text)
    except (OSError, ValueError, pa.ArrowException):  # whatever it is, check_part will say so
        return None
    return text


SAME_RUN = {"n_objects": "number of objects", "fingerprint": "fingerprint of the data", "plan": "plan", "ids": "ids"}


def difference(manifest: dict[str, Any], other: dict[str, Any]) -> str | None:
    """The first key by which two manifests are of different runs."""
    return next((key for key in SAME_RUN if json_text(manifest[key]) != json_text(other[key])), None)


def check_same_run(folder: Path, manifest: dict[str, Any], asked: dict[str, Any]) -> None:
    key = difference(manifest, asked)
    if key is None:
        return
    there, here, what = manifest[key], asked[key], SAME_RUN[key]
    if key == "fingerprint" and there and here:
        why = "the data, or their order, are not those it was made from; give the same, or choose another folder"
        raise InputError(f"store {folder} differs from what is asked in its {what}: {why}")
    if isinstance(there, dict) and isinstance(here, dict):  # name what differs, not all that is the same
        name = next(name for name in {**there, **here} if json_text(there.get(name)) != json_text(here.get(name)))
        there, here, what = there.get(name), here.get(name), f"{what}, {name}"
    how = f"differs from what is asked in its {what} ({brief(there)} there, {brief(here)} asked)"
    raise InputError(f"store {folder} {how}: ask for the same, or choose another folder")


def encode_ids(ids: Array | None) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": ids}), sink, compression="zstd", write_page_checksum=True)
    return sink.getvalue()


def read_ids(folder: Path, manifest: dict[str, Any]) -> Array | None:
    """The ids of a store's objects; RefusedError says why they cannot be had."""
    if manifest["ids"] is None:
        return None
    try:
        column = pq.read_table(folder / IDS, partitioning=None, page_checksum_verification=True)["id"]
    except FileNotFoundError:
        raise RefusedError("it is missing") from None
    except (OSError, KeyError, pa.ArrowException) as error:
        raise RefusedError(f"it cannot be read ({brief(error)})") from None
    ids = np.array(column.to_pylist(), dtype=object if pa.types.is_string(column.type) else None)
    if fingerprint(ids) != manifest["ids"]:
        raise RefusedError("its ids are not those the store was made with")
    return ids


def check_replaceable(folder: Path, *, overwrite: bool) -> None:
    """Refuse to put a store where something is, unless it may be overwritten, is a store, and nobody writes to it."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not overwrite:
        raise InputError(f"{folder} exists already: choose another path, or say overwrite=True if it is a store")
    find_manifest(folder)
    for path in folder.iterdir():
        if not re.fullmatch(rf"{MANIFEST}|{IDS}|part-.*\.parquet|\.lock|{UNFINISHED}.*", path.name):
            raise InputError(f"{folder} is not overwritten, since it holds {path.name}, which is not a part of a store")
    lock_folder(folder).close()


def is_blank(folder: Path) -> bool:
    """Whether a store can start here: no folder yet, or nothing but hidden files in it."""
    if not folder.exists():
        return True
    return folder.is_dir() and all(path.name.startswith(".") for path in folder.iterdir())


def lock_folder(folder: Path) -> BinaryIO:
    """Hold the folder for one writer; the operating system lets go of it when the process ends."""
    file = open(folder / ".lock", "ab")  # noqa: SIM115 (open as long as the lock is held)
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        if error.errno not in (errno.EACCES, errno.EAGAIN):
            raise
        raise InputError(f"store {folder} is being written to: wait for that writer, or stop it") from None
    return file


def parquet_files(folder: Path) -> list[Path]:
    """What could be a part, in the order written; unfinished files are hidden ones."""
    return sorted(path for path in folder.glob("*.parquet") if not path.name.startswith("."))
