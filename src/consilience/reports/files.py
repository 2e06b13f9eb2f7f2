"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError

WRITERS: dict[str, Callable[[pd.DataFrame, Any], Any]] = {
    ".csv": lambda frame, file: frame.to_csv(file, lineterminator="\n"),
    ".tsv": lambda frame, file: frame.to_csv(file, sep="\t", lineterminator="\n"),
    ".parquet": lambda frame, file: frame.rename(columns=str).to_parquet(file),
    ".npy": lambda frame, file: np.save(file, frame.to_numpy()),
}


def write_whole(path: str | Path, write: Callable[[Any], Any]) -> None:
    """Call ``write(file)`` on a temporary binary file beside `path`, sync it, and rename it into place."""
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist; make it first")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file in it")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def check_table_path(path: str | Path) -> Path:
    """A path whose suffix says how to write a table."""
    path = Path(path)
    if path.suffix.lower() not in WRITERS:
        raise InputError(f"{path}: a table can be written as {', '.join(WRITERS)}; give the file one of these endings")
    return path


def write_table(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a DataFrame with its index as CSV, TSV, Parquet or npy, chosen by the file's ending."""
    path = check_table_path(path)
    write_whole(path, lambda file: WRITERS[path.suffix.lower()](frame, file))


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    current = os.umask(0)
    os.umask(current)
    return current
