"""What tells a cluster from the rest: the columns on which its objects differ most, with effect sizes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from consilience._check import InputError, check_count, check_labels, check_same_index, count
from consilience._types import Array, ArrayLike, Floats, Ints, LabelsLike
from consilience.ensemble.results import Result
from consilience.tables import Table, check_matrix, read_table
from consilience.tables.encoder import EncodedColumn
from consilience.tables.in_memory import is_frame, needs_encoding, plain_source

BLOCK = 2**24  # safeguard: memory; values looked at at a time
NOTHING = 1e-7  # safeguard: rounding; of a column's size, below which a difference of squares is rounding
FEATURES = ["cluster", "feature", "effect", "low", "high", "mean", "mean_elsewhere"]
Z = 1.959964  # safeguard: no choice; 95 % of a normal distribution lie within so many standard errors


def distinguishing_features(
    X: ArrayLike, labels: LabelsLike, *, names: Sequence[Any] | None = None, top: int = 5
) -> pd.DataFrame:
    """List for every cluster the columns of the data on which it differs most from all other objects.

    Parameters
    ----------
    X : (n_objects, n_columns) array, sparse matrix, Table or data frame
    labels : (n_objects,) labels, or a result with labels, such as a Consensus
        Objects without one are left out.
    names : sequence, optional
        Of the columns; by default those of the data frame or Table, else their numbers.
    top : int, default 5
        Columns listed for each cluster.

    Returns
    -------
    DataFrame
        `cluster`, `feature`, `effect` (Cohen's d: the difference of the means over the pooled standard deviation inside cluster
        and rest), `low` and `high` (its 95 % interval), `mean` in the cluster and `mean_elsewhere`; the largest |d| first.
        Columns that are constant tell nothing and are left out. Of a table with columns of several kinds, the features are the columns
        as they came, the means of a category are the shares of the level that differs most, and `words` says it:
        "plan: 71 % pro against 22 %".

    Notes
    -----
    The interval, ± 1.96 √(1/n₁ + 1/n₂ + d² / 2(n₁ + n₂)), says how exactly d is known for groups that were given. Clusters made
    from these very columns were made to differ: large effects do not test whether the clusters are real.

    Examples
    --------
    >>> from consilience.measures import distinguishing_features
    >>> X = [[0.0, 5.0], [1.0, 6.0], [9.0, 5.0], [10.0, 6.0]]
    >>> distinguishing_features(X, ["a", "a", "b", "b"], names=["size", "age"], top=1)[["cluster", "feature", "effect"]]
       cluster feature     effect
    0        0    size -12.727922
    1        1    size  12.727922
    """
    codes = check_labels(getattr(labels, "labels", None) if isinstance(labels, Result) else labels)
    X = mixed_table(X, names)
    names = getattr(X, "columns", None) if names is None else names
    data = check_matrix(X)
    if len(codes) != data.shape[0]:
        raise InputError(f"{count(len(codes), 'label')} for data of shape {data.shape}: give one for each row")
    check_same_index(X, labels)
    check_count("top", top)
    effects: NumberEffects | ColumnEffects
    if in_words := isinstance(X, Table) and X.in_words:
        effects = ColumnEffects.of(X, codes)
    else:
        called = np.arange(data.shape[1]) if names is None else np.asarray(list(names), object)
        effects = NumberEffects(called, *effect_sizes(data.tocsc() if sparse.issparse(data) else data, codes))
    rows: list[tuple[Any, ...]] = []
    for cluster, own in enumerate(effects.effect):
        strength = np.where(np.isnan(own), -1.0, np.abs(own))
        for column in np.argsort(-strength, kind="stable")[:top].tolist():
            if strength[column] >= 0:
                d, half = own[column], Z * effects.error[cluster, column]
                means = effects.values(cluster, column)
                words = [effects.words(cluster, column)] if in_words else []
                rows.append((cluster, effects.name(column), d, d - half, d + half, *means, *words))
    return pd.DataFrame(rows, columns=[*FEATURES, "words"] if in_words else FEATURES)


def mixed_table(X: Any, names: Sequence[Any] | None = None) -> Any:
    """Columns that are not numbers, or with missing cells, as a table with an encoder, by these names; anything else as it is."""
    plain = plain_source(X) if is_frame(X) else X
    if not needs_encoding(plain):
        return X
    if names is not None:
        if len(names) != plain.shape[1]:
            raise InputError(f"{count(len(names), 'name')} for data of shape {plain.shape}: give one for each column")
        X = pd.DataFrame(plain).set_axis(list(names), axis=1)
    return read_table(X, kind="data")


def effect_sizes(X: Any, codes: NDArray[np.int32]) -> tuple[Floats, Floats, Floats, Floats]:
    """Means in every cluster and elsewhere, Cohen's d and its standard error, each clusters × columns. Cost O(n d)."""
    # d is NaN where a column is constant or nothing lies elsewhere, and infinite where only the means differ.
    known = np.flatnonzero(codes >= 0)
    k, n = int(codes.max()) + 1, len(known)
    member = sparse.csr_matrix((np.ones(n), (codes[known], np.arange(n))), (k, n))
    step = max(1, BLOCK // max(1, n))
    blocks = [_sums(member, X[:, at : at + step][known]) for at in range(0, X.shape[1], step)]
    center, first, second = (np.concatenate(parts, axis=-1) for parts in zip(*blocks, strict=True))
    size = np.bincount(codes[known], minlength=k).astype(float)[:, None]
    rest = n - size
    with np.errstate(divide="ignore", invalid="ignore"):
        inside, outside = first / size, (first.sum(axis=0) - first) / rest
        within = second - size * inside**2 + second.sum(axis=0) - second - rest * outside**2
        pooled = np.sqrt(np.maximum(within, 0) / np.maximum(n - 2, 1))
        rounding = NOTHING * np.sqrt(second.sum(axis=0) / n)
        apart = np.where(np.abs(inside - outside) > rounding, inside - outside, 0)
        effect = apart / np.where(pooled > rounding, pooled, 0)
        error = np.sqrt(1 / size + 1 / rest + np.where(np.isinf(effect), 0, effect) ** 2 / (2 * n))
    means = [np.where(np.abs(side + center) < 1e-12 * np.abs(center), 0, side + center) for side in (inside, outside)]
    return means[0], means[1], effect, error


def _sums(member: Any, block: Any) -> tuple[Floats, Floats, Floats]:
    """A center of some columns, and for every cluster the sums of their deviations from it and of the squares of these."""
    if sparse.issparse(block):  # which centering would fill
        return np.zeros(block.shape[1]), (member @ block).toarray(), (member @ block.multiply(block)).toarray()
    center = block.mean(axis=0)
    values = block - center
    return center, member @ values, member @ values**2


@dataclass(frozen=True, eq=False)
class NumberEffects:
    names: Any
    inside: Floats
    outside: Floats
    effect: Floats
    error: Floats

    def name(self, column: int) -> Any:
        return self.names[column]

    def values(self, cluster: int, column: int) -> tuple[float, float]:
        return self.inside[cluster, column], self.outside[cluster, column]

    def words(self, cluster: int, column: int) -> str | None:
        return None


# What tells a cluster from the rest, in the words of the table as it came: shares of categories, medians of numbers and dates. Of words
# in an order it is the share of a level and of all beyond it, where that differs most from the rest.


@dataclass(frozen=True, eq=False)
class ColumnEffects:
    """Cohen's d, clusters × columns of a table with an encoder; of a category, that of the level with the largest."""

    # Of two categories, it is that of the one which is more frequent in the cluster.

    table: Table
    codes: NDArray[np.int32]
    effect: Floats  # d on the encoded column (logarithms, days, 0 and 1)
    error: Floats
    place: Ints  # which encoded column that is
    lower: Array  # whether the cluster has less of it than the others

    @classmethod
    def of(cls, table: Table, codes: NDArray[np.int32]) -> Self:
        """Cost O(n · width)."""
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
        return self._column(column).name

    def values(self, cluster: int, column: int) -> tuple[float, float]:
        """Share of the level (of an order, and beyond), or mean of the numbers, in the cluster and elsewhere; NaN of dates."""
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
        """Which objects are at a level of an order, or beyond it, and this in words: that by which the cluster differs most."""
        # on the side where the cluster has more, by its mean
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
        elif one.is_category:
            # by place: a category may be called as the pool is
            is_pool = self._position(cluster, column) == len(one.levels)
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
