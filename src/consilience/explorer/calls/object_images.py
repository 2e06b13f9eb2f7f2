"""What objects look like: pixels or curves of some of them, the average of every cluster, and images from files."""

from __future__ import annotations

import numpy as np

from consilience._types import Floats, Ints
from consilience.explorer.calls.call import Call, kept
from consilience.explorer.codec import RefusedError, Reply, binary_reply
from consilience.explorer.object_images import Look
from consilience.explorer.rows import picked_rows
from consilience.explorer.snapshot import DisplayedClustering
from consilience.explorer.validation import check_keys, json_object

MOST, CLUSTERS, EXAMPLES = 100, 100, 12  # objects of one answer; clusters that are drawn, and objects of each
KEYS = {"rows": (picked_rows, ...)}
BAND = (10, 90)  # percentiles around an average curve


def _look(call: Call) -> Look:
    if call.session.look is None:
        raise RefusedError(404, "objects have no picture here: --images or --curves gives them one")
    return call.session.look


def some(call: Call) -> Reply:
    """Pixels or curves of some objects."""
    look, rows = _look(call), call.objects(check_keys(json_object(call.body), KEYS)["rows"])
    if look.values is None:
        raise RefusedError(404, "these pictures are files: ask for them one by one")
    if len(rows) > MOST:
        raise RefusedError(400, f"ask for at most {MOST} objects at a time")
    return binary_reply(look.summary(), {"rows": rows.astype(np.uint32), "values": look.rows(rows)})


@kept
def averages(call: Call) -> Reply:
    """The average of every cluster, with a band of 80 % of its curves, and its most typical objects."""
    look, one = _look(call), call.clustering()
    k = min(one.clusters, CLUSTERS)
    examples = [typical(call, one, cluster) for cluster in range(k)]
    header = {**look.summary(), "ref": str(one.ref), "examples": examples, "band": BAND}
    if look.values is None:
        return binary_reply(header, {})
    members = [np.flatnonzero(one.codes == cluster) for cluster in range(k)]
    arrays = {"mean": np.stack([_mean(look.values[rows]) for rows in members])}
    if look.kind == "curves":
        bands = [np.nanpercentile(look.values[rows], BAND, axis=0) for rows in members]
        arrays |= {"low": np.stack([band[0] for band in bands]), "high": np.stack([band[1] for band in bands])}
    return binary_reply(header, {name: values.astype(np.float32) for name, values in arrays.items()})


def image(call: Call) -> Reply:
    """The image of an object."""
    look, row = _look(call), int(call.parts[0])
    call.objects(np.array([row]))
    found = look.image(row) if look.kind == "files" else None
    if found is None:
        raise RefusedError(
            404, "this object has no image that can be shown: PNG, JPEG, GIF, WebP or BMP of at most 4 MB"
        )
    return Reply(200, *found, {"Cache-Control": "private, max-age=3600"})


def typical(call: Call, one: DisplayedClustering, cluster: int) -> Ints:
    """Objects of a cluster: those of the largest support, or nearest to its mean where there is no support."""
    rows = np.flatnonzero(one.codes == cluster)
    if one.support is not None:
        away: Floats = -one.support[rows]
    elif call.session.look is not None and call.session.look.values is not None:
        values = np.nan_to_num(call.session.look.values[rows])
        away = np.square(values - values.mean(axis=0)).sum(axis=1)
    else:
        return rows[:EXAMPLES]
    return rows[np.argsort(away, kind="stable")[:EXAMPLES]]


def _mean(values: Floats) -> Floats:
    return np.asarray(np.nanmean(values, axis=0))
