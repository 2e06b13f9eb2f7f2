"""The consensus of a branch at several numbers of clusters, coarse to fine; one that takes long is made by a job."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np

from consilience.explorer.calls.call import Call
from consilience.explorer.codec import RefusedError, Reply
from consilience.explorer.flows import Column, flow_reply, numbers_of
from consilience.explorer.jobs import Job
from consilience.explorer.snapshot import Ref, Snapshot
from consilience.explorer.validation import query_of, ref_text, whole
from consilience.meta.group_consensus import DRAWN, blocks_of

FINEST = 60  # clusters
SLOW = 30_000_000  # labels of a branch from which a job makes them, which can be followed and canceled
_most = whole(3, FINEST)
KEYS: dict[str, Any] = {"ref": (ref_text, ...), "most": (_most, None)}


def answer(call: Call) -> Reply:
    """The flow from the fewest clusters to the most; made at the first asking."""
    asked = query_of(call.query, {"most": KEYS["most"]})
    return _made(call.snapshot, _branch(call.snapshot, call.parts[0]), asked["most"], call.step)


def start(call: Call, ref: str, most: int | None) -> Job:
    """Start a job that makes them; then they are there for those who ask."""
    branch = _branch(call.snapshot, ref)
    total = len(blocks_of(call.snapshot.n_objects)) + 1 if call.snapshot.n_objects > DRAWN else 1

    def work(job: Job) -> dict[str, Any]:
        def step() -> None:
            job.step()
            job.done = min(job.done + 1, total - 1)

        _made(call.snapshot, branch, most, step)
        job.done = total
        return {"scales": str(branch)}

    return call.jobs.start("scales", total, work)


def _branch(snapshot: Snapshot, text: str) -> Ref:
    ref = snapshot.ref(text)._replace(kind="c", k=0)
    if not ref.m or ref.node < ref.m:
        raise RefusedError(400, "numbers of clusters are chosen for a branch of at least two clusterings")
    return ref


def _made(snapshot: Snapshot, ref: Ref, most: int | None, step: Callable[[], None]) -> Reply:
    def make() -> Reply:
        members = snapshot.members(ref)
        median = max(2, int(np.median(snapshot.meta.ensemble.n_clusters[members])))
        finest = most or min(FINEST, max(6, ceil(1.5 * median)))
        numbers = numbers_of(median, finest, snapshot.distinct_rows(ref))
        found = snapshot.scales(ref, numbers, step)
        columns = [Column(str(ref._replace(k=k)), codes) for k, codes in zip(numbers, found, strict=True)]
        return flow_reply(snapshot.revision, columns, ref=str(ref), usual=median, most=finest, size=len(members))

    return snapshot.cache.get(("flow of scales", ref.m, ref.node, most), make)
