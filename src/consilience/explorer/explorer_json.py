"""What people made of a run while they looked at it, kept beside the run: labels they saved, clusterings they edited, their tray with
names and notes, and the view.

The file is `explorer.json` in the folder of the stored run, written whole: a kill leaves the old one or the new one.
"""

import json
import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import numpy as np

from consilience._check import InputError
from consilience._types import Array, Labels
from consilience._whole_files import write_whole
from consilience.explorer.checks import NAME, ref_text, text
from consilience.explorer.edits import Edited
from consilience.meta.tree import LINKAGES

FILE, VERSION = "explorer.json", 2  # safeguard: of the file's format, which other versions refuse
TRAY = ("ref", "name", "note", "of")  # what an entry of the tray is made of, all texts
VIEW = ("address", "plane", "colors", "linkage")  # and what the view is
ADDRESS = 20_000  # safeguard: letters of a view, longer than any page makes
ENTRIES, NOTE, ORIGIN = 200, 2000, 80  # safeguard: size of a tray, letters of a note and of the run and tree of a ref
log = logging.getLogger("consilience.explorer")
# of a file that somebody else wrote
WRONG = (ValueError, TypeError, KeyError, AttributeError, OverflowError, IndexError, RecursionError)


class Known(NamedTuple):
    codes: Labels
    classes: list[str]

    @property
    def labels(self) -> Array:
        """A name for every object, None where it has none."""
        return np.array([*self.classes, None], object)[self.codes]


class Content(NamedTuple):
    labels: dict[str, Known]
    edits: dict[int, Edited]
    tray: list[dict[str, str]]
    view: dict[str, str]


class Kept:
    def __init__(self, folder: Path | None, n_objects: int) -> None:
        self._path = None if folder is None else folder / FILE
        self._lock = threading.RLock()
        self._labels_text = ""  # of the labels as they are now: most changes are of the tray and the view
        self._born, self._changes = token_hex(4), 0
        self.labels, self.edits, self.tray, self.view = Content({}, {}, [], {})
        self.note, self._fails = "", False
        if self._path is not None and self._path.exists():
            try:
                content = parsed(json.loads(self._path.read_text("utf-8")), n_objects)
            except WRONG:
                what = f"{self._path} is not what the explorer wrote for {n_objects:,} objects"
                raise InputError(f"{what}: mend it, or move it away") from None
            self.labels, self.edits, self.tray, self.view = content

    @property
    def lasts(self) -> bool:
        """Whether what is kept is there at the next start."""
        return self._path is not None and not self._fails

    @property
    def edition(self) -> str:
        return f"{self._born}.{self._changes}"

    def keep(
        self,
        *,
        labels: Mapping[str, Known] | None = None,
        tray: list[dict[str, str]] | None = None,
        view: dict[str, str] | None = None,
        edition: str | None = None,
    ) -> bool:
        """Take over what changed, and write it down; False, and nothing, where the tray that was changed is not the last `edition`."""
        with self._lock:
            if tray is not None and tray != self.tray:
                if edition is not None and edition != self.edition:
                    return False
                self.tray, self._changes = tray, self._changes + 1
            if labels is not None:
                self.labels, self._labels_text = dict(labels), ""
            if view is not None:
                self.view = view
            if self._path is not None:
                self._try_to_write(self._path)
        return True

    def _try_to_write(self, path: Path) -> None:
        """Where the folder cannot be written to, memory has to do until the next change."""
        try:
            content = self.text().encode()
            try:
                write_whole(path, lambda file: file.write(content))
            except FileNotFoundError:  # "more like this" opens the store just now, which clears unfinished files away
                write_whole(path, lambda file: file.write(content))
        except OSError as error:
            self.note = f"Labels, tray and notes cannot be written now ({error.strerror}): they are in memory alone."
            if not self._fails:
                log.warning("%s %s is tried again at the next change", self.note, path)
            self._fails = True
        else:
            if self._fails:
                log.warning("%s is written again", path)
                self.note = ""
            self._fails = False

    def text(self, **more: Any) -> str:
        """What is kept as JSON, with more in front of it."""
        with self._lock:
            named = {item["ref"] for item in self.tray} | _refs_in(self.view.get("address", ""))
            edits = [one.written for number, one in list(self.edits.items()) if f"{number}e" in named]
            self._labels_text = self._labels_text or _json(_rows(self.labels))
            parts = {name: _json(value) for name, value in {"version": VERSION, **more}.items()}
            parts |= {"labels": self._labels_text, "edits": f"[{', '.join(edits)}]"}
            parts |= {"tray": _json(self.tray), "view": _json(self.view)}
        return "{" + ", ".join(f"{_json(name)}: {value}" for name, value in parts.items()) + "}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _refs_in(address: str) -> set[str]:
    """What a view names: refs stand alone, or in lists with commas."""
    return {ref for _, value in parse_qsl(address) for ref in value.split(",")}


def _rows(labels: Mapping[str, Known]) -> dict[str, dict[str, list[int]]]:
    return {
        name: {value: np.flatnonzero(one.codes == code).tolist() for code, value in enumerate(one.classes)}
        for name, one in labels.items()
    }


def parsed(content: Any, n_objects: int) -> Content:
    """What a file has kept; one of :data:`WRONG` where it is not what the explorer wrote for so many objects."""
    if content["version"] != VERSION:
        raise ValueError("another version")
    labels, edits, tray, view = (content[part] for part in Content._fields)
    saved = dict(_saved(name, values, n_objects) for name, values in labels.items())
    edited = [Edited.parsed(one, n_objects) for one in edits]
    return Content(saved, {one.number: one for one in edited}, checked_tray(tray), _kept_view(view) if view else {})


def _saved(name: str, values: Any, n_objects: int) -> tuple[str, Known]:
    codes = np.full(n_objects, -1, np.int32)
    for code, rows in enumerate(values.values()):
        at = np.array(rows)
        if at.size and (at.ndim != 1 or at.dtype.kind != "i" or at.min() < 0 or at.max() >= n_objects):
            raise ValueError("objects that are not here")
        codes[at.astype(np.int64)] = code
    return text(NAME)(name), Known(codes, [text(NAME)(value) for value in values])


def checked_entry(item: Any) -> dict[str, str]:
    checks = {"ref": ref_text, "name": text(NAME), "note": text(NOTE), "of": text(ORIGIN)}
    if not isinstance(item, dict) or set(item) != set(TRAY):
        raise ValueError(f"a list of objects with {', '.join(TRAY)}")
    return {key: check(item[key]) for key, check in checks.items()}


def checked_tray(value: Any) -> list[dict[str, str]]:
    if not isinstance(value, list) or len(value) > ENTRIES:
        raise ValueError(f"a list of at most {ENTRIES} clusterings")
    return [checked_entry(item) for item in value]


def checked_view(value: Any) -> dict[str, str]:
    """The view of a call; the linkage is the session's."""
    names = VIEW[:-1]
    if not isinstance(value, dict) or set(value) != set(names):
        raise ValueError(f"an object with {', '.join(names)}")
    return {name: text(ADDRESS)(value[name]) for name in names}


def _kept_view(value: Any) -> dict[str, str]:
    view = dict(value)
    linkage = view.pop("linkage")
    if linkage not in LINKAGES:
        raise ValueError("no such tree")
    return {**checked_view(view), "linkage": linkage}
