"""The clusterings in the plane, with how much it distorts; a map that takes long is made by a job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from consilience.explorer.calls.call import Call
from consilience.explorer.codec import RefusedError, Reply, binary_reply
from consilience.explorer.jobs import Job
from consilience.explorer.snapshot import Snapshot
from consilience.meta.maps import ALONE, STAGES, make_map

KEYS: dict[str, Any] = {}
SLOW = ALONE  # clusterings from which the neighbor map is made in stages


def answer(call: Call) -> Reply:
    """The map of a kind; made at the first asking."""
    return _made(call.snapshot, call.parts[0])


def start(call: Call) -> Job:
    """Start a job that makes the neighbor map, which can be followed and canceled; then it is there for those who ask."""
    _check(call.snapshot)

    def work(job: Job) -> dict[str, Any]:
        def step() -> None:
            job.step()
            job.done += 1

        _made(call.snapshot, "neighbors", step)
        job.done = job.total
        return {"map": "neighbors"}

    return call.jobs.start("map", STAGES + 1, work)


def _made(snapshot: Snapshot, kind: str, step: Callable[[], None] = lambda: None) -> Reply:
    return snapshot.cache.get(("map", kind), lambda: _reply(snapshot, kind, step))


def _check(snapshot: Snapshot) -> None:
    if snapshot.n_clusterings < 2:
        raise RefusedError(400, "a map takes at least two clusterings")


def _reply(snapshot: Snapshot, kind: str, step: Callable[[], None]) -> Reply:
    _check(snapshot)
    made = make_map(snapshot.meta.distances, kind, progress=False, step=step)
    low, extent = made.xy.min(axis=0), np.ptp(made.xy, axis=0).max() or 1.0
    xy = (made.xy - low + (extent - np.ptp(made.xy, axis=0)) / 2) / extent  # one scale: distances count
    header = {
        "revision": snapshot.revision,
        "kind": kind,
        "stress": made.stress,
        "kept": made.neighbors_kept,
        "n_neighbors": made.n_neighbors,
        "note": made.note,
    }
    return binary_reply(header, {"xy": xy.astype(np.float32)})
