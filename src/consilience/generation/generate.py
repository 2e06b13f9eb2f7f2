"""Data → many diverse clusterings (Caruana, Elhawary, Nguyen and Smith 2006, section 2.1)."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import (
    InputError,
    check_count,
    check_positive,
    check_seed,
    check_threads,
    count,
    fingerprint,
    show,
)
from consilience._progress import Bar
from consilience.ensemble import Ensemble
from consilience.generation.base import base_text, check_base
from consilience.generation.batch import Workshop
from consilience.generation.ledger import Ledger, Series
from consilience.generation.recipes import Recipe, draw, of_row, variation_seed, vary
from consilience.generation.settings import SIGMA_DIVISORS, Settings
from consilience.generation.spaces import GenerationWarning, Spaces
from consilience.generation.spectral import check_spectral
from consilience.store import Store
from consilience.tables import Table, read_table

GIVE_UP = 20  # failures in a row, with nothing made, after which a base clusterer is taken to be wrong for the data


def generate(
    X: Any,
    n_clusterings: int = 1000,
    n_clusters: Any = 15,
    methods: Any = "zipf+pca",
    *,
    base: Any = None,
    metric: str = "euclidean",
    standardize: bool = True,
    max_alpha: float = 1.5,
    zipf_max: int = 100,
    pca_share: float = 0.95,
    pca_rule: str = "variance",
    feature_share: float = 0.5,
    object_share: float = 0.8,
    sigma_divisors: Any = SIGMA_DIVISORS,
    n_dimensions: int = 10,
    init: str = "random",
    max_iter: int = 300,
    around: Any = None,
    spread: float = 0.3,
    random_state: Any = 0,
    store: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Ensemble:
    """Make many different, reasonable clusterings of the same data.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame, Table, AnnData or path
        (n_objects, n_columns) measurements; with ``metric="precomputed"``, (n_objects, n_objects) distances.
        Constant columns are left out.
    n_clusterings : int
    n_clusters : int, (low, high) or list of int
        One number, or numbers that each clustering draws its own from.
    methods : str or dict
        Where the diversity comes from, in equal shares (``"zipf+pca"``) or given ones (``"zipf:3+minima:1"``):

        - ``"zipf"``: k-means after every column is multiplied by a random weight from a Zipf distribution
          p(i) ∝ i^−α on 1 … `zipf_max`, α uniform in [0, `max_alpha`];
        - ``"pca"``: the same on the principal components that hold `pca_share` of the variability;
        - ``"minima"``: k-means from random starts, unweighted: its local minima;
        - ``"features"``: k-means on a random `feature_share` of the columns;
        - ``"objects"``: k-means on a random `object_share` of the objects; the others have no label there;
        - ``"spectral"``: Ng–Jordan–Weiss spectral clustering of Zipf-weighted columns, with σ the largest distance
          over one of `sigma_divisors` (2^(i/4) for i = 0, 2, 4, 8, 16, 32). It needs all similarities: up to 8,000
          objects.
    base : scikit-learn clusterer, optional
        Takes the place of k-means: a copy for every clustering, with its `n_clusters` (or `n_components`) and
        `random_state` set where it has them (the last step of a pipeline, too; a number of clusters that is None
        stays so). Objects that it calls noise (−1) have no label.
    metric : {"euclidean", "precomputed"}
        "precomputed" scales distances to `n_dimensions` columns first (Eq. 2 of the paper), which are then weighted.
    standardize : bool
        Give every column mean 0 and standard deviation 1 first; sparse tables are only scaled. The columns that
        distances are scaled to stay as they are.
    max_alpha, zipf_max
        Of the Zipf distribution. The paper does not state its largest value; small ones make the weights more alike.
    pca_share, pca_rule
        How many components: those that hold this share of the "variance", or of the standard "deviation".
    feature_share, object_share, sigma_divisors, n_dimensions
        See the methods above.
    init : {"random", "k-means++"}
        Starts of k-means.
    max_iter : int
        Steps of k-means at most; `steps` in `info` shows those that needed all.
    around : int or row of `info`, optional
        More like this one: new clusterings made as it was, from the same starts, with its weights times
        exp(`spread` · N(0, 1)). A number is the id of a clustering in `store`, to which the new ones are added. All
        other settings are the clustering's own; different ones are refused.
    spread : float
        How far from it: 0.1 hardly changes anything, 1 a lot.
    random_state : int or NumPy generator, optional
        Clustering i depends on it and on i alone: not on `n_jobs`, on what else is made, or on interruptions.
    store : path, optional
        A folder that clusterings are appended to as they are made. If it is there already, the run goes on where it
        stopped, or grows to `n_clusterings`.
    n_jobs : int, optional
        Threads of k-means; of other clusterers, joblib workers.
    progress : bool, optional
        Show a bar with rate and time left; by default only on a terminal.

    Returns
    -------
    Ensemble
        `info` has for every clustering its method, n_clusters (as asked for), seed, unit, alpha, weights (of the
        given columns, or of the components), sigma_divisor, inertia (in its own weighted space), steps, compactness
        (Eq. 3, on the data itself; beyond 5,000 objects on 2,000 of them), seconds, a note, and the settings of the
        run.

    Notes
    -----
    Zipf weights were chosen by the paper since few columns matter in many data sets; "zipf" and "pca" together gave
    the most diverse clusterings there. One clustering can be made again alone: :func:`remake`.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> ens = cs.generate(load_beads(), 100, n_clusters=4, methods="zipf+pca+minima")
    >>> ens
    Ensemble: 100 clusterings of 300 objects
      clusters  4
      made by   zipf 34, pca 33, minima 33
    >>> more = cs.generate(load_beads(), 10, around=ens.info.loc[0])
    >>> more.n_clusterings
    10
    """
    if base is not None:
        check_base(base)
    settings = Settings.checked(
        methods=methods,
        n_clusters=n_clusters,
        base=None if base is None else base_text(base),
        metric=metric,
        standardize=standardize,
        max_alpha=max_alpha,
        zipf_max=zipf_max,
        pca_share=pca_share,
        pca_rule=pca_rule,
        feature_share=feature_share,
        object_share=object_share,
        sigma_divisors=sigma_divisors,
        n_dimensions=n_dimensions,
        init=init,
        max_iter=max_iter,
    )
    check_count("n_clusterings", n_clusterings)
    check_positive("spread", spread, or_equal=True)
    check_threads(n_jobs)
    table = _table(X, metric)
    if around is not None:
        return _around(table, around, n_clusterings, settings, base, spread, random_state, store, n_jobs, progress)
    seed = _seed(random_state, store)
    shop = _workshop(table, settings, base, n_jobs)
    with _ledger(table, store, settings.plan() | {"seed": seed}) as ledger:
        method_of = settings.method_of(n_clusterings)
        return _make(
            shop,
            ledger,
            Series(seed),
            n_clusterings,
            lambda units: draw(settings, seed, units, method_of, shop.spaces.width),
            progress,
        )


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
    shop = _workshop(_table(X, settings.metric), settings, base, n_jobs)
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
            self._shops[key] = _workshop(_table(self._X, settings.metric), settings, self._base, self._n_jobs)
        number = _number(row)
        return _vary(self._shops[key], Ledger(), recipe, number, n, spread, check_seed(random_state), False)


def _around(
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
    shop = _workshop(table, settings, base, n_jobs)
    with _ledger(table, store, plan) as ledger:
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
    return _make(shop, ledger, series, n, lambda units: vary(recipe, width, spread, seed, units, number), progress)


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


def _make(
    shop: Workshop,
    ledger: Ledger,
    series: Series,
    n: int,
    recipes: Callable[[Sequence[int]], list[Recipe]],
    progress: bool | None,
) -> Ensemble:
    """Make what is not finished of a series, batch by batch, and return it whole."""
    finished = ledger.finished(series)
    todo = [unit for unit in range(n) if unit not in finished]
    failed: list[str] = []
    with Bar(n, "clusterings", progress, done=n - len(todo)) as bar:
        size = shop.batch_size
        for begin in range(0, len(todo), size):
            some = todo[begin : begin + size]
            labels, info = shop.make(recipes(some))
            ledger.add(labels, info)
            failed += info.loc[(labels < 0).all(axis=1), "note"].tolist()
            nothing = not finished and len(failed) == begin + len(some)
            if nothing and len(failed) >= min(len(todo), GIVE_UP):
                raise InputError(f"none of the first {len(failed)} clusterings could be made by base: {failed[0]}")
            bar.advance(len(some))
    if failed:
        message = f"{len(failed)} of {count(n, 'clustering')} could not be made by base and are left out: {failed[0]}"
        warnings.warn(GenerationWarning(message), stacklevel=3)
    return ledger.ensemble(series, n)


def _table(X: Any, metric: str) -> Table:
    kind = "distances" if metric == "precomputed" else "data"
    if isinstance(X, Table) and X.kind != kind:
        raise InputError(f"{X!r} holds {X.kind}, and metric={metric!r} needs {kind}")
    table = X if isinstance(X, Table) else read_table(np.asarray(X) if isinstance(X, (list, tuple)) else X, kind=kind)
    if table.n_objects < 2:
        raise InputError(f"{table.source}: there is nothing to cluster in {count(table.n_objects, 'object')}")
    return table


def _workshop(table: Table, settings: Settings, base: Any, n_jobs: int | None) -> Workshop:
    largest = max(settings.n_clusters)
    if largest > table.n_objects:
        raise InputError(
            f"{largest} clusters need as many objects, and {table.source} has {table.n_objects}: lower n_clusters"
        )
    if "spectral" in dict(settings.methods):
        check_spectral(table.n_objects)
    return Workshop(Spaces(table.values, settings), base, n_jobs)


@contextlib.contextmanager
def _ledger(table: Table, path: Any, plan: Any) -> Iterator[Ledger]:
    """Memory, or the store of a run, held until the end."""
    if path is None:
        yield Ledger(table.ids)
        return
    with Store.resume(
        path, n_objects=table.n_objects, fingerprint=fingerprint(table.values), plan=plan, ids=table.ids
    ) as store:
        yield Ledger(table.ids, store)


def _seed(random_state: Any, store: Any) -> int:
    """The seed asked for; where none is and there is a run already, that run's."""
    if random_state is None and store is not None and os.path.exists(os.path.join(store, "manifest.json")):
        plan = Store.open(store).manifest["plan"]
        if isinstance(plan, Mapping) and "seed" in plan:
            return int(plan["seed"])
    return check_seed(random_state)


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
