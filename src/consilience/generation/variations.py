"""A clustering made again, and more like it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import (
    InputError,
    check_count,
    check_seed,
    show,
)
from consilience.ensemble import Ensemble
from consilience.generation.batch import Workshop
from consilience.generation.ledger import Ledger, Series
from consilience.generation.making import data_table, ledger_for, make_series, workshop_for
from consilience.generation.plan import Settings
from consilience.generation.sklearn_base import base_text, check_base
from consilience.generation.specs import Recipe, of_row, variation_seed, vary
from consilience.store import Store
from consilience.tables import Table


def remake(X: Any, row: Any, *, base: Any = None, n_jobs: int | None = None) -> NDArray[np.int32]:
    """One clustering again, alone, from its row of `info`.

    Parameters
    ----------
    X
        The data it was made from.
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
    recipe, settings = _of_row(row, base)
    shop = workshop_for(data_table(X, settings.metric), settings, base, n_jobs)
    labels, info = shop.make([shop.fitted(recipe)])
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
    >>> Variations(load_beads())(ens.info.loc[7], 5, spread=0.1, random_state=0).n_clusterings
    5
    """

    def __init__(self, X: Any, *, base: Any = None, n_jobs: int | None = None) -> None:
        self._X, self._base, self._n_jobs = X, base, n_jobs
        self._shops: dict[str, Workshop] = {}

    def __call__(self, row: Any, n: int, *, spread: float, random_state: Any = 0) -> Ensemble:
        """`n` clusterings near the one that the row of `info` describes; those of ``generate(X, n, around=row)``."""
        recipe, settings = _of_row(row, self._base)
        key = f"{settings.text()} {recipe.space}"
        if key not in self._shops:
            self._shops[key] = workshop_for(data_table(self._X, settings.metric), settings, self._base, self._n_jobs)
        number = _number(row)
        return _vary(self._shops[key], Ledger(), recipe, number, n, spread, check_seed(random_state), False)


def more_like(
    table: Table,
    around: Any,
    n: int,
    asked: Settings,
    base: Any,
    spread: float,
    random_state: Any,
    store: Any,
    n_jobs: int | None,
    progress: bool | None,
) -> Ensemble:
    """Clusterings near one of a stored run, added to it, or near a row of `info`."""
    plan = None
    if isinstance(around, (pd.Series, Mapping)):
        if store is not None:
            raise InputError("around is a row of info and store a run: give the clustering's number in that run")
        row, number = around, _number(around)
    else:
        if store is None:
            what = f"around={show(around)} is the number of a clustering"
            raise InputError(f"{what}: name its run by store, or give its row of info")
        run, number = Store.open(store), check_count("around", around, 0)
        if number not in run.finished:
            raise InputError(f"store {store} holds no clustering {number}: its info lists those there are")
        plan, row = run.manifest["plan"], run.info().loc[number]
    recipe, settings = _of_row(row, base)
    _check_asked(asked, settings)
    shop = workshop_for(table, settings, base, n_jobs)
    with ledger_for(table, store, plan) as ledger:
        return _vary(shop, ledger, recipe, number, n, float(spread), check_seed(random_state), progress)


def _vary(
    shop: Workshop,
    ledger: Ledger,
    recipe: Recipe,
    number: int,
    n: int,
    spread: float,
    seed: int,
    progress: bool | None,
) -> Ensemble:
    seed, recipe = variation_seed(seed, number), shop.fitted(recipe)
    width = shop.spaces.width(recipe.space)
    series = Series(seed, number, float(spread))
    return make_series(
        shop, ledger, series, n, lambda units: vary(recipe, width, spread, seed, units, number), progress
    )


def _of_row(row: Any, base: Any) -> tuple[Recipe, Settings]:
    """How a clustering was made, and in which run."""
    recipe = of_row(row)
    settings = Settings.of_text(dict(row).get("settings"), recipe.method, recipe.n_clusters)
    if base is not None:
        check_base(base)
    given = None if base is None else base_text(base)
    if settings.base != given:
        made = "k-means" if settings.base is None else f"base={settings.base}"
        raise InputError(f"the clustering was made with {made}, and base is {given}: give the one it was made with")
    return recipe, settings


def _number(row: Any) -> int:
    """The number of the clustering that a row of `info` is of: its id, its place, or its unit."""
    for value in (dict(row).get("id"), getattr(row, "name", None), dict(row).get("unit")):
        if isinstance(value, (int, np.integer)):
            return int(value)
    raise InputError("around must be a row of an ensemble's info, such as ens.info.loc[7]")


def _check_asked(asked: Settings, settings: Settings) -> None:
    """Refuse settings that are neither the usual ones nor those the clustering was made with."""
    usual = Settings.checked(methods="zipf+pca", n_clusters=15)
    for field in dataclasses.fields(Settings):
        value, there = getattr(asked, field.name), getattr(settings, field.name)
        if value not in (getattr(usual, field.name), there) and field.name != "methods":
            raise InputError(
                f"{field.name} was {show(there)} when the clustering was made: leave it out for more like it"
            )
