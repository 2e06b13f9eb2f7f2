"""What people made of a run: the tray and the view, kept with it, and all of it as a file that one can send."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from consilience._check import InputError, show
from consilience._names import unique_names
from consilience.explorer.calls.call import Call
from consilience.explorer.checks import json_object, text
from consilience.explorer.edits import EDITS
from consilience.explorer.explorer_json import ENTRIES, WRONG, Content, Known, checked_tray, checked_view, parsed
from consilience.explorer.replies import JSON, RefusedError, Reply, file_reply, json_reply
from consilience.explorer.session import Session

WHAT = "consilience explorer session"


def session_text(session: Session) -> str:
    n_objects, n_clusterings = session.snapshot.n_objects, session.snapshot.n_clusterings
    told = {"name": session.origin.name, "n_objects": n_objects, "n_clusterings": n_clusterings}
    return session.kept.text(what=WHAT, run=session.origin.run, **told)


def open_session(session: Session, path: str | Path) -> None:
    try:
        content = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not a session that the explorer saved") from None
    read_session(session, content)


def read_session(session: Session, content: Any) -> None:
    """Take over what a file holds; refused where it is of another run."""
    if not isinstance(content, dict) or content.get("what") != WHAT:
        raise InputError("this is not a session that the explorer saved (Save session)")
    if content.get("run") != session.origin.run:
        name, n = content.get("name"), content.get("n_objects")
        what = f"this session is of another run ({show(name)}, {n} objects) than the one that is open"
        raise InputError(f"{what}: open it with its own run")
    for name, most in (("labels", ENTRIES), ("edits", EDITS)):  # before anything is made of them
        if isinstance(content.get(name), (dict, list)) and len(content[name]) > most:
            raise InputError(f"this session has {len(content[name]):,} {name}, and the explorer keeps at most {most}")
    try:
        saved = parsed(content, session.snapshot.n_objects)
    except WRONG:
        what = "this session is damaged, or of another version of consilience"
        raise InputError(f"{what}: have it saved and sent again") from None
    _take(session, saved)


def _take(session: Session, found: Content) -> None:
    session.relink(found.view.get("linkage", session.linkage))
    view = dict(found.view)
    for one in found.edits.values():
        session.take_edited(one)
    labels: dict[str, Known] = {}
    for name, saved in found.labels.items():
        same = session.saved.get(name)
        if same is not None and same.classes == saved.classes and np.array_equal(same.codes, saved.codes):
            continue
        (free,) = unique_names([name], taken=[*session.labelings, *labels])  # what is here already stays
        labels[free] = saved
        if view.get("colors") == name:
            view["colors"] = free
    if len(session.saved) + len(labels) > ENTRIES:
        raise InputError(f"with these there would be more than {ENTRIES} labels: drop some first")
    session.take_over(labels, found.tray, view)


SESSION_ROOM = 2**25  # safeguard: bytes of a file


def saved_session(call: Call) -> Reply:
    return file_reply("consilience_session.json", JSON, session_text(call.session).encode())


def take_session(call: Call) -> Reply:
    """Take over a file: its labels and edited clusterings come to those that are here, its tray and view take their place."""
    content: dict[str, Any] = json_object(call.body)
    with call.jobs.held():
        read_session(call.session, content)
    kept = call.session.kept
    return json_reply({"tray": kept.tray, "view": kept.view, "revision": call.session.snapshot.revision})


# The tray and the view, kept with the run: clusterings that people chose, with their names and notes, and what they look at.

TRAY_KEYS = {"tray": (checked_tray, None), "view": (checked_view, None), "edition": (text(40), None)}


def save_tray(call: Call) -> Reply:
    """Keep the tray, the view, or both, as they are now; a tray that others have changed since is theirs first."""
    asked, kept = call.json(TRAY_KEYS), call.session.kept
    view = asked["view"] and {**asked["view"], "linkage": call.session.linkage}
    if not kept.keep(tray=asked["tray"], view=view, edition=asked["edition"]):
        raise RefusedError(409, "the tray was changed elsewhere meanwhile: look at the session, and put yours to it")
    return json_reply({"lasts": kept.lasts, "edition": kept.edition, "note": kept.note})
