"""The null band of the scores: is the best group's consensus better than the best of shuffled groups?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from consilience.explorer.calls.call import Call
from consilience.explorer.codec import RefusedError
from consilience.explorer.jobs import Job
from consilience.explorer.scores import measured
from consilience.explorer.session import Session
from consilience.explorer.validation import SCORE, text, whole
from consilience.measures import accuracy, compactness

KEYS = {"groups": (whole(2, 100), ...), "score": (text(SCORE), ...), "shuffles": (whole(1, 100), 20)}


def start(call: Call, groups: int, score: str, shuffles: int) -> Job:
    """Start a job that compares the best of `groups` groups with the best of shuffled ones."""
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
        return {
            "score": score,
            "groups": groups,
            "best": sign * row["best"],
            "null_mean": sign * row["null_mean"],
            "null_sd": row["null_sd"],
            "p_value": row["p_value"],
            "shuffled": sign * found.shuffled[score].to_numpy(),
            "values": sign * found.groups[score].to_numpy(),
        }

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
