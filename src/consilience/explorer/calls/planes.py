"""Objects in another plane: those that there are, and new ones by t-SNE or UMAP, each made by a job."""

from __future__ import annotations

from typing import Any

from consilience.explorer.calls.call import Call
from consilience.explorer.codec import RefusedError, Reply, binary_reply
from consilience.explorer.jobs import Job
from consilience.explorer.planes import make_plane, makeable
from consilience.explorer.validation import checked

METHODS = {"tsne": "t-SNE", "umap": "UMAP"}
KEYS = {"method": (checked(f"one of {', '.join(METHODS)}", lambda value: value in list(METHODS)), ...)}


def answer(call: Call) -> Reply:
    """One of the planes."""
    planes = list(call.session.planes.items())
    if int(call.parts[0]) >= len(planes):
        raise RefusedError(404, f"there is no plane {call.parts[0]}: there are {len(planes)}")
    name, plane = planes[int(call.parts[0])]
    return binary_reply({"name": name, "kind": plane.kind, "note": plane.note}, {"xy": plane.xy})


def start(call: Call, method: str) -> Job:
    """Start a job that makes a plane; one that is there is not made again."""
    session = call.session
    there = makeable(session.data, call.snapshot.n_objects)
    if method not in there:
        raise RefusedError(400, "a plane is made of the data, and there is none here: open it with --data")
    if there[method]:
        raise RefusedError(400, there[method])
    data, name = session.data, METHODS[method]

    def work(job: Job) -> dict[str, Any]:
        def step() -> None:
            job.step()
            job.done += 1

        if name not in session.planes and data is not None:
            made = make_plane(data, method, step)
            session.planes = {**session.planes, name: made}  # at once for all who ask from now on
        job.done = job.total
        return {"plane": list(session.planes).index(name)}

    return call.jobs.start("plane", 3, work)
