"""`agree`: many clusterings of rows and columns of a count table, brought into agreement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from consilience._check import InputError, check_choice, check_count, check_positive, check_seed
from consilience._parallel import check_n_jobs, workers
from consilience._progress import track
from consilience._types import Labels
from consilience.agreement.cap import TEMPERATURE as HEAT
from consilience.agreement.cap import cap, ensemble_like, start_labels
from consilience.agreement.count_table import Counts, Side, check_counts
from consilience.agreement.dataloom import dataloom
from consilience.agreement.local_search import engine_of
from consilience.agreement.mdc import TEMPERATURE, CoClustering, check_clusters, column_clusters, grow, mdc
from consilience.agreement.result import Agreement, Sides
from consilience.ensemble import Ensemble, as_ensemble

MODELS = ("auto", "mdc", "paper", "dataloom")
LARGE = 5_000_000  # non-zero cells from which on the flat search makes the models


def agree(
    counts: Any,
    n_clusters: int | None = None,
    n_column_clusters: int | None = None,
    *,
    m: int = 10,
    n_iter: int = 4,
    rows: Any = None,
    columns: Any = None,
    model: str = "auto",
    candidates: int = 1,
    weighting: str = "uniform",
    tol: float = 0.0,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Agreement:
    """Cluster the rows and columns of a count table many times, and let the clusterings agree.

    Parameters
    ----------
    counts : sparse or dense array, DataFrame, Table, or a path
        Non-negative, rows × columns: documents × words, users × movies. Measured data become counts by
        :func:`counts_from_data`.
    n_clusters : int, optional
        Row clusters; needed unless `rows` is given.
    n_column_clusters : int, optional
        Column clusters; chosen by the model if None.
    m : int
        Clusterings of each side. Three already help.
    n_iter : int
        Iterations of the agreement process; two do most of it.
    rows, columns : Ensemble, or what one is made from, optional
        Clusterings to start from instead of the model's. If one side alone is given, the other is clustered to suit each of
        its clusterings.
    model : {"auto", "mdc", "paper", "dataloom"}
        What makes the clusterings: :class:`MDC` or :class:`DataLoom`; "paper" is MDC and the process without noise, as in the
        paper. "auto" is "mdc" up to five million non-zero cells and "dataloom" above.
    candidates : int
        Runs of the model for every clustering that takes part: of so many times m, those whose row clusters have most
        information on single columns do. It needs no labels; 2 is worth its time where accuracy matters.
    weighting : {"uniform", "length"}
        Every row with the same mass, or with its counts as they are.
    tol : float
        Stop earlier when an iteration gains no more than this share of the objective.
    random_state : int
    n_jobs : int, optional
        Threads over the clusterings; the labels do not depend on it.
    progress : bool, optional
        None shows a bar on a terminal.

    Returns
    -------
    Agreement
        ``.before`` and ``.after`` (each ``.rows`` and ``.columns``, ensembles), ``.iterations``, ``.objective``.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> rng = np.random.default_rng(0)
    >>> topics = np.kron(np.eye(3), np.ones((20, 12))) * 2 + 0.2
    >>> found = cs.agree(rng.poisson(topics), 3, m=4, n_iter=2)
    >>> found.after.rows
    Ensemble: 4 clusterings of 60 objects
      clusters  3
      made by   mdc 4
    """
    check_choice(model, MODELS, "model")
    check_count("m", m)
    check_count("n_iter", n_iter)
    check_count("candidates", candidates)
    check_positive("tol", tol, or_equal=True)
    check_n_jobs(n_jobs)
    table, seed = check_counts(counts, weighting), check_seed(random_state)
    for name, wanted in (("n_clusters", n_clusters), ("n_column_clusters", n_column_clusters)):
        if wanted is not None:
            check_count(name, wanted, least=2)  # one cluster knows nothing
    check_clusters(table, n_clusters, n_column_clusters)
    if rows is None and columns is None:
        if n_clusters is None:
            raise InputError("n_clusters must say how many row clusters there shall be, unless rows= gives clusterings")
        before = _models(table, n_clusters, n_column_clusters, m, model, candidates, seed, n_jobs, progress)
    else:
        if candidates > 1:
            raise InputError("candidates= is for clusterings that the model makes: leave it out where some are given")
        before = _given(table, rows, columns, n_clusters, n_column_clusters, seed, n_jobs, progress)
    starts = (
        start_labels(before.rows, table.rows, "row", seed),
        start_labels(before.columns, table.columns, "column", seed),
    )
    noise = 0.0 if model == "paper" else HEAT
    steps = cap(table, *starts, n_iter=n_iter, temperature=noise, tol=tol, seed=seed, n_jobs=n_jobs)
    done = list(track(steps, n_iter, "agreement", progress))
    iterations = [
        Sides(ensemble_like(before.rows, table.rows, pair[0]), ensemble_like(before.columns, table.columns, pair[1]))
        for pair, _ in done
    ]
    empty = table.rows.empty, table.columns.empty
    return Agreement(before, iterations[-1], iterations, np.array(done[-1][1]), *empty, table.source)


def _models(
    table: Counts,
    k: int,
    n_column_clusters: int | None,
    m: int,
    model: str,
    candidates: int,
    seed: int,
    n_jobs: int | None,
    progress: bool | None,
) -> Sides:
    """m runs of the model, each on its own stream; of more candidates the best m, in the order of their runs."""
    if model == "auto":
        model = "mdc" if table.rows.views.table.nnz <= LARGE else "dataloom"

    def one(run: int) -> CoClustering:
        if model == "dataloom":
            wanted = min(k, len(table.columns.kept)) if n_column_clusters is None else n_column_clusters
            return dataloom(table, k, wanted, seed=seed, run=run)
        temperature = 0.0 if model == "paper" else TEMPERATURE
        return mdc(table, k, n_column_clusters=n_column_clusters, temperature=temperature, seed=seed, run=run)

    found: list[CoClustering] = _each(one, candidates * m, "clusterings", n_jobs, progress)
    if candidates > 1:
        known = [engine_of(table.rows.views, int(run.rows.max()) + 1).value(run.rows) for run in found]
        found = [found[run] for run in sorted(np.argsort(known, kind="stable")[-m:])]
    info = {"method": [model] * m, "information": [run.objective for run in found]}
    return Sides(
        _spread(table.rows, [run.rows for run in found], info),
        _spread(table.columns, [run.columns for run in found], info),
    )


def _given(
    table: Counts,
    rows: Any,
    columns: Any,
    n_clusters: int | None,
    n_column_clusters: int | None,
    seed: int,
    n_jobs: int | None,
    progress: bool | None,
) -> Sides:
    """The given clusterings; a side that is not given is clustered to suit each clustering of the other."""
    for given, wanted, what in ((rows, n_clusters, "rows"), (columns, n_column_clusters, "columns")):
        if given is not None and wanted is not None:
            name = "n_clusters" if what == "rows" else "n_column_clusters"
            raise InputError(f"{what}= brings its own clusters: leave {name} out")
    if rows is None:
        if n_clusters is None:
            raise InputError("n_clusters must say how many row clusters there shall be, unless rows= gives clusterings")
        mine = as_ensemble(columns)
        starts = start_labels(mine, table.columns, "column", seed)
        return Sides(_suited(table.transposed, starts, n_clusters, seed, n_jobs, progress), mine)
    mine = as_ensemble(rows)
    starts = start_labels(mine, table.rows, "row", seed)
    if columns is not None:
        return Sides(mine, as_ensemble(columns))
    wanted = n_column_clusters or column_clusters(table, int(np.median([s.max() + 1 for s in starts])))
    return Sides(mine, _suited(table, starts, wanted, seed, n_jobs, progress))


def _suited(
    table: Counts, starts: list[Labels], wanted: int, seed: int, n_jobs: int | None, progress: bool | None
) -> Ensemble:
    """For every clustering of the rows one of the columns, split and improved."""

    def one(run: int) -> Labels:
        return grow(table, starts[run], wanted, seed=seed, run=run)

    found = _each(one, len(starts), "clusterings of the other side", n_jobs, progress)
    return _spread(table.columns, found, {"method": ["split"] * len(found)})


def _each(one: Callable[[int], Any], runs: int, what: str, n_jobs: int | None, progress: bool | None) -> list[Any]:
    """The results of all runs, in order, from as many threads as asked for."""
    from joblib import delayed

    parallel = workers(n_jobs, lazily=True)
    return list(track(parallel(delayed(one)(run) for run in range(runs)), runs, what, progress))


def _spread(side: Side, labels: list[Labels], info: Any) -> Ensemble:
    return Ensemble(np.column_stack([side.spread(one) for one in labels]), info=info, ids=side.ids)
