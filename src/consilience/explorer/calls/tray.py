"""The tray and the view, kept with the run: clusterings that people chose, with their names and notes, and what they look at."""

from __future__ import annotations

from consilience.explorer.annotations import checked_tray, checked_view
from consilience.explorer.calls.call import Call
from consilience.explorer.codec import RefusedError, Reply, json_reply
from consilience.explorer.validation import check_keys, json_object, text

KEYS = {"tray": (checked_tray, None), "view": (checked_view, None), "edition": (text(40), None)}


def save(call: Call) -> Reply:
    """Keep the tray, the view, or both, as they are now; a tray that others have changed since is theirs first."""
    asked, kept = check_keys(json_object(call.body), KEYS), call.session.kept
    view = asked["view"] and {**asked["view"], "linkage": call.session.linkage}
    if not kept.keep(tray=asked["tray"], view=view, edition=asked["edition"]):
        raise RefusedError(409, "the tray was changed elsewhere meanwhile: look at the session, and put yours to it")
    return json_reply({"lasts": kept.lasts, "edition": kept.edition, "note": kept.note})
