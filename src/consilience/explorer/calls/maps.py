"""The clusterings in the plane, with how much it distorts."""

from __future__ import annotations

import numpy as np

from consilience.explorer.calls.call import Call, kept
from consilience.explorer.codec import Reply, binary_reply


@kept
def answer(call: Call) -> Reply:
    """The map of a kind; made at the first asking."""
    made = call.snapshot.meta.map(call.parts[0], progress=False)
    low, extent = made.xy.min(axis=0), np.ptp(made.xy, axis=0).max() or 1.0
    xy = (made.xy - low + (extent - np.ptp(made.xy, axis=0)) / 2) / extent  # one scale: distances count
    header = {
        "revision": call.snapshot.revision,
        "kind": call.parts[0],
        "stress": made.stress,
        "kept": made.neighbors_kept,
        "n_neighbors": made.n_neighbors,
        "note": made.note,
    }
    return binary_reply(header, {"xy": xy.astype(np.float32)})
