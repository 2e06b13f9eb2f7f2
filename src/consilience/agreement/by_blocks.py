"""The searches of :class:`DataLoom` and :class:`CAP` on counts in row blocks.

Rows are moved where their blocks lie, by tables as small as clusters × clusters. The other side needs no more than the table columns × row
clusters, a sum over the blocks, on which the columns are searched as in memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from consilience._types import Floats, Labels
from consilience.agreement.block_counts import BlockCounts, side_by_side, sizes_of
from consilience.agreement.co_clustering import CoSearch, engine_of
from consilience.agreement.comraf import Clusterings, take_turns
from consilience.engine.information import STILL, Search, objective_of
from consilience.engine.views import cluster_tables


def value_of(table: Floats, sizes: Sequence[int]) -> float:
    """Σ I(X̃; Ỹ_j) of a clustering of the rows from its table."""
    return objective_of(side_by_side(table, sizes), np.arange(len(table)), len(table))


@dataclass
class RowSearch:
    """Clusterings of the rows that are searched together, each for itself, while those of the columns are fixed."""

    counts: BlockCounts
    columns: list[Labels]
    labels: list[Labels]
    tables: list[Floats]
    seed: int
    units: Sequence[int]  # streams of the clusterings

    def __post_init__(self) -> None:
        self.sizes = sizes_of(self.columns)

    def values(self) -> list[float]:
        """The objective of every clustering."""
        return [value_of(table, self.sizes) for table in self.tables]

    def search(self, max_iter: int, heat: float = 0.0) -> list[Search]:
        """A noisy pass, then plain ones; where noise ends lower than it began, without it."""
        before = self.values()
        plain, cold = [0.0] * max_iter, list(range(len(before)))
        if heat > 0:
            labels, tables, kept = list(self.labels), list(self.tables), self.values()
            self._one_by_one(cold, [heat, *plain])
            cold = [i for i, value in enumerate(self.values()) if value <= kept[i]]
            for i in cold:
                self.labels[i], self.tables[i] = labels[i], tables[i]
        self._one_by_one(cold, plain)
        ends = zip(self.labels, before, self.values(), strict=True)
        return [Search(mine, last, [first, last], []) for mine, first, last in ends]

    def _one_by_one(self, which: Sequence[int], heats: Sequence[float]) -> None:
        """Passes over the rows at given temperatures; a clustering that rests, or that a plain pass made worse, is left as it is."""
        active = list(which)
        for t, heat in enumerate(heats):
            if not active:
                return
            labels, tables = [self.labels[i] for i in active], [self.tables[i] for i in active]
            turns = [(self.units[i] << 20) + t for i in active]
            new, now = self.counts.refine_pass(labels, self.columns, tables, turns, self.seed, heat)
            still = []
            for i, mine, table, old in zip(active, new, now, labels, strict=True):
                gain = value_of(table, self.sizes) - value_of(self.tables[i], self.sizes)
                if heat > 0 or gain > 0:
                    self.labels[i], self.tables[i] = mine, table
                    if heat > 0 or np.count_nonzero(mine != old) > STILL * len(mine):
                        still.append(i)
            active = still


class BlockSearch(CoSearch):
    """The state of a co-clustering of counts in row blocks."""

    counts: BlockCounts

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._joint: Floats | None = None  # row clusters × column clusters

    def improve(self, side: str, max_iter: int, *, by_single: bool = False, **noise: Any) -> None:
        """Passes over a side, which sees the other by its clusters."""
        assert not by_single
        assert not noise
        self.unit += 1
        if side == "rows":
            rows = [self.labels["rows"]], [self._table("rows")]
            search = RowSearch(self.counts, [self.labels["columns"]], *rows, self.seed, [self.unit])
            found = search.search(max_iter)[0]
            self._joint = search.tables[0]
        else:
            views = self.counts.column_views([self.labels["rows"]])
            k = self.n_clusters("columns")
            engine = engine_of(views, k, self.n_jobs)
            found = engine.search(self.labels["columns"], max_iter=max_iter, seed=self.seed, unit=self.unit)
            self._joint = cluster_tables(views, found.labels, k)[0].T
        self.labels[side] = found.labels
        self.history.append((self.n_clusters("rows"), self.n_clusters("columns"), found.objective))

    def merge(self, side: str, target: int, rule: str) -> None:
        """Merge the clusters of a side to half as many, but not to fewer than `target`."""
        table, before = self._table(side), self.labels[side]
        super().merge(side, target, rule)
        k = self.n_clusters(side)
        new = np.empty(len(table), np.int64)
        new[before] = self.labels[side]
        merged = np.zeros((k, table.shape[1]))
        np.add.at(merged, new, table)
        self._joint = merged if side == "rows" else merged.T

    def _table(self, side: str) -> Floats:
        if self._joint is None:
            self._joint = self.counts.row_tables([self.labels["rows"]], [self.labels["columns"]])[0]
        return self._joint if side == "rows" else self._joint.T


def infer_blocks(
    counts: BlockCounts,
    names: Sequence[Sequence[str]],
    labels: Clusterings,
    *,
    max_iter: int,
    max_iter_local: int,
    temperature: float,
    tol: float,
    seed: int,
    n_jobs: int | None,
) -> Iterator[tuple[Clusterings, list[float]]]:
    """:func:`~consilience.agreement.comraf.infer` of all row clusterings joined to all column clusterings, `names` of each."""
    tables: list[Floats] = []

    def improve(which: int, labels: Clusterings, heat: float, units: Sequence[int]) -> list[Search]:
        nonlocal tables
        rows, columns = ([labels[name] for name in side] for side in names)
        if which == 0:
            tables = tables or counts.row_tables(rows, columns)
            search = RowSearch(counts, columns, rows, tables, seed, units)
            found = search.search(max_iter_local, heat)
            tables = search.tables
            return found
        views = counts.column_views(rows)
        found = [
            engine_of(views, k, n_jobs).search(mine, max_iter=max_iter_local, seed=seed, unit=unit)
            for mine, k, unit in zip(columns, sizes_of(columns), units, strict=True)
        ]
        joint = [cluster_tables(views, one.labels, int(one.labels.max()) + 1)[0].T for one in found]
        ends = np.cumsum(sizes_of(rows))[:-1]
        parts = [np.split(table, ends) for table in joint]  # of every column clustering, by row clustering
        tables = [np.concatenate([part[i] for part in parts], axis=1) for i in range(len(rows))]
        return found

    def start(_: Clusterings, found: Mapping[str, Search]) -> float:
        return sum(search.history[0] for search in found.values())  # the rows' part is the whole: all edges are theirs

    schedule: dict[str, Any] = {"max_iter": max_iter, "temperature": temperature, "tol": tol}
    yield from take_turns(names, labels, improve, start, **schedule)


def information_on_columns(counts: BlockCounts, labels: Labels) -> float:
    """I(X̃; Y) of row clusters and single columns."""
    views = counts.column_views([labels])
    return value_of(np.asarray(views.table.T.todense()), [views.n_objects])
