"""The tray, kept with the run: clusterings that people chose, with their names and notes."""

from __future__ import annotations

from typing import Any

from consilience.explorer.calls.call import Call
from consilience.explorer.codec import Reply, json_reply
from consilience.explorer.kept import TRAY
from consilience.explorer.validation import NAME, check_keys, json_object, ref_text, text

MOST, NOTE, ORIGIN = 200, 2000, 80  # entries; letters of a note, and of the run and tree of a ref


def _tray(value: Any) -> list[dict[str, str]]:
    if not isinstance(value, list) or len(value) > MOST:
        raise ValueError(f"a list of at most {MOST} clusterings")
    checks = {"ref": ref_text, "name": text(NAME), "note": text(NOTE), "of": text(ORIGIN)}
    if not all(isinstance(item, dict) and set(item) == set(TRAY) for item in value):
        raise ValueError(f"a list of objects with {', '.join(TRAY)}")
    return [{key: check(item[key]) for key, check in checks.items()} for item in value]


def save(call: Call) -> Reply:
    """Keep the tray as it is now."""
    call.session.kept.keep(tray=check_keys(json_object(call.body), {"tray": (_tray, ...)})["tray"])
    return json_reply({"lasts": call.session.kept.lasts})
