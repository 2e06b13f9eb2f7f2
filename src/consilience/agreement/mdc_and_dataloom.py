"""The models of one co-clustering: :class:`MDC`, bottom-up and top-down, and :class:`DataLoom`, flat and for large tables."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from consilience._check import InputError, check_choice, check_count, check_positive, check_seed, count
from consilience._run.random import stream
from consilience._types import Labels, RandomState
from consilience.agreement.block_search import BlockCounts, BlockSearch, counts_of
from consilience.agreement.co_clustering import CoClustering, CoSearch, random_labels, split
from consilience.agreement.count_table import Counts, check_counts

MERGES = ("auto", "random", "nearest", "greedy")


@dataclass(eq=False, repr=False)
class CoClusterer(BaseEstimator):
    n_clusters: int = 8
    _: KW_ONLY
    n_column_clusters: int | None = None
    weighting: str = "uniform"
    random_state: RandomState = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: None = None) -> Any:
        """Cluster rows and columns of a count table.

        Parameters
        ----------
        X : sparse or dense array, DataFrame, Table, or a path; for :class:`DataLoom` also row blocks
            The counts; row blocks are what :class:`CountBlocks` takes, and are never held all at once.
        """
        counts = self._counts(X)
        check_clusters(counts, self.n_clusters, self.n_column_clusters)
        found = self._run(counts, check_seed(self.random_state))
        self.row_labels_ = counts.rows.to_all(found.rows)
        self.column_labels_ = counts.columns.to_all(found.columns)
        self.objective_, self.history_ = found.objective, found.history
        self.n_features_in_ = counts.columns.n_objects
        return self

    def _counts(self, X: Any) -> Any:
        return check_counts(X, self.weighting)

    def _run(self, counts: Any, seed: int, run: int = 0) -> CoClustering:
        """Run number `run` of the model, on random streams of its own; options are checked first."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def check_clusters(counts: Any, n_clusters: Any, n_column_clusters: Any) -> None:
    for wanted, side, what in ((n_clusters, counts.rows, "row"), (n_column_clusters, counts.columns, "column")):
        if wanted is None:
            continue
        check_count("n_clusters" if what == "row" else "n_column_clusters", wanted)
        if wanted > len(side.kept):
            raise InputError(
                f"{wanted} clusters are more than the {count(len(side.kept), what)} that have counts: ask for fewer"
            )


# Multi-way distributional clustering (Bekkerman, El-Yaniv and McCallum 2005; Bekkerman et al. 2009, section 5.4): columns start in one
# cluster and split, rows start alone and merge; after every step local search raises I(X̃; Ỹ) (Eq. 3): three splits of the columns, then
# in turn one merge of the rows, to half as many, and one split of the columns, until the wanted number of row clusters is reached.
#
# How clusters merge is all-important, and they only say "each two": random pairs are cheap and do no harm while there are thousands, the
# nearest free one is far better below, and for the last hundreds the cheapest pair first. At the end the rows look at the columns one by
# one instead of by clusters, with noise that falls from pass to pass: seven hundredths of accuracy on 20 Newsgroups, and not theirs.


def grow(counts: Counts, rows: Labels, n_column_clusters: int, *, seed: int, run: int, max_iter: int = 2) -> Labels:
    """Column clusters for a given clustering of the rows: split and improved until there are so many."""
    search = CoSearch(counts, rows, None, "agreement.grow", seed, run, None)
    while search.n_clusters("columns") < n_column_clusters:
        _split_columns(search, n_column_clusters, max_iter)
    return search.labels["columns"]


def _split_columns(search: CoSearch, most: int | None, max_iter: int) -> None:
    columns = search.labels["columns"]
    if search.n_clusters("columns") < (most or len(columns)):
        search.labels["columns"] = split(columns, search.rng, most)
        search.improve("columns", max_iter)


def column_clusters(counts: Counts, n_clusters: int) -> int:
    """How many column clusters a run would end with: 8, doubled for every halving of the rows but one."""
    rows, halvings = len(counts.rows.kept), 0
    while rows > n_clusters:
        rows, halvings = -(-rows // 2), halvings + 1
    return int(min(len(counts.columns.kept), 8 * 2 ** max(halvings - 1, 0)))


@dataclass(eq=False, repr=False, kw_only=True)
class MDC(CoClusterer):
    """Clusters of rows, bottom-up, and of columns, top-down, with the most mutual information.

    Parameters
    ----------
    n_clusters : int
        Row clusters.
    n_column_clusters : int, optional
        At most so many column clusters; None lets one split for every halving of the rows decide, which gave 4,096 on 20 Newsgroups.
    merge : {"auto", "random", "nearest", "greedy"}
        How rows' clusters merge: random pairs (as Bekkerman et al. 2009 read), each with the nearest one that is free, or the
        cheapest pair first. "auto" is random above 6,000 clusters, nearest above 700, then greedy.
        Time O(c² · columns' clusters) for nearest and greedy with c clusters.
    max_iter : int
        Passes of local search after every step.
    temperature : float
        Noise of the first of twenty passes at the end in which rows see single columns, falling to a tenth; five plain ones
        follow. 0 leaves these passes out, as in Bekkerman et al. 2009. At about .35 clusters dissolve: where in doubt choose it by the
        information on single columns, which needs no labels.
    weighting : {"uniform", "length"}
        Every row with the same mass, or with its counts as they are.
    random_state : int, optional
    n_jobs : int, optional
        Threads that list candidates; the labels do not depend on it.

    Attributes
    ----------
    row_labels_, column_labels_ : int arrays
        −1 for rows and columns without counts.
    objective_ : float
        I(X̃; Ỹ) in nats.
    history_ : list of (int, int, float)
        Row clusters, column clusters and I after every step.

    Notes
    -----
    Time about O(counts · row clusters) for every pass on each of log2(n / k) levels.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.agreement import MDC
    >>> counts = np.kron([[3, 0], [0, 3]], np.ones((6, 8), int))
    >>> found = MDC(2, random_state=0).fit(counts)
    >>> found.row_labels_.tolist(), round(found.objective_, 4)
    ([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1], 0.6931)
    """

    merge: str = "auto"
    max_iter: int = 2
    temperature: float = 0.25  # at about .35 clusters dissolve

    def _run(self, counts: Counts, seed: int, run: int = 0) -> CoClustering:
        check_choice(self.merge, MERGES, "merge")
        check_count("max_iter", self.max_iter)
        check_positive("temperature", self.temperature, or_equal=True)
        k, most, max_iter = self.n_clusters, self.n_column_clusters, self.max_iter
        rows = np.arange(len(counts.rows.kept), dtype=np.int32)
        search = CoSearch(counts, rows, None, "agreement.mdc", seed, run, self.n_jobs)
        for _ in range(3):
            _split_columns(search, most, max_iter)
        while search.n_clusters("rows") > k:
            search.merge("rows", k, self.merge)
            search.improve("rows", max_iter)
            if search.n_clusters("rows") > k:
                _split_columns(search, most, max_iter)
        while most is not None and search.n_clusters("columns") < most:
            _split_columns(search, most, max_iter)
        if self.temperature > 0:
            # noisy passes on single columns, then plain ones, leave local optima of the clusters of columns
            search.improve("rows", 5, by_single=True, temperature=self.temperature, noisy_iter=20)
            search.improve("columns", 2)
        return search.found()


# DataLoom (Bekkerman and Scholz 2008): rows and columns start in random clusters of equal size and take turns in passes of local search.
# The candidates of a block of rows are listed together by linear scores, in threads, and only a few are then checked exactly, row after
# row: the search is the sequential one but for the shortlist. A flat random start ends with some true clusters joined and others split;
# starting with twice as many on both sides, and merging where the least information is lost, mends that for twice the time (`spare`).


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

    def _counts(self, X: Any) -> Counts | BlockCounts:
        return counts_of(X, self.weighting, self.n_jobs)

    def _run(self, counts: Counts | BlockCounts, seed: int, run: int = 0) -> CoClustering:
        check_count("spare", self.spare)
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol, or_equal=True)
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
