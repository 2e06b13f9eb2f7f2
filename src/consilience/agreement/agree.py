"""`agree`: a model makes many clusterings of rows and columns of a count table, and :class:`CAP` makes them agree."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed

from consilience._check import InputError, check_choice, check_count, check_seed
from consilience._run.parallel import check_n_jobs, runs_tasks, workers
from consilience._run.progress import track
from consilience._types import EnsembleLike, PathLike, RandomState
from consilience.agreement.block_search import BlockCounts, counts_of, information_on_columns
from consilience.agreement.cap import CAP, start_from
from consilience.agreement.co_clustering import CoClustering
from consilience.agreement.count_table import Clusterings, Counts
from consilience.agreement.mdc_and_dataloom import MDC, CoClusterer, DataLoom, check_clusters, column_clusters, grow
from consilience.agreement.result import Agreement
from consilience.inputs import as_table
from consilience.tables.raw_table import check_reading

MAKERS: dict[str, Callable[..., CoClusterer]] = {
    "mdc": MDC,
    "mdc_plain": partial(MDC, temperature=0.0),
    "dataloom": DataLoom,
}
MODELS = ("auto", *MAKERS)
Runs = Callable[[Callable[[int], Any], int, str], list[Any]]  # results of runs 0 … n − 1, from threads, with a bar
LARGE_TABLE = 5_000_000  # non-zero cells from which on the flat search makes the models


@runs_tasks
def agree(
    counts: Any,
    n_clusters: int | None = None,
    n_column_clusters: int | None = None,
    *,
    n_clusterings: int = 10,
    max_iter: int = 4,
    rows: EnsembleLike | None = None,
    columns: EnsembleLike | None = None,
    model: str = "auto",
    n_init: int = 1,
    restart: bool = False,
    weighting: str = "uniform",
    tol: float = 0.0,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    client: Any = None,
    log: PathLike | None = None,
    progress: bool | None = None,
    **reading: Any,
) -> Agreement:
    """Cluster the rows and columns of a count table many times, and let the clusterings agree.

    Parameters
    ----------
    counts : sparse or dense array, DataFrame, Table, or a path; or row blocks
        Non-negative, rows × columns: documents × words, users × movies. Row blocks (a Dask array or bag, a list of sparse
        matrices, a folder, a :class:`CountBlocks`) are never held all at once.
    n_clusters : int, optional
        Row clusters; needed unless `rows` is given.
    n_column_clusters : int, optional
        Column clusters; chosen by the model if None.
    n_clusterings : int
        Clusterings of each side. Three already help.
    max_iter : int
        Iterations of the agreement process; two do most of it.
    rows, columns : Ensemble, or what one is made from, optional
        Clusterings to start from instead of the model's. If one side alone is given, the other is clustered to suit each of
        its clusterings.
    model : {"auto", "mdc", "mdc_plain", "dataloom"}
        What makes the clusterings: :class:`MDC` or :class:`DataLoom`; "mdc_plain" is MDC and the process without noise, as in
        Bekkerman et al. 2009. "auto" is "mdc" up to five million non-zero cells and "dataloom" above; row blocks have "dataloom" alone.
    n_init : int
        Runs of the model for every clustering that takes part: of so many times `n_clusterings`, those whose row clusters have
        most information on single columns do. It needs no labels; 2 is worth its time where accuracy matters.
    restart : bool
        At the end begin again from the clusterings' own consensus (:class:`CAP`): for one good answer, not where the clusterings
        shall tell how sure it is.
    weighting : {"uniform", "length"}
        Every row with the same mass, or with its counts as they are.
    tol : float
        Stop earlier when an iteration gains no more than this share of the objective.
    random_state : int
    n_jobs : int, optional
        Threads over the clusterings; the labels do not depend on it.
    client : dask.distributed.Client, optional
        A cluster that the tasks go to, instead (``docs/scale.md``); the answer is the same.
    log : path, optional
        A file that lines are added to, of what was done, where, in how many seconds and with how much memory (``docs/scale.md``).
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
    >>> found = cs.agree(rng.poisson(topics), 3, n_clusterings=4, max_iter=2)
    >>> found.after.rows
    Ensemble: 4 clusterings of 60 objects
      clusters  3
      made by   mdc 4
    """
    check_choice(model, MODELS, "model")
    check_count("n_clusterings", n_clusterings)
    check_count("n_init", n_init)
    check_n_jobs(n_jobs)
    noise: dict[str, Any] = {"temperature": 0.0} if model == "mdc_plain" else {}
    process = CAP(max_iter, **noise, tol=tol, restart=restart, n_jobs=n_jobs)
    process._check_options()
    for name, wanted in (("n_clusters", n_clusters), ("n_column_clusters", n_column_clusters)):
        if wanted is not None:
            check_count(name, wanted, least=2)  # one cluster has no information
    if n_clusters is None and rows is None:
        raise InputError("n_clusters must say how many row clusters there shall be, unless rows= gives clusterings")
    if reading:
        counts = as_table(counts, "counts", **check_reading(reading, "agree"))
    table, seed = counts_of(counts, weighting, n_jobs), check_seed(random_state)
    check_clusters(table, n_clusters, n_column_clusters)

    def runs(one: Callable[[int], Any], n: int, what: str) -> list[Any]:
        if isinstance(table, BlockCounts):  # one after the other, the blocks of each side by side
            return list(track(map(one, range(n)), n, what, progress))
        return list(track(workers(n_jobs, lazily=True)(delayed(one)(run) for run in range(n)), n, what, progress))

    if rows is None and columns is None:
        if model == "auto":
            model = "dataloom" if isinstance(table, BlockCounts) or table.rows.views.table.nnz > LARGE_TABLE else "mdc"
        if isinstance(table, BlockCounts) and model != "dataloom":
            raise InputError(f"row blocks are clustered by model='dataloom': {model!r} needs the whole table in memory")
        maker = MAKERS[model](n_clusters, n_column_clusters=n_column_clusters)
        made = _most_informed(
            table, runs(partial(maker._run, table, seed), n_init * n_clusterings, "clusterings"), n_clusterings
        )
        info = pd.DataFrame({"method": model, "information": [run.objective for run in made]})
        of_rows = Clusterings(table.rows, [run.rows for run in made], info)
        starts = of_rows, Clusterings(table.columns, [run.columns for run in made], info)
    elif n_init > 1:
        raise InputError("n_init= is for clusterings that the model makes: leave it out where some are given")
    else:
        starts = _given(table, rows, columns, n_clusters, n_column_clusters, seed, runs)
    return process._fit(table, *starts, seed, progress).agreement_


def _most_informed(table: Counts | BlockCounts, found: list[CoClustering], n: int) -> list[CoClustering]:
    """The runs whose row clusters have the most information on single columns, in the order of the runs."""
    if len(found) == n:
        return found
    values = [information_on_columns(table, run.rows) for run in found]
    return [found[run] for run in sorted(np.argsort(values, kind="stable")[-n:])]


def _given(
    table: Counts | BlockCounts,
    rows: Any,
    columns: Any,
    n_clusters: int | None,
    n_column_clusters: int | None,
    seed: int,
    runs: Runs,
) -> tuple[Clusterings, Clusterings]:
    """The given clusterings; a side that is not given is clustered to suit each clustering of the other."""
    sides = (rows, n_clusters, "rows", "n_clusters"), (columns, n_column_clusters, "columns", "n_column_clusters")
    for given, wanted, what, name in sides:
        if given is not None and wanted is not None:
            raise InputError(f"{what}= brings its own clusters: leave {name} out")
    mine = None if rows is None else start_from(rows, table.rows, "row", seed)
    theirs = None if columns is None else start_from(columns, table.columns, "column", seed)
    if mine is not None and theirs is not None:
        return mine, theirs
    if isinstance(table, BlockCounts):
        raise InputError("row blocks need the clusterings of both sides, rows= and columns=, or of none")
    if mine is None:
        assert theirs is not None
        assert n_clusters is not None
        return _suited(table.transposed, theirs, n_clusters, seed, runs), theirs
    wanted = n_column_clusters or column_clusters(table, int(np.median([s.max() + 1 for s in mine.codes])))
    return mine, _suited(table, mine, wanted, seed, runs)


def _suited(table: Counts, rows: Clusterings, n_clusters: int, seed: int, runs: Runs) -> Clusterings:
    """For every clustering of the rows one of the columns, split and improved."""
    found = runs(
        lambda run: grow(table, rows.codes[run], n_clusters, seed=seed, run=run),
        len(rows.codes),
        "clusterings of the other side",
    )
    return Clusterings(table.columns, found, pd.DataFrame({"method": ["split"] * len(found)}))
