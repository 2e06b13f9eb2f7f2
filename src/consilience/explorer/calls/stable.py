"""How many clusters are stable: what ``consilience cluster`` finds in the same data, so that both say the same."""

import threading
from typing import Any

import numpy as np

from consilience._check import InputError
from consilience._run.time_limit import CallError, Child
from consilience.clusterer import EnsembleClusterer
from consilience.consensus.result import describe_scales
from consilience.explorer.calls.call import Call
from consilience.explorer.checks import flag
from consilience.explorer.jobs import Job, StoppedError
from consilience.explorer.replies import RefusedError
from consilience.explorer.session import Session
from consilience.tables import Table

STABLE_KEYS: dict[str, Any] = {"unasked": (flag, False)}
QUICK = 20_000  # safeguard: objects up to which it is looked for without being asked; more take minutes
OFTEN = 0.1  # safeguard: seconds between looks whether to stop
LONGEST = 1e6  # safeguard: seconds; people cancel what takes too long for them


def start_stable(call: Call, unasked: bool) -> Job:
    """Start a job that clusters the data as ``consilience cluster`` does, and says at how many clusters it is stable.

    One that nobody asked for gives way to any other; what was displaced or canceled is still to be looked for.
    """
    session = call.session
    if session.data is None:
        raise RefusedError(400, "the stable number of clusters is looked for in the data, and there is none here")

    def work(job: Job) -> dict[str, Any]:
        try:
            session.stable = _found(job, session)
        except StoppedError:
            raise
        except Exception:
            session.seeks_stable = False  # it would fail again
            raise
        session.seeks_stable = False
        job.done = 1
        return session.stable

    return call.jobs.start("stable", 1, work, gives_way=unasked)


def _found(job: Job, session: Session) -> dict[str, Any]:
    """The answer, from a process of its own, which ends with the job: no kernel could be stopped here."""
    child = Child()
    done: list[Any] = []

    def ask() -> None:
        try:
            done.append(child.call(LONGEST, (find, (session.data, session.n_jobs), {})))
        except CallError as error:
            done.append(error)

    thread = threading.Thread(target=ask, name="stable numbers of clusters", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(OFTEN)
            job.step()
    finally:
        child.kill()
    found = done[0] if done else CallError("its process did not answer")
    if isinstance(found, CallError):
        raise found
    if "refused" in found:
        raise InputError(f"stable numbers of clusters: {found['refused']}")
    return dict(found)


def find(data: Table, n_jobs: int | None) -> dict[str, Any]:
    """The summary of what ``consilience cluster`` finds, or why it refuses."""
    metric = "precomputed" if data.kind == "distances" else "euclidean"
    try:
        return summary(EnsembleClusterer("auto", metric=metric, random_state=0, n_jobs=n_jobs).fit(data))
    except InputError as error:
        return {"refused": str(error)}


def summary(model: EnsembleClusterer) -> dict[str, Any]:
    """The number that ``consilience cluster`` takes, all that are more stable than chance, and both in words.

    Of too few objects to tell there is none, and `real` is None.
    """
    if model.scales_ is None:
        return {"numbers": [], "real": None, "words": ""}
    real = model.scales_["n_clusters"].to_numpy()[model.scales_["real"].to_numpy(bool)]
    others = [int(k) for k in np.asarray(real, int) if k != model.n_clusters_]
    return {
        "numbers": [model.n_clusters_, *others],
        "real": bool(len(real)),
        "words": describe_scales(model.consensus_),
    }
