"""The stable components of a branch: objects that none of its clusterings separates; and its floaters."""

from __future__ import annotations

import numpy as np

from consilience.explorer.calls.call import Call, kept
from consilience.explorer.calls.detail import floater_rows
from consilience.explorer.codec import Reply, json_reply
from consilience.reports.agreement import components_of

COMPONENTS, NAMED = 100, 20  # that are listed, and objects of each that are named


@kept
def answer(call: Call) -> Reply:
    """The components, the largest first."""
    snapshot = call.snapshot
    ref = snapshot.ref(call.parts[0])._replace(kind="c")
    members = snapshot.members(ref)
    ensemble = snapshot.meta.ensemble[:, members]
    found, told = ensemble.signatures(), components_of(ensemble)
    labeled = (found.labels >= 0).any(axis=1)
    order = np.flatnonzero(labeled)[np.argsort(-found.counts[labeled], kind="stable")]
    listed = [
        {
            "size": found.counts[component],
            "ids": [call.session.name_of(i) for i in np.flatnonzero(found.inverse == component)[:NAMED]],
        }
        for component in order[:COMPONENTS]
    ]
    return json_reply(
        {
            "revision": snapshot.revision,
            "ref": str(ref),
            "node": ref.node,
            "n_members": len(members),
            "n_components": told["number"],
            "share_in_groups": told["share_in_groups"],
            "largest": told["largest"],
            "components": listed,
            "floaters": floater_rows(call.session, snapshot.displayed(ref)),
        }
    )
