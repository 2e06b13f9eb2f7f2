"""The tree by another linkage: grown again from the same distances, for all who look."""

from __future__ import annotations

from consilience.explorer.calls.call import Call
from consilience.explorer.codec import RefusedError, Reply, json_reply
from consilience.explorer.jobs import BUSY
from consilience.explorer.validation import check_keys, checked, json_object
from consilience.meta.tree import LINKAGES

KEYS = {"linkage": (checked(f"one of {', '.join(LINKAGES)}", lambda value: value in LINKAGES), ...)}


def answer(call: Call) -> Reply:
    """Grow the tree by a linkage; those that were shown before are kept."""
    asked = check_keys(json_object(call.body), KEYS)
    if call.jobs.running() is not None:
        raise RefusedError(409, BUSY)
    snapshot = call.session.relink(asked["linkage"])
    return json_reply({"revision": snapshot.revision, "linkage": snapshot.meta.linkage})
