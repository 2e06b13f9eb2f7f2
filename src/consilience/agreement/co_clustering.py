"""What :class:`MDC` and :class:`DataLoom` share: the state of a run, and the estimator around it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.base import BaseEstimator

from consilience._check import InputError, check_count, check_seed, count
from consilience._run.random import child_seed, stream
from consilience._types import Floats, Labels, RandomState
from consilience.agreement.count_table import check_counts
from consilience.agreement.local_search import engine_of, merge
from consilience.engine.views import cluster_tables, regrouped

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

    def improve(self, side: str, max_iter: int, *, by_single: bool = False, batch: int = 0, **noise: Any) -> None:
        """Passes over a side, which sees the other by its clusters, or object by object; `batch` passes go first."""
        by = None if by_single else [self.labels[OTHER[side]]]
        engine = engine_of(getattr(self.counts, side).views, self.n_clusters(side), self.n_jobs, by=by)
        self.unit += 1
        mine = self.labels[side]
        how: dict[str, Any] = {"max_iter": max_iter, "batch": batch, "revalue": False, **noise}
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
