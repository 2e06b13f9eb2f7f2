"""The session in words and numbers: what is shown, how its tree is cut and by which linkage, and what can be done with it."""

from importlib.metadata import version
from importlib.util import find_spec

from consilience.explorer.calls.call import Call
from consilience.explorer.calls.compare import SLOW_SCALES
from consilience.explorer.calls.edit import told
from consilience.explorer.calls.labels import MOST_REFS
from consilience.explorer.calls.maps import SLOW_MAP
from consilience.explorer.calls.more_like import unavailable
from consilience.explorer.calls.stable import QUICK
from consilience.explorer.checks import COUNT, ITEMS, ROWS, one_of
from consilience.explorer.jobs import BUSY
from consilience.explorer.planes import makeable
from consilience.explorer.replies import RefusedError, Reply, json_reply
from consilience.explorer.scores import score_summary
from consilience.meta.tree import LINKAGES

FEATURES, CANDIDATES = 200, 6  # safeguard: length of lists that are displayed: names of columns, numbers of groups


def session_summary(call: Call) -> Reply:
    session, snapshot = call.session, call.snapshot
    meta, origin, note = snapshot.meta, session.origin, unavailable(session, snapshot)
    job = call.jobs.running()
    varied = bool(meta.ensemble.n_clusters.min() < meta.ensemble.n_clusters.max())
    return json_reply(
        {
            "version": 2,
            "package": version("consilience"),
            "revision": snapshot.revision,
            "run": origin.run,
            "tree": session.tree,
            "name": origin.name,
            "source": origin.source,
            "n_objects": snapshot.n_objects,
            "n_clusterings": snapshot.n_clusterings,
            "n_features": len(session.features),
            "features": session.features[:FEATURES],
            "known": list(session.known),
            "saved": list(session.saved),
            "tray": session.kept.tray,  # as it was left
            "view": session.kept.view or None,
            "edits": [told(one) for one in list(session.edited.values())],
            "lasts": session.kept.lasts,
            "tray_edition": session.kept.edition,
            "kept_note": session.kept.note,
            "counts": session.compared.is_counts,
            "names": meta.ensemble.names if "name" in meta.ensemble.info else None,
            "linkage": meta.linkage,
            "linkages": LINKAGES,
            "added": [one.first for one in session.added],  # where what can be taken away begins
            "measure": meta.measure,
            "estimated": None if meta.n_pairs is None else {"pairs": meta.n_pairs, "error": meta.standard_error},
            "embedding": {"kind": session.plane.kind, "note": session.plane.note},
            "planes": [
                {"name": name, "kind": plane.kind, "note": plane.note} for name, plane in session.planes.items()
            ],
            "look": None if session.look is None else session.look.summary(),
            "makeable": makeable(session.data, snapshot.n_objects),
            "scores": score_summary(snapshot.scores),
            "cut": {
                "groups": meta.n_groups,
                "nodes": meta.nodes,  # of groups 1, 2, …
                "candidates": meta.jumps["n_groups"][:CANDIDATES].tolist(),
                "note": meta.note,
            },
            "limits": {
                "quick_map": SLOW_MAP,
                "quick_scales": SLOW_SCALES,
                "refs": MOST_REFS,
                "more_like": COUNT,
                "rows": ROWS,
                "items": ITEMS,
            },
            "can": {
                "h5ad": find_spec("anndata") is not None,
                "more_like": not note,
                "null": bool(session.known) or session.data is not None,
                "stable": session.data is not None and varied,
                "features": bool(session.features),
                "agreement": session.source.agreement is not None,
            },
            "stable": session.stable,
            "seeks_stable": session.seeks_stable and varied and snapshot.n_objects <= QUICK,
            "more_like_note": note,
            "refused": list(origin.refused),
            "job": None if job is None else job.summary(),
        }
    )


# The tree by another linkage: grown again from the same distances, for all who look.

LINKAGE_KEYS = {"linkage": (one_of(LINKAGES), ...)}


def set_linkage(call: Call) -> Reply:
    """Grow the tree by a linkage; those that were shown before are kept."""
    asked = call.json(LINKAGE_KEYS)
    if call.jobs.running() is not None:
        raise RefusedError(409, BUSY)
    snapshot = call.session.relink(asked["linkage"])
    return json_reply({"revision": snapshot.revision, "linkage": snapshot.meta.linkage})
