"""A run: draws specs, has them made, and adds them to memory or a store."""

import contextlib
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed

from consilience._check import InputError, check_path, count, fingerprint
from consilience._run.parallel import active_client, n_threads, workers
from consilience._run.progress import Bar, record
from consilience._run.time_limit import end_children
from consilience._types import Floats, Labels, PathLike
from consilience.ensemble import Ensemble
from consilience.ensemble.store import Store
from consilience.ensemble.store.columns import STREAM
from consilience.ensemble.store.manifest_and_lock import find_manifest, is_blank
from consilience.generation.guide import BoundGuide
from consilience.generation.plan import FRACTIONS, METHODS, WHOLE, Plan, Spec, defaults, draw, vary
from consilience.generation.spaces import GenerationWarning, Spaces
from consilience.generation.tasks import Made, make_batch, make_one, make_within
from consilience.inputs import as_table
from consilience.measures import compactness
from consilience.measures.pairwise import sample_objects
from consilience.tables import Table
from consilience.tables.check_matrix import array_of, check_rows

LARGEST_BATCH = 512  # safeguard: clusterings by k-means of one kernel call: 512 fit its buffers
WINDOW, LARGEST_TASK = 256, 32  # safeguard: memory for weights; clusterings drawn at a time, and made by one task
# safeguard: multiplications of a core in a second, and passes of k-means, by which it is judged what a second makes.
WORK, STEPS = 4e9, 50
FILLED_NUMBERS = 1e8  # safeguard: numbers that are held for all the ways of filling gaps, just under a gigabyte
MOST_FILLINGS, FEWEST_FILLINGS = 8, 2  # ways of filling missing cells
GIVE_UP = 20  # safeguard: failures, with nothing made, after which a clusterer is wrong for the data: a run must not fail a thousand times
OPTIONAL = ("around", "jitter", "from_seed", "from_unit", "stress", "filling")  # columns that most runs do not need


class Runner:
    """Makes the clusterings of one table by one plan, and may keep the predictors of new objects, up to some MB for each."""

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
        scored: bool = True,
        time_limit: float | None = None,
    ) -> None:
        self.keeps_predictors, self.scored, self.time_limit = keeps_predictors, scored, time_limit
        self.table, self.plan, self.base, self.n_jobs = data_table(X, plan.metric), plan, base, n_jobs
        self.objects: Any = self.table  # whose number and names an ensemble and a store have
        most, n = max(plan.n_clusters), self.table.n_objects
        if most > n:
            raise InputError(f"{most} clusters need as many objects, and {self.table.source} has {n}: lower n_clusters")
        for name, _ in plan.methods:
            METHODS[name].check(n)
        gaps = self.table.gaps is not None
        scaling = self.table.scaling() if plan.metric == "euclidean" else None
        filled = self.table.filled if gaps else None
        self.spaces = Spaces(self.table.values, plan, groups=self.table.groups, scaling=scaling, filled=filled)
        # Each filling is a form of the data of its own, for every space in use: as many as there is memory for.
        held = len({METHODS[name].space for name, _ in plan.methods}) * self.table.values.size if gaps else 1
        self.n_fillings = int(np.clip(FILLED_NUMBERS // held, FEWEST_FILLINGS, MOST_FILLINGS)) if gaps else 0
        self.predictors: dict[tuple[int, int], Any] = {}  # by seed and unit
        self._settings, self.scoring = plan.text(), 0.0
        self._drawn = [name for method, _ in plan.methods for name in METHODS[method].drawn]  # columns of `info`
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
        """Clusterings 0 … n − 1 of a seed, or of the variations of `center`; those that the store holds are not repeated."""
        stream = center or Spec("", seed, 0, 0)
        done, lost = units_of(store, stream, n)
        skipped = done if retry_failed else done | set(lost)
        todo = [unit for unit in range(n) if unit not in skipped]
        buffer = RunBuffer(self, store, any_before=bool(done))
        with Bar(n, "clusterings", progress, done=n - len(todo)) as bar, buffer:
            for specs, made in self._stream(todo, self.plan.method_of(n), seed, center):
                buffer.add(specs, made)
                bar.advance(len(specs))
        notes = buffer.failed
        if store is not None:
            done, lost = units_of(store, stream, n)
            notes = list(lost.values())
            if not done:
                of = count(n, "clustering")
                raise InputError(f"none of the {of} could be made: {notes[0]}; retry_failed tries again")
        if notes:
            message = f"{len(notes)} of {count(n, 'clustering')} could not be made and are left out: {notes[0]}"
            warnings.warn(GenerationWarning(message), stacklevel=3)
        if store is None:
            return self._ensemble(*buffer.in_order())
        info = rows_of(store.info(), stream)
        info = info[info["unit"] < n]
        labels = store.labels(info.index.to_numpy()).T
        if not np.array_equal(info.index, np.arange(len(info))):  # their numbers in the store, where they are others
            info = info.reset_index(names="number")
        return self._ensemble(labels, info.reset_index(drop=True))

    def _stream(
        self, units: Sequence[int], methods: list[str], seed: int, center: Spec | None
    ) -> Iterator[tuple[list[Spec], list[Made]]]:
        def parts(at_once: int, most: int) -> Iterator[list[Spec]]:
            for begin in range(0, len(units), at_once):
                for alike in self._alike(self._specs(units[begin : begin + at_once], methods, seed, center)):
                    yield from (alike[i : i + most] for i in range(0, len(alike), most))

        n, d = self.spaces.columns.shape
        a_second = WORK / (STEPS * n * d * max(self.plan.n_clusters))  # what a core makes in it, about
        here = self.time_limit is None and active_client() is None
        if here and all(self._is_batched(name) for name, _ in self.plan.methods):
            jobs = n_threads(self.n_jobs)
            size = int(np.clip(a_second * jobs, jobs, LARGEST_BATCH))
            for specs in parts(size, size):
                make, args = self._call(specs, jobs)
                yield specs, make(*args)
            return
        size = 1 if self.time_limit is not None else int(np.clip(a_second / 4, 1, LARGEST_TASK))
        given: dict[int, list[Spec]] = {}

        def tasks() -> Iterator[Any]:
            for place, specs in enumerate(parts(WINDOW, size)):
                given[place] = specs
                make, args = self._call(specs, 1)
                within = () if self.time_limit is None else (self.time_limit, self.spaces.n_objects, make)
                yield delayed(make_within if within else make)(*within, *args)

        # A call with a time limit waits in a thread for the process that it runs in.
        prefer = "processes" if self.time_limit is None else "threads"
        with contextlib.ExitStack() as after:
            if self.time_limit is not None:
                after.callback(end_children)
            finished = workers(self.n_jobs, as_they_come=True, prefer=prefer, logged=False)(tasks())
            for place, made in finished:
                yield given.pop(place), made

    def _is_batched(self, method: str) -> bool:
        return self.base is None and METHODS[method].is_batched

    def _alike(self, specs: Sequence[Spec]) -> list[list[Spec]]:
        groups: dict[Any, list[Spec]] = {}
        for spec in specs:
            kind = METHODS[spec.method].space, spec.filling, spec.run_stream[0]
            groups.setdefault(kind if self._is_batched(spec.method) else id(spec), []).append(spec)
        return list(groups.values())

    def _call(self, specs: list[Spec], threads: int) -> tuple[Any, tuple[Any, ...]]:
        spec = specs[0]
        space = self.spaces.of(spec.method, spec.filling)
        if self._is_batched(spec.method):
            return make_batch, (space.checked, space.width, specs, self.plan.init, self.plan.max_iter, threads)
        return make_one, (METHODS[spec.method], self.base, space.table, spec, self.plan, self.keeps_predictors)

    def make(self, spec: Spec) -> tuple[Labels, pd.DataFrame]:
        make, args = self._call([spec], n_threads(self.n_jobs))
        return self.table_of([(spec, *make(*args))])

    def table_of(self, batch: Sequence[tuple[Spec, Made]]) -> tuple[Labels, pd.DataFrame]:
        specs, made = zip(*batch, strict=True)
        labels = np.stack([one.labels for one in made]).astype(np.int32, copy=False)
        for spec, one in batch:
            if one.predictor is not None:
                self.predictors[spec.seed, spec.unit] = one.predictor
        info = pd.DataFrame([self._cells(spec) for spec in specs])
        info["inertia"], info["seconds"] = [one.inertia for one in made], [one.seconds for one in made]
        steps = np.array([one.steps for one in made])
        info["steps"] = pd.Series(steps, dtype="Int64").mask(steps < 0)
        info["note"] = pd.Series([one.note for one in made], dtype=object)
        started = time.perf_counter()
        if self.scored:
            info["compactness"] = self._compactness(labels)
        self.scoring = time.perf_counter() - started
        if self.guide is not None:
            info["guide"] = self.guide.score(Ensemble.from_codes(labels.T))["total"].to_numpy()
        return labels, info.astype(dict.fromkeys(OPTIONAL, float) | dict.fromkeys(set(OPTIONAL) & set(WHOLE), "Int64"))

    def fitted(self, spec: Spec) -> Spec:
        """A spec read from `info`, its weights on the columns that are in use."""
        if spec.weights is None:
            return spec
        space, given = METHODS[spec.method].space, self.spaces.preparation
        width = given.given_width if space == "columns" else self.spaces.of(spec.method).width
        if len(spec.weights) != width:
            differ = f"the clustering has {len(spec.weights)} weights, and the {space} of the data are {width}"
            raise InputError(f"{differ}: is it the data, with the settings, that it was made from?")
        return replace(spec, weights=spec.weights[given.kept]) if space == "columns" else spec

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
        share, scales = spec.drawn.get("own_scale"), self.spaces.own_scales
        if not share or scales is None or METHODS[spec.method].space != "columns":
            return spec
        return spec.times(scales**share)

    def _guided(self, spec: Spec) -> Spec:
        name, space = METHODS[spec.method].space, self.spaces.of(spec.method)
        if self.guide is None or not self.guide.strength or not space.width:
            return spec
        if name not in self._guide_weights:
            self._guide_weights[name] = self.guide.weights(space.table)
        return spec.times(self._guide_weights[name])

    def _cells(self, spec: Spec) -> dict[str, Any]:
        weights, given = spec.weights, self.spaces.preparation
        if weights is not None and METHODS[spec.method].space == "columns" and given.given_width > len(given.kept):
            weights = np.zeros(given.given_width, weights.dtype)
            weights[given.kept] = spec.weights
        return {
            "method": spec.method,
            "n_clusters": spec.n_clusters,
            "seed": spec.seed,
            "unit": spec.unit,
            **{name: spec.drawn.get(name, np.nan) for name in self._drawn},
            "weights": None if weights is None else weights.tolist(),
            **{name: getattr(spec, name) for name in ("around", "jitter", "from_seed", "from_unit", "filling")},
            "stress": self.spaces.stress,
            "settings": self._settings,
        }

    def _compactness(self, labels: Labels) -> Floats:
        # On the data itself, whatever weights made the clusterings; for many objects on a sample, the same for all.
        some, values = np.flatnonzero((labels >= 0).any(axis=1)), np.full(len(labels), np.nan)
        if some.size and self.plan.metric != "graph":  # which has no distances
            rows, distances = sample_objects(self.spaces.n_objects), self.spaces.distances
            data = self.spaces.columns[rows] if distances is None else distances[np.ix_(rows, rows)]
            made = Ensemble.from_codes(labels[np.ix_(some, rows)].T)
            values[some] = compactness(data, made, metric=self.plan.metric, n_jobs=self.n_jobs, progress=False)
        return values

    def _ensemble(self, labels: Labels, info: pd.DataFrame) -> Ensemble:
        # With the same columns and types of `info` wherever it comes from.
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
    kind = "distances" if metric == "precomputed" else "data"
    if isinstance(X, Table) and X.kind != kind:
        raise InputError(f"{X!r} holds {X.kind}, and metric={metric!r} needs {kind}")
    table = as_table(array_of(X) if isinstance(X, (list, tuple)) else X, kind)
    check_rows(table.n_objects, table.source, least)
    return table


class RunBuffer:
    # Flushed about once a second: to the store, or to memory. At its end all are kept, however it ends.

    def __init__(self, runner: Runner, store: Store | None, *, any_before: bool) -> None:
        self._runner, self._store, self._any = runner, store, any_before
        self._waiting: list[tuple[Spec, Made]] = []
        self._parts: list[tuple[Labels, pd.DataFrame]] = []
        self._last = -np.inf  # the first is kept at once: a run that is killed early can go on
        self.failed: list[str] = []

    def __enter__(self) -> "RunBuffer":
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
