"""These objects against those, or against all others: the columns on which they differ, and what is known of both."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience._types import Array, Ints
from consilience.explorer.calls.call import Call
from consilience.explorer.codec import RefusedError, Reply, json_reply
from consilience.explorer.rows import picked_rows
from consilience.explorer.session import Known
from consilience.explorer.validation import check_keys, json_object
from consilience.measures.cluster_features import marks

TOP, CLASSES = 20, 12
KEYS = {"rows": (picked_rows, ...), "against": (picked_rows, None)}


def answer(call: Call) -> Reply:
    """Effect sizes, spreads and known labels of both sides."""
    session, asked = call.session, check_keys(json_object(call.body), KEYS)
    rows = call.objects(asked["rows"])
    codes = np.full(call.snapshot.n_objects, 1, np.int32)
    if asked["against"] is not None:
        those = call.objects(asked["against"])
        if len(both := np.intersect1d(rows, those)):
            raise RefusedError(
                400, f"object {session.name_of(both[0])} is on both sides: pick objects for each that differ"
            )
        codes[:] = -1
        codes[those] = 1
    codes[rows] = 0
    if not (codes == 1).any():
        raise RefusedError(400, "these are all objects, and there are no others to compare them with: pick fewer")
    features = marks(session, codes, 1, TOP, call.step)[0] if session.features else None
    known = []
    for name, labels in session.labelings.items():
        call.step()
        known.append(known_shares(name, labels, codes == 0, codes == 1))
    return json_reply(
        {
            "revision": call.snapshot.revision,
            "sizes": [int((codes == 0).sum()), int((codes == 1).sum())],
            "features": features,
            "known": known,
        }
    )


def known_shares(name: str, known: Known, inside: Array, outside: Array) -> dict[str, Any]:
    """Shares of the classes on both sides, those that differ most first."""
    shares = [_shares(known.codes[side], len(known.classes)) for side in (inside, outside)]
    order: Ints = np.argsort(-np.abs(shares[0] - shares[1]), kind="stable")[:CLASSES]
    rows = [{"class": known.classes[i], "inside": shares[0][i], "outside": shares[1][i]} for i in order]
    return {"name": name, "classes": rows, "n_classes": len(known.classes)}


def _shares(codes: Array, k: int) -> Array:
    found = np.bincount(codes[codes >= 0], minlength=k)
    return found / max(1, found.sum())
