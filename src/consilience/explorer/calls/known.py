"""Labels that are known of the objects, to color by, and those that people save here under a name of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience.explorer.calls.call import Call
from consilience.explorer.codec import RefusedError, Reply, binary_reply, json_reply
from consilience.explorer.rows import picked_rows
from consilience.explorer.session import Known
from consilience.explorer.validation import NAME, check_keys, json_object, text

MOST, CLASSES = 64, 255  # labels of one session, and classes of each that is saved


def _word(value: Any) -> str:
    word: str = text(NAME)(value).strip()
    if not word:
        raise ValueError("a text that is not empty")
    return word


KEYS = {"name": (_word, ...), "value": (_word, "picked"), "rows": (picked_rows, ...)}


def look(call: Call) -> Reply:
    """The codes of one of them: the largest value of the type is missing."""
    name = _name(call)
    known = call.session.labelings[name]
    kind = np.uint8 if len(known.classes) < 255 else np.uint16
    if len(known.classes) >= np.iinfo(np.uint16).max:
        raise RefusedError(400, f"{name} has {len(known.classes):,} classes: the explorer colors by fewer than 65,535")
    header = {"name": name, "classes": known.classes, "saved": name in call.session.saved}
    return binary_reply(header, {"codes": known.codes.astype(kind)})  # −1 becomes the largest value


def save(call: Call) -> Reply:
    """Give some objects a value of a label that is made here; those of the same name before keep theirs."""
    session, asked = call.session, check_keys(json_object(call.body), KEYS)
    name, value, rows = asked["name"], asked["value"], call.objects(asked["rows"])
    if name in session.known:
        raise RefusedError(400, f"{name!r} are labels that came with the data: save under another name")

    def grown(old: Known | None) -> Known:
        if old is None:
            if len(session.labelings) >= MOST:
                raise RefusedError(400, f"there are {MOST} labels already: drop one first")
            old = Known(np.full(call.snapshot.n_objects, -1, np.int32), [])
        classes = old.classes if value in old.classes else [*old.classes, value]
        if len(classes) >= CLASSES:
            raise RefusedError(400, f"{name!r} has {CLASSES - 1} values already: use one of them, or another name")
        codes = old.codes.copy()
        codes[rows] = classes.index(value)
        return Known(codes, classes)

    session.change_label(name, grown)
    return _told(call)


def drop(call: Call) -> Reply:
    """Let go of a label that was saved here, by its name: the place of one changes when another page drops an earlier one."""
    name = check_keys(json_object(call.body), {"name": KEYS["name"]})["name"]
    if name in call.session.known:
        raise RefusedError(400, f"{name!r} came with the data and stays")

    def gone(old: Known | None) -> None:
        if old is None:
            raise RefusedError(404, f"there is no label {name!r} here: it may have been dropped elsewhere")

    call.session.change_label(name, gone)
    return _told(call)


def _name(call: Call) -> str:
    names = list(call.session.labelings)
    if int(call.parts[0]) >= len(names):
        raise RefusedError(404, f"there is no label {call.parts[0]}: there are {len(names)}")
    return names[int(call.parts[0])]


def _told(call: Call) -> Reply:
    session = call.session
    return json_reply({"known": list(session.known), "saved": list(session.saved)})
