"""More like this: new clusterings around a chosen one, steered by wishes, added to the session and to its run."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations, cycle, pairwise
from typing import Any, NamedTuple

import numpy as np

from consilience._check import InputError
from consilience._run.random import child_seed
from consilience.ensemble import Ensemble
from consilience.ensemble.store import Store
from consilience.ensemble.store.manifest_and_lock import find_manifest
from consilience.explorer.calls.call import Call
from consilience.explorer.checks import COUNT, numbers, real, ref_text, whole
from consilience.explorer.jobs import Job
from consilience.explorer.replies import RefusedError, Reply, json_reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import Snapshot
from consilience.generation import Guide
from consilience.generation.plan import Spec

STEERED = 2.0  # by how much a column counts more or less
FEW = 15  # safeguard: objects of which all pairs are wished for; the number of pairs grows with its square
COLUMNS, OBJECTS = 200, 1000  # safeguard: names in one wish


class Wish(NamedTuple):
    columns: dict[str, float]
    pairs: dict[str, Any]  # to be together, and apart

    def options(self) -> dict[str, Any]:
        found: dict[str, Any] = {"columns": self.columns} if self.columns else {}
        return {**found, "guide": Guide(**self.pairs)} if self.pairs else found

    def code(self) -> str:
        said = f", columns={self.columns!r}" if self.columns else ""
        pairs = ", ".join(f"{side}={pairs!r}" for side, pairs in self.pairs.items())
        return f"{said}, guide=Guide({pairs})" if pairs else said


def wish_of(session: Session, more: Sequence[int], less: Sequence[int], together: Any, apart: Any) -> Wish:
    """Columns and objects by their names, from their numbers; without objects to be together, those to be apart are so from each other."""
    sizes = {"column": len(session.features), "object": session.snapshot.n_objects}
    for what, asked in (("column", [*more, *less]), ("object", [*together, *apart])):
        if max(asked, default=-1) >= sizes[what]:
            raise RefusedError(400, f"there is no {what} {max(asked)} here: they are numbered 0 to {sizes[what] - 1}")
    if both := set(more) & set(less) or set(together) & set(apart):
        raise RefusedError(400, f"{min(both)} is wished for both ways: choose one")
    columns = {session.features[i]: STEERED for i in more} | {session.features[i]: 1 / STEERED for i in less}
    ids = None if session.data is None else session.data.ids

    def name(row: int) -> Any:
        return int(row) if ids is None else ids[row].item() if hasattr(ids[row], "item") else ids[row]

    far = list(zip(cycle(together), apart, strict=False)) if together else _pairs(apart)
    pairs = {"together": _pairs(together), "apart": far}
    return Wish(columns, {side: [(name(a), name(b)) for a, b in both] for side, both in pairs.items() if both})


def _pairs(rows: Sequence[int]) -> list[tuple[int, int]]:
    """All pairs of a few objects; of many each with the first and the next."""
    if len(rows) <= FEW:
        return list(combinations(rows, 2))
    return [*pairwise(rows), *((rows[0], row) for row in rows[2:])]


CHUNK, WORK = 25, 500_000  # safeguard: clusterings, and objects times them, between two looks at whether to stop
MADE = ("method", "seed", "unit", "n_clusters", "settings")  # what generate says of a clustering
MORE_KEYS = {
    "ref": (ref_text, ...),
    "count": (whole(1, COUNT), 100),
    "jitter": (real(0.01, 3), 0.3),
    "more": (numbers(COLUMNS), ()),
    "less": (numbers(COLUMNS), ()),
    "together": (numbers(OBJECTS), ()),
    "apart": (numbers(OBJECTS), ()),
}


def unavailable(session: Session, snapshot: Snapshot) -> str:
    """Why no clusterings can be added; empty if they can."""
    info = snapshot.meta.ensemble.info
    if not set(MADE) <= set(info) or info["seed"].isna().all():
        return "These clusterings were not made by consilience generate, which alone can make more like them."
    if session.data is None:
        return "The data is not here: start again with --data TABLE (in Python, data=…), the table that the run was made from."
    if session.other_data:
        return "The data differs from that the run was made from: give the same table, columns and known labels as to generate."
    return ""


def start_more_like(call: Call, ref: str, count: int, jitter: float, **wishes: Any) -> Job:
    """Start a job that makes `count` clusterings near a clustering, or near the medoid of a branch, steered by wishes."""
    session, snapshot = call.session, call.snapshot
    leaf = snapshot.medoid(snapshot.ref(ref))
    if note := unavailable(session, snapshot):
        raise RefusedError(400, note)
    try:
        Spec.of_row(snapshot.meta.ensemble.info.iloc[leaf])
    except InputError as error:
        raise RefusedError(400, str(error)) from None
    wish = wish_of(session, **wishes)

    def work(job: Job) -> dict[str, Any] | None:
        """Make them, and show whatever was made, also if the job was canceled or failed on the way."""
        before, made, lines = session.snapshot.n_clusterings, list[Ensemble](), list[str]()
        try:
            for new, line in _made(session, job, leaf, jitter, wish):
                made.append(new)
                lines.append(line)
        finally:
            if made:
                job.message = "growing the tree anew"
                stored = session.origin.store is not None
                on_disk = [int(number) for one in made for number in one.info["number"]] if stored else []
                session.grow(Ensemble.concat(made), [] if stored else lines, on_disk)
                job.message = ""
                job.result = {"added": list(range(before, session.snapshot.n_clusterings)), "around": leaf}
        return job.result

    return call.jobs.start("more_like", count, work)


def _made(session: Session, job: Job, leaf: int, jitter: float, wish: Wish) -> Iterator[tuple[Ensemble, str]]:
    """Chunk by chunk, each from a seed of its own, so that asking again makes others, also after some were taken away."""
    ensemble = session.snapshot.meta.ensemble
    row, seed = ensemble.info.iloc[leaf], max(_next_number(ensemble), session.last_seed + 1)
    session.last_seed = seed
    size = int(np.clip(WORK // ensemble.n_objects, 1, CHUNK))
    _check_data(session, ensemble, leaf)
    with _writer(session) as store:
        while job.done < job.total and not job.stopping:
            n = min(size, job.total - job.done)
            own = child_seed(seed, "explorer.more_like", job.done)
            new = session.variations(row, n, jitter=jitter, random_state=own, **wish.options())
            if store is not None:
                new.info["number"] = store.append(new.labels, info=new.info)
            made = f"variations(ensemble.info.iloc[{leaf}], {n}, jitter={jitter!r}, random_state={own}{wish.code()})"
            yield new, f"ensemble = cs.Ensemble.concat([ensemble, {made}])"
            job.done += n


def _check_data(session: Session, ensemble: Ensemble, leaf: int) -> None:
    """See that the clustering can be reproduced, unless the run says what data it is of."""
    if session.origin.fingerprint is not None:
        return
    again = session.variations.remake(ensemble.info.iloc[leaf])
    if not np.array_equal(Ensemble([again]).labels[:, 0], Ensemble([ensemble.labels[:, leaf]]).labels[:, 0]):
        raise InputError("the data is not that the clusterings were made from: give the table that generate had")


def _next_number(ensemble: Ensemble) -> int:
    numbers = ensemble.info["number"].dropna() if "number" in ensemble.info else []
    return max(ensemble.n_clusterings, int(max(numbers, default=0)) + 1)


@contextmanager
def _writer(session: Session) -> Iterator[Store | None]:
    """The run on disk, held for writing; None where the session has none."""
    path = session.origin.store
    if path is None:
        yield None
        return
    manifest = find_manifest(path)[0]
    ids = session.snapshot.meta.ensemble.ids
    same = {name: manifest[name] for name in ("n_objects", "fingerprint", "plan")}
    with Store.resume(path, ids=ids, **same) as store:
        yield store


def drop_added(call: Call) -> Reply:
    session, first = call.session, call.json({"first": (whole(1, 10**9 - 1), ...)})["first"]
    with call.jobs.held():  # a job that began between the disk and the tree would leave the two apart
        last = session.added[-1] if session.added else None
        if last is None or last.first != first:
            raise RefusedError(409, "these clusterings are not the last that were added here: take away those first")
        if last.numbers:
            with _writer(session) as store:  # the disk first: what is shown but gone could not be asked for again
                if store is not None:
                    store.drop([number for number in last.numbers if number in store.numbers])
        session.shrink()
    return json_reply({"revision": session.snapshot.revision, "n_clusterings": session.snapshot.n_clusterings})
