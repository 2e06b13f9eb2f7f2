"""What people made of a run while they looked at it, kept beside the run: labels they saved, and their tray with names and notes.

The file is `explorer.json` in the folder of the stored run, written whole: a kill leaves the old one or the new one.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from consilience._check import InputError
from consilience._files import write_whole
from consilience._types import Labels

FILE, VERSION = "explorer.json", 1
TRAY = ("ref", "name", "note", "of")  # what an entry of the tray is made of, all texts
log = logging.getLogger("consilience.explorer")


class Saved(NamedTuple):
    """Labels of objects: codes, −1 missing, and what the classes are called."""

    codes: Labels
    classes: list[str]


class Kept:
    """The file of one run.

    Parameters
    ----------
    folder : Path or None
        Of the stored run; None keeps everything in memory alone.
    n_objects : int

    Attributes
    ----------
    labels : dict of name to Saved
    tray : list of dict
        With `ref`, `name`, `note` and `of`, the run and tree that the ref is numbered in.
    """

    def __init__(self, folder: Path | None, n_objects: int) -> None:
        self._path = None if folder is None else folder / FILE
        self._lock = threading.Lock()
        self.labels: dict[str, Saved] = {}
        self.tray: list[dict[str, str]] = []
        if self._path is not None and self._path.exists():
            try:
                self.labels, self.tray = _parsed(json.loads(self._path.read_text("utf-8")), n_objects)
            except (ValueError, TypeError, KeyError, AttributeError):
                raise InputError(
                    f"{self._path} is not what the explorer wrote for {n_objects:,} objects: mend it, or move it away"
                ) from None

    @property
    def lasts(self) -> bool:
        """Whether what is kept is there at the next start."""
        return self._path is not None

    def keep(self, *, labels: Mapping[str, Any] | None = None, tray: list[dict[str, str]] | None = None) -> None:
        """Take over what changed, and write it down; where the folder cannot be written to, memory has to do."""
        with self._lock:
            if labels is not None:
                self.labels = {name: Saved(one.codes, list(one.classes)) for name, one in labels.items()}
            if tray is not None:
                self.tray = tray
            if self._path is None:
                return
            text = json.dumps(_written(self.labels, self.tray), ensure_ascii=False)
            try:
                self._write(self._path, text.encode())
            except OSError as error:
                log.warning("labels, tray and notes last until the explorer ends: %s (%s)", error.strerror, self._path)
                self._path = None

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        try:
            write_whole(path, lambda file: file.write(content))
        except FileNotFoundError:  # "more like this" opens the store just now, which clears unfinished files away
            write_whole(path, lambda file: file.write(content))


def _written(labels: Mapping[str, Saved], tray: list[dict[str, str]]) -> dict[str, Any]:
    rows = {
        name: {value: np.flatnonzero(one.codes == code).tolist() for code, value in enumerate(one.classes)}
        for name, one in labels.items()
    }
    return {"version": VERSION, "labels": rows, "tray": tray}


def _parsed(content: Any, n_objects: int) -> tuple[dict[str, Saved], list[dict[str, str]]]:
    if content["version"] != VERSION:
        raise ValueError("another version")
    labels = {}
    for name, values in content["labels"].items():
        codes = np.full(n_objects, -1, np.int32)
        for code, rows in enumerate(values.values()):
            places = np.array(rows, np.int64)
            if places.size and (places.min() < 0 or places.max() >= n_objects):
                raise ValueError("objects that are not here")
            codes[places] = code
        labels[name] = Saved(codes, list(values))
    tray = [{key: item[key] for key in TRAY} for item in content["tray"]]
    if not all(isinstance(text, str) for item in tray for text in item.values()):
        raise ValueError("texts")
    return labels, tray
