"""The arrays that the first page is drawn from, and the labels of the first cut's medoids."""

from __future__ import annotations

import numpy as np

from consilience.explorer.calls.call import Call
from consilience.explorer.calls.labels import describe
from consilience.explorer.codec import Reply, binary_reply


def answer(call: Call) -> Reply:
    """Plane, tree, scores and labels."""
    snapshot, meta = call.snapshot, call.snapshot.meta
    found = [snapshot.displayed(snapshot.top(node, "m")) for node in meta.nodes]
    header = {"revision": snapshot.revision, "items": [describe(call.session, one) for one in found]}
    arrays = {
        "xy": call.session.plane.xy,
        "merges": meta.tree[:, :2].astype(np.int32),
        "heights": meta.tree[:, 2].astype(np.float32),
        "order": snapshot.newest.order.astype(np.int32),
        "scores": np.ascontiguousarray(snapshot.scores.to_numpy(np.float32).T),
        "clusters": meta.ensemble.n_clusters.astype(np.uint16),
        "labels": np.stack([one.encoded for one in found]),
    }
    return binary_reply(header, arrays)
