"""The session in words and numbers: what is shown, how its tree is cut and by which linkage, and what can be done with it."""

import zlib
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from consilience._types import Array
from consilience.explorer.calls.call import Call
from consilience.explorer.calls.compare_and_flow import SLOW_SCALES
from consilience.explorer.calls.edit_and_saved_labels import told
from consilience.explorer.calls.jobs import QUICK
from consilience.explorer.calls.more_like import unavailable
from consilience.explorer.calls.planes_and_maps import SLOW_MAP
from consilience.explorer.checks import COUNT, ITEMS, ROWS, one_of
from consilience.explorer.jobs import BUSY
from consilience.explorer.planes import makeable
from consilience.explorer.replies import RefusedError, Reply, binary_reply, json_reply
from consilience.explorer.scores import score_summary
from consilience.explorer.session import Session
from consilience.explorer.snapshot import DisplayedClustering, alike
from consilience.measures import accuracy
from consilience.measures.explained_variance import LISTED
from consilience.meta.tree import LINKAGES

FEATURES, CANDIDATES = 200, 6  # safeguard: length of lists that are displayed: names of columns, numbers of groups


def session_summary(call: Call) -> Reply:
    session, snapshot = call.session, call.snapshot
    meta, origin, note = snapshot.meta, session.origin, unavailable(session, snapshot)
    job = call.jobs.running()
    varied = bool(meta.ensemble.n_clusters.min() < meta.ensemble.n_clusters.max())
    kept = session.kept
    planes = [{"name": name, "kind": plane.kind, "note": plane.note} for name, plane in session.planes.items()]
    limits = {"quick_map": SLOW_MAP, "quick_scales": SLOW_SCALES, "refs": MOST_REFS}
    limits |= {"more_like": COUNT, "rows": ROWS, "items": ITEMS}
    can = {"h5ad": find_spec("anndata") is not None, "more_like": not note, "features": bool(session.features)}
    can |= {"null": bool(session.known) or session.data is not None, "stable": session.data is not None and varied}
    can["agreement"] = session.source.agreement is not None
    return call.reply(
        run=origin.run,
        tree=session.tree,
        name=origin.name,
        source=origin.source,
        package=version("consilience"),
        n_objects=snapshot.n_objects,
        n_clusterings=snapshot.n_clusterings,
        features=session.features[:FEATURES],
        known=list(session.known),
        saved=list(session.saved),
        tray=kept.tray,  # as it was left
        view=kept.view or None,
        edits=[told(one) for one in list(session.edited.values())],
        lasts=kept.lasts,
        tray_edition=kept.edition,
        kept_note=kept.note,
        counts=session.compared.is_counts,
        names=meta.ensemble.names if "name" in meta.ensemble.info else None,
        linkage=meta.linkage,
        linkages=LINKAGES,
        added=[one.first for one in session.added],  # where what can be taken away begins
        measure=meta.measure,
        embedding={"kind": session.plane.kind, "note": session.plane.note},
        planes=planes,
        look=None if session.look is None else session.look.summary(),
        makeable=makeable(session.data, snapshot.n_objects),
        scores=score_summary(snapshot.scores),
        cut={
            "groups": meta.n_groups,
            "nodes": meta.nodes,  # of groups 1, 2, …
            "candidates": meta.jumps["n_groups"][:CANDIDATES].tolist(),
            "note": meta.note,
        },
        limits=limits,
        can=can,
        stable=session.stable,
        seeks_stable=session.seeks_stable and varied and snapshot.n_objects <= QUICK,
        more_like_note=note,
        refused=list(origin.refused),
        job=None if job is None else job.summary(),
    )


# The tree by another linkage: grown again from the same distances, for all who look.

LINKAGE_KEYS = {"linkage": (one_of(LINKAGES), ...)}


def set_linkage(call: Call) -> Reply:
    linkage, job = call.json(LINKAGE_KEYS)["linkage"], call.jobs.running()
    if job is not None and not job.gives_way:
        raise RefusedError(409, BUSY)
    snapshot = call.session.relink(linkage)
    return json_reply({"revision": snapshot.revision, "linkage": snapshot.meta.linkage})


# The labels of some clusterings, the support of every object in a consensus, and the arrays of the first page.

MOST_REFS = 64  # safeguard: clusterings in one answer
NAMED = 100  # safeguard: clusters whose names come with the labels; more are asked for when they are shown
NONE = 255  # safeguard: the byte of an object that has no support


def shown_labels(call: Call) -> Reply:
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
