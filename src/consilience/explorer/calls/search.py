"""Objects found by a text: an id, words, labels, a comparison of numbers."""

from __future__ import annotations

import numpy as np

from consilience.explorer.calls.call import Call
from consilience.explorer.codec import Reply, binary_reply
from consilience.explorer.search import search, unknown_column
from consilience.explorer.validation import SEARCH, query_of
from consilience.explorer.validation import text as text_of

FIRST = 20  # objects that are named
KEYS = {"text": (text_of(SEARCH), "")}


def answer(call: Call) -> Reply:
    """The numbers of all that were found, and the names of the first."""
    text = query_of(call.query, KEYS)["text"]
    mask, where = search(call.session, text, call.step)
    rows = np.flatnonzero(mask)
    header = {
        "revision": call.snapshot.revision,
        "total": len(rows),
        "where": where,
        "hint": "" if len(rows) else unknown_column(call.session, text),
        "first": [{"index": i, "id": call.session.name_of(i)} for i in rows[:FIRST]],
    }
    return binary_reply(header, {"rows": rows.astype(np.uint32)})
