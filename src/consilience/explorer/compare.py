"""Two clusterings side by side, and what no clustering of a branch separates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from consilience.explorer.codec import RefusedError, Reply, json_reply
from consilience.explorer.detail import floaters
from consilience.explorer.session import Session
from consilience.explorer.snapshot import Edition, Ref
from consilience.measures import (
    adjusted_rand,
    cluster_difference,
    jaccard,
    nmi,
    variation_of_information,
)

MEASURES = (cluster_difference, nmi, adjusted_rand, jaccard, variation_of_information)
CELLS = 1_000_000
MOVED, COMPONENTS, NAMED = 200, 100, 20


def compare_reply(session: Session, edition: Edition, a: Ref, b: Ref) -> Reply:
    """The table of two clusterings, which clusters match, and the objects that lie elsewhere."""
    return edition.cache.get(("compare", str(a), str(b)), lambda: _compare(session, edition, a, b))


def _compare(session: Session, edition: Edition, a: Ref, b: Ref) -> Reply:
    one, other = edition.shown(a), edition.shown(b)
    shape = one.clusters, other.clusters
    if shape[0] * shape[1] > CELLS:
        raise RefusedError(400, f"{shape[0]:,} clusters beside {shape[1]:,} are too many for a table")
    there, here = one.codes >= 0, other.codes >= 0
    both = there & here
    places = one.codes[both].astype(np.int64) * shape[1] + other.codes[both]
    table = np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape)
    matched = [(i, j) for i, j in zip(*linear_sum_assignment(table, maximize=True), strict=True) if table[i, j]]
    partner = np.full(shape[0] + 1, -2)
    for i, j in matched:
        partner[i] = j
    moved = np.flatnonzero(both & (partner[one.codes] != other.codes))
    return json_reply(
        {
            "revision": edition.revision,
            "a": str(a),
            "b": str(b),
            "clusters": shape,
            "table": table,
            "only_a": int(np.count_nonzero(there & ~here)),
            "only_b": int(np.count_nonzero(here & ~there)),
            "matched": matched,
            "n_moved": len(moved),
            "moved": [
                {"index": i, "id": session.name_of(i), "from": one.codes[i], "to": other.codes[i]}
                for i in moved[:MOVED]
            ],
            "measures": {f.__name__: f(one.codes, other.codes) if both.any() else None for f in MEASURES},
        }
    )


def components_reply(session: Session, edition: Edition, ref: Ref) -> Reply:
    """The stable components of a branch: objects that none of its clusterings separates; and its floaters."""
    return edition.cache.get(("components", ref.m, ref.node), lambda: _components(session, edition, ref))


def _components(session: Session, edition: Edition, ref: Ref) -> Reply:
    members = edition.members(ref)
    found = edition.meta.ensemble[:, members].signatures()
    labeled = (found.labels >= 0).any(axis=1)
    order = np.flatnonzero(labeled)[np.argsort(-found.counts[labeled], kind="stable")]
    sizes = found.counts[order]
    one = edition.shown(ref._replace(kind="c"))
    return json_reply(
        {
            "revision": edition.revision,
            "ref": str(ref._replace(kind="c")),
            "node": ref.node,
            "n_members": len(members),
            "n_components": len(order),
            "share_in_groups": float(sizes[sizes > 1].sum() / max(sizes.sum(), 1)),
            "largest": int(sizes[0]) if len(sizes) else 0,
            "components": [
                {"size": size, "ids": _names(session, found.inverse, component)}
                for component, size in zip(order[:COMPONENTS], sizes, strict=False)
            ],
            "floaters": [{name: row[name] for name in ("index", "id", "confidence")} for row in floaters(session, one)],
        }
    )


def _names(session: Session, inverse: Any, component: int) -> list[Any]:
    return [session.name_of(i) for i in np.flatnonzero(inverse == component)[:NAMED]]
