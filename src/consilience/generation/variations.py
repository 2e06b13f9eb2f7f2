"""A clustering reproduced, and more like it."""

from __future__ import annotations

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
from consilience.generation.by_blocks import BlockRunner, blocks_of, check_for_blocks
from consilience.generation.guide import Guide
from consilience.generation.methods import METHODS
from consilience.generation.plan import Plan, Spec, defaults
from consilience.generation.runner import Runner
from consilience.generation.sklearn_base import base_text, check_base

USUAL_CLUSTERS = 15  # what a plan has where it does not matter


def remake(X: ArrayLike, row: Any, *, base: Any = None, n_jobs: int | None = None) -> Labels:
    """Reproduce one clustering, alone, from its row of `info`.

    Parameters
    ----------
    X
        The data it was made from; in row blocks where these have other clusterings than memory (mini-batches, sampled starts).
    row : row of an ensemble's `info`
    base : scikit-learn clusterer, optional
        The one it was made with, if it was.
    n_jobs : int, optional

    Returns
    -------
    labels : (n_objects,) int32 array

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> from consilience.generation import remake
    >>> ens = cs.generate(load_beads(), 20, n_clusters=4)
    >>> bool((remake(load_beads(), ens.info.loc[7]) == ens.labels[:, 7]).all())
    True
    """
    spec, plan = of_row(row, base)
    if (blocks := blocks_of(X, plan.blockwise.get("mini_batch", 0))) is not None:
        check_for_blocks(spec.method, plan.metric, base=base)
        runner: Runner = BlockRunner(blocks, plan, n_jobs)
    else:
        runner = Runner(X, plan, base, n_jobs)
    labels, info = runner.make([runner.fitted(spec)])
    if (labels < 0).all():
        raise InputError(f"the clustering could not be made: {info.loc[0, 'note']}")
    return np.asarray(labels[0])


class Variations:
    """More like each of many clusterings of the same data, which is prepared once.

    Parameters
    ----------
    X
        The data.
    base : scikit-learn clusterer, optional
        The one the clusterings were made with, if they were.
    n_jobs : int, optional

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> from consilience.generation import Variations
    >>> ens = cs.generate(load_beads(), 20, n_clusters=4)
    >>> Variations(load_beads())(ens.info.loc[7], 5, jitter=0.1, random_state=0).n_clusterings
    5
    """

    def __init__(self, X: ArrayLike, *, base: Any = None, n_jobs: int | None = None) -> None:
        self._X, self._base, self._n_jobs = X, base, n_jobs
        self._runners: dict[tuple[str, str], Runner] = {}

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
        center = runner.fitted(spec).as_center(_number(row), check_jitter(jitter), check_seed(random_state))
        if columns or guide is not None:
            center = _steered(runner, center, columns or {}, guide)
        return runner.run(check_count("n_clusterings", n_clusterings), center=center, progress=False)

    def loadings(self, row: Any) -> Floats | None:
        """How the columns of the data make the components that a clustering weighted, columns × components; None where it weighted others.

        Examples
        --------
        >>> import consilience as cs
        >>> from consilience.datasets import load_beads
        >>> from consilience.generation import Variations
        >>> ens = cs.generate(load_beads(), 3, n_clusters=4, methods="pca")
        >>> Variations(load_beads()).loadings(ens.info.loc[0]).shape[0]
        8
        """
        spec, runner = self._runner(row)
        axes = getattr(runner.spaces.of(spec.method), "axes", None)
        if axes is None:
            return None
        found = np.zeros((runner.spaces.given_width, axes.shape[1]))
        found[runner.spaces.kept] = axes
        return found

    def _runner(self, row: Any) -> tuple[Spec, Runner]:
        spec, plan = of_row(row, self._base)
        key = plan.text(), spec.method
        if key not in self._runners:
            self._runners[key] = Runner(self._X, plan, self._base, self._n_jobs)
        return spec, self._runners[key]


def _steered(runner: Runner, center: Spec, columns: Mapping[str, float], guide: Guide | None) -> Spec:
    """A center whose weights are multiplied by what people wish of columns and of objects."""
    space = runner.spaces.of(center.method)
    if not space.width:
        raise InputError(f"clusterings by {center.method} weigh no columns: choose one of another method to steer")
    factors = np.ones(space.width)
    if columns:
        given = runner.table.columns
        names = [f"column {i}" for i in range(runner.spaces.given_width)] if given is None else list(given)
        unknown = sorted(set(columns) - set(names))
        if unknown:
            raise InputError(f"the data has no column {show(unknown[0])}: `columns` names those to weigh")
        by = np.array([check_positive(f"the factor of {name}", columns.get(name, 1.0)) for name in names])
        factors = (
            by[runner.spaces.kept] if METHODS[center.method].space == "columns" else _on_components(runner, center, by)
        )
    if guide is not None:
        factors = factors * guide.of(runner.table).weights(space.table)
    return replace(center, weights=factors if center.weights is None else np.asarray(center.weights, float) * factors)


def _on_components(runner: Runner, center: Spec, by: Floats) -> Floats:
    """Factors of components from those of columns: a mean of logarithms, by the squares of their correlations."""
    table = runner.spaces.of(center.method).table
    if sparse.issparse(table) or sparse.issparse(runner.spaces.columns):
        raise InputError(
            "columns of sparse data cannot be steered by components: choose a clustering that weighs columns"
        )
    scores, values = (np.asarray(x, float) - np.mean(x, axis=0) for x in (table, runner.spaces.columns))
    size = np.maximum(np.linalg.norm(scores, axis=0)[:, None] * np.linalg.norm(values, axis=0), 1e-300)
    explained = np.square(scores.T @ values / size)
    share = explained / np.maximum(explained.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(np.exp(share @ np.log(by[runner.spaces.kept])))


def more_like(
    X: ArrayLike,
    around: Any,
    n_clusterings: int,
    *,
    jitter: float,
    plan_given: Plan,
    base: Any,
    random_state: RandomState,
    store: PathLike | None,
    time_limit: float | None,
    retry_failed: bool,
    n_jobs: int | None,
    progress: bool | None,
) -> Ensemble:
    """Clusterings near one of a stored run, added to it, or near a row of `info`; `plan_given` has the settings asked for."""
    run_plan = None
    if isinstance(around, (pd.Series, Mapping)):
        if store is not None:
            raise InputError("around is a row of info and store a run: give the clustering's number in that run")
        row, number = around, _number(around)
    else:
        if store is None:
            what = f"around={show(around)} is the number of a clustering"
            raise InputError(f"{what}: name its run by store, or give its row of info")
        run, number = Store.open(store), check_count("around", around, 0)
        if number not in run.numbers:
            raise InputError(f"store {store} holds no clustering {number}: its info lists those there are")
        run_plan, row = run.manifest["plan"], run.info().loc[number]
    spec, plan = of_row(row, base)
    _check_same(plan_given.as_json() | {"guide": plan_given.guide_words}, plan)
    if plan.guide is not None:  # by its words: what scores the new ones is in the call, or in the run
        kept = plan_given.guide or (run_plan or {}).get("guide")
        plan = replace(plan, guide=kept if isinstance(kept, Mapping) else plan.guide)
    runner = Runner(X, plan, base, n_jobs, time_limit=time_limit)
    center = runner.fitted(spec).as_center(number, check_jitter(jitter), check_seed(random_state))
    with runner.open_store(store, run_plan) as sink:
        return runner.run(n_clusterings, center=center, store=sink, progress=progress, retry_failed=retry_failed)


def check_jitter(jitter: Any) -> float:
    """How far variations are from their center."""
    return check_positive("jitter", jitter, or_equal=True)


def of_row(row: Any, base: Any) -> tuple[Spec, Plan]:
    """How a clustering was made, and in which run."""
    spec = Spec.of_row(row)
    plan = Plan.of_text(dict(row).get("settings"), spec.method, spec.n_clusters)
    if base is not None:
        check_base(base)
    given = None if base is None else base_text(base)
    if plan.base != given:
        made = "k-means" if plan.base is None else f"base={plan.base}"
        raise InputError(f"the clustering was made with {made}, and base is {given}: give the one it was made with")
    return spec, plan


def _number(row: Any) -> int:
    """The number of the clustering that a row of `info` is of: its id, its place, or its unit."""
    for value in (dict(row).get("number"), getattr(row, "name", None), dict(row).get("unit")):
        if isinstance(value, (int, np.integer)):
            return int(value)
    raise InputError("around must be a row of an ensemble's info, such as ens.info.loc[7]")


def _check_same(given: Mapping[str, Any], plan: Plan) -> None:
    """Refuse settings that are neither the usual ones nor those the clustering was made with."""
    usual, made = {"n_clusters": (USUAL_CLUSTERS,)} | defaults(dict(plan.methods)), plan.as_json()
    for name, value in given.items():
        if value not in (usual.get(name, value), made.get(name)) and name not in ("made_by", "methods"):
            raise InputError(
                f"{name} was {show(made.get(name))} when the clustering was made: leave it out for more like it"
            )
