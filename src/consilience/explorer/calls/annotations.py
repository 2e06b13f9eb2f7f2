"""What people made of a run, as a file that one can send, and such a file of somebody else."""

from __future__ import annotations

from typing import Any

from consilience.explorer.calls.call import Call
from consilience.explorer.codec import JSON, Reply, json_reply
from consilience.explorer.session_file import read_session, session_text
from consilience.explorer.validation import json_object

ROOM = 2**25  # bytes of a file


def look(call: Call) -> Reply:
    """The file."""
    headers = {"Content-Disposition": 'attachment; filename="consilience_session.json"', "Cache-Control": "no-store"}
    return Reply(200, JSON, session_text(call.session).encode(), headers)


def take(call: Call) -> Reply:
    """Take over a file: its labels and edited clusterings come to those that are here, its tray and view take their place."""
    content: dict[str, Any] = json_object(call.body)
    with call.jobs.held():
        read_session(call.session, content)
    kept = call.session.kept
    return json_reply({"tray": kept.tray, "view": kept.view, "revision": call.session.snapshot.revision})
