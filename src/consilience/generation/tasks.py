"""Clusterings as tasks: what workers run, and what comes of it."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from consilience import _kernels
from consilience._run.parallel import own_threads
from consilience._run.progress import whereabouts
from consilience._run.time_limit import CallError, call_within
from consilience._types import Array, Labels
from consilience.generation.kmeans import Runs, base_run, check_found, kmeans_runs, reason
from consilience.generation.methods.method import Method
from consilience.generation.plan import Plan, Spec


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
    def each(cls, runs: Runs, seconds: float | None = None) -> "list[Made]":
        took = runs.seconds if seconds is None else [seconds] * len(runs.labels)
        cells = zip(runs.labels, map(float, runs.inertia), map(float, took), map(int, runs.steps), strict=True)
        rest = runs.note, runs.predictor, whereabouts()
        return [cls(*one, *rest) for one in cells]

    @classmethod
    def failed(cls, n_objects: int, note: str, seconds: float) -> "list[Made]":
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
