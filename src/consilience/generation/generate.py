"""Data → many diverse clusterings (Caruana, Elhawary, Nguyen and Smith 2006, section 2.1)."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from consilience._check import InputError, check_count, check_positive, check_seed
from consilience._run.parallel import check_n_jobs, runs_tasks
from consilience._types import ArrayLike, PathLike, RandomState
from consilience.ensemble import Ensemble
from consilience.ensemble.store import Store
from consilience.generation.default_methods import is_auto, recipe_of, usual_clusters
from consilience.generation.guide import Guide, check_guide, set_aside
from consilience.generation.methods.graph import own_graph
from consilience.generation.number_blocks import blocks_of, draw_sample, runner_of
from consilience.generation.plan import Plan
from consilience.generation.runner import data_table
from consilience.generation.variations import UNASKED_CLUSTERS, center_of
from consilience.inputs import as_table
from consilience.tables.raw_table import split_reading


@runs_tasks
def generate(
    X: ArrayLike,
    n_clusterings: int = 1000,
    n_clusters: Any = None,
    methods: Any = "zipf+pca",
    *,
    base: Any = None,
    metric: str = "euclidean",
    standardize: bool = True,
    n_dimensions: int = 10,
    init: str = "random",
    max_iter: int = 300,
    around: Any = None,
    jitter: float = 0.3,
    guide: Guide | None = None,
    together: Any = None,
    apart: Any = None,
    like: Any = None,
    unlike: Any = None,
    guide_strength: float | None = None,
    random_state: RandomState = 0,
    store: PathLike | None = None,
    time_limit: float | None = None,
    retry_failed: bool = False,
    n_jobs: int | None = None,
    client: Any = None,
    log: PathLike | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Ensemble:
    """Make many different, reasonable clusterings of the same data.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame, Table, AnnData or path; or row blocks
        (n_objects, n_columns) measurements; with ``metric="precomputed"``, (n_objects, n_objects) distances.
        Columns of data may be of any kind and have gaps, which each clustering fills in its own way (``docs/tables.md``). Constant
        columns are left out. Numbers in row blocks (a Dask array or data frame, a Parquet folder) are never held all at once: beyond
        100,000 rows a random sample of so many is clustered, and each clustering labels the other rows block by block, by the nearest
        mean for k-means. There is no k-means with the exact means of all rows (``docs/scale.md``).
    n_clusterings : int
    n_clusters : int, (low, high), list of int or None
        One number, or numbers that each clustering draws its own from; None draws from √n / 4 … √n, at most 60.
    methods : str or dict
        Where the diversity comes from, in equal shares (``"zipf+pca"``) or given ones (``"zipf:3+minima:1"``). The names
        are those of :data:`consilience.generation.METHODS`, to which you can add your own; in brackets their `options`. Where one good
        clustering is wanted rather than many different ones, ``"auto"`` takes the methods whose consensus is best on data of this kind
        (:mod:`consilience.generation.default_methods`; `settings` in `info` says which and why):

        - ``"zipf"``: k-means after every column is multiplied by a random weight from a Zipf distribution
          p(i) ∝ i^−α on 1 … `zipf_max` (100), α uniform in [0, `max_alpha`] (1.5);
        - ``"pca"``: the same on the principal components that hold a share `pca_share` (0.95) of the variability: of the
          "variance", or of the standard "deviation" (`pca_rule`);
        - ``"minima"``: k-means from random starts, unweighted: its local minima;
        - ``"features"``: k-means on a random share of the columns (`feature_share`, 0.5);
        - ``"objects"``: k-means on a random share of the objects (`object_share`, 0.8); the others have no label there;
        - ``"spectral"``: Ng–Jordan–Weiss spectral clustering of Zipf-weighted columns, with σ the largest distance
          over one of `sigma_divisors` (2^(i/4) for i = 0, 2, 4, 8, 16, 32). It needs all similarities: up to 8,000
          objects;
        - ``"reduced"``: k-means from random starts on the first principal components, 10 to 50 of them;
        - ``"components"``: "landmarks" on the first principal components, 10 to 50 of them;
        - ``"landmarks"``: spectral clustering of the graph of objects and `n_landmarks` (1000) landmarks, each object tied
          to the nearest `n_neighbors` (5): for any number of objects and clusters of any shape. Standardized columns get back
          a share of their own scales, drawn for each clustering;
        - ``"metrics"``: the same, by Euclidean distance, cosine or correlation on a random share of the columns: for wide tables;
        - ``"density"``: HDBSCAN with drawn parameters, which finds the number of clusters itself; noise has no label. Up to 50,000
          objects;
        - ``"gaussian"``: a mixture of Gaussians, the form of the covariances drawn;
        - ``"average"``, ``"ward"``, ``"genie"``: cuts of a tree by average linkage, by Ward's, or by Genie, single linkage of clusters
          of like sizes. Nothing is random. Of more than `tree_objects` objects the tree is of so many, the others go with the nearest;
        - ``"layers"``: the most persistent clusters of a tree of density (PLSCAN), in the number nearest to what is drawn; noise has
          no label. Sampled likewise;
        - ``"graph"``: Leiden on a graph of the nearest neighbors, as many as one of `graph_neighbors` (10, 15, 20, 30). Its
          resolution is drawn from `resolutions` (two are the ends of a range), or is the one at which about the drawn number of
          clusters comes out. An AnnData's own graph is taken where it has one. It needs igraph (the extra ``graph``).
    base : scikit-learn clusterer, optional
        Takes the place of k-means: a copy for every clustering, with its `n_clusters` (or `n_components`) and
        `random_state` set where it has them (the last step of a pipeline, too; a number of clusters that is None
        stays so). Objects that it calls noise (−1) have no label.
    metric : {"euclidean", "precomputed", "graph"}
        "precomputed" scales distances to `n_dimensions` columns first (Caruana et al. 2006, Eq. 2), which are then weighted.
        With "graph", X is a (n_objects, n_objects) matrix of the weights of a graph's edges, for the method ``"graph"``.
    standardize : bool
        Give every column mean 0 and standard deviation 1 first; sparse tables are only scaled, and counts weighted by tf-idf. The
        columns that distances are scaled to stay as they are.
    n_dimensions : int
        Columns that distances are scaled to.
    init : {"random", "k-means++"}
        Starts of k-means.
    max_iter : int
        Steps of k-means at most; `steps` in `info` shows those that needed all.
    around : int or row of `info`, optional
        More like this one: new clusterings made as it was, from the same starts, with its weights times
        exp(`jitter` · N(0, 1)). A number is the id of a clustering in `store`, to which the new ones are added. All
        other settings are the clustering's own; different ones are refused.
    jitter : float
        How far from it: 0.1 hardly changes anything, 1 a lot.
    guide : Guide, optional
        Wishes that weigh the columns, or components, of every clustering, and score it (`guide` in `info`).
    together, apart, like, unlike, guide_strength
        A guide's parts, without making one: pairs of objects by id or row, and label vectors or columns of the table, which are set
        aside; see :class:`~consilience.generation.Guide`.
    random_state : int or NumPy generator, optional
        Clustering i depends on it and on i alone: not on `n_jobs`, on what else is made, or on interruptions.
    store : path, optional
        A folder that clusterings are appended to as they are made. If it is there already, the run goes on where it
        stopped, or grows to `n_clusterings`.
    time_limit : float, optional
        Seconds that a clustering may take. Each is then made in another process, which is killed when the time is over, so that not
        even one that hangs, or crashes, takes more along than itself. Neither that nor one that raises an error stops the run: it is
        left out, and a store keeps why (:meth:`consilience.ensemble.store.Store.failures`).
    retry_failed : bool
        Try again those that failed in an earlier run of `store`; by default they stay left out.
    n_jobs : int, optional
        Threads of k-means; of other clusterers, joblib workers.
    client : dask.distributed.Client, optional
        A cluster that the tasks go to, instead (``docs/scale.md``); the answer is the same.
    log : path, optional
        A file that lines are added to, of what was done, where, in how many seconds and with how much memory (``docs/scale.md``).
    progress : bool, optional
        Show a bar with rate and time left; by default only on a terminal.
    **options
        Of the methods, as listed above; and how to read a table: `id_column`, `known`, `columns`, `key` and the other parameters of
        :func:`consilience.tables.read_table`.

    Returns
    -------
    Ensemble
        `info` has for every clustering its method, n_clusters (as asked for), seed, unit, what its method drew (alpha,
        sigma_divisor, resolution, n_neighbors), weights (of the given columns, or of the components), inertia (in its own
        weighted space), steps, filling (of missing cells, by number), compactness (Eq. 3, on the data itself; beyond 5,000 objects
        on 2,000 of them), seconds, a note, and the settings of the run. Scores of row blocks are those of the sample.

    Notes
    -----
    Caruana et al. 2006 chose Zipf weights since few columns matter in many data sets; "zipf" and "pca" together gave
    the most diverse clusterings there. They do not state the largest Zipf number; small ones make the
    weights more alike. One clustering can be reproduced alone: :meth:`Variations.remake`.

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
    reading, options = split_reading(options)
    # A graph of neighbors that an AnnData brings has been looked at by its owner: it goes before one of ours.
    if methods == "graph" and metric == "euclidean" and not reading.get("key") and (key := own_graph(X)) is not None:
        reading, metric = {**reading, "key": key}, "graph"
    wishes = check_guide(guide, together=together, apart=apart, like=like, unlike=unlike, strength=guide_strength)
    blocks, sample = blocks_of(X, **reading), None
    if blocks is not None:
        if metric != "euclidean" or wishes is not None:
            raise InputError("row blocks are columns of numbers: distances, a graph and a guide need the whole table")
        X, reading = blocks, {}
    if wishes is not None:
        reading = set_aside(X, wishes, reading)
    if reading:
        X = as_table(X, "distances" if metric == "precomputed" else "data", **reading)
    if around is not None and n_clusters is None:
        n_clusters = UNASKED_CLUSTERS  # the clustering's own
    seed = check_seed(random_state) if around is not None else _seed(random_state, store)
    if blocks is None and (wishes is not None or is_auto(methods) or n_clusters is None):
        X = data_table(X, metric)
    elif blocks is not None and is_auto(methods):  # the sample is looked at
        sample = draw_sample(blocks, seed, n_jobs)
    given = X if sample is None else sample.values
    recipe = recipe_of(given, metric=metric, base=base) if is_auto(methods) else None
    if n_clusters is None:
        n_clusters = usual_clusters(X.n_objects if blocks is None else min(blocks.n_rows, blocks.sample_size))
    plan = Plan.checked(
        methods=methods if recipe is None else recipe.methods,
        n_clusters=n_clusters,
        base=base,
        metric=metric,
        standardize=standardize,
        n_dimensions=n_dimensions,
        init=init,
        max_iter=max_iter,
        guide=None if wishes is None else wishes.of(X),
        **options,
    )
    if recipe is not None:
        plan = replace(plan, options={**plan.options, "recipe": recipe.words})
    check_count("n_clusterings", n_clusterings)
    check_positive("jitter", jitter, or_equal=True)
    check_n_jobs(n_jobs)
    if time_limit is not None:
        check_positive("time_limit (--time-limit)", time_limit)
    center, run_plan = None, None
    how = {"base": base, "n_jobs": n_jobs, "time_limit": time_limit}
    if around is not None:  # the settings are the clustering's own; those given are only compared with them
        spec, number, plan, run_plan = center_of(around, store, plan, base)
        runner = runner_of(X, plan, seed=spec.origin[0], **how)
        center = runner.fitted(spec).as_center(number, jitter, seed)
    else:
        if blocks is not None and blocks.n_sampled is not None:  # without which its clusterings cannot be made again
            plan = replace(plan, options={**plan.options, "sample_size": blocks.n_sampled})
        runner = runner_of(X, plan, seed=seed, sample=sample, **how)
        run_plan = plan.as_json() | {"seed": seed}
    with runner.open_store(store, run_plan) as sink:
        return runner.run(n_clusterings, seed, center=center, store=sink, progress=progress, retry_failed=retry_failed)


def _seed(random_state: RandomState, store: PathLike | None) -> int:
    """The seed asked for; where none is and there is a run already, that run's."""
    if random_state is None and store is not None and os.path.exists(os.path.join(store, "manifest.json")):
        plan = Store.open(store).manifest["plan"]
        if isinstance(plan, Mapping) and "seed" in plan:
            return int(plan["seed"])
    return check_seed(random_state)
