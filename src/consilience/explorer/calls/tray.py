"""The tray and the view, kept with the run: clusterings that people chose, with their names and notes, and what they look at."""

from __future__ import annotations

from typing import Any

from consilience.explorer.calls.call import Call
from consilience.explorer.codec import Reply, json_reply
from consilience.explorer.kept import TRAY, VIEW
from consilience.explorer.validation import NAME, check_keys, json_object, ref_text, text

ADDRESS = 20_000  # letters of a view
MOST, NOTE, ORIGIN = 200, 2000, 80  # entries; letters of a note, and of the run and tree of a ref


def _tray(value: Any) -> list[dict[str, str]]:
    if not isinstance(value, list) or len(value) > MOST:
        raise ValueError(f"a list of at most {MOST} clusterings")
    checks = {"ref": ref_text, "name": text(NAME), "note": text(NOTE), "of": text(ORIGIN)}
    if not all(isinstance(item, dict) and set(item) == set(TRAY) for item in value):
        raise ValueError(f"a list of objects with {', '.join(TRAY)}")
    return [{key: check(item[key]) for key, check in checks.items()} for item in value]


def _view(value: Any) -> dict[str, str]:
    names = VIEW[:-1]
    if not isinstance(value, dict) or set(value) != set(names):
        raise ValueError(f"an object with {', '.join(names)}")
    return {name: text(ADDRESS)(value[name]) for name in names}


def save(call: Call) -> Reply:
    """Keep the tray, and the view, as they are now."""
    asked = check_keys(json_object(call.body), {"tray": (_tray, ...), "view": (_view, None)})
    view = asked["view"] and {**asked["view"], "linkage": call.session.linkage}
    call.session.kept.keep(tray=asked["tray"], view=view)
    return json_reply({"lasts": call.session.kept.lasts})
