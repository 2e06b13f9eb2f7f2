"""What is stable: sets of objects that no clustering of a branch separates, floaters, and an agreement's iterations."""

import math
from typing import Any

import numpy as np

from consilience._types import Floats, Ints
from consilience.agreement import stable_groups
from consilience.agreement.stable_groups import column_information
from consilience.explorer.calls.call import Call, kept
from consilience.explorer.calls.detail import floater_rows
from consilience.explorer.replies import RefusedError, Reply
from consilience.explorer.snapshot import Ref, Snapshot
from consilience.meta.tree import distances_from
from consilience.reports.agreement import components_of

SHARE = 0.95  # of a branch's clusterings, where no two objects stay together in all
COMPONENTS, NAMED = 100, 20  # safeguard: sets that are listed, and objects of each that are named
ROWS = 5000  # safeguard: objects of a set that can be picked at once, as many as a list may have


def most_central(snapshot: Snapshot, ref: Ref, members: Ints) -> Ints | None:
    """The 95 % of a branch's clusterings nearest to its medoid; None where that leaves out none."""
    n_kept = math.ceil(SHARE * len(members))
    if n_kept == len(members):
        return None
    far = distances_from(snapshot.meta.distances, snapshot.medoid(ref), members)
    return np.sort(members[np.argsort(far, kind="stable")[:n_kept]])


@kept
def components(call: Call) -> Reply:
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
    name = call.session.name_of
    return call.reply(
        ref=str(ref),
        node=ref.node,
        n_members=len(members),
        among=among,  # of them, the most central ones, where no two objects stay together in all
        n_components=told["number"],
        share_in_groups=told["share_in_groups"],
        largest=told["largest"],
        components=[
            {"size": len(rows), "ids": [name(i) for i in rows[:NAMED]], "rows": rows if 1 < len(rows) <= ROWS else None}
            for rows in objects
        ],
        floaters=floater_rows(call.session, snapshot.displayed(ref)),
    )


# The agreement view: how stable both sides were before the process and after every iteration, and what became stable.

GROUPS, MEMBERS = 20, 20  # safeguard: length of lists that are displayed


@kept
def agreement(call: Call) -> Reply:
    """The whole process in one answer; it does not change, but the revision does."""
    found = call.session.source.agreement
    if found is None:
        raise RefusedError(404, "this session shows no agreement run")
    table = found.stability_by_iteration({name: known.codes for name, known in call.session.known.items()} or None)
    ends = {"before": found.before, "after": found.after}
    sides = {side: {when: getattr(ends[when], side) for when in ends} for side in ("rows", "columns")}
    telling = _telling(call)
    groups = []
    for side, both in sides.items():
        weights = telling if side == "columns" else None
        for when, ensemble in both.items():
            for row in stable_groups(ensemble, ensemble, weights=weights, top=GROUPS).to_dict("records"):
                members = row["members"][:MEMBERS]
                groups.append({"side": side, "when": when, "size": row["size"], "members": members})
    return call.reply(
        iterations=table.to_dict("records"),
        components={side: {when: components_of(one) for when, one in both.items()} for side, both in sides.items()},
        groups=groups,
        telling=telling is not None,
        empty_rows=len(found.empty_rows),
        empty_columns=len(found.empty_columns),
    )


def _telling(call: Call) -> Floats | None:
    """How much every column tells about the clusters of the rows, as in reports; None without the counts."""
    counts, found = call.session.data, call.session.source.agreement
    if counts is None or found is None or counts.kind == "distances":
        return None
    snapshot = call.snapshot
    shape = snapshot.n_objects, found.after.columns.n_objects
    if counts.values.shape != shape or counts.values.min() < 0:  # another table than the agreement's
        return None
    root: Any = snapshot.displayed(snapshot.ref(f"{snapshot.n_clusterings}.{2 * snapshot.n_clusterings - 2}c"))
    return column_information(counts.values, root.codes)
