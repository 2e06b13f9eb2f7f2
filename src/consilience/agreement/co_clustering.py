"""What :class:`MDC` and :class:`DataLoom` share: the state of a run, and the estimator around it."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from consilience import _kernels
from consilience._check import InputError, check_count, check_seed, count
from consilience._run.random import child_seed, stream
from consilience._types import Floats, Labels, RandomState
from consilience.agreement.count_table import check_counts
from consilience.engine.information import Engine
from consilience.engine.views import Views, cluster_tables, regrouped

OTHER = {"rows": "columns", "columns": "rows"}


@dataclass(frozen=True)
class CoClustering:
    """Clusters of the rows and of the columns that have counts, and the objective after every step."""

    rows: Labels
    columns: Labels
    history: list[tuple[int, int, float]]

    @property
    def objective(self) -> float:
        """I(X̃; Ỹ)."""
        return self.history[-1][2]


class CoSearch:
    """The state of a run; steps draw from one stream of its purpose, and every search from a stream of its own."""

    def __init__(
        self, counts: Any, rows: Labels, columns: Labels, purpose: str, seed: int, run: int, n_jobs: int | None
    ) -> None:
        self.counts, self.n_jobs = counts, n_jobs
        self.labels = {"rows": rows, "columns": columns}
        self.rng = stream(seed, purpose, run)
        self.seed, self.unit = child_seed(seed, f"{purpose}_search", run), 0
        self.history: list[tuple[int, int, float]] = []

    def n_clusters(self, side: str) -> int:
        """Clusters of a side."""
        return int(self.labels[side].max()) + 1

    def improve(self, side: str, max_iter: int, *, by_single: bool = False, **noise: Any) -> None:
        """Passes over a side, which sees the other by its clusters, or object by object."""
        by = None if by_single else [self.labels[OTHER[side]]]
        engine = engine_of(getattr(self.counts, side).views, self.n_clusters(side), self.n_jobs, by=by)
        self.unit += 1
        mine = self.labels[side]
        how: dict[str, Any] = {"max_iter": max_iter, "revalue": False, **noise}
        found = engine.search(mine, seed=self.seed, unit=self.unit, **how)
        self.labels[side] = found.labels
        if not by_single:
            self.history.append((self.n_clusters("rows"), self.n_clusters("columns"), found.objective))

    def merge(self, side: str, target: int, rule: str) -> None:
        """Merge the clusters of a side to half as many, but not to fewer than `target`."""
        half = max(target, -(-self.n_clusters(side) // 2))
        self.labels[side], _ = merge(self.labels[side], half, rule, self.rng, lambda: self._table(side))

    def _table(self, side: str) -> Floats:
        """The counts of every cluster of a side in every cluster of the other."""
        views = regrouped(getattr(self.counts, side).views, [self.labels[OTHER[side]]])
        return cluster_tables(views, self.labels[side], self.n_clusters(side))[0]

    def found(self) -> CoClustering:
        """Where the run ended."""
        return CoClustering(self.labels["rows"], self.labels["columns"], self.history)


@dataclass(eq=False, repr=False)
class CoClusterer(BaseEstimator):
    """Base of the estimators that cluster rows and columns once."""

    n_clusters: int = 8
    _: KW_ONLY
    n_column_clusters: int | None = None
    weighting: str = "uniform"
    random_state: RandomState = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: None = None) -> Any:
        """Cluster rows and columns of a count table: sparse, dense, a DataFrame, or what :func:`read_table` reads."""
        counts = self._counts(X)
        check_clusters(counts, self.n_clusters, self.n_column_clusters)
        self._check()
        found = self._run(counts, check_seed(self.random_state))
        self.row_labels_ = counts.rows.to_all(found.rows)
        self.column_labels_ = counts.columns.to_all(found.columns)
        self.objective_, self.history_ = found.objective, found.history
        self.n_features_in_ = counts.columns.n_objects
        return self

    def _counts(self, X: Any) -> Any:
        """The table as the model sees it."""
        return check_counts(X, self.weighting)

    def _check(self) -> None:
        """Refuse options of the model."""
        raise NotImplementedError

    def _run(self, counts: Any, seed: int, run: int = 0) -> CoClustering:
        """Run number `run` of the model, on random streams of its own."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def check_clusters(counts: Any, n_clusters: Any, n_column_clusters: Any) -> None:
    """Refuse more clusters than there are objects with counts."""
    for wanted, side, what in ((n_clusters, counts.rows, "row"), (n_column_clusters, counts.columns, "column")):
        if wanted is None:
            continue
        check_count("n_clusters" if what == "row" else "n_column_clusters", wanted)
        if wanted > len(side.kept):
            raise InputError(
                f"{wanted} clusters are more than the {count(len(side.kept), what)} that have counts: ask for fewer"
            )


# The steps that all searches of this package are made of: passes, splits, merges, random starts.

NEAREST, GREEDY = 6000, 700  # clusters up to which pairs are chosen, and up to which one by one


def engine_of(views: Views, n_clusters: int, n_jobs: int | None = None, *, by: Any = None, fixed: int = 0) -> Engine:
    """The engine with the shortlist that pays for so many clusters; `by` are clusterings that sum the views' columns."""
    seen = views if by is None else regrouped(views, by)
    shortlist = 8 if n_clusters > 256 else 0  # of few clusters all are scored about as fast
    return Engine(seen, n_clusters, shortlist=shortlist, n_jobs=n_jobs, fixed=fixed)


def split(labels: Labels, rng: np.random.Generator, most: int | None = None) -> Labels:
    """Every cluster split at random in two, or as many of the largest as `most` clusters allow."""
    k = int(labels.max()) + 1
    size = np.bincount(labels, minlength=k)
    halved = size > 1
    if most is not None and k + halved.sum() > most:
        halved[np.argsort(-size, kind="stable")[max(most - k, 0) :]] = False
    second = np.full(k, -1, np.int32)
    second[halved] = k + np.arange(halved.sum())
    order = rng.permutation(len(labels))
    rank = np.empty(len(labels), np.int64)
    by_cluster = order[np.argsort(labels[order], kind="stable")]
    rank[by_cluster] = np.arange(len(labels)) - np.repeat(np.cumsum(size) - size, size)
    return np.where(halved[labels] & (2 * rank >= size[labels]), second[labels], labels).astype(np.int32)


def merge(
    labels: Labels, target: int, rule: str, rng: np.random.Generator, table: Callable[[], Floats]
) -> tuple[Labels, Labels]:
    """Clusters merged until `target` are left, at least half of them: by random pairs, nearest pairs or greedily.

    The rule "auto" is random above 6,000 clusters, nearest above 700, then greedy. `table` gives the clusters' sums, where they are
    needed. Returns the new labels, and the new cluster of every cluster.
    """
    k = int(labels.max()) + 1
    if rule == "auto":
        rule = "random" if k > NEAREST else "nearest" if k > GREEDY else "greedy"
    if rule == "random":
        order = rng.permutation(k)
        new = np.arange(k)
        new[order[target:]] = order[: k - target]
        found = np.unique(new, return_inverse=True)[1].astype(np.int32)
    else:
        free = rng.permutation(k) if rule == "nearest" else None
        found, _ = _kernels.merge_clusters(table(), k - target, order=free)
    return found[labels], found


def random_labels(n: int, n_clusters: int, rng: np.random.Generator) -> Labels:
    """Clusters of equal size, at random."""
    return rng.permutation(np.arange(n) % n_clusters).astype(np.int32)
