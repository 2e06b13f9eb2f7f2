"""Recipes into clusterings, many at a time: k-means in one kernel call per space, everything else as parallel tasks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from consilience import _kernels
from consilience._check import InputError
from consilience._parallel import n_threads, workers
from consilience._random import stream
from consilience._types import Labels
from consilience.ensemble import Ensemble
from consilience.generation.kmeans import kmeans_runs
from consilience.generation.sklearn_base import Made, base_run
from consilience.generation.spaces import Spaces
from consilience.generation.specs import Recipe
from consilience.generation.spectral import spectral_run
from consilience.measures.compactness import compactness

MEASURED_WHOLE = 5000  # objects up to which compactness is of all pairs; beyond, of the pairs of a sample
SAMPLE = 2000
WORK = 4e9  # multiplications


@dataclass(frozen=True)
class Workshop:
    """What every batch of a run shares."""

    spaces: Spaces
    base: Any
    n_jobs: int | None

    def make(self, recipes: Sequence[Recipe]) -> tuple[Labels, pd.DataFrame]:
        """The clusterings of some recipes, one row each, and their info; a clustering that failed has no label at all."""
        labels = np.full((len(recipes), self.spaces.n_objects), -1, np.int32)
        info = pd.DataFrame([self._describe(recipe) for recipe in recipes])
        info[["inertia", "seconds"]] = np.nan
        info["steps"] = pd.array([pd.NA] * len(recipes), "Int64")
        info["note"] = pd.Series([None] * len(recipes), dtype=object)
        for space in ("columns", "components"):
            some = [i for i, r in enumerate(recipes) if r.space == space and self._is_batched(r)]
            if some:
                self._run_together(space, some, recipes, labels, info)
        alone = [i for i, recipe in enumerate(recipes) if not self._is_batched(recipe)]
        if alone:
            self._run_alone(alone, recipes, labels, info)
        info["compactness"] = self._compactness(labels)
        whole = dict.fromkeys(("around", "from_seed", "from_unit"), "Int64")
        parts = dict.fromkeys(("alpha", "sigma_divisor", "spread", "stress"), float)
        return labels, info.astype(whole | parts)

    def fitted(self, recipe: Recipe) -> Recipe:
        """A recipe read from `info`, its weights on the columns that are in use."""
        if recipe.weights is None:
            return recipe
        width = self.spaces.given_width if recipe.space == "columns" else self.spaces.width(recipe.space)
        if len(recipe.weights) != width:
            raise InputError(
                f"the clustering has {len(recipe.weights)} weights, and the {recipe.space} of the data are {width}: "
                "is it the data, with the settings, that it was made from?"
            )
        return recipe if recipe.space != "columns" else replace(recipe, weights=recipe.weights[self.spaces.kept])

    @property
    def batch_size(self) -> int:
        """Clusterings made at a time: about a second's work, which is what an interrupted run loses at most."""
        settings, jobs = self.spaces.settings, n_threads(self.n_jobs)
        if self.base is not None or "spectral" in dict(settings.methods):
            return 16 * jobs
        one = 50 * self.spaces.n_objects * self.spaces.columns.shape[1] * max(settings.n_clusters)
        return int(np.clip(WORK * jobs / one, 4 * jobs, 512))

    @cached_property
    def settings_text(self) -> str:
        """What all rows of `info` say of the run."""
        return self.spaces.settings.text()

    def _is_batched(self, recipe: Recipe) -> bool:
        return self.base is None and recipe.method not in ("spectral", "objects")

    def _describe(self, recipe: Recipe) -> dict[str, Any]:
        """The cells of `info` that the recipe is read back from."""
        weights = recipe.weights
        if weights is not None and recipe.space == "columns" and self.spaces.given_width > len(self.spaces.kept):
            full = np.zeros(self.spaces.given_width, weights.dtype)
            full[self.spaces.kept] = weights
            weights = full
        return {
            "method": recipe.method,
            "n_clusters": recipe.n_clusters,
            "seed": recipe.seed,
            "unit": recipe.unit,
            "alpha": recipe.alpha,
            "weights": None if weights is None else weights.tolist(),
            "sigma_divisor": recipe.sigma_divisor,
            "around": recipe.around,
            "spread": recipe.spread,
            "from_seed": recipe.from_seed,
            "from_unit": recipe.from_unit,
            "stress": self.spaces.stress,
            "settings": self.settings_text,
        }

    def _run_together(
        self, space: str, some: list[int], recipes: Sequence[Recipe], labels: Labels, info: pd.DataFrame
    ) -> None:
        settings, width = self.spaces.settings, self.spaces.width(space)
        weights = np.ones((len(some), width), np.float32)
        for row, i in zip(weights, some, strict=True):
            if recipes[i].weights is not None:
                row[:] = recipes[i].weights
        by_seed: dict[int, list[int]] = {}
        for place, i in enumerate(some):
            by_seed.setdefault(recipes[i].run_stream[0], []).append(place)
        for seed, places in by_seed.items():
            which = [some[place] for place in places]
            runs = kmeans_runs(
                self.spaces.prepared(space),
                np.array([recipes[i].n_clusters for i in which], np.int32),
                weights=weights[places],
                units=np.array([recipes[i].run_stream[1] for i in which], np.uint64),
                seed=seed,
                init=settings.init,
                max_iter=settings.max_iter,
                threads=n_threads(self.n_jobs),
            )
            labels[which] = runs.labels
            info.loc[which, "inertia"] = runs.inertia
            info.loc[which, "steps"] = runs.steps
            info.loc[which, "seconds"] = runs.seconds

    def _run_alone(self, alone: list[int], recipes: Sequence[Recipe], labels: Labels, info: pd.DataFrame) -> None:
        from joblib import delayed

        settings = self.spaces.settings
        tasks = [
            delayed(_make_one)(self.base, self.spaces.table(recipes[i].space), recipes[i], settings) for i in alone
        ]
        for i, (rows, made, inertia, steps) in zip(alone, workers(self.n_jobs, prefer="processes")(tasks), strict=True):
            if made.labels is not None:
                labels[i, slice(None) if rows is None else rows] = made.labels
            info.loc[i, "seconds"], info.loc[i, "note"] = made.seconds, made.note
            info.loc[i, "inertia"], info.loc[i, "steps"] = inertia, steps

    def _compactness(self, labels: Labels) -> NDArray[np.float64]:
        """On the data itself, whatever weights made the clusterings; for many objects on a sample, the same for all."""
        known = np.flatnonzero((labels >= 0).any(axis=1))
        values = np.full(len(labels), np.nan)
        if not known.size:
            return values
        rows = self._measured
        metric = self.spaces.settings.metric
        data = self.spaces.columns[rows] if self.spaces.distances is None else self.spaces.distances[np.ix_(rows, rows)]
        made = Ensemble.from_codes(labels[np.ix_(known, rows)].T)
        values[known] = compactness(data, made, metric=metric, n_jobs=self.n_jobs, progress=False)
        return values

    @property
    def _measured(self) -> NDArray[np.int64]:
        n = self.spaces.n_objects
        if n <= MEASURED_WHOLE:
            return np.arange(n)
        return np.sort(stream(0, "measures.sample").permutation(n)[:SAMPLE])


def _make_one(base: Any, table: Any, recipe: Recipe, settings: Any) -> tuple[Any, Made, float, Any]:
    """One clustering by itself: rows, labels with seconds and note, inertia and steps where it is k-means."""
    from threadpoolctl import threadpool_limits

    rows = recipe.objects(table.shape[0], settings.object_share)
    begin = time.perf_counter()
    chosen = table if rows is None else table[rows]
    if recipe.weights is not None:
        chosen = _weighted(chosen, recipe.weights)
    seed, unit = recipe.run_stream
    if base is not None:
        with threadpool_limits(1):  # the same numbers whatever the number of threads
            made = base_run(base, chosen, recipe.n_clusters, int(_kernels.random_bits(seed, unit, 1)[0] >> 1))
        return rows, made, float("nan"), pd.NA
    how = {"init": settings.init, "max_iter": settings.max_iter}
    if recipe.method == "spectral":
        assert recipe.sigma_divisor is not None
        with threadpool_limits(1):  # the same numbers whatever the number of threads
            runs = spectral_run(chosen, recipe.n_clusters, recipe.sigma_divisor, seed=seed, unit=unit, **how)
    else:
        units = np.array([unit], np.uint64)
        runs = kmeans_runs(chosen, recipe.n_clusters, n_runs=1, seed=seed, units=units, **how)
    return rows, Made(runs.labels[0], time.perf_counter() - begin), float(runs.inertia[0]), int(runs.steps[0])


def _weighted(table: Any, weights: NDArray[Any]) -> Any:
    """The columns times their weights, those of weight 0 left out."""
    kept = np.flatnonzero(weights)
    if sparse.issparse(table):
        return sparse.csr_matrix(table[:, kept] @ sparse.diags(weights[kept].astype(float)))
    return table[:, kept] * weights[kept]
