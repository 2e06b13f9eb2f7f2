"""The labels of some clusterings, the support of every object in a consensus, and the arrays of the first page."""

import zlib
from typing import Any

import numpy as np

from consilience._types import Array
from consilience.explorer.calls.call import Call
from consilience.explorer.replies import RefusedError, Reply, binary_reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import DisplayedClustering
from consilience.measures import accuracy
from consilience.measures.explained_variance import LISTED

MOST_REFS = 64  # safeguard: clusterings in one answer
NAMED = 100  # safeguard: clusters whose names come with the labels; more are asked for when they are shown
NONE = 255  # safeguard: the byte of an object that has no support


def shown_labels(call: Call) -> Reply:
    """Labels as they are drawn: a row per clustering."""
    texts = call.parts[0].split(",")
    if len(texts) > MOST_REFS:
        raise RefusedError(400, f"ask for at most {MOST_REFS} clusterings at a time")
    found = [call.snapshot.displayed(call.snapshot.ref(text), call.step) for text in texts]
    arrays = {"labels": np.stack(alike([one.encoded for one in found]))}
    if any(one.leaf is None for one in found):
        arrays["support"] = np.stack([_steps(one) for one in found])
    header = {"revision": call.snapshot.revision, "items": [describe(call.session, one) for one in found]}
    place = f"{call.session.origin.run}-{call.snapshot.tag}-{call.snapshot.revision}"
    tag = f'W/"{place}-{zlib.crc32(call.parts[0].encode()):08x}"'
    return binary_reply(header, arrays, {"ETag": tag, "Cache-Control": "private, no-cache"})


def describe(session: Session, one: DisplayedClustering) -> dict[str, Any]:
    own = session.known if one.leaf is None else {}  # a clustering's scores are in the boot
    return {
        "ref": str(one.ref),
        "node": one.ref.node,
        "leaf": one.leaf,
        "clusters": one.clusters,
        "size": one.size,
        "names": one.names if one.clusters <= NAMED else None,
        "goes_by": session.following.followed(one.codes, LISTED) if session.features and not session.known else [],
        "scores": {f"accuracy:{name}": accuracy(known.codes, one.codes) for name, known in own.items()},
    }


def alike(columns: list[Array]) -> list[Array]:
    """Labels of one type, as they are sent: one edited by hand may have more clusters than all others, or fewer."""
    wide = np.result_type(*columns)
    return [
        one if one.dtype == wide else np.where(one == np.iinfo(one.dtype).max, np.iinfo(wide).max, one).astype(wide)
        for one in columns
    ]


def _steps(one: DisplayedClustering) -> Array:
    """Support in steps of 1/254, of which only floaters have half or fewer: the page draws these hollow."""
    if one.support is None:
        return np.full(len(one.codes), NONE, np.uint8)
    steps = np.maximum(np.round(254 * one.support), 128)
    steps[one.floaters] = np.round(254 * one.support[one.floaters])
    return np.where(one.codes >= 0, steps, NONE).astype(np.uint8)


# The arrays that the first page is drawn from, and the labels of the first cut's medoids.


def boot(call: Call) -> Reply:
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
