"""The stable components of a branch: objects that none of its clusterings separates; and its floaters."""

from __future__ import annotations

import numpy as np

from consilience.explorer.calls.call import Call, kept
from consilience.explorer.calls.detail import floater_rows
from consilience.explorer.codec import Reply, json_reply

COMPONENTS, NAMED = 100, 20  # that are listed, and objects of each that are named


@kept
def answer(call: Call) -> Reply:
    """The components, the largest first."""
    snapshot = call.snapshot
    ref = snapshot.ref(call.parts[0])._replace(kind="c")
    members = snapshot.members(ref)
    found = snapshot.meta.ensemble[:, members].signatures()
    labeled = (found.labels >= 0).any(axis=1)
    order = np.flatnonzero(labeled)[np.argsort(-found.counts[labeled], kind="stable")]
    sizes = found.counts[order]
    listed = [
        {
            "size": size,
            "ids": [call.session.name_of(i) for i in np.flatnonzero(found.inverse == component)[:NAMED]],
        }
        for component, size in zip(order[:COMPONENTS], sizes, strict=False)
    ]
    return json_reply(
        {
            "revision": snapshot.revision,
            "ref": str(ref),
            "node": ref.node,
            "n_members": len(members),
            "n_components": len(order),
            "share_in_groups": float(sizes[sizes > 1].sum() / max(sizes.sum(), 1)),
            "largest": int(sizes[0]) if len(sizes) else 0,
            "components": listed,
            "floaters": floater_rows(call.session, snapshot.displayed(ref)),
        }
    )
