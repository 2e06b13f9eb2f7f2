"""DataLoom (Bekkerman and Scholz 2008): flat co-clustering of large tables, in parallel.

Rows and columns start in random clusters of equal size and take turns in passes of local search on I(X̃; Ỹ). The candidates of a
block of rows are listed together by linear scores, in as many threads as there are, and only a few are then checked exactly, row
after row: the search is the sequential one but for the shortlist, and does not depend on the number of threads.

A flat random start ends with some true clusters joined and others split. Starting with twice as many clusters on both sides, and
merging where the least information is lost, mends that for twice the time (``spare=1`` leaves it out, as Bekkerman and Scholz do).
"""

from dataclasses import dataclass
from typing import Any, Self

from consilience._check import check_count, check_positive
from consilience._run.random import stream
from consilience.agreement.block_counts import BlockCounts, counts_of
from consilience.agreement.by_blocks import BlockSearch
from consilience.agreement.co_clustering import CoClusterer, CoClustering, CoSearch, random_labels
from consilience.agreement.count_table import Counts


def _take_turns(search: CoSearch, max_iter: int, tol: float) -> None:
    """Passes over rows and columns in turn, until both gain next to nothing."""
    last = float("-inf")
    for _ in range(max_iter):
        search.improve("rows", 1)
        search.improve("columns", 1)
        value = search.history[-1][2]
        if value - last <= tol * value:
            return
        last = value


@dataclass(eq=False, repr=False, kw_only=True)
class DataLoom(CoClusterer):
    """Flat clusters of rows and columns with the most mutual information, for large tables.

    Parameters
    ----------
    n_clusters : int
        Row clusters.
    n_column_clusters : int, optional
        Column clusters; by default as many as row clusters, or as columns with counts if they are fewer.
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

    spare: int = 2
    max_iter: int = 20
    tol: float = 1e-3
    weighting: str = "length"

    def fit(self, X: Any, y: None = None) -> Self:
        """Cluster rows and columns of a count table.

        Parameters
        ----------
        X : sparse or dense array, DataFrame, Table, or a path; or row blocks
            The counts; row blocks are what :class:`CountBlocks` takes, and are never held all at once.
        """
        super().fit(X)
        return self

    def _counts(self, X: Any) -> Counts | BlockCounts:
        return counts_of(X, self.weighting, self.n_jobs)

    def _check(self) -> None:
        check_count("spare", self.spare)
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol, or_equal=True)

    def _run(self, counts: Counts | BlockCounts, seed: int, run: int = 0) -> CoClustering:
        rng = stream(seed, "agreement.dataloom_start", run)
        sizes = {"rows": len(counts.rows.kept), "columns": len(counts.columns.kept)}
        wanted = {"rows": self.n_clusters, "columns": self.n_column_clusters or min(self.n_clusters, sizes["columns"])}
        start = {side: random_labels(n, min(n, self.spare * wanted[side]), rng) for side, n in sizes.items()}
        kind = BlockSearch if isinstance(counts, BlockCounts) else CoSearch
        search = kind(counts, start["rows"], start["columns"], "agreement.dataloom", seed, run, self.n_jobs)
        _take_turns(search, self.max_iter, self.tol)
        while too_many := [side for side, k in wanted.items() if search.n_clusters(side) > k]:
            for side in too_many:
                search.merge(side, wanted[side], "auto")
            _take_turns(search, self.max_iter, self.tol)
        return search.found()
