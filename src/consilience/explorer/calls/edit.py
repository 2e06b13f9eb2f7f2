"""One edit by hand of a clustering that is shown: what comes out is a clustering of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience._check import InputError
from consilience.explorer.calls.call import Call
from consilience.explorer.calls.detail import title
from consilience.explorer.codec import RefusedError, Reply, json_reply
from consilience.explorer.edits import DOINGS, NAME, Edited, clean, distinct_names, in_words, seen_in
from consilience.explorer.rows import picked_rows
from consilience.explorer.session import Session
from consilience.explorer.snapshot import DisplayedClustering, Snapshot
from consilience.explorer.validation import check_keys, checked, json_object, ref_text, text

CLUSTERS, STEPS = 1000, 1000  # clusters that are merged at once; edits of one clustering
GIVEN = 10_000  # letters of a name that a cluster came with
_names = checked(
    f"a list of at most {CLUSTERS:,} names of clusters",
    lambda value: isinstance(value, list) and len(value) <= CLUSTERS and all(isinstance(one, str) for one in value),
)
KEYS = {
    "ref": (ref_text, ...),
    "do": (checked(f"one of {', '.join(DOINGS)}", lambda value: value in DOINGS), ...),
    "cluster": (text(GIVEN), ""),
    "clusters": (_names, ()),
    "name": (text(NAME), ""),
    "rows": (picked_rows, np.empty(0, np.int64)),
    "by": (ref_text, ""),
    "origin": (text(NAME), ""),
}


def answer(call: Call) -> Reply:
    """Do it; the ref of what comes out, and all edits that led there in words."""
    asked = check_keys(json_object(call.body), KEYS)
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
    return json_reply({"edited": told(after), "clusters": after.names, "revision": snapshot.revision})


def edited(call: Call, before: Edited, asked: dict[str, Any]) -> Edited:
    """What comes out of one edit."""
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
    """A clustering before its first edit."""
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
    """An edited clustering as clients see it."""
    return {"ref": f"{one.number}e", "origin": one.origin, "edits": [in_words(step) for step in one.steps]}
