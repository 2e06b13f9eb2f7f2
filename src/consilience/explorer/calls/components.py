"""The stable components of a branch: objects that none of its clusterings separates; and its floaters."""

from __future__ import annotations

import math

import numpy as np

from consilience._types import Ints
from consilience.explorer.calls.call import Call, kept
from consilience.explorer.calls.detail import floater_rows
from consilience.explorer.codec import Reply, json_reply
from consilience.explorer.snapshot import Ref, Snapshot
from consilience.meta.tree import distances_from
from consilience.reports.agreement import components_of

SHARE = 0.95  # of a branch's clusterings, where no two objects stay together in all
COMPONENTS, NAMED = 100, 20  # that are listed, and objects of each that are named
ROWS = 5000  # objects of a component that can be picked at once


def most_central(snapshot: Snapshot, ref: Ref, members: Ints) -> Ints | None:
    """The 95 % of a branch's clusterings nearest to its medoid; None where that leaves out none."""
    n_kept = math.ceil(SHARE * len(members))
    if n_kept == len(members):
        return None
    far = distances_from(snapshot.meta.distances, snapshot.medoid(ref), members)
    return np.sort(members[np.argsort(far, kind="stable")[:n_kept]])


@kept
def answer(call: Call) -> Reply:
    """The components, the largest first."""
    snapshot = call.snapshot
    ref = snapshot.branch(call.parts[0])._replace(kind="c")
    members = snapshot.members(ref)
    ensemble = snapshot.meta.ensemble[:, members]
    told, among = components_of(ensemble), len(members)
    if told["largest"] < 2 and (central := most_central(snapshot, ref, members)) is not None:
        ensemble = snapshot.meta.ensemble[:, central]
        told, among = components_of(ensemble), len(central)
    found = ensemble.signatures()
    labeled = (found.labels >= 0).any(axis=1)
    order = np.flatnonzero(labeled)[np.argsort(-found.counts[labeled], kind="stable")]
    objects = [np.flatnonzero(found.inverse == component) for component in order[:COMPONENTS]]
    listed = [
        {
            "size": len(rows),
            "ids": [call.session.name_of(i) for i in rows[:NAMED]],
            "rows": rows if 1 < len(rows) <= ROWS else None,
        }
        for rows in objects
    ]
    return json_reply(
        {
            "revision": snapshot.revision,
            "ref": str(ref),
            "node": ref.node,
            "n_members": len(members),
            "among": among,  # of them, the most central ones, where no two objects stay together in all
            "n_components": told["number"],
            "share_in_groups": told["share_in_groups"],
            "largest": told["largest"],
            "components": listed,
            "floaters": floater_rows(call.session, snapshot.displayed(ref)),
        }
    )
