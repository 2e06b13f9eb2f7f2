"""What :class:`MDC` and :class:`DataLoom` share: the state of a run, and its steps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from consilience import _kernels
from consilience._run.random import child_seed, stream
from consilience._types import Floats, Labels
from consilience.engine.search import Engine
from consilience.engine.views import Views, cluster_tables, regrouped

OTHER = {"rows": "columns", "columns": "rows"}


@dataclass(frozen=True)
class CoClustering:
    rows: Labels
    columns: Labels
    history: list[tuple[int, int, float]]

    @property
    def objective(self) -> float:
        return self.history[-1][2]


class CoSearch:
    """The state of a run; steps draw from one stream of its purpose, and every search from a stream of its own."""

    def __init__(
        self, counts: Any, rows: Labels, columns: Labels | None, purpose: str, seed: int, run: int, n_jobs: int | None
    ) -> None:
        self.counts, self.n_jobs = counts, n_jobs
        columns = np.zeros(len(counts.columns.kept), np.int32) if columns is None else columns  # one cluster
        self.labels = {"rows": rows, "columns": columns}
        self.rng = stream(seed, purpose, run)
        self.seed, self.unit = child_seed(seed, f"{purpose}_search", run), 0
        self.history: list[tuple[int, int, float]] = []

    def n_clusters(self, side: str) -> int:
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
        self.labels[side] = merge(self.labels[side], half, rule, self.rng, lambda: self._table(side))

    def _table(self, side: str) -> Floats:
        """The counts of every cluster of a side in every cluster of the other."""
        views = regrouped(getattr(self.counts, side).views, [self.labels[OTHER[side]]])
        return cluster_tables(views, self.labels[side], self.n_clusters(side))[0]

    def found(self) -> CoClustering:
        return CoClustering(self.labels["rows"], self.labels["columns"], self.history)


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


def merge(labels: Labels, target: int, rule: str, rng: np.random.Generator, table: Callable[[], Floats]) -> Labels:
    """The labels with `target` clusters left, at least half of them; `table` gives the clusters' sums where they are needed."""
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
    return found[labels]


def random_labels(n: int, n_clusters: int, rng: np.random.Generator) -> Labels:
    return rng.permutation(np.arange(n) % n_clusters).astype(np.int32)
