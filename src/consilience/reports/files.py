"""Tables and pictures as files, by their ending."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError
from consilience._names import unique_names
from consilience._whole_files import write_whole

WRITERS: dict[str, Callable[[pd.DataFrame, Any], Any]] = {
    ".csv": lambda frame, file: frame.to_csv(file, lineterminator="\n"),
    ".tsv": lambda frame, file: frame.to_csv(file, sep="\t", lineterminator="\n"),
    ".parquet": lambda frame, file: frame.set_axis(unique_names(frame.columns), axis=1).to_parquet(file),
    ".npy": lambda frame, file: np.save(file, frame.to_numpy()),
}


def write_file(path: str | Path, write: Callable[[Any], Any]) -> None:
    """Call ``write(file)`` so that the file at `path` appears whole or not at all."""
    write_whole(check_file(path), write)


def check_file(path: str | Path) -> Path:
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist; make it first")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file in it")
    return path


def check_table_path(path: str | Path) -> Path:
    return _check_ending(path, WRITERS, "a table can be written")


def _check_ending(path: str | Path, endings: Iterable[str], what: str) -> Path:
    path = Path(path)
    if path.suffix.lower() not in endings:
        raise InputError(f"{path}: {what} as {', '.join(endings)}; give the file one of these endings")
    return path


def check_figure_path(path: str | Path) -> Path:
    return _check_ending(path, (".png", ".svg", ".pdf"), "a picture can be drawn")


def write_table(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a DataFrame with its index as CSV, TSV, Parquet or npy, chosen by the file's ending."""
    path = check_table_path(path)
    write_file(path, lambda file: WRITERS[path.suffix.lower()](frame, file))


def write_objects(frame: pd.DataFrame, path: str | Path, id_name: str = "id") -> None:
    """Write a table of objects, the ids in its index under their own name unless another column has it."""
    write_table(name_objects(frame, id_name), path)


def name_objects(frame: pd.DataFrame, id_name: str) -> pd.DataFrame:
    """A table of objects whose ids have this name, unless another column has it."""
    return frame.rename_axis(index="id" if id_name in frame.columns else id_name)


def object_index(ids: Any, n_objects: int) -> pd.Index:
    """The index of a table of objects: their ids, or their numbers where they have none."""
    return pd.Index(range(n_objects) if ids is None else ids, name="id")


def object_table(found: Any, index: pd.Index | None = None, **options: Any) -> pd.DataFrame:
    """What ``found.to_frame(**options)`` says of the objects, as files have it: ids in the index, no cluster empty, 6 decimals."""
    frame = found.to_frame(**options).drop(columns="id")
    frame = frame.set_axis(object_index(found.ids, len(found.labels)) if index is None else index)
    for name in frame:
        if str(name).startswith("cluster"):
            frame[name] = whole_or_empty(frame[name])
        elif frame[name].dtype != bool:  # pandas 2.1 rounds no bool
            frame[name] = frame[name].round(6)
    return frame


def whole_or_empty(labels: Any) -> Any:
    """Labels for a table: whole numbers, empty where they are -1."""
    return pd.arrays.IntegerArray(np.asarray(labels, np.int64), np.asarray(labels) < 0)
