"""The calls that draw the first page: the session in words, and everything that the tree, scores, maps and tiles need."""

from __future__ import annotations

import zlib
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.explorer.codec import RefusedError, Reply, binary_reply, json_reply
from consilience.explorer.jobs import Jobs
from consilience.explorer.more_like import refine_note
from consilience.explorer.scores import score_summary
from consilience.explorer.session import Session
from consilience.explorer.snapshot import Edition, Shown
from consilience.measures import accuracy

LIMITS = {"refs": 64, "refine": 1000, "rows": 500, "items": 64}
FEATURES = 200  # names of columns in the session's summary
NONE = 255  # confidence of an object that has none


def session_reply(session: Session, edition: Edition, jobs: Jobs) -> Reply:
    """What is shown, in words and numbers."""
    meta, origin, note = edition.meta, session.origin, refine_note(session, edition)
    estimated = None if meta.n_pairs is None else {"pairs": meta.n_pairs, "error": meta.standard_error}
    job = jobs.running()
    return json_reply(
        {
            "version": 1,
            "package": version("consilience"),
            "revision": edition.revision,
            "run": origin.run,
            "tree": session.tree,
            "name": origin.name,
            "source": origin.source,
            "n_objects": edition.n_objects,
            "n_clusterings": edition.n_clusterings,
            "n_features": len(session.features),
            "features": session.features[:FEATURES],
            "known": list(session.known),
            "names": meta.ensemble.names if "name" in meta.ensemble.info else None,
            "linkage": meta.linkage,
            "measure": meta.measure,
            "estimated": estimated,
            "embedding": {"kind": session.plane.kind, "note": session.plane.note},
            "scores": score_summary(edition.scores),
            "cut": {"groups": edition.n_groups, "candidates": edition.candidates, "note": edition.note},
            "limits": LIMITS,
            "can": {
                "refine": not note,
                "null": bool(session.known) or session.data is not None,
                "features": bool(session.features),
                "agreement": session.agreement is not None,
            },
            "refine_note": note,
            "refused": list(origin.refused),
            "job": None if job is None else job.summary(),
        }
    )


def boot_reply(session: Session, edition: Edition) -> Reply:
    """The arrays that everything is drawn from, and the labels of the first cut's representatives."""
    found = [edition.shown(edition.top(node, "m")) for node in edition.groups]
    header = {
        "revision": edition.revision,
        "representatives": [
            {
                "ref": str(one.ref),
                "node": one.ref.node,
                "leaf": one.leaf,
                "clusters": one.clusters,
                "confidence_mean": None,
            }
            for one in found
        ],
    }
    arrays = {
        "xy": session.plane.xy,
        "merges": edition.meta.tree[:, :2].astype(np.int32),
        "heights": edition.meta.tree[:, 2].astype(np.float32),
        "order": edition.newest.order.astype(np.int32),
        "scores": np.ascontiguousarray(edition.scores.to_numpy(np.float32).T),
        "clusters": edition.meta.ensemble.n_clusters.astype(np.uint16),
        "labels": np.stack([one.labels for one in found]),
    }
    return binary_reply(header, arrays)


def labels_reply(session: Session, edition: Edition, refs: str) -> Reply:
    """The labels of some clusterings, and of those that are a consensus how sure each object is."""
    texts = refs.split(",")
    if len(texts) > LIMITS["refs"]:
        raise RefusedError(400, f"ask for at most {LIMITS['refs']} clusterings at a time")
    found = [edition.shown(edition.ref(text)) for text in texts]
    arrays: dict[str, NDArray[Any]] = {"labels": np.stack([one.labels for one in found])}
    if any(one.confidence is not None for one in found):
        arrays["confidence"] = np.stack([_bytes(one) for one in found])
    header = {"revision": edition.revision, "items": [_item(session, one) for one in found]}
    tag = f'W/"{session.origin.run}-{edition.tag}-{edition.revision}-{zlib.crc32(refs.encode()):08x}"'
    return binary_reply(header, arrays, {"ETag": tag, "Cache-Control": "private, no-cache"})


def _item(session: Session, one: Shown) -> dict[str, Any]:
    own = {} if one.leaf is not None else session.known  # a clustering's scores are in the boot
    return {
        "ref": str(one.ref),
        "node": one.ref.node,
        "leaf": one.leaf,
        "clusters": one.clusters,
        "size": one.size,
        "confidence": one.confidence is not None,
        "scores": {f"accuracy:{name}": accuracy(known.codes, one.codes) for name, known in own.items()},
    }


def _bytes(one: Shown) -> NDArray[np.uint8]:
    """Confidence in steps of 1/254."""
    if one.confidence is None:
        return np.full(len(one.labels), NONE, np.uint8)
    return np.where(one.codes >= 0, np.round(254 * one.confidence), NONE).astype(np.uint8)


def map_reply(edition: Edition, kind: str) -> Reply:
    """The clusterings in the plane, with how much it distorts; made at the first asking."""

    def make() -> Reply:
        made = edition.meta.map(kind, progress=False)
        low, extent = made.xy.min(axis=0), np.ptp(made.xy, axis=0).max() or 1.0
        xy = (
            made.xy - low + (extent - np.ptp(made.xy, axis=0)) / 2
        ) / extent  # one scale for both axes: distances count
        header = {
            "revision": edition.revision,
            "kind": kind,
            "stress": made.stress,
            "kept": made.neighbors_kept,
            "n_neighbors": made.n_neighbors,
            "note": made.note,
        }
        return binary_reply(header, {"xy": xy.astype(np.float32)})

    return edition.cache.get(("map", kind), make)
