"""A run: draws specs, has them made, and adds them to memory or a store."""

from __future__ import annotations

import contextlib
import itertools
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed

from consilience._check import InputError, check_path, count, fingerprint
from consilience._run.parallel import active_client, n_threads, workers
from consilience._run.progress import Bar
from consilience._run.time_limit import end_children
from consilience._types import Floats, Labels, PathLike
from consilience.ensemble import Ensemble
from consilience.ensemble.store import Store
from consilience.ensemble.store.folder import find_manifest, is_blank
from consilience.generation.guide import BoundGuide
from consilience.generation.plan import FRACTIONS, METHODS, WHOLE, Plan, Spec, defaults, draw, vary
from consilience.generation.spaces import GenerationWarning, Spaces
from consilience.generation.tasks import (
    Made,
    One,
    RunBuffer,
    batch_weights,
    make_batch,
    make_one,
    make_within,
    rows_of,
    units_of,
)
from consilience.inputs import as_table
from consilience.measures import compactness
from consilience.measures.pairwise import sample_objects
from consilience.tables import Table
from consilience.tables.matrix import array_of, check_rows

# safeguard: clusterings by k-means of one kernel call: 512 fit its buffers.
LARGEST_BATCH = 512
# safeguard: clusterings that are drawn at a time, and that one task makes: memory for their weights.
WINDOW, LARGEST_TASK = 256, 32
# safeguard: multiplications of a core in a second, and passes of k-means, by which it is judged what a second makes.
WORK, STEPS = 4e9, 50
# safeguard: numbers that are held for all the ways of filling gaps, just under a gigabyte.
FILLED_NUMBERS = 1e8
MOST_FILLINGS, FEWEST_FILLINGS = 8, 2  # ways of filling missing cells
OWN_SCALE = 3.0  # most that a column counts beside the median one where its own scale plays a part
OPTIONAL = ("around", "jitter", "from_seed", "from_unit", "stress", "filling")  # columns that most runs do not need


class Runner:
    """Makes the clusterings of one table by one plan.

    `keeps_predictors` keeps what the methods label new objects by, up to some megabytes for each clustering.
    """

    batch_seconds = 1.0  # work that a killed run loses at most, about
    most_waiting = LARGEST_BATCH  # clusterings whose labels are put together at a time

    def __init__(
        self,
        X: Any,
        plan: Plan,
        base: Any = None,
        n_jobs: int | None = None,
        *,
        keeps_predictors: bool = False,
        time_limit: float | None = None,
    ) -> None:
        self.keeps_predictors, self.time_limit = keeps_predictors, time_limit
        self.table, self.plan, self.base, self.n_jobs = data_table(X, plan.metric), plan, base, n_jobs
        self.objects: Any = self.table  # whose number and names an ensemble and a store have
        largest, n = max(plan.n_clusters), self.table.n_objects
        if largest > n:
            raise InputError(
                f"{largest} clusters need as many objects, and {self.table.source} has {n}: lower n_clusters"
            )
        for name, _ in plan.methods:
            METHODS[name].check(n)
        gaps = self.table.gaps is not None
        self.spaces = Spaces(
            self.table.values,
            plan,
            groups=self.table.groups,
            scaling=self.table.scaling() if plan.metric == "euclidean" else None,
            filled=self.table.filled if gaps else None,
        )
        # Each filling is a form of the data of its own, for every space in use: as many as there is memory for.
        held = len({METHODS[name].space for name, _ in plan.methods}) * self.table.values.size if gaps else 1
        self.n_fillings = int(np.clip(FILLED_NUMBERS // held, FEWEST_FILLINGS, MOST_FILLINGS)) if gaps else 0
        self.predictors: dict[tuple[int, int], Any] = {}  # by seed and unit
        self._settings, self.scoring = plan.text(), 0.0
        self.guide = BoundGuide.of_json(plan.guide) if isinstance(plan.guide, Mapping) else None
        self._guide_weights: dict[str, Floats] = {}

    def open_store(self, path: PathLike | None, plan: Any) -> contextlib.AbstractContextManager[Store | None]:
        """The store of a run, held until the end; None without a path."""
        if path is None:
            return contextlib.nullcontext()
        objects, folder = self.objects, check_path(path, "the store")
        if isinstance(plan, dict) and not is_blank(folder):
            kept, usual = find_manifest(folder)[0]["plan"], defaults(dict(self.plan.methods))
            if isinstance(kept, Mapping):  # an earlier version may not have written what is as it is by default
                plan = {name: value for name, value in plan.items() if name in kept or value != usual.get(name, ...)}
        if objects.treatment and isinstance(plan, dict):
            plan = {**plan, "columns": objects.treatment}  # kept with the run: what was done to the table
        same = {"n_objects": objects.n_objects, "fingerprint": self._fingerprint(), "plan": plan}
        return Store.resume(path, **same, ids=objects.ids, id_name=objects.id_heading)

    def _fingerprint(self) -> str:
        return fingerprint(self.table.values)

    def run(
        self,
        n: int,
        seed: int = 0,
        *,
        center: Spec | None = None,
        store: Store | None = None,
        progress: bool | None = None,
        retry_failed: bool = False,
    ) -> Ensemble:
        """Clusterings 0 … n − 1 of a seed, or of the variations of `center`.

        Those that the store holds are not repeated, nor are those that failed before, unless `retry_failed`.
        """
        stream = center or Spec("", seed, 0, 0)
        done, lost = units_of(store, stream, n)
        skipped = done if retry_failed else done | set(lost)
        todo = [unit for unit in range(n) if unit not in skipped]
        buffer = RunBuffer(self, store, any_before=bool(done))
        with Bar(n, "clusterings", progress, done=n - len(todo)) as bar, buffer:
            for specs, made in self._stream(todo, self.plan.method_of(n), seed, center):
                buffer.add(specs, made)
                bar.advance(len(specs))
        if store is None:
            self._say_failed(n, buffer.failed)
            return self._ensemble(*buffer.in_order())
        done, lost = units_of(store, stream, n)
        if not done:
            why = next(iter(lost.values()))
            raise InputError(f"none of the {count(n, 'clustering')} could be made: {why}; retry_failed tries again")
        self._say_failed(n, list(lost.values()))
        return self._stored(store, stream, n)

    def _say_failed(self, n: int, notes: Sequence[str]) -> None:
        if notes:
            message = f"{len(notes)} of {count(n, 'clustering')} could not be made and are left out: {notes[0]}"
            warnings.warn(GenerationWarning(message), stacklevel=4)

    def _stream(
        self, units: Sequence[int], methods: list[str], seed: int, center: Spec | None
    ) -> Iterator[tuple[list[Spec], Made]]:
        """Clusterings as they are made, in whatever order: by the kernel's own threads, or as tasks of workers."""
        if self._in_kernel:
            size = self._batch_size
            for begin in range(0, len(units), size):
                for alike in self._alike(self._specs(units[begin : begin + size], methods, seed, center)):
                    make, args = self._call(alike, n_threads(self.n_jobs))
                    yield alike, make(*args)
            return
        given: dict[int, list[Spec]] = {}

        def tasks() -> Iterator[Any]:
            places = itertools.count()
            for begin in range(0, len(units), WINDOW):
                for chunk in self._chunks(self._specs(units[begin : begin + WINDOW], methods, seed, center)):
                    given[next(places)] = chunk
                    yield self._task(chunk)

        # A call with a time limit waits in a thread for the process that it runs in.
        prefer = "processes" if self.time_limit is None else "threads"
        with contextlib.ExitStack() as after:
            if self.time_limit is not None:
                after.callback(end_children)
            finished = workers(self.n_jobs, as_they_come=True, prefer=prefer, logged=False)(tasks())
            for place, made in finished:
                yield given.pop(place), made

    @property
    def _in_kernel(self) -> bool:
        """Whether all is k-means, in this process, whose kernel has threads of its own."""
        if self.base is not None or self.time_limit is not None or active_client() is not None:
            return False
        return all(METHODS[name].is_batched for name, _ in self.plan.methods)

    def _alike(self, specs: Sequence[Spec]) -> list[list[Spec]]:
        """The specs that one kernel call can make, together; others by themselves. In the order of the first of each."""
        groups: dict[Any, list[Spec]] = {}
        for spec in specs:
            batched = self.base is None and METHODS[spec.method].is_batched
            key = (METHODS[spec.method].space, spec.filling, spec.run_stream[0]) if batched else id(spec)
            groups.setdefault(key, []).append(spec)
        return list(groups.values())

    def _chunks(self, specs: Sequence[Spec]) -> Iterator[list[Spec]]:
        """What is one task: about a quarter of a second's k-means, or one clustering."""
        n, d = self.spaces.columns.shape
        size = 1
        if self.time_limit is None:
            size = int(np.clip(WORK / (4 * STEPS * n * d * max(self.plan.n_clusters)), 1, LARGEST_TASK))
        for group in self._alike(specs):
            yield from (group[i : i + size] for i in range(0, len(group), size))

    def _call(self, specs: list[Spec], threads: int) -> tuple[Any, tuple[Any, ...]]:
        """The function, and what to call it with, that makes these."""
        spec = specs[0]
        space, method = self.spaces.of(spec.method, spec.filling), METHODS[spec.method]
        if self.base is None and method.is_batched:
            weights = batch_weights(specs, space.width)
            return make_batch, (space.checked, specs, weights, self.plan.init, self.plan.max_iter, threads)
        return make_one, (method, self.base, space.table, spec, self.plan, self.keeps_predictors)

    def _task(self, specs: list[Spec]) -> Any:
        make, args = self._call(specs, 1)
        if self.time_limit is None:
            return delayed(make)(*args)
        return delayed(make_within)(self.time_limit, self.spaces.n_objects, make, *args)

    def make(self, spec: Spec) -> tuple[Labels, pd.DataFrame]:
        """The clustering of a spec, alone, as one row, and its info; without any label if it failed."""
        make, args = self._call([spec], n_threads(self.n_jobs))
        return self.table_of([spec], list(make(*args).each()))

    def table_of(self, specs: Sequence[Spec], ones: Sequence[One]) -> tuple[Labels, pd.DataFrame]:
        """Labels, one row each, and info of clusterings that were made, or failed; both scored."""
        labels = np.stack([one.labels for one in ones]).astype(np.int32, copy=False)
        info = pd.DataFrame([self._cells(spec) for spec in specs])
        for spec, one in zip(specs, ones, strict=True):
            if one.predictor is not None:
                self.predictors[spec.seed, spec.unit] = one.predictor
        info["inertia"], info["seconds"] = [one.inertia for one in ones], [one.seconds for one in ones]
        steps = np.array([one.steps for one in ones])
        info["steps"] = pd.Series(steps, dtype="Int64").mask(steps < 0)
        info["note"] = pd.Series([one.note for one in ones], dtype=object)
        started = time.perf_counter()
        info["compactness"] = self._compactness(labels)
        self.scoring = time.perf_counter() - started
        if self.guide is not None:
            info["guide"] = self.guide.score(Ensemble.from_codes(labels.T))["total"].to_numpy()
        return labels, info.astype(dict.fromkeys(OPTIONAL, float) | dict.fromkeys(set(OPTIONAL) & set(WHOLE), "Int64"))

    def fitted(self, spec: Spec) -> Spec:
        """A spec read from `info`, its weights on the columns that are in use."""
        if spec.weights is None:
            return spec
        space = METHODS[spec.method].space
        width = self.spaces.given_width if space == "columns" else self.spaces.of(spec.method).width
        if len(spec.weights) != width:
            raise InputError(
                f"the clustering has {len(spec.weights)} weights, and the {space} of the data are {width}: "
                "is it the data, with the settings, that it was made from?"
            )
        return spec if space != "columns" else replace(spec, weights=spec.weights[self.spaces.kept])

    def _specs(self, units: Sequence[int], methods: list[str], seed: int, center: Spec | None) -> list[Spec]:
        if center is not None:
            return vary(center, self.spaces.of(center.method).width, units)
        specs = []
        for unit in units:
            method = methods[unit]
            space, groups = self.spaces.of(method), self.spaces.groups if METHODS[method].space == "columns" else None
            spec = draw(self.plan, method, space.width, seed, unit, groups=groups, n_fillings=self.n_fillings)
            specs.append(self._guided(self._rescaled(space.settle(spec))))
        return specs

    def _rescaled(self, spec: Spec) -> Spec:
        """With as much of the columns' own scales as was drawn: a column in large units must not drown all others."""
        share, scales = spec.drawn.get("own_scale"), self.spaces.own_scales
        if not share or scales is None or METHODS[spec.method].space != "columns":
            return spec
        weights = np.clip(scales**share, 1 / OWN_SCALE, OWN_SCALE)
        return replace(spec, weights=weights if spec.weights is None else spec.weights * weights)

    def _guided(self, spec: Spec) -> Spec:
        """The spec with its weights times those that the guide learns in the space they belong to."""
        if self.guide is None or not self.guide.strength or not self.spaces.of(spec.method).width:
            return spec
        name = METHODS[spec.method].space
        if name not in self._guide_weights:
            self._guide_weights[name] = self.guide.weights(self.spaces.of(spec.method).table)
        learned = self._guide_weights[name]
        return replace(spec, weights=learned if spec.weights is None else spec.weights * learned)

    @property
    def _batch_size(self) -> int:
        """About a second's clusterings by k-means, at least one for each thread."""
        jobs, (n, d) = n_threads(self.n_jobs), self.spaces.columns.shape
        return int(np.clip(WORK * jobs / (STEPS * n * d * max(self.plan.n_clusters)), jobs, LARGEST_BATCH))

    def _cells(self, spec: Spec) -> dict[str, Any]:
        """The cells of `info` that the spec is read back from."""
        weights, spaces = spec.weights, self.spaces
        if weights is not None and METHODS[spec.method].space == "columns" and spaces.given_width > len(spaces.kept):
            weights = np.zeros(spaces.given_width, weights.dtype)
            weights[spaces.kept] = spec.weights
        return {
            "method": spec.method,
            "n_clusters": spec.n_clusters,
            "seed": spec.seed,
            "unit": spec.unit,
            **{name: spec.drawn.get(name, np.nan) for name in self._drawn},
            "weights": None if weights is None else weights.tolist(),
            **{name: getattr(spec, name) for name in ("around", "jitter", "from_seed", "from_unit", "filling")},
            "stress": spaces.stress,
            "settings": self._settings,
        }

    @cached_property
    def _drawn(self) -> list[str]:
        """Columns of `info` with what the methods of the run draw."""
        return list(dict.fromkeys(name for method, _ in self.plan.methods for name in METHODS[method].drawn))

    def _compactness(self, labels: Labels) -> Floats:
        """On the data itself, whatever weights made the clusterings; for many objects on a sample, the same for all."""
        some, values = np.flatnonzero((labels >= 0).any(axis=1)), np.full(len(labels), np.nan)
        if some.size and self.plan.metric != "graph":  # which has no distances
            rows, distances = sample_objects(self.spaces.n_objects), self.spaces.distances
            data = self.spaces.columns[rows] if distances is None else distances[np.ix_(rows, rows)]
            made = Ensemble.from_codes(labels[np.ix_(some, rows)].T)
            values[some] = compactness(data, made, metric=self.plan.metric, n_jobs=self.n_jobs, progress=False)
        return values

    def _stored(self, store: Store, stream: Spec, n: int) -> Ensemble:
        """The clusterings of a stream, up to unit n − 1; where their numbers in the store are not 0 … m − 1, with these."""
        info = rows_of(store.info(), stream)
        info = info[info["unit"] < n]
        labels = store.labels(info.index.to_numpy()).T
        if not np.array_equal(info.index, np.arange(len(info))):
            info = info.reset_index(names="number")
        return self._ensemble(labels, info.reset_index(drop=True))

    def _ensemble(self, labels: Labels, info: pd.DataFrame) -> Ensemble:
        """With the same columns and types of `info` wherever it comes from."""
        info = info.drop(columns=[name for name in OPTIONAL if name in info and info[name].isna().all()])
        for name in info.columns:
            if name in WHOLE:
                info[name] = info[name].astype("Int64" if info[name].isna().any() else "int64")
            elif name in FRACTIONS or name in self._drawn or name == "guide":
                info[name] = info[name].astype(float)
            elif info[name].isna().any():
                cells = [None if np.ndim(x) == 0 and pd.isna(x) else x for x in info[name]]
                info[name] = pd.Series(cells, dtype=object)
        return Ensemble.from_codes(labels.T, info=info, ids=self.objects.ids)


def data_table(X: Any, metric: str, least: int = 2) -> Table:
    """The data as a table of the kind that the metric needs, with at least two objects."""
    kind = "distances" if metric == "precomputed" else "data"
    if isinstance(X, Table) and X.kind != kind:
        raise InputError(f"{X!r} holds {X.kind}, and metric={metric!r} needs {kind}")
    table = as_table(array_of(X) if isinstance(X, (list, tuple)) else X, kind)
    check_rows(table.n_objects, table.source, least)
    return table
