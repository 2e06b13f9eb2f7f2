"""DataLoom (Bekkerman and Scholz 2008): flat co-clustering of large tables, in parallel.

Rows and columns start in random clusters of equal size and take turns in passes of local search on I(X̃; Ỹ). The candidates of a
block of rows are listed together by linear scores, in as many threads as there are, and only a few are then checked exactly, row
after row: the search is the sequential one but for the shortlist, and does not depend on the number of threads.

A flat random start ends with some true clusters joined and others split. Starting with twice as many clusters on both sides, and
merging where the least information is lost, mends that for twice the time (``spare=1`` leaves it out, as in the paper).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from consilience._check import check_count, check_positive, check_seed
from consilience._random import stream
from consilience._types import Labels
from consilience.agreement.count_table import Counts, check_counts
from consilience.agreement.local_search import improve, merge, random_labels
from consilience.agreement.mdc import CoClustering, check_clusters


def dataloom(
    counts: Counts,
    n_clusters: int,
    n_column_clusters: int,
    *,
    spare: int = 2,
    max_iter: int = 20,
    tol: float = 1e-3,
    seed: int = 0,
    run: int = 0,
    n_jobs: int | None = None,
) -> CoClustering:
    """One run, on its own random stream (seed, run); see :class:`DataLoom` for the parameters."""
    rng = stream(seed, "agreement.dataloom", run)
    n, d = len(counts.rows.kept), len(counts.columns.kept)
    rows = random_labels(n, min(n, spare * n_clusters), rng)
    columns = random_labels(d, min(d, spare * n_column_clusters), rng)
    search = _Turns(counts, rows, columns, seed, run << 12, n_jobs)
    search.run(max_iter, tol)
    while search.merge(n_clusters, n_column_clusters, rng):
        search.run(max_iter, tol)
    return CoClustering(search.rows, search.columns, search.history)


class _Turns:
    """Passes over rows and columns in turn; every pass draws from a stream of its own."""

    def __init__(self, counts: Counts, rows: Labels, columns: Labels, seed: int, unit: int, n_jobs: int | None) -> None:
        self.counts, self.rows, self.columns = counts, rows, columns
        self.seed, self.unit, self.n_jobs = seed, unit, n_jobs
        self.history: list[tuple[int, int, float]] = []

    def run(self, max_iter: int, tol: float) -> None:
        last = -np.inf
        for _ in range(max_iter):
            self.rows = self._pass(self.counts.rows, self.columns, self.rows)
            self.columns = self._pass(self.counts.columns, self.rows, self.columns)
            value = self.history[-1][2]
            if value - last <= tol * value:
                return
            last = value

    def _pass(self, side: Any, others: Labels, labels: Labels) -> Labels:
        self.unit += 1
        found = improve(side, [others], labels, passes=1, seed=self.seed, unit=self.unit, n_jobs=self.n_jobs)
        self.history.append((int(self.rows.max()) + 1, int(self.columns.max()) + 1, found.objective))
        return found.labels

    def merge(self, n_clusters: int, n_column_clusters: int, rng: np.random.Generator) -> bool:
        """Halve the clusters of a side that has too many; whether there was one."""
        k, c = int(self.rows.max()) + 1, int(self.columns.max()) + 1
        if k > n_clusters:
            self.rows = merge(self.counts.rows, self.columns, self.rows, max(n_clusters, -(-k // 2)), "auto", rng)
        if c > n_column_clusters:
            target = max(n_column_clusters, -(-c // 2))
            self.columns = merge(self.counts.columns, self.rows, self.columns, target, "auto", rng)
        return k > n_clusters or c > n_column_clusters


class DataLoom(BaseEstimator):
    """Flat clusters of rows and columns that know most of each other, for large tables.

    Parameters
    ----------
    n_clusters : int
        Row clusters.
    n_column_clusters : int, optional
        Column clusters; as many as row clusters by default.
    spare : int
        How many times more clusters to start with, on both sides; 1 is a flat start.
    max_iter : int
        Passes over the rows and over the columns for each number of clusters, at most.
    tol : float
        Stop when a pass over both gains less than this share of the information.
    weighting : {"length", "uniform"}
        The counts as they are, or every row with the same mass.
    random_state : int, optional
    n_jobs : int, optional
        Threads; the labels do not depend on it.

    Attributes
    ----------
    row_labels_, column_labels_ : int arrays
        −1 for rows and columns without counts.
    objective_ : float
        I(X̃; Ỹ) in nats.
    history_ : list of (int, int, float)
        Row clusters, column clusters and I after every pass.

    Notes
    -----
    A pass costs O(non-zero cells · clusters) multiplications; memory O(counts + row clusters · column clusters).

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.agreement import DataLoom
    >>> counts = np.kron([[3, 0], [0, 3]], np.ones((6, 8), int))
    >>> found = DataLoom(2, random_state=0).fit(counts)
    >>> round(found.objective_, 4)
    0.6931
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_column_clusters: int | None = None,
        spare: int = 2,
        max_iter: int = 20,
        tol: float = 1e-3,
        weighting: str = "length",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_column_clusters = n_column_clusters
        self.spare = spare
        self.max_iter = max_iter
        self.tol = tol
        self.weighting = weighting
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: None = None) -> DataLoom:
        """Cluster rows and columns of a count table: sparse, dense, a DataFrame, or what :func:`read_table` reads."""
        counts = check_counts(X, self.weighting)
        found = self._run(counts, check_seed(self.random_state), 0)
        self.row_labels_: Labels = counts.rows.spread(found.rows)
        self.column_labels_: Labels = counts.columns.spread(found.columns)
        self.objective_, self.history_ = found.objective, found.history
        self.n_features_in_ = counts.columns.n_objects
        return self

    def _run(self, counts: Counts, seed: int, run: int) -> CoClustering:
        columns = self.n_clusters if self.n_column_clusters is None else self.n_column_clusters
        check_clusters(counts, self.n_clusters, columns)
        check_count("spare", self.spare)
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol, or_equal=True)
        return dataloom(
            counts,
            self.n_clusters,
            columns,
            spare=self.spare,
            max_iter=self.max_iter,
            tol=self.tol,
            seed=seed,
            run=run,
            n_jobs=self.n_jobs,
        )
