"""Two clusterings side by side: their table, which clusters match, and the objects that lie elsewhere."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from consilience import _kernels
from consilience.explorer.calls.call import Call, kept
from consilience.explorer.codec import RefusedError, Reply, json_reply
from consilience.measures import adjusted_rand, cluster_difference, jaccard, nmi, variation_of_information

MEASURES = (cluster_difference, nmi, adjusted_rand, jaccard, variation_of_information)
CELLS = 1_000_000
MOVED = 200  # objects that are listed


@kept
def answer(call: Call) -> Reply:
    """The comparison; refused where the table would be too large."""
    one, other = call.clustering(0), call.clustering(1)
    shape = one.clusters, other.clusters
    if shape[0] * shape[1] > CELLS:
        raise RefusedError(400, f"{shape[0]:,} clusters beside {shape[1]:,} are too many for a table")
    there, here = one.codes >= 0, other.codes >= 0
    both = there & here
    table = _kernels.contingency(one.codes, other.codes, shape)
    matched = [(i, j) for i, j in zip(*linear_sum_assignment(table, maximize=True), strict=True) if table[i, j]]
    partner = np.full(shape[0] + 1, -2)
    for i, j in matched:
        partner[i] = j
    moved = np.flatnonzero(both & (partner[one.codes] != other.codes))
    return json_reply(
        {
            "revision": call.snapshot.revision,
            "a": str(one.ref),
            "b": str(other.ref),
            "clusters": shape,
            "names": (one.names, other.names),
            "table": table,
            "only_a": int(np.count_nonzero(there & ~here)),
            "only_b": int(np.count_nonzero(here & ~there)),
            "matched": matched,
            "n_moved": len(moved),
            "moved": [
                {"index": i, "id": call.session.name_of(i), "from": one.codes[i], "to": other.codes[i]}
                for i in moved[:MOVED]
            ],
            "measures": {f.__name__: f(one.codes, other.codes) if both.any() else None for f in MEASURES},
        }
    )
