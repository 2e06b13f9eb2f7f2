"""The panel of picked objects: how the clusterings treat them, and on which columns they differ from others."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from consilience._types import Array, Floats, Ints
from consilience.explorer.calls.call import Call
from consilience.explorer.checks import picked_rows, ref_text
from consilience.explorer.explorer_json import Known
from consilience.explorer.replies import RefusedError, Reply, binary_reply
from consilience.explorer.snapshot import Snapshot
from consilience.measures.spreads_and_top_words import marks

LISTED, BINS = 20, 20  # safeguard: length of lists that are displayed
TREAT_KEYS = {"rows": (picked_rows, ...), "ref": (ref_text, None)}


class Treatment(NamedTuple):
    """What clusterings do to some objects, a value for each clustering or object."""

    share: Floats  # of the pairs of these objects that are in one cluster; NaN where fewer than two have a label
    parts: Ints  # clusters that they are in
    likeness: Floats  # largest Jaccard index of a cluster with these objects: 1 where one cluster is just they
    company: Floats  # how often, on average, each object is with them (itself left out); NaN where never known


def treatment(snapshot: Snapshot, members: Ints, rows: Ints, step: Callable[[], None] = lambda: None) -> Treatment:
    """In one pass over the labels; cost O(members × objects). `step` is called for each clustering, and may raise to give up."""
    n = snapshot.n_objects
    share, likeness = np.full(len(members), np.nan), np.zeros(len(members))
    parts = np.zeros(len(members), np.int64)
    company, seen = np.zeros(n), np.zeros(n)
    own, own_seen = np.zeros(len(rows)), np.zeros(len(rows))  # of these objects with each other
    for at, leaf in enumerate(members):
        step()
        labels = snapshot.encoded[leaf]
        missing = int(np.iinfo(labels.dtype).max)
        mine = labels[rows]
        sizes = np.bincount(labels, minlength=missing + 1).astype(float)
        inside = np.bincount(mine, minlength=missing + 1).astype(float)
        has_gaps, sizes[missing], inside[missing] = sizes[missing] > 0, 0, 0
        known = inside.sum()
        if known < 1:
            continue
        parts[at] = np.count_nonzero(inside)
        likeness[at] = np.max(inside / np.maximum(sizes + len(rows) - inside, 1))
        company += (inside / known)[labels]
        seen += labels != missing if has_gaps else 1
        if known >= 2:
            share[at] = inside @ (inside - 1) / (known * (known - 1))
            own += np.where(mine == missing, 0, (inside[mine] - 1) / (known - 1))
            own_seen += mine != missing
    company[rows], seen[rows] = own, own_seen  # not with themselves
    with np.errstate(invalid="ignore", divide="ignore"):
        return Treatment(share, parts, likeness, company / seen)


def treat(call: Call) -> Reply:
    snapshot, asked = call.snapshot, call.json(TREAT_KEYS)
    rows = call.objects(asked["rows"])
    ref = None if asked["ref"] is None else snapshot.ref(asked["ref"])
    members = np.arange(snapshot.n_clusterings) if ref is None else snapshot.members(ref)
    found = treatment(snapshot, members, rows, call.step)
    known = np.isfinite(found.share)
    share = np.where(known, found.share, -1)
    order = np.lexsort((-found.likeness, -share))
    both = order[known[order]]
    alike = np.lexsort((-share, -found.likeness))
    outside = np.setdiff1d(np.arange(snapshot.n_objects), rows)
    header = {
        "revision": snapshot.revision,
        "ref": asked["ref"],
        "n_rows": len(rows),
        "n_known": known.sum(),
        "n_together": np.count_nonzero(share == 1),
        "n_apart": np.count_nonzero(share == 0),
        "mean": found.share[known].mean() if known.any() else None,
        "histogram": np.histogram(found.share[known], BINS, (0, 1))[0],
        "together": _listed(snapshot, members, found, both[:LISTED]),
        "parting": _listed(snapshot, members, found, both[::-1][:LISTED]),
        "alike": _listed(snapshot, members, found, alike[found.likeness[alike] > 0][:LISTED]),
        "company": _objects(call, found.company, outside, -1),
        "loosest": _objects(call, found.company, rows, 1) if len(rows) > 1 else [],
    }
    whole = np.full(snapshot.n_clusterings, np.nan, np.float32)
    whole[members] = found.share
    return binary_reply(header, {"share": whole})


def _listed(snapshot: Snapshot, members: Ints, found: Treatment, places: Ints) -> list[dict[str, Any]]:
    ensemble = snapshot.meta.ensemble
    return [
        {"leaf": leaf, "name": ensemble.names[leaf], "clusters": ensemble.n_clusters[leaf]}
        | {"share": found.share[i], "parts": found.parts[i], "likeness": found.likeness[i]}
        for i, leaf in zip(places, members[places], strict=True)
    ]


def _objects(call: Call, company: Floats, rows: Ints, sign: int) -> list[dict[str, Any]]:
    known = rows[np.isfinite(company[rows])]
    order = known[np.argsort(sign * company[known], kind="stable")][:LISTED]
    return [{"index": i, "id": call.session.name_of(i), "share": company[i]} for i in order]


# These objects against those, or against all others: the columns on which they differ, and what is known of both.

TOP, CLASSES = 20, 12  # safeguard: length of lists that are displayed
CONTRAST_KEYS = {"rows": (picked_rows, ...), "against": (picked_rows, None)}


def contrast(call: Call) -> Reply:
    session, asked = call.session, call.json(CONTRAST_KEYS)
    rows = call.objects(asked["rows"])
    codes = np.full(call.snapshot.n_objects, 1, np.int32)
    if asked["against"] is not None:
        those = call.objects(asked["against"])
        if len(both := np.intersect1d(rows, those)):
            name = session.name_of(both[0])
            raise RefusedError(400, f"object {name} is on both sides: pick objects for each that differ")
        codes[:] = -1
        codes[those] = 1
    codes[rows] = 0
    if not (codes == 1).any():
        raise RefusedError(400, "these are all objects, and there are no others to compare them with: pick fewer")
    features = marks(session.compared, codes, 1, TOP, call.step)[0] if session.features else None
    known = []
    for name, labels in session.labelings.items():
        call.step()
        known.append(known_shares(name, labels, codes == 0, codes == 1))
    return call.reply(sizes=[(codes == 0).sum(), (codes == 1).sum()], features=features, known=known)


def known_shares(name: str, known: Known, inside: Array, outside: Array) -> dict[str, Any]:
    """Shares of the classes on both sides, those that differ most first."""
    codes = [known.codes[side & (known.codes >= 0)] for side in (inside, outside)]
    shares = [np.bincount(one, minlength=len(known.classes)) / max(1, len(one)) for one in codes]
    order: Ints = np.argsort(-np.abs(shares[0] - shares[1]), kind="stable")[:CLASSES]
    rows = [{"class": known.classes[i], "inside": shares[0][i], "outside": shares[1][i]} for i in order]
    return {"name": name, "classes": rows, "n_classes": len(known.classes)}
