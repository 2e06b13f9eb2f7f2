"""Data → many diverse clusterings (Caruana, Elhawary, Nguyen and Smith 2006, section 2.1)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from consilience._check import (
    check_count,
    check_positive,
    check_seed,
)
from consilience._parallel import check_n_jobs
from consilience.ensemble import Ensemble
from consilience.generation.ledger import Series
from consilience.generation.making import data_table, ledger_for, make_series, workshop_for
from consilience.generation.plan import SIGMA_DIVISORS, Settings
from consilience.generation.sklearn_base import base_text, check_base
from consilience.generation.specs import draw
from consilience.generation.variations import more_like
from consilience.store import Store


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
    check_n_jobs(n_jobs)
    table = data_table(X, metric)
    if around is not None:
        return more_like(table, around, n_clusterings, settings, base, spread, random_state, store, n_jobs, progress)
    seed = _seed(random_state, store)
    shop = workshop_for(table, settings, base, n_jobs)
    with ledger_for(table, store, settings.plan() | {"seed": seed}) as ledger:
        method_of = settings.method_of(n_clusterings)
        return make_series(
            shop,
            ledger,
            Series(seed),
            n_clusterings,
            lambda units: draw(settings, seed, units, method_of, shop.spaces.width),
            progress,
        )


def _seed(random_state: Any, store: Any) -> int:
    """The seed asked for; where none is and there is a run already, that run's."""
    if random_state is None and store is not None and os.path.exists(os.path.join(store, "manifest.json")):
        plan = Store.open(store).manifest["plan"]
        if isinstance(plan, Mapping) and "seed" in plan:
            return int(plan["seed"])
    return check_seed(random_state)
