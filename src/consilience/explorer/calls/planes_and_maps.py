"""Planes: of the objects, some made on request by t-SNE or UMAP, and the maps of the clusterings."""

from collections.abc import Callable
from typing import Any

import numpy as np

from consilience.explorer.calls.call import Call
from consilience.explorer.checks import one_of
from consilience.explorer.jobs import Job
from consilience.explorer.planes import make_plane, makeable
from consilience.explorer.replies import RefusedError, Reply, binary_reply
from consilience.explorer.snapshot import Snapshot
from consilience.meta.maps import ALONE, STAGES, make_map

METHODS = {"tsne": "t-SNE", "umap": "UMAP"}
PLANE_KEYS = {"method": (one_of(METHODS), ...)}


def object_plane(call: Call) -> Reply:
    planes = list(call.session.planes.items())
    if call.parts[0] >= len(planes):
        raise RefusedError(404, f"there is no plane {call.parts[0]}: there are {len(planes)}")
    name, plane = planes[call.parts[0]]
    return binary_reply({"name": name, "kind": plane.kind, "note": plane.note}, {"xy": plane.xy})


def start_plane(call: Call, method: str) -> Job:
    """Start a job that makes a plane; one that is there is not made again."""
    session = call.session
    there = makeable(session.data, call.snapshot.n_objects)
    if method not in there:
        raise RefusedError(400, "a plane is made of the data, and there is none here: open it with --data")
    if there[method]:
        raise RefusedError(400, there[method])
    data, name = session.data, METHODS[method]

    def work(job: Job) -> dict[str, Any]:
        if name not in session.planes and data is not None:
            made = make_plane(data, method, job.advance)
            session.planes = {**session.planes, name: made}  # at once for all who ask from now on
        job.done = job.total
        return {"plane": list(session.planes).index(name)}

    return call.jobs.start("plane", 3, work)


# The clusterings in the plane, with how much it distorts; a map that takes long is made by a job.

SLOW_MAP = ALONE  # clusterings from which the neighbor map is made in stages


def clustering_map(call: Call) -> Reply:
    if call.parts[0] not in ("mds", "neighbors"):
        raise RefusedError(404, "the kind of a map is mds or neighbors")
    return _map(call.snapshot, call.parts[0])


def start_map(call: Call) -> Job:
    """Start a job that makes the neighbor map, which can be followed and canceled; then it is there for those who ask."""
    _check(call.snapshot)

    def work(job: Job) -> dict[str, Any]:
        _map(call.snapshot, "neighbors", job.advance)
        job.done = job.total
        return {"map": "neighbors"}

    return call.jobs.start("map", STAGES + 1, work)


def _check(snapshot: Snapshot) -> None:
    if snapshot.n_clusterings < 2:
        raise RefusedError(400, "a map takes at least two clusterings")


def _map(snapshot: Snapshot, kind: str, step: Callable[[], None] = lambda: None) -> Reply:
    def make() -> Reply:
        made = make_map(snapshot.meta.distances, kind, progress=False, step=step)
        low, extent = made.xy.min(axis=0), np.ptp(made.xy, axis=0).max() or 1.0
        xy = (made.xy - low + (extent - np.ptp(made.xy, axis=0)) / 2) / extent  # one scale: distances count
        told = {"stress": made.stress, "kept": made.neighbors_kept, "n_neighbors": made.n_neighbors, "note": made.note}
        return binary_reply({"revision": snapshot.revision, "kind": kind, **told}, {"xy": xy.astype(np.float32)})

    _check(snapshot)
    return snapshot.cache.get(("map", kind), make)
