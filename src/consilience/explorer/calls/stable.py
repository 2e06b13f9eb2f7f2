"""How many clusters are stable: what ``consilience cluster`` finds in the same data, so that both say the same."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from consilience._check import InputError
from consilience.clusterer import EnsembleClusterer
from consilience.consensus.result import describe_scales
from consilience.explorer.calls.call import Call
from consilience.explorer.codec import RefusedError
from consilience.explorer.jobs import Job
from consilience.explorer.session import Session

KEYS: dict[str, Any] = {}
QUICK = 20_000  # objects up to which it is looked for without being asked
OFTEN = 0.1  # seconds between looks whether to stop


def start(call: Call) -> Job:
    """Start a job that clusters the data as ``consilience cluster`` does, and says at how many clusters it is stable."""
    session = call.session
    if session.data is None:
        raise RefusedError(400, "the stable number of clusters is looked for in the data, and there is none here")
    session.seeks_stable = False

    def work(job: Job) -> dict[str, Any]:
        session.stable = _found(job, session)
        job.done = 1
        return session.stable

    return call.jobs.start("stable", 1, work, gives_way=True)


def _found(job: Job, session: Session) -> dict[str, Any]:
    """The answer; who asks to stop waits for no step of it, and what it comes to then is let go."""
    data = session.data
    done: list[EnsembleClusterer | InputError] = []

    def fit() -> None:
        metric = "precomputed" if data is not None and data.kind == "distances" else "euclidean"
        model = EnsembleClusterer("auto", metric=metric, random_state=0, n_jobs=session.n_jobs)
        try:
            done.append(model.fit(data))
        except InputError as error:
            done.append(error)

    thread = threading.Thread(target=fit, name="stable numbers of clusters", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(OFTEN)
        job.step()
    found = done[0] if done else InputError("it failed for a reason that the explorer's terminal shows")
    if isinstance(found, InputError):
        raise InputError(f"stable numbers of clusters: {found}")
    return summary(found)


def summary(model: EnsembleClusterer) -> dict[str, Any]:
    """The number that ``consilience cluster`` takes, all that are more stable than chance, and both in words."""
    scales = model.scales_
    real = [] if scales is None else scales["n_clusters"].to_numpy()[scales["real"].to_numpy(bool)]
    numbers = [model.n_clusters_, *(int(k) for k in np.asarray(real, int) if k != model.n_clusters_)]
    return {
        "numbers": numbers if len(real) else numbers[:1],
        "real": bool(len(real)),
        "words": describe_scales(model.consensus_),
    }
