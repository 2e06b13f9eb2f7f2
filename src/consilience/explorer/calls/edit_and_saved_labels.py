"""What people change by hand: clusterings, of which each edit makes another one, and labels that they save."""

from typing import Any

import numpy as np

from consilience._check import InputError
from consilience.explorer.calls.call import Call
from consilience.explorer.calls.detail import title
from consilience.explorer.checks import list_of, one_of, picked_rows, ref_text, text
from consilience.explorer.edits import DOINGS, NAME, Edited, clean, distinct_names, in_words, seen_in
from consilience.explorer.explorer_json import Known
from consilience.explorer.replies import RefusedError, Reply, binary_reply, json_reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import DisplayedClustering, Snapshot, encoded_codes

CLUSTERS, STEPS = 1000, 1000  # safeguard: clusters that are merged at once; edits of one clustering
GIVEN = 10_000  # safeguard: letters of a name that a cluster came with
EDIT_KEYS = {
    "ref": (ref_text, ...),
    "do": (one_of(DOINGS), ...),
    "cluster": (text(GIVEN), ""),
    "clusters": (list_of(CLUSTERS, "names of clusters", lambda name: isinstance(name, str)), ()),
    "name": (text(NAME), ""),
    "rows": (picked_rows, np.empty(0, np.int64)),
    "by": (ref_text, ""),
    "origin": (text(NAME), ""),
}


def edit(call: Call) -> Reply:
    asked = call.json(EDIT_KEYS)
    snapshot = call.snapshot
    one = snapshot.displayed(snapshot.ref(asked["ref"]), call.step)
    before = one.edited or started(call.session, snapshot, one, asked["origin"])
    if one.edited is None and one.names is not None:  # pages name clusters as they came
        came = dict(zip(one.names, before.names, strict=True))
        asked["cluster"] = came.get(asked["cluster"], asked["cluster"])
        asked["clusters"] = [came.get(name, name) for name in asked["clusters"]]
    if len(before.steps) >= STEPS:
        raise RefusedError(400, f"this clustering was edited {STEPS:,} times: export it, and go on with the file")
    after = edited(call, before, asked)
    call.session.take_edited(after)
    return call.reply(edited=told(after), clusters=after.names)


def edited(call: Call, before: Edited, asked: dict[str, Any]) -> Edited:
    if asked["do"] == "rename":
        return before.rename(asked["cluster"], asked["name"])
    if asked["do"] == "merge":
        return before.merge(asked["clusters"], asked["name"])
    if asked["do"] == "move":
        return before.move(call.objects(asked["rows"]), asked["name"])
    by = call.snapshot.displayed(call.snapshot.ref(asked["by"] or asked["ref"]), call.step)
    if by.edited is not None:
        raise InputError("split as a clustering does that was not edited by hand")
    return before.split(asked["cluster"], base_of(by), call.session.linkage, by.codes, names_of(by))


def started(session: Session, snapshot: Snapshot, one: DisplayedClustering, origin: str) -> Edited:
    called = clean(origin) or clean(title(snapshot, one))
    codes = one.codes.astype(np.int32)
    return Edited(codes, names_of(one), base_of(one), session.linkage, called, seen_in(codes))


def names_of(one: DisplayedClustering) -> list[str]:
    """What its clusters are called: their names as they can be kept, or their numbers."""
    return [str(c) for c in range(one.clusters)] if one.names is None else distinct_names(one.names)


def base_of(one: DisplayedClustering) -> str:
    """A clustering by its number, which no other tree changes; a consensus by its ref."""
    return str(one.ref) if one.leaf is None else f"{one.leaf}m"


def told(one: Edited) -> dict[str, Any]:
    return {"ref": f"{one.number}e", "origin": one.origin, "edits": [in_words(step) for step in one.steps]}


# Labels that are known of the objects, to color by, and those that people save here under a name of their own.

LABELS, CLASSES = 64, 255  # safeguard: labels of one session; classes of each, which fit into a byte


def _word(value: Any) -> str:
    word: str = text(NAME)(value).strip()
    if not word:
        raise ValueError("a text that is not empty")
    return word


LABEL_KEYS = {"name": (_word, ...), "value": (_word, "picked"), "rows": (picked_rows, ...)}


def known_label(call: Call) -> Reply:
    """The codes of one of them: the largest value of the type is missing."""
    labelings, at = call.session.labelings, call.parts[0]
    if at >= len(labelings):
        raise RefusedError(404, f"there is no label {at}: there are {len(labelings)}")
    name, known = list(labelings.items())[at]
    if len(known.classes) >= np.iinfo(np.uint16).max:
        raise RefusedError(400, f"{name} has {len(known.classes):,} classes: the explorer colors by fewer than 65,535")
    header = {"name": name, "classes": known.classes, "saved": name in call.session.saved}
    return binary_reply(header, {"codes": encoded_codes(known.codes)})


def save_label(call: Call) -> Reply:
    """Give some objects a value of a label that is made here; those of the same name before keep theirs."""
    session, asked = call.session, call.json(LABEL_KEYS)
    name, value, rows = asked["name"], asked["value"], call.objects(asked["rows"])
    if name in session.known:
        raise RefusedError(400, f"{name!r} are labels that came with the data: save under another name")

    def grown(old: Known | None) -> Known:
        if old is None:
            if len(session.labelings) >= LABELS:
                raise RefusedError(400, f"there are {LABELS} labels already: drop one first")
            old = Known(np.full(call.snapshot.n_objects, -1, np.int32), [])
        classes = old.classes if value in old.classes else [*old.classes, value]
        if len(classes) >= CLASSES:
            raise RefusedError(400, f"{name!r} has {CLASSES - 1} values already: use one of them, or another name")
        codes = old.codes.copy()
        codes[rows] = classes.index(value)
        return Known(codes, classes)

    session.change_label(name, grown)
    return _told_labels(call)


def drop_label(call: Call) -> Reply:
    """Let go of a label that was saved here, by its name: the place of one changes when another page drops an earlier one."""
    name = call.json({"name": (_word, ...)})["name"]
    if name in call.session.known:
        raise RefusedError(400, f"{name!r} came with the data and stays")

    def gone(old: Known | None) -> None:
        if old is None:
            raise RefusedError(404, f"there is no label {name!r} here: it may have been dropped elsewhere")

    call.session.change_label(name, gone)
    return _told_labels(call)


def _told_labels(call: Call) -> Reply:
    session = call.session
    return json_reply({"known": list(session.known), "saved": list(session.saved)})
