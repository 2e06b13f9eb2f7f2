"""Whether new objects are like those that were clustered."""

# **Outside.** The distance of an object to the clusters: to the nearest cluster mean of a member, in the columns as they are clustered,
# averaged over up to 20 members. Of the objects of the data it is measured to means without the object itself. New objects beyond the 99
# % quantile lie outside what was seen: about 1 % of objects that are like the data do.
#
# **Columns that moved.** The largest difference between the cumulative distributions, old and new, at the old deciles, as Kolmogorov and
# Smirnov's; a column moved if it exceeds 0.15 and what happens by chance once in a million.

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import binom

from consilience._check import count, listed
from consilience._types import Array, ArrayLike, Floats, Ints
from consilience.ensemble import Ensemble
from consilience.ensemble.results import Result, register
from consilience.generation.kmeans import cluster_means

MEMBERS = 20  # safeguard: members whose means distances are to; more cost time, and the nearest mean is hardly another
QUANTILE = 0.99  # of the distances of the data: what is farther lies outside
OBJECTS = 20_000  # safeguard: objects by which distances and columns are judged; shares are known to .005 then
BLOCK = 2**24  # safeguard: distances at a time, 128 MB
LARGE = 0.05  # share of new objects outside, from which on it is worth a warning
CHANCE = 1e-4  # that as many new objects lie outside by chance
MOVED, RARE = 0.15, 2.7  # of the cumulative shares; √(−ln(10⁻⁶ / 2) / 2)
NAMED = 3  # safeguard: columns in a sentence, which one can still read
GONE, FEW = 0.9, 10  # share of missing cells from which on a column says nothing, in this many rows or more


class DriftWarning(UserWarning):
    """Many new objects lie outside what was seen."""


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Result):
    """How new objects differ from those that were clustered.

    Attributes
    ----------
    outside : (n_objects,) bool array
        Which of them lie farther from the clusters than 99 % of the data.
    expected : float
        The share of them that would if they were like the data.
    columns : DataFrame
        `column`, its mean `was` and is `now`, the `difference` of the two distributions (0 to 1), and whether it `moved`; the most
        different first.
    unseen : dict of str to int
        Cells with a category that was not there, by column.
    missing : dict of str to int
        Missing cells, and those that are no number or date where the data has some, by column.
    """

    outside: Array
    expected: float
    columns: pd.DataFrame
    unseen: dict[str, int] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """Of the objects, those outside what was seen."""
        return float(self.outside.mean()) if len(self.outside) else 0.0

    @property
    def moved(self) -> list[str]:
        """Names of the columns that moved, the most different first."""
        return [str(name) for name in self.columns.loc[self.columns["moved"].astype(bool), "column"]]

    @property
    def large(self) -> bool:
        """Whether more than 5 % lie outside, and more than chance puts there, or a column is gone."""
        return is_large(int(self.outside.sum()), len(self.outside), self.expected) or bool(self.gone)

    @property
    def gone(self) -> list[str]:
        """Columns of which at least nine cells in ten are missing, of ten objects or more."""
        return columns_gone(self.missing, len(self.outside))

    def to_frame(self) -> pd.DataFrame:
        return self.columns

    def describe(self, ids: Array | None = None) -> str:
        """What there is to say, in one sentence; a few objects outside what was seen by their `ids`, where these are given."""
        parts = [outside_words(self.share, len(self.outside), self.expected)]
        which = np.flatnonzero(self.outside)
        if ids is not None and 0 < len(which) <= NAMED:
            those = listed([str(name) for name in ids[which]])
            parts[0] += f": {those}, whose confidence is lower for it, whatever the support"
        moved = self.columns[self.columns["moved"].astype(bool)]
        if len(moved):
            named = [f"{row.column} (mean {row.was:.3g}, now {row.now:.3g})" for row in moved.head(NAMED).itertuples()]
            more = f" and {len(moved) - NAMED:,} more" if len(moved) > NAMED else ""
            parts.append(f"{len(moved):,} of {count(len(self.columns), 'column')} moved: {', '.join(named)}{more}")
        if self.unseen:
            cells = sum(self.unseen.values())
            parts.append(f"{count(cells, 'cell')} with a category not seen before, in {listed(list(self.unseen))}")
        if self.gone:
            parts.append(gone_words(self.gone))
        if self.large:
            parts.append("cluster again if they are here to stay")
        return "; ".join(parts)

    def __repr__(self) -> str:
        return f"Drift: {self.describe()}"


def outside_words(share: float, n: int, expected: float) -> str:
    return f"{100 * share:.3g} % of {count(n, 'object')} lie outside what was seen (of the data itself {100 * expected:.2g} % do)"


def columns_gone(missing: dict[str, int], n: int) -> list[str]:
    return [name for name, cells in missing.items() if cells >= GONE * n and n >= FEW]


def gone_words(names: list[str]) -> str:
    return f"{listed(names)} {'has' if len(names) == 1 else 'have'} hardly any value that can be read"


def is_large(n_outside: int, n: int, expected: float) -> bool:
    return n_outside > LARGE * n and float(binom.sf(n_outside - 1, n, expected)) < CHANCE


@register
@dataclass(frozen=True, eq=False)
class Seen:
    means: Floats  # (all clusters of some members, columns in use); NaN for a cluster without objects
    offsets: Ints  # (n_members + 1,)
    limit: float  # distance that 99 % of the data keep
    expected: float  # probability that another object like the data is farther
    edges: Floats  # (n_columns, 9) deciles of the given columns
    below: Floats  # (n_columns, 9) the share of the data up to them
    center: Floats  # (n_columns,) their means
    n_objects: int  # by which these were judged

    @classmethod
    def of(cls, values: ArrayLike, table: ArrayLike, ensemble: Ensemble) -> "Seen":
        """From the data, the same as it is clustered, and the members."""
        labels = ensemble.labels[:, :MEMBERS]
        means, counts, sizes = cluster_means(table, labels)
        means[counts == 0] = np.nan
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = evenly(table.shape[0], OBJECTS)
        own = np.where(labels[rows] >= 0, labels[rows] + offsets[:-1], -1)
        distances = np.sort(_distances(table[rows], means, offsets, (own, counts)))
        n = len(distances)
        k = min(n, int(np.ceil(QUANTILE * (n + 1))))
        some = values[rows]
        edges, center = _deciles(some), np.asarray(some.mean(axis=0)).ravel()
        limit, expected = float(distances[k - 1]), (n + 1 - k) / (n + 1)
        return cls(means, offsets, limit, expected, edges, _below(some, edges), center, n)

    def beyond(self, table: ArrayLike) -> Floats:
        # 1 for what is not farther than 99 % of the data. Time O(rows · columns · clusters).
        far = _distances(table, self.means, self.offsets)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(far > self.limit * (1 + 1e-9), far / self.limit, 1.0)

    def outside(self, table: ArrayLike) -> Array:
        return self.beyond(table) > 1

    def drift(
        self,
        values: ArrayLike,
        outside: Array,
        names: list[str] | None,
        unseen: dict[str, int] | None = None,
        missing: dict[str, int] | None = None,
    ) -> Drift:
        """What is to be said of new rows of the given columns."""
        rows = evenly(values.shape[0], OBJECTS)
        some = values[rows]
        n = len(rows)
        difference = np.abs(_below(some, self.edges) - self.below).max(axis=1, initial=0.0)
        limit = max(MOVED, RARE * np.sqrt(1 / max(n, 1) + 1 / self.n_objects))
        found = {
            "column": [f"column {j}" for j in range(len(difference))] if names is None else names,
            "was": self.center,
            "now": np.asarray(some.mean(axis=0)).ravel() if n else np.nan,
            "difference": difference if n else np.nan,
            "moved": (difference > limit) & (n > 0),
        }
        columns = pd.DataFrame(found).sort_values("difference", ascending=False, kind="stable", ignore_index=True)
        return Drift(outside, self.expected, columns, unseen or {}, missing or {})


def evenly(n: int, most: int) -> Ints:
    """All of n, or `most` of them at even steps."""
    return np.arange(n) if n <= most else np.unique(np.linspace(0, n - 1, most).astype(np.int64))


def _distances(table: ArrayLike, means: Floats, offsets: Ints, within: tuple[Ints, Ints] | None = None) -> Floats:
    # Mean, over members, of the distance to the nearest mean; to means without the object itself where its clusters, and the
    # sizes of all, are given. Members without a mean to compare with do not count. A row so far away that its squares overflow is
    # infinitely far.
    empty, found = np.asarray(np.isnan(means).any(axis=1)), np.empty(table.shape[0])
    points = np.where(empty[:, None], 0.0, means)
    lengths = np.where(empty, np.inf, np.square(points).sum(axis=1))
    step = max(1, BLOCK // max(1, len(points)))
    for begin in range(0, len(found), step):
        part = table[begin : begin + step]
        with np.errstate(over="ignore", invalid="ignore"):
            square = part.multiply(part).sum(axis=1) if sparse.issparse(part) else np.square(part).sum(axis=1)
            squares = np.asarray(part @ points.T) * -2 + lengths + np.asarray(square).reshape(-1, 1)
        beyond = ~np.isfinite(squares[:, ~empty]).all(axis=1)
        np.maximum(squares, 0, out=squares)
        if within is not None:
            own, counts = within
            for mine in own[begin : begin + step].T:
                at = np.flatnonzero(mine >= 0)
                size = counts[mine[at]].astype(float)
                with np.errstate(divide="ignore", invalid="ignore"):
                    larger = np.where(size > 1, squares[at, mine[at]] * (size / (size - 1)) ** 2, np.inf)
                squares[at, mine[at]] = larger
        nearest = np.sqrt(np.minimum.reduceat(squares, offsets[:-1], axis=1))
        told = np.isfinite(nearest)
        total = np.where(told, nearest, 0).sum(axis=1)
        found[begin : begin + step] = np.where(beyond, np.inf, total / np.maximum(told.sum(axis=1), 1))
    return found


def _deciles(values: ArrayLike) -> Floats:
    shares = np.arange(1, 10) / 10
    return np.array([np.quantile(column, shares, method="inverted_cdf") for column in _columns(values)]).reshape(-1, 9)


def _below(values: ArrayLike, edges: Floats) -> Floats:
    """(n_columns, 9) the share of the rows up to every edge."""
    pairs = zip(_columns(values), edges, strict=True)
    numbers = [np.searchsorted(np.sort(column), edge, side="right") for column, edge in pairs]
    return np.array(numbers).reshape(-1, 9) / max(1, values.shape[0])


def _columns(values: ArrayLike) -> list[Floats]:
    if not sparse.issparse(values):
        return list(values.T)
    by_column = sparse.csc_matrix(values)
    return [by_column[:, j].toarray().ravel() for j in range(values.shape[1])]
