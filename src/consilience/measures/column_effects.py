"""What tells a cluster from the rest, in the words of the table as it came: shares of categories, medians of numbers and dates.

Of words in an order it is the share of a level and of all beyond it, where that differs most from the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._types import Array, Floats, Ints
from consilience.measures.effect_sizes import effect_sizes
from consilience.tables import Table
from consilience.tables.encoded_column import EncodedColumn


@dataclass(frozen=True, eq=False)
class ColumnEffects:
    """Cohen's d of every cluster on every column of a table with an encoder; of a category, that of the level with the largest.

    Of two categories, it is that of the one which is more frequent in the cluster.

    Attributes
    ----------
    effect, error : (clusters, columns) array
        d on the encoded column (logarithms, days, 0 and 1), and its standard error.
    place : (clusters, columns) int array
        Which encoded column that is.
    lower : (clusters, columns) bool array
        Whether the cluster has less of it than the others.
    """

    table: Table
    codes: NDArray[np.int32]
    effect: Floats
    error: Floats
    place: Ints
    lower: Array

    @classmethod
    def of(cls, table: Table, codes: NDArray[np.int32]) -> ColumnEffects:
        """From the labels of the objects, −1 where one has none. Cost O(n · width)."""
        assert table.encoder is not None
        _, _, effect, error = effect_sizes(table.values, codes)
        strength = np.where(np.isnan(effect), -1.0, np.abs(effect))
        begins = np.unique(table.encoder.groups, return_index=True)[1]
        ends = [*begins[1:], strength.shape[1]]
        place = np.stack([b + strength[:, b:e].argmax(axis=1) for b, e in zip(begins, ends, strict=True)], axis=1)
        rows = np.arange(len(effect))[:, None]
        two = [column.zero is not None and column.kind == "category" for column in table.encoder.columns]
        chosen = np.where(two, np.abs(effect[rows, place]), effect[rows, place])
        return cls(table, codes, chosen, error[rows, place], place, effect[rows, place] < 0)

    def name(self, column: int) -> str:
        """Of a column of the table as it came."""
        return self._column(column).name

    def values(self, cluster: int, column: int) -> tuple[float, float]:
        """Share of the level (of an order, and beyond), or mean of the numbers, in the cluster and elsewhere, of the cells that are there.

        NaN of dates.
        """
        inside, outside = self._cells(cluster, column)
        if self._column(column).kind == "date":
            return np.nan, np.nan
        return (_mean(inside), _mean(outside))

    def words(self, cluster: int, column: int) -> str:
        """Such as "plan: 71 % pro against 22 %", "service: 80 % good or higher against 31 %" or "age: 54 against 31 (median)"."""
        one = self._column(column)
        inside, outside = self._cells(cluster, column)
        if one.has_words:
            level = self._level(cluster, column) if one.is_category else self._beyond(cluster, column)[1]
            return f"{one.name}: {100 * _mean(inside):.0f} % {level} against {100 * _mean(outside):.0f} %"
        middle = [_shown(cells, one.kind) for cells in (inside, outside)]
        return f"{one.name}: {middle[0]} against {middle[1]} (median)"

    def _column(self, column: int) -> EncodedColumn:
        assert self.table.encoder is not None
        return self.table.encoder.columns[column]

    def _level(self, cluster: int, column: int) -> str:
        one = self._column(column)
        if one.zero is not None and one.kind == "category" and self.lower[cluster, column]:
            return one.zero
        return one.all_levels[self._position(cluster, column)]

    def _position(self, cluster: int, column: int) -> int:
        """Which of the column's own encoded columns it is."""
        assert self.table.encoder is not None
        return int(self.place[cluster, column]) - int(np.searchsorted(self.table.encoder.groups, column))

    def _beyond(self, cluster: int, column: int) -> tuple[Array, str]:
        """Which objects are at a level of an order, or beyond it, and this in words: that by which the cluster differs most.

        On the side where the cluster has more, by its mean.
        """
        assert self.table.original is not None
        one, inside = self._column(column), self.codes == cluster
        steps = one.steps(self.table.original.iloc[:, column])
        known, last = (steps >= 0) & (self.codes >= 0), len(one.levels) - 1
        counts = np.array([np.bincount(steps[known & side], minlength=last + 1) for side in (inside, ~inside)])
        shares = np.cumsum(counts, axis=1) / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        if self.lower[cluster, column]:
            at = int(np.argmax((shares[0] - shares[1])[:-1]))
            return (steps >= 0) & (steps <= at), one.levels[at] + (" or lower" if at else "")
        at = int(np.argmin((shares[0] - shares[1])[:-1])) + 1
        return steps >= at, one.levels[at] + (" or higher" if at < last else "")

    def _cells(self, cluster: int, column: int) -> tuple[Array, Array]:
        """The cells that are there, in the cluster and elsewhere; of a category whether they are of the level."""
        assert self.table.original is not None
        one, cells = self._column(column), self.table.original.iloc[:, column]
        there = cells.notna().to_numpy() & (self.codes >= 0)
        if one.kind == "ordered":
            there &= one.steps(cells) >= 0  # of new objects also words that are not on the scale
            values = self._beyond(cluster, column)[0].astype(float)
        elif one.kind == "choices":
            values = one.holds(cells, self._position(cluster, column)).astype(float)
        elif one.is_category:
            is_pool = self._position(cluster, column) == len(
                one.levels
            )  # by place: a category may be called as the pool is
            chosen = ~cells.isin(one.levels) if is_pool else cells == self._level(cluster, column)
            values = chosen.to_numpy(float)
        else:
            values = cells.to_numpy()
        inside = self.codes == cluster
        return values[there & inside], values[there & ~inside]


def _mean(cells: Array) -> float:
    return float(cells.mean()) if len(cells) else np.nan


def _shown(cells: Array, kind: str) -> str:
    if not len(cells):
        return "none"
    if kind == "date":
        return str(pd.Series(cells).sort_values(ignore_index=True)[len(cells) // 2].date())
    middle = float(np.median(cells))
    return f"{middle:,.0f}" if abs(middle) >= 1000 or middle.is_integer() else f"{middle:.3g}"
