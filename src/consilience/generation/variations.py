"""Clusterings made again, and more like them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import InputError, check_count, check_positive, check_seed, show
from consilience._types import ArrayLike, Floats, Labels, PathLike, RandomState
from consilience.ensemble import Ensemble
from consilience.ensemble.store import Store
from consilience.generation.guide import Guide
from consilience.generation.methods.method import Space
from consilience.generation.number_blocks import runner_of
from consilience.generation.plan import METHODS, Plan, Spec, defaults, of_row
from consilience.generation.runner import Runner

UNASKED_CLUSTERS = 15  # safeguard: only stands in a plan that asks for as many clusters as the one to be varied has


class Variations:
    """Clusterings of known data made again, and more like each of them; the data is prepared once.

    Parameters
    ----------
    X
        The data the clusterings were made from; row blocks where they were made from these.
    base : scikit-learn clusterer, optional
        The one they were made with, if they were.
    n_jobs : int, optional

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> from consilience.generation import Variations
    >>> ens = cs.generate(load_beads(), 20, n_clusters=4)
    >>> variations = Variations(load_beads())
    >>> variations(ens.info.loc[7], 5, jitter=0.1, random_state=0).n_clusterings
    5
    >>> bool((variations.remake(ens.info.loc[7]) == ens.labels[:, 7]).all())
    True
    """

    def __init__(self, X: ArrayLike, *, base: Any = None, n_jobs: int | None = None) -> None:
        self._X, self._base, self._n_jobs = X, base, n_jobs
        self._runners: dict[tuple[str, str, int], Runner] = {}

    def remake(self, row: Any) -> Labels:
        """Reproduce one clustering, alone, from its row of `info`: (n_objects,) int32 labels."""
        spec, runner = self._runner(row)
        labels, info = runner.make(runner.fitted(spec))
        if (labels < 0).all():
            raise InputError(f"the clustering could not be made: {info.loc[0, 'note']}")
        return np.asarray(labels[0])

    def __call__(
        self,
        row: Any,
        n_clusterings: int,
        *,
        jitter: float,
        random_state: RandomState = 0,
        columns: Mapping[str, float] | None = None,
        guide: Guide | None = None,
    ) -> Ensemble:
        """Clusterings near the one that the row of `info` describes; those of ``generate(X, n_clusterings, around=row)``.

        They can be steered: `columns` have factors by which some count more (above 1) or less, and a `guide` has pairs of
        objects to be kept together or apart. Where a method weighs components, a column's factor acts on each by its
        share in what the columns, one by one, explain of it.
        """
        spec, runner = self._runner(row)
        jitter = check_positive("jitter", jitter, or_equal=True)
        center = runner.fitted(spec).as_center(_number(row), jitter, check_seed(random_state))
        if columns or guide is not None:
            center = _steered(runner, center, columns or {}, guide)
        return runner.run(check_count("n_clusterings", n_clusterings), center=center, progress=False)

    def loadings(self, row: Any) -> Floats | None:
        """How the columns make the components that a clustering weighted, columns × components; None where it weighted others."""
        spec, runner = self._runner(row)
        preparation = runner.spaces.preparation
        # Only components have axes; columns are weighted as they are.
        if (axes := getattr(runner.spaces.of(spec.method), "axes", None)) is None:
            return None
        loadings = np.zeros((preparation.given_width, axes.shape[1]))
        loadings[preparation.kept] = axes
        return loadings

    def _runner(self, row: Any) -> tuple[Spec, Runner]:
        spec, plan = of_row(row, self._base)
        seed = spec.origin[0]  # which row blocks draw their sample by
        key = plan.text(), spec.method, 0 if plan.sample_size is None else seed
        if key not in self._runners:
            self._runners[key] = runner_of(self._X, plan, seed=seed, base=self._base, n_jobs=self._n_jobs)
        return spec, self._runners[key]


def _steered(runner: Runner, center: Spec, columns: Mapping[str, float], guide: Guide | None) -> Spec:
    space, preparation = runner.spaces.of(center.method), runner.spaces.preparation
    if not space.width:
        raise InputError(f"clusterings by {center.method} weigh no columns: choose one of another method to steer")
    factors = np.ones(space.width)  # on top of what the clustering drew itself
    if columns:
        names = runner.table.columns or [f"column {i}" for i in range(preparation.given_width)]
        if unknown := sorted(set(columns) - set(names)):
            raise InputError(f"the data has no column {show(unknown[0])}: `columns` names those to weigh")
        each = [check_positive(f"the factor of {name}", columns.get(name, 1.0)) for name in names]
        by = np.array(each)[preparation.kept]
        factors = by if METHODS[center.method].space == "columns" else _on_components(runner, space, by)
    if guide is not None:
        factors = factors * guide.of(runner.table).weights(space.table)
    return center.times(factors)


def _on_components(runner: Runner, space: Space, by: Floats) -> Floats:
    # A mean of logarithms, by the squares of the correlations of components with columns.
    table = space.table
    if sparse.issparse(table) or sparse.issparse(runner.spaces.columns):
        raise InputError("columns of sparse data cannot steer components: choose a clustering that weighs columns")
    # Weights of components cannot give a column any weight: they come as near as their correlations let them.
    scores, values = (np.asarray(x, float) - np.mean(x, axis=0) for x in (table, runner.spaces.columns))
    size = np.maximum(np.linalg.norm(scores, axis=0)[:, None] * np.linalg.norm(values, axis=0), 1e-300)
    explained = np.square(scores.T @ values / size)
    share = explained / np.maximum(explained.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(np.exp(share @ np.log(by)))


def center_of(around: Any, store: PathLike | None, given: Plan, base: Any) -> tuple[Spec, int, Plan, Any]:
    """How the clustering that others are to be near was made, its number, its plan, and the plan of its run in a store."""
    run_plan, is_row = None, isinstance(around, (pd.Series, Mapping))
    if is_row and store is not None:
        raise InputError("around is a row of info and store a run: give the clustering's number in that run")
    if not is_row and store is None:
        what = f"around={show(around)} is the number of a clustering"
        raise InputError(f"{what}: name its run by store, or give its row of info")
    if store is None:
        row, number = around, _number(around)
    else:
        run, number = Store.open(store), check_count("around", around, 0)
        if number not in run.numbers:
            raise InputError(f"store {store} holds no clustering {number}: its info lists those there are")
        run_plan, row = run.manifest["plan"], run.info().loc[number]
    spec, plan = of_row(row, base)
    _check_same(given.as_json() | {"guide": given.guide_words}, plan)
    if plan.guide is not None:  # by its words: what scores the new ones is in the call, or in the run
        kept = given.guide or (run_plan or {}).get("guide")
        plan = replace(plan, guide=kept if isinstance(kept, Mapping) else plan.guide)
    return spec, number, plan, run_plan


def _number(row: Any) -> int:
    for value in (dict(row).get("number"), getattr(row, "name", None), dict(row).get("unit")):
        if isinstance(value, (int, np.integer)):
            return int(value)
    raise InputError("around must be a row of an ensemble's info, such as ens.info.loc[7]")


def _check_same(given: Mapping[str, Any], plan: Plan) -> None:
    usual, made = {"n_clusters": (UNASKED_CLUSTERS,)} | defaults(dict(plan.methods)), plan.as_json()
    for name, value in given.items():  # what nobody set is as by default, and means nothing
        if value not in (usual.get(name, value), made.get(name)) and name not in ("made_by", "methods"):
            then = show(made.get(name))
            raise InputError(f"{name} was {then} when the clustering was made: leave it out for more like it")
