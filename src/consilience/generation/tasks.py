"""Clusterings as tasks: what workers run, what comes of it, and how it is kept."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience import _kernels
from consilience._check import InputError
from consilience._run.parallel import own_threads
from consilience._run.progress import record, whereabouts
from consilience._run.time_limit import CallError, call_within
from consilience._types import Array, Labels
from consilience.ensemble.store import Store
from consilience.ensemble.store.info import STREAM
from consilience.generation.kmeans import Runs, base_run, check_found, kmeans_runs, reason
from consilience.generation.methods.method import Method
from consilience.generation.plan import Plan, Spec

if TYPE_CHECKING:
    from consilience.generation.runner import Runner

GIVE_UP = 20  # safeguard: failures, with nothing made, after which a clusterer is wrong for the data: a run must not fail a thousand times


@dataclass(frozen=True)
class Made:
    """What came of one clustering, and where; one that could not be made has no label, and its note says why."""

    labels: Labels
    inertia: float
    seconds: float
    steps: int
    note: str | None
    predictor: Any
    where: dict[str, Any]

    @classmethod
    def each(cls, runs: Runs, seconds: float | None = None) -> list[Made]:
        took = runs.seconds if seconds is None else [seconds] * len(runs.labels)
        cells = zip(runs.labels, map(float, runs.inertia), map(float, took), map(int, runs.steps), strict=True)
        rest = runs.note, runs.predictor, whereabouts()
        return [cls(*one, *rest) for one in cells]

    @classmethod
    def failed(cls, n_objects: int, note: str, seconds: float) -> list[Made]:
        return cls.each(Runs.of_labels(np.full(n_objects, -1), note), seconds)

    @property
    def is_made(self) -> bool:
        return bool((self.labels >= 0).any())


def make_within(seconds: float, n_objects: int, make: Any, *args: Any) -> list[Made]:
    begin = time.perf_counter()
    try:
        made: list[Made] = call_within(seconds, make, *args)
    except CallError as error:
        return Made.failed(n_objects, str(error), time.perf_counter() - begin)
    return made


def make_batch(table: Any, width: int, specs: Sequence[Spec], init: str, max_iter: int, threads: int) -> list[Made]:
    weights = [np.ones(width) if spec.weights is None else spec.weights for spec in specs]
    numbers, units = [spec.n_clusters for spec in specs], [spec.run_stream[1] for spec in specs]
    how: dict[str, Any] = {"init": init, "max_iter": max_iter, "threads": threads, "checked": True}
    how |= {"weights": np.array(weights, np.float32), "units": units, "seed": specs[0].run_stream[0]}
    return Made.each(kmeans_runs(table, numbers, **how))


def make_one(method: Method, base: Any, table: Array, spec: Spec, plan: Plan, keeps_predictor: bool) -> list[Made]:
    # What it raises becomes a note: one that fails must not take the others with it.
    begin, n = time.perf_counter(), table.shape[0]
    try:
        rows = method.objects(spec, n, plan)
        chosen = weighted(table if rows is None else table[rows], spec.weights)
        # k-means has no threads of its own here; for all else one, so that its numbers do not depend on how many there are
        with contextlib.nullcontext() if base is None and method.is_kmeans else own_threads():
            if base is not None:
                own = int(_kernels.random_bits(*spec.run_stream, 1)[0]) >> 1
                runs = base_run(base, chosen, spec.n_clusters, own)
            else:
                made = method.make(chosen, spec, plan)
                # Methods of users return plain labels, which are checked as those of any clusterer.
                runs = made if isinstance(made, Runs) else Runs.of_labels(check_found(made, chosen.shape[0]))
    except ImportError:  # what is not installed fails all of them
        raise
    except Exception as error:
        return Made.failed(n, reason(error), time.perf_counter() - begin)
    labels = runs.labels
    if rows is not None:
        labels = np.full((1, n), -1, np.int32)
        labels[:, rows] = runs.labels
    runs = replace(runs, labels=labels, predictor=runs.predictor if keeps_predictor else None)
    return Made.each(runs, time.perf_counter() - begin)


def weighted(table: Array, weights: Array | None) -> Array:
    # Columns of weight 0 are left out.
    if weights is None:
        return table
    kept = np.flatnonzero(weights)
    if sparse.issparse(table):
        return sparse.csr_matrix(table[:, kept] @ sparse.diags(weights[kept].astype(float)))
    return table[:, kept] * weights[kept]


class RunBuffer:
    # Flushed about once a second: to the store, or to memory. At its end all are kept, however it ends.

    def __init__(self, runner: Runner, store: Store | None, *, any_before: bool) -> None:
        self._runner, self._store, self._any = runner, store, any_before
        self._waiting: list[tuple[Spec, Made]] = []
        self._parts: list[tuple[Labels, pd.DataFrame]] = []
        self._last = -np.inf  # the first is kept at once: a run that is killed early can go on
        self.failed: list[str] = []

    def __enter__(self) -> RunBuffer:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        full = isinstance(error, OSError) and error.errno is not None  # the disk is, or is away: it would fail again
        if error is None or (self._store is not None and not full):
            self._flush()
        if kind is None and self.failed and not self._any:
            self._give_up()

    def add(self, specs: Sequence[Spec], made: Sequence[Made]) -> None:
        for spec, one in zip(specs, made, strict=True):
            self._waiting.append((spec, one))
            self._any |= one.is_made
            if not one.is_made:
                self.failed.append(str(one.note))
            about = {"unit": spec.unit, "method": spec.method, "n_clusters": spec.n_clusters, "note": one.note}
            record("clustering", one.seconds, one.where, status="done" if one.is_made else "failed", **about)
        if not self._any and len(self.failed) >= GIVE_UP:
            self._give_up()
        # Where scoring is dear, as on wide tables, a batch takes about as long to make as to score.
        if time.monotonic() - self._last >= max(self._runner.batch_seconds, self._runner.scoring):
            self._flush()

    def _give_up(self) -> None:
        self._waiting.clear()
        raise InputError(f"none of the first {len(self.failed)} clusterings could be made: {self.failed[0]}")

    def _flush(self) -> None:
        waiting, self._waiting = sorted(self._waiting, key=lambda pair: pair[0].unit), []
        most = self._runner.most_waiting
        for batch in (waiting[i : i + most] for i in range(0, len(waiting), most)):
            is_made = np.array([one.is_made for _, one in batch])
            labels, info = self._runner.table_of(batch)
            if self._store is None:
                self._parts.append((labels[is_made], info[is_made]))
            else:
                wanted = info["unit"].to_numpy(np.int64)
                free = info["around"].isna().all() and not np.isin(wanted, self._store.numbers).any()
                self._store.append(labels.T, info, numbers=wanted if free else None, failed=~is_made)
        self._last = time.monotonic()

    def in_order(self) -> tuple[Labels, pd.DataFrame]:
        info = pd.concat([info for _, info in self._parts], ignore_index=True)
        order = np.argsort(info["unit"].to_numpy(np.int64), kind="stable")
        labels = np.concatenate([labels for labels, _ in self._parts])
        return labels[order], info.iloc[order].reset_index(drop=True)


def rows_of(info: pd.DataFrame, stream: Spec) -> pd.DataFrame:
    """The rows of `info` of a seed, or of the variations of a clustering, in the order of their units."""
    if info.empty:
        return info.assign(unit=pd.Series(dtype=int))
    mine = info["seed"] == stream.seed
    for name in ("around", "jitter"):
        column, value = info.get(name, pd.Series(np.nan, info.index)), getattr(stream, name)
        mine &= column.isna() if value is None else column == value
    return info[mine.fillna(False).astype(bool)].sort_values("unit", kind="stable")


def units_of(store: Store | None, stream: Spec, n: int) -> tuple[set[int], dict[int, str]]:
    if store is None:
        return set(), {}
    done = set(rows_of(store.info(STREAM), stream)["unit"].astype(int))
    lost = rows_of(store.failures([*STREAM, "note"]), stream)
    notes = lost["note"] if "note" in lost else [""] * len(lost)
    return done, {int(u): str(note) for u, note in zip(lost["unit"], notes, strict=True) if u < n and u not in done}
