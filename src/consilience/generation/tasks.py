"""Clusterings as tasks: what workers run, and what comes of it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from consilience import _kernels
from consilience._run.parallel import own_threads
from consilience._run.run_log import Where
from consilience._run.time_limit import CallError, call_within
from consilience._types import Array, Ints, Labels
from consilience.generation.clustering_spec import Spec
from consilience.generation.kmeans import Runs, kmeans_runs
from consilience.generation.methods.method import Method
from consilience.generation.plan import Plan
from consilience.generation.sklearn_base import base_run, check_found, reason


@dataclass(frozen=True)
class Made:
    """What came of one or more clusterings.

    Attributes
    ----------
    rows : int array or None
        The objects that took part; None for all.
    runs : Runs
        One row each; a clustering that could not be made has no label at all, and `runs.note` says why.
    where : Where
        The process that made them.
    """

    rows: Ints | None
    runs: Runs
    where: Where

    @classmethod
    def failed(cls, n_clusterings: int, n_objects: int, note: str, seconds: float) -> Made:
        """Nothing, for a reason."""
        labels, nothing = np.full((n_clusterings, n_objects), -1, np.int32), np.full(n_clusterings, np.nan)
        steps, each = np.full(n_clusterings, -1, np.int32), np.full(n_clusterings, seconds / n_clusterings)
        return cls(None, Runs(labels, nothing, steps, each, note), Where.here())

    def each(self, n_objects: int) -> Iterator[One]:
        """The clusterings one by one, with labels of all objects."""
        runs = self.runs
        for i, found in enumerate(runs.labels):
            labels = found
            if self.rows is not None:
                labels = np.full(n_objects, -1, np.int32)
                labels[self.rows] = found
            numbers = float(runs.inertia[i]), float(runs.seconds[i]), int(runs.steps[i])
            yield One(labels, *numbers, runs.note, runs.predictor, self.where)


@dataclass(frozen=True)
class One:
    """What came of one clustering; without any label, nothing, and `note` says why."""

    labels: Labels
    inertia: float
    seconds: float
    steps: int
    note: str | None
    predictor: Any
    where: Where

    @property
    def is_made(self) -> bool:
        """Whether it has labels."""
        return bool((self.labels >= 0).any())


def make_within(seconds: float, n_objects: int, make: Any, *args: Any) -> Made:
    """What ``make(*args)`` gives in another process, or nothing where that takes too long, or the process ends."""
    begin = time.perf_counter()
    try:
        found: Made = call_within(seconds, make, *args)
        return found
    except CallError as error:
        return Made.failed(1, n_objects, str(error), time.perf_counter() - begin)


def make_batch(
    table: Any, specs: Sequence[Spec], weights: Array | None, init: str, max_iter: int, threads: int = 1
) -> Made:
    """Clusterings by k-means, many at a time: of one space, and of one seed."""
    runs = kmeans_runs(
        table,
        np.array([spec.n_clusters for spec in specs], np.int32),
        checked=True,
        weights=np.ones((len(specs), table.shape[1]), np.float32) if weights is None else weights,
        units=np.array([spec.run_stream[1] for spec in specs], np.uint64),
        seed=specs[0].run_stream[0],
        init=init,
        max_iter=max_iter,
        threads=threads,
    )
    return Made(None, runs, Where.here())


def batch_weights(specs: Sequence[Spec], width: int) -> Array:
    """(n_specs, width) weights of the columns."""
    weights = np.ones((len(specs), width), np.float32)
    for row, spec in zip(weights, specs, strict=True):
        if spec.weights is not None:
            row[:] = spec.weights
    return weights


def make_one(method: Method, base: Any, table: Array, spec: Spec, plan: Plan, keeps_predictor: bool) -> Made:
    """One clustering by itself. What it raises becomes a note: one that fails must not take the others with it."""
    begin = time.perf_counter()
    try:
        rows = method.objects(spec, table.shape[0], plan)
        chosen = table if rows is None else table[rows]
        if spec.weights is not None:
            chosen = weighted(chosen, spec.weights)
        # k-means has no threads of its own here; for all else one, so that its numbers do not depend on how many there are
        with contextlib.nullcontext() if base is None and method.is_kmeans else own_threads():
            if base is not None:
                own = int(_kernels.random_bits(*spec.run_stream, 1)[0]) >> 1
                runs = base_run(base, chosen, spec.n_clusters, own)
            else:
                made = method.make(chosen, spec, plan)
                runs = (
                    made if isinstance(made, Runs) else Runs.of_labels(check_found(np.asarray(made), chosen.shape[0]))
                )
    except ImportError:  # what is not installed fails all of them
        raise
    except Exception as error:
        return Made.failed(1, table.shape[0], reason(error), time.perf_counter() - begin)
    kept = runs.predictor if keeps_predictor else None
    runs = replace(runs, seconds=np.array([time.perf_counter() - begin]), predictor=kept)
    return Made(rows, runs, Where.here())


def weighted(table: Array, weights: Array) -> Array:
    """The columns times their weights, those of weight 0 left out."""
    kept = np.flatnonzero(weights)
    if sparse.issparse(table):
        return sparse.csr_matrix(table[:, kept] @ sparse.diags(weights[kept].astype(float)))
    return table[:, kept] * weights[kept]
