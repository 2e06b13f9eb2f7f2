"""A run: draws specs, makes them batch by batch, and adds them to memory or a store."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed
from scipy import sparse
from threadpoolctl import threadpool_limits

from consilience import _kernels
from consilience._check import InputError, check_path, count, fingerprint
from consilience._parallel import n_threads, workers
from consilience._progress import Bar
from consilience._types import Array, Floats, Ints, Labels, PathLike
from consilience.ensemble import Ensemble
from consilience.generation.bound_guide import BoundGuide
from consilience.generation.kmeans import Runs, kmeans_runs
from consilience.generation.method import Method
from consilience.generation.plan import Plan, defaults
from consilience.generation.registry import METHODS
from consilience.generation.sklearn_base import base_run, check_found
from consilience.generation.spaces import GenerationWarning, Spaces
from consilience.generation.specs import FRACTIONS, WHOLE, Spec, draw, vary
from consilience.measures import compactness, sample_objects
from consilience.opening import as_table
from consilience.store import Store
from consilience.store.folder import find_manifest, is_blank
from consilience.tables import Table
from consilience.tables.matrix import array_of, check_rows

BATCH_SECONDS = 1.0  # work that an interrupted run loses at most, about
GROWTH, LARGEST_BATCH = 8, 512
WORK, STEPS = 4e9, 50  # multiplications of a core in a second, and passes of a k-means run, roughly
OWN_SCALE = 3.0  # most that a column counts beside the median one where its own scale plays a part
GIVE_UP = 20  # failures in a row, with nothing made, after which a base clusterer is taken to be wrong for the data
MOST_FILLINGS, FEWEST_FILLINGS = 8, 2  # ways of filling missing cells
KEPT = 1e8  # numbers that are kept for all of them
OPTIONAL = ("around", "jitter", "from_seed", "from_unit", "stress", "filling")  # columns that most runs do not need


class Runner:
    """Makes the clusterings of one table by one plan.

    Parameters
    ----------
    X
        The data, as `generate` takes it.
    plan : Plan
    base : scikit-learn clusterer, optional
    n_jobs : int, optional
    keeps_predictors : bool
        Keep what the methods label new objects by, in `predictors`; up to some megabytes for each clustering.
    """

    def __init__(
        self, X: Any, plan: Plan, base: Any = None, n_jobs: int | None = None, *, keeps_predictors: bool = False
    ) -> None:
        self.keeps_predictors = keeps_predictors
        self.table, self.plan, self.base, self.n_jobs = data_table(X, plan.metric), plan, base, n_jobs
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
        kept = len({METHODS[name].space for name, _ in plan.methods}) * self.table.values.size if gaps else 1
        self.n_fillings = int(np.clip(KEPT // kept, FEWEST_FILLINGS, MOST_FILLINGS)) if gaps else 0
        self.predictors: dict[
            tuple[int, int], Any
        ] = {}  # of clusterings made here, by seed and unit, if their method has one
        self._settings, self._scoring = plan.text(), 0.0
        self.guide = BoundGuide.of_json(plan.guide) if isinstance(plan.guide, Mapping) else None
        self._guide_weights: dict[str, Floats] = {}

    def open_store(self, path: PathLike | None, plan: Any) -> contextlib.AbstractContextManager[Store | None]:
        """The store of a run, held until the end; None without a path."""
        if path is None:
            return contextlib.nullcontext()
        table, folder = self.table, check_path(path, "the store")
        if isinstance(plan, dict) and not is_blank(folder):
            kept, usual = find_manifest(folder)[0]["plan"], defaults(dict(self.plan.methods))
            if isinstance(kept, Mapping):  # an earlier version may not have written what is as it is by default
                plan = {name: value for name, value in plan.items() if name in kept or value != usual.get(name, ...)}
        if table.treatment and isinstance(plan, dict):
            plan = {**plan, "columns": table.treatment}  # kept with the run: what was done to the table
        return Store.resume(
            path, n_objects=table.n_objects, fingerprint=fingerprint(table.values), plan=plan, ids=table.ids
        )

    def run(
        self,
        n: int,
        seed: int = 0,
        *,
        center: Spec | None = None,
        store: Store | None = None,
        progress: bool | None = None,
    ) -> Ensemble:
        """Clusterings 0 … n − 1 of a seed, or of the variations of `center`; those that the store holds are not repeated."""
        stream = center or Spec("", seed, 0, 0)
        done = set() if store is None else set(_rows_of(store.info(STREAM), stream)["unit"].astype(int))
        todo, methods = [unit for unit in range(n) if unit not in done], self.plan.method_of(n)
        kept: list[tuple[Labels, pd.DataFrame]] = []
        failed: list[str] = []
        begin, size = 0, self._first_size
        with Bar(n, "clusterings", progress, done=n - len(todo)) as bar:
            while begin < len(todo):
                units, started = todo[begin : begin + size], time.perf_counter()
                labels, info = self.make(self._specs(units, methods, seed, center))
                made = (labels >= 0).any(axis=1)
                failed += info.loc[~made, "note"].tolist()
                begin += len(units)
                if len(failed) == begin and not done and begin >= min(len(todo), GIVE_UP):
                    raise InputError(f"none of the first {begin} clusterings could be made: {failed[0]}")
                if store is None:
                    kept.append((labels[made], info[made]))
                elif made.any():
                    _append(store, labels[made], info[made].reset_index(drop=True))
                size = self._next_size(size, time.perf_counter() - started)
                bar.advance(len(units))
        if failed:
            message = f"{len(failed)} of {count(n, 'clustering')} could not be made and are left out: {failed[0]}"
            warnings.warn(GenerationWarning(message), stacklevel=3)
        if store is not None:
            return self._stored(store, stream, n)
        info = pd.concat([one for _, one in kept], ignore_index=True)
        return self._ensemble(np.concatenate([labels for labels, _ in kept]), info)

    def make(self, specs: Sequence[Spec]) -> tuple[Labels, pd.DataFrame]:
        """The clusterings of some specs, one row each, and their info; a clustering that failed has no label at all."""
        labels = np.full((len(specs), self.spaces.n_objects), -1, np.int32)
        info = pd.DataFrame([self._cells(spec) for spec in specs])
        inertia, seconds, steps = np.full(len(specs), np.nan), np.zeros(len(specs)), np.full(len(specs), -1)
        notes: list[str | None] = [None] * len(specs)
        together: dict[tuple[str, int | None, int], list[int]] = {}
        alone = []
        for i, spec in enumerate(specs):
            if self.base is None and METHODS[spec.method].is_batched:
                together.setdefault((METHODS[spec.method].space, spec.filling, spec.run_stream[0]), []).append(i)
            else:
                alone.append(i)
        for (_, _, seed), some in together.items():
            runs = self._run_together([specs[i] for i in some], seed)
            labels[some], inertia[some] = runs.labels, runs.inertia
            seconds[some], steps[some] = runs.seconds, runs.steps
        for i, (rows, runs) in zip(alone, self._run_alone([specs[i] for i in alone]), strict=True):
            labels[i, slice(None) if rows is None else rows] = runs.labels[0]
            inertia[i], seconds[i], steps[i], notes[i] = runs.inertia[0], runs.seconds[0], runs.steps[0], runs.note
            if runs.predictor is not None:
                self.predictors[specs[i].seed, specs[i].unit] = runs.predictor
        info["inertia"], info["seconds"] = inertia, seconds
        info["steps"] = pd.Series(steps, dtype="Int64").mask(steps < 0)
        info["note"] = pd.Series(notes, dtype=object)
        started = time.perf_counter()
        info["compactness"] = self._compactness(labels)
        self._scoring = time.perf_counter() - started
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
        spaces = [self.spaces.of(methods[unit]) for unit in units]
        drawn = [self._draw(methods[i], space.width, seed, i) for i, space in zip(units, spaces, strict=True)]
        return [self._guided(self._rescaled(space.settle(spec))) for spec, space in zip(drawn, spaces, strict=True)]

    def _draw(self, method: str, width: int, seed: int, unit: int) -> Spec:
        groups = self.spaces.groups if METHODS[method].space == "columns" else None
        return draw(self.plan, method, width, seed, unit, groups=groups, n_fillings=self.n_fillings)

    def _rescaled(self, spec: Spec) -> Spec:
        """With as much of the columns' own scales as was drawn; none counts more than three times the median one, or less than a third."""
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
    def _first_size(self) -> int:
        """One for each worker; of k-means, whose cost is known, about a second's."""
        jobs, (n, d) = n_threads(self.n_jobs), self.spaces.columns.shape
        if self.base is not None or not all(METHODS[name].is_batched for name, _ in self.plan.methods):
            return jobs
        return int(np.clip(WORK * jobs / (STEPS * n * d * max(self.plan.n_clusters)), jobs, LARGEST_BATCH))

    def _next_size(self, size: int, seconds: float) -> int:
        """As many as take about a second, by the time that the last ones took.

        Scoring a batch costs the distances between objects, however many clusterings it has: where these are dear, as on wide
        tables, making a batch takes about as long as scoring it.
        """
        fit = int(size * max(BATCH_SECONDS, self._scoring) / max(seconds - self._scoring, 1e-6))
        return max(n_threads(self.n_jobs), min(fit, size * GROWTH, LARGEST_BATCH))

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

    def _run_together(self, specs: Sequence[Spec], seed: int) -> Runs:
        space = self.spaces.of(specs[0].method, specs[0].filling)
        weights = np.ones((len(specs), space.width), np.float32)
        for row, spec in zip(weights, specs, strict=True):
            if spec.weights is not None:
                row[:] = spec.weights
        return kmeans_runs(
            space.checked,
            np.array([spec.n_clusters for spec in specs], np.int32),
            checked=True,
            weights=weights,
            units=np.array([spec.run_stream[1] for spec in specs], np.uint64),
            seed=seed,
            init=self.plan.init,
            max_iter=self.plan.max_iter,
            threads=n_threads(self.n_jobs),
        )

    def _run_alone(self, specs: Sequence[Spec]) -> list[tuple[Ints | None, Runs]]:
        tasks = (
            delayed(_make_one)(
                METHODS[spec.method],
                self.base,
                self.spaces.of(spec.method, spec.filling).table,
                spec,
                self.plan,
                self.keeps_predictors,
            )
            for spec in specs
        )
        return list(workers(self.n_jobs, prefer="processes")(tasks)) if specs else []

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
        info = _rows_of(store.info(), stream)
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
        return Ensemble.from_codes(labels.T, info=info, ids=self.table.ids)


STREAM = ("seed", "unit", "around", "jitter")  # what tells the streams of a store apart


def _rows_of(info: pd.DataFrame, stream: Spec) -> pd.DataFrame:
    """The rows of `info` of a seed, or of the variations of a clustering, in the order of their units."""
    if info.empty:
        return info.assign(unit=pd.Series(dtype=int))
    own = info["seed"] == stream.seed
    for name in ("around", "jitter"):
        column, value = info.get(name, pd.Series(np.nan, info.index)), getattr(stream, name)
        own &= column.isna() if value is None else column == value
    return info[own.fillna(False).astype(bool)].sort_values("unit", kind="stable")


def _append(store: Store, labels: Labels, info: pd.DataFrame) -> None:
    """Under the numbers of their units where these are free."""
    wanted = info["unit"].to_numpy(np.int64)
    free = info["around"].isna().all() and not np.isin(wanted, store.numbers).any()
    store.append(labels.T, info, numbers=wanted if free else None)


def _make_one(
    method: Method, base: Any, table: Array, spec: Spec, plan: Plan, keeps_predictor: bool
) -> tuple[Ints | None, Runs]:
    """One clustering by itself: the objects that took part, and what came of it."""
    rows = method.objects(spec, table.shape[0], plan)
    begin = time.perf_counter()
    chosen = table if rows is None else table[rows]
    if spec.weights is not None:
        chosen = weighted(chosen, spec.weights)
    # k-means has no threads of its own here; for all else one, so that its numbers do not depend on how many there are
    with contextlib.nullcontext() if base is None and method.is_kmeans else threadpool_limits(1):
        if base is not None:
            own = int(_kernels.random_bits(*spec.run_stream, 1)[0] >> 1)
            runs = base_run(base, chosen, spec.n_clusters, own)
        else:
            made = method.make(chosen, spec, plan)
            runs = made if isinstance(made, Runs) else Runs.of_labels(check_found(np.asarray(made), chosen.shape[0]))
    kept = runs.predictor if keeps_predictor else None
    return rows, replace(runs, seconds=np.array([time.perf_counter() - begin]), predictor=kept)


def weighted(table: Array, weights: Array) -> Array:
    """The columns times their weights, those of weight 0 left out."""
    kept = np.flatnonzero(weights)
    if sparse.issparse(table):
        return sparse.csr_matrix(table[:, kept] @ sparse.diags(weights[kept].astype(float)))
    return table[:, kept] * weights[kept]


def data_table(X: Any, metric: str, least: int = 2) -> Table:
    """The data as a table of the kind that the metric needs, with at least two objects."""
    kind = "distances" if metric == "precomputed" else "data"
    if isinstance(X, Table) and X.kind != kind:
        raise InputError(f"{X!r} holds {X.kind}, and metric={metric!r} needs {kind}")
    table = as_table(array_of(X) if isinstance(X, (list, tuple)) else X, kind)
    check_rows(table.n_objects, table.source, least)
    return table
