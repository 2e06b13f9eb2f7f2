"""What people made of a run while they looked at it, kept beside the run: labels they saved, clusterings they edited, their tray with
names and notes, and the view.

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
from consilience.explorer.edits import Edited
from consilience.meta.tree import LINKAGES

FILE, VERSION = "explorer.json", 2
TRAY = ("ref", "name", "note", "of")  # what an entry of the tray is made of, all texts
VIEW = ("address", "plane", "colors", "linkage")  # and what the view is
log = logging.getLogger("consilience.explorer")
WRONG = (ValueError, TypeError, KeyError, AttributeError)  # of a file that somebody else wrote


class Saved(NamedTuple):
    """Labels of objects: codes, −1 missing, and what the classes are called."""

    codes: Labels
    classes: list[str]


class Content(NamedTuple):
    """What is kept: labels by name, edited clusterings by number, the tray, and the view as the page wrote it."""

    labels: dict[str, Saved]
    edits: dict[int, Edited]
    tray: list[dict[str, str]]
    view: dict[str, str]


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
    edits : dict of number to Edited
        All that were made; those are written that the tray or the view names.
    tray : list of dict
        With `ref`, `name`, `note` and `of`, the run and tree that the ref is numbered in.
    view : dict of texts
        The view's `address`, the names of `plane` and `colors`, and the `linkage` of the tree; empty where nobody looked yet.
    """

    def __init__(self, folder: Path | None, n_objects: int) -> None:
        self._path = None if folder is None else folder / FILE
        self._lock = threading.Lock()
        self._written: dict[str, str] = {}  # of each part the text that is in the file: most changes are of one
        self.labels, self.edits, self.tray, self.view = Content({}, {}, [], {})
        if self._path is not None and self._path.exists():
            try:
                found = parsed(json.loads(self._path.read_text("utf-8")), n_objects)
            except WRONG:
                raise InputError(
                    f"{self._path} is not what the explorer wrote for {n_objects:,} objects: mend it, or move it away"
                ) from None
            self.labels, self.edits, self.tray, self.view = found

    @property
    def lasts(self) -> bool:
        """Whether what is kept is there at the next start."""
        return self._path is not None

    def forget(self) -> None:
        """Write nothing from now on."""
        self._path = None

    def keep(
        self,
        *,
        labels: Mapping[str, Any] | None = None,
        tray: list[dict[str, str]] | None = None,
        view: dict[str, str] | None = None,
    ) -> None:
        """Take over what changed, and write it down; where the folder cannot be written to, memory has to do."""
        with self._lock:
            if labels is not None:
                self.labels = {name: Saved(one.codes, list(one.classes)) for name, one in labels.items()}
                self._written.pop("labels", None)
            if tray is not None:
                self.tray = tray
            if view is not None:
                self.view = view
            if self._path is None:
                return
            try:
                self._write(self._path, self.text().encode())
            except OSError as error:
                log.warning("labels, tray and notes last until the explorer ends: %s (%s)", error.strerror, self._path)
                self._path = None

    def text(self, **more: Any) -> str:
        """What is kept as JSON, with more in front of it."""
        if "labels" not in self._written:
            self._written["labels"] = _json(_rows(self.labels))
        edits = [one for number, one in self.edits.items() if self._is_named(f"{number}e")]
        for one in edits:
            self._written.setdefault(f"edit {one.number}", _json(one.written()))
        parts = {name: _json(value) for name, value in {"version": VERSION, **more}.items()}
        parts["labels"] = self._written["labels"]
        parts["edits"] = f"[{', '.join(self._written[f'edit {one.number}'] for one in edits)}]"
        parts |= {"tray": _json(self.tray), "view": _json(self.view)}
        return "{" + ", ".join(f"{_json(name)}: {value}" for name, value in parts.items()) + "}"

    def _is_named(self, ref: str) -> bool:
        return any(item["ref"] == ref for item in self.tray) or f"={ref}" in self.view.get("address", "")

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        try:
            write_whole(path, lambda file: file.write(content))
        except FileNotFoundError:  # "more like this" opens the store just now, which clears unfinished files away
            write_whole(path, lambda file: file.write(content))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _rows(labels: Mapping[str, Saved]) -> dict[str, dict[str, list[int]]]:
    return {
        name: {value: np.flatnonzero(one.codes == code).tolist() for code, value in enumerate(one.classes)}
        for name, one in labels.items()
    }


def parsed(content: Any, n_objects: int) -> Content:
    """What a file has kept; one of :data:`WRONG` is raised where it is not a file of so many objects."""
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
    edits = [Edited.parsed(one, n_objects) for one in content["edits"]]
    tray = [{key: item[key] for key in TRAY} for item in content["tray"]]
    view = {key: content["view"][key] for key in VIEW} if content["view"] else {}
    if not all(isinstance(text, str) for item in [*tray, view] for text in item.values()):
        raise ValueError("texts")
    if view and view["linkage"] not in LINKAGES:
        raise ValueError("no such tree")
    return Content(labels, {one.number: one for one in edits}, tray, view)
