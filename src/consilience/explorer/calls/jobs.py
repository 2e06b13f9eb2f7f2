"""Long work: started, looked at, stopped; and the null band of the scores. A new kind goes into its file and the table."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from consilience._check import InputError
from consilience._run.time_limit import CallError, Child
from consilience.clusterer import EnsembleClusterer
from consilience.consensus.result import describe_scales
from consilience.explorer.calls.call import Call
from consilience.explorer.calls.compare_and_flow import SCALES_KEYS, start_scales
from consilience.explorer.calls.more_like import MORE_KEYS, start_more_like
from consilience.explorer.calls.planes_and_maps import PLANE_KEYS, start_map, start_plane
from consilience.explorer.calls.report import REPORT_KEYS, start_report
from consilience.explorer.checks import SCORE, Keys, check_keys, flag, json_object, text, whole
from consilience.explorer.jobs import Job, StoppedError
from consilience.explorer.replies import RefusedError, Reply, json_reply
from consilience.explorer.scores import measured
from consilience.explorer.session import Session
from consilience.measures import accuracy, compactness
from consilience.tables import Table


def start_job(call: Call) -> Reply:
    content = json_object(call.body)
    kind = content.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise RefusedError(400, f"the kind of a job is {' or '.join(KINDS)}")
    start, keys = KINDS[kind]
    return _told_job(call, start(call, **check_keys(content, keys)), 202)


def job_state(call: Call) -> Reply:
    return _told_job(call, call.jobs.get(call.parts[0]))


def stop_job(call: Call) -> Reply:
    job = call.jobs.get(call.parts[0])
    job.ask_to_stop()
    return _told_job(call, job)


def _told_job(call: Call, job: Job, status: int = 200) -> Reply:
    summary = job.summary()  # before the revision: a job that is done has its revision out
    return json_reply({**summary, "revision": call.session.snapshot.revision}, status)


# The null band of the scores: is the best group's consensus better than the best of shuffled groups?

NULL_KEYS = {"groups": (whole(2, 100), ...), "score": (text(SCORE), ...), "shuffles": (whole(1, 100), 20)}


def start_null(call: Call, groups: int, score: str, shuffles: int) -> Job:
    if groups > call.snapshot.n_clusterings:
        raise RefusedError(400, f"{groups} groups cannot be made of {call.snapshot.n_clusterings} clusterings")
    sign, measure = _score(call.session, score)

    def work(job: Job) -> dict[str, Any]:
        calls = 0

        def counted(labels: Any) -> float:
            nonlocal calls
            job.step()
            calls += 1
            job.done = calls // groups
            return sign * measure(labels)

        found = call.snapshot.meta.cut(groups).null({score: counted}, n_shuffles=shuffles, progress=False)
        row = found.table.loc[score]
        told = {"best": sign * row["best"], "null_mean": sign * row["null_mean"], "null_sd": row["null_sd"]}
        told |= {"shuffled": sign * found.shuffled[score].to_numpy(), "values": sign * found.groups[score].to_numpy()}
        return {"score": score, "groups": groups, "p_value": row["p_value"], **told}

    return call.jobs.start("null", shuffles + 1, work)


def _score(session: Session, score: str) -> tuple[int, Callable[[Any], float]]:
    """A function of labels, and −1 if less of it is better."""
    name = score.removeprefix("accuracy:")
    if score.startswith("accuracy:") and name in session.known:
        codes = session.known[name].codes
        return 1, lambda labels: accuracy(codes, labels)
    if score == "compactness" and session.data is not None:
        rows, values, metric = measured(session.data)
        return -1, lambda labels: float(compactness(values, np.asarray(labels)[rows], metric=metric))
    there = [f"accuracy:{known}" for known in session.known] + (["compactness"] if session.data is not None else [])
    if not there:
        raise RefusedError(400, "a null needs known labels or the data to score by, and neither is here")
    raise RefusedError(400, f"a null is of one of these scores: {', '.join(there)}")


# How many clusters are stable: what ``consilience cluster`` finds in the same data, so that both say the same.

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
    """The number that ``consilience cluster`` takes, all that are stable beyond doubt, and both in words.

    Of too few objects to tell there is none, and `real` is None.
    """
    if model.scales_ is None:
        return {"numbers": [], "real": None, "words": ""}
    real = model.scales_["n_clusters"].to_numpy()[model.scales_["real"].to_numpy(bool)]
    numbers = [model.n_clusters_, *(int(k) for k in real if k != model.n_clusters_)]
    return {"numbers": numbers, "real": bool(len(real)), "words": describe_scales(model.consensus_)}


KINDS: dict[str, tuple[Callable[..., Job], Keys]] = {
    "map": (start_map, {}),
    "more_like": (start_more_like, MORE_KEYS),
    "null": (start_null, NULL_KEYS),
    "plane": (start_plane, PLANE_KEYS),
    "report": (start_report, REPORT_KEYS),
    "scales": (start_scales, SCALES_KEYS),
    "stable": (start_stable, STABLE_KEYS),
}  # what starts each, and what its body may hold
