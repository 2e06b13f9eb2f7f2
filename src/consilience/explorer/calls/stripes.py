"""All clusterings of a branch × objects, in the colors of its consensus: what the stripe picture is drawn from."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience.explorer.calls.call import Call
from consilience.explorer.codec import RefusedError, Reply, binary_reply
from consilience.explorer.label_stripes import align, modes, object_order, spread
from consilience.explorer.snapshot import Ref
from consilience.explorer.validation import checked, query_of, whole

BY = ("tree", "agreement")
SLOTS = 4000  # clusters of the consensus and of one clustering
NAMES = 20_000  # names of clusters in one answer
KEYS: dict[str, Any] = {
    "rows": (whole(1, 2000), 400),
    "columns": (whole(1, 4000), 800),
    "by": (checked(f"one of {', '.join(BY)}", lambda value: value in BY), "tree"),
}


def answer(call: Call) -> Reply:
    """The cells, and what is needed to say what is in them; kept for those who ask again."""
    asked = query_of(call.query, KEYS)
    ref = call.snapshot.ref(call.parts[0])._replace(kind="c")
    if not ref.m or ref.node < ref.m:
        raise RefusedError(400, "stripes are of a branch of at least two clusterings")
    key = ("stripes", *ref, *asked.values())
    return call.snapshot.cache.get(key, lambda: _made(call, ref, **asked))


def _made(call: Call, ref: Ref, rows: int, columns: int, by: str) -> Reply:
    snapshot, ensemble = call.snapshot, call.snapshot.meta.ensemble
    consensus = snapshot.displayed(ref, call.step)
    members = snapshot.tree(ref.m).leaves(ref.node)
    if consensus.clusters + int(ensemble.n_clusters[members].max()) > SLOTS:
        raise RefusedError(400, f"these clusterings have more clusters than the {SLOTS:,} that stripes have room for")
    aligned = align(snapshot, members, consensus.codes, call.step)
    if by == "agreement":
        aligned = aligned.take(np.argsort(-np.nan_to_num(aligned.agreement, nan=-1), kind="stable"))
        members = aligned.members
    order = object_order(snapshot, ref, consensus)
    high, wide = spread(len(members), rows), spread(snapshot.n_objects, columns)
    found, shares = modes(snapshot, aligned, order, high, wide, call.step)
    own = np.full((len(members), aligned.n_slots), 2**16 - 1, np.uint16)
    for row, slots in enumerate(aligned.slots):
        own[row, slots] = np.arange(len(slots))
    named = [ensemble.label_names[leaf] for leaf in members]
    many = sum(0 if names is None else len(names) for names in named) > NAMES
    header = {
        "revision": snapshot.revision,
        "ref": str(ref),
        "by": by,
        "clusters": consensus.clusters,
        "sizes": np.bincount(consensus.codes[consensus.codes >= 0], minlength=consensus.clusters),
        "names": None if many else [None if names is None else [str(one) for one in names] for names in named],
    }
    arrays = {
        "slots": found,
        "shares": shares,
        "order": order.astype(np.uint32),  # objects from left to right
        "rows": high.astype(np.uint32),
        "columns": wide.astype(np.uint32),
        "members": members.astype(np.uint32),  # clusterings from top to bottom
        "own": own,  # of every clustering, the cluster that is drawn as each slot
        "agreement": aligned.agreement.astype(np.float32),
        "kept": aligned.kept.astype(np.float32),
    }
    return binary_reply(header, arrays)
