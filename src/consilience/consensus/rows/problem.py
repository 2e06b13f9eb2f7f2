"""One order of rows, clusterings and labels, whatever order and names they come in.

Methods draw, break ties and add up floating-point numbers in the order of what they are given. So that the same ensemble has the same
answer, its rows, clusterings and labels are first put into an order of their own, by **color refinement** (Weisfeiler and Leman 1968):
a label's color is made from the colors of its rows and of its clustering, a row's color from those of its labels and its weight,
round after round until no more labels are told apart. Colors are 64-bit hashes and their sums wrap around, so nothing depends on the
order of addition; a round costs O(rows · clusterings).

**Ties.** Labels that still look alike are nearly always exchangeable (two copies of a clustering; two lone objects in otherwise equal
places): one of them is given a color of its own, which is the same whichever it is, and the rounds go on. Where
there is no time for that, on very many rows or ties, those that are left stand in the order given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience import _kernels
from consilience._check import InputError, count
from consilience._run.random import stream
from consilience._types import Array, EnsembleLike, Floats, Ints, Labels
from consilience.inputs import as_ensemble

Colors = NDArray[np.uint64]
ROUNDS = 8, 1000  # safeguard: rounds of refinement, at least and at most; a handful tells nearly all labels apart
FRACTION = 2.0**20  # safeguard: weights are rounded to such parts of an object, beyond the noise of their last digits
WORK = 2e7  # safeguard: labels looked at beyond the least rounds, about a tenth of a second
# safeguard: odd numbers far apart in all bits, so that rows, labels and marks do not mix alike
ROW, MARK = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)


@dataclass(frozen=True, eq=False)
class Given:
    n_clusterings: int  # Of the ensemble; those without a label have no column
    columns: Ints  # (n_columns,) The clustering of every column
    codes: tuple[Ints, ...]  # For every column, the ensemble's code of each of its codes
    first: Ints  # (n_rows,) The first object of every row

    def rows(self, labels: Labels) -> Labels:
        found = np.full((len(labels), self.n_clusterings), -1, np.int32)
        for column, at, codes in zip(labels.T, self.columns, self.codes, strict=True):
            found[:, at] = np.append(codes, -1)[column]
        return found

    def labels(self) -> tuple[Ints, Ints]:
        """The numbers of all labels, clusterings and their codes in the order of the ensemble, and where each clustering begins."""
        sizes = np.array([len(codes) for codes in self.codes])
        starts, order = np.cumsum(sizes) - sizes, np.argsort(self.columns)
        numbers = np.concatenate([starts[j] + np.argsort(self.codes[j]) for j in order])
        return numbers, np.concatenate([[0], np.cumsum(sizes[order])])


def canonical(labels: Labels, weights: Floats, first: Ints) -> tuple[Labels, Ints, Given]:
    """Distinct rows in canonical order, the place each had, and what they, their columns and codes were."""
    # Rows stand by falling weight, if roughly, codes by falling weight of their objects, equals by color; clusterings by color. Codes are
    # 0 … k − 1 in every column, and a clustering without labels has no column. Weights must not depend on the order either.
    kept = np.flatnonzero(labels.max(axis=0) >= 0)
    rows, codes = _compact(labels, kept)
    offsets = np.concatenate([[0], np.cumsum([len(used) for used in codes])]).astype(np.int64)
    whole = _whole(weights)
    row_colors, label_colors, clustering_colors = _refine(rows, offsets, whole)
    columns = np.lexsort((clustering_colors, ~_telling(rows, offsets)))
    order = _row_order(rows, whole, row_colors, label_colors, offsets, columns)
    by_column, mass = np.ascontiguousarray(rows.take(order, axis=0).T), whole[order].astype(float)
    found, names = np.empty((len(columns), len(rows)), np.int32), []
    for j, q in enumerate(columns):
        column, size = by_column[q], offsets[q + 1] - offsets[q]
        heaviest = np.bincount(column + 1, mass, minlength=size + 1)[1:]
        by_weight = np.lexsort((label_colors[offsets[q] : offsets[q + 1]], -heaviest))
        place = np.full(size + 1, -1, np.int32)
        place[by_weight] = np.arange(size)
        found[j] = place[column]
        names.append(codes[q][by_weight])
    return np.ascontiguousarray(found.T), order, Given(labels.shape[1], kept[columns], tuple(names), first[order])


def _compact(labels: Labels, kept: Ints) -> tuple[Labels, list[Ints]]:
    """Columns with labels, codes 0 … k − 1 without gaps, and the codes that they had."""
    rows, codes = np.ascontiguousarray(labels[:, kept]), []
    for j in range(len(kept)):
        present = np.bincount(rows[:, j] + 1)[1:] > 0
        codes.append(np.flatnonzero(present))
        if not present.all():
            rows[:, j] = np.append(np.cumsum(present) - 1, -1)[rows[:, j]]
    return rows, codes


def _whole(weights: Floats) -> Colors:
    """Weights as whole numbers: fractions of an object are rounded, so that the last digits, or the unit of weights, do not matter."""
    return np.rint(weights if (weights == np.floor(weights)).all() else weights * FRACTION).astype(np.uint64)


def _refine(rows: Labels, offsets: Ints, weights: Colors) -> tuple[Colors, Colors, Colors]:
    own = mix(weights + ROW)
    sizes = np.diff(offsets)
    telling = np.repeat(_telling(rows, offsets), sizes)
    labels = np.flatnonzero(telling)
    colors = np.zeros(offsets[-1], np.uint64)
    rounds = int(np.clip(WORK // max(rows.size, 1), *ROUNDS))
    told_apart = 0
    for _ in range(rounds):
        sums = _kernels.color_rows(rows, offsets, mix(colors), own)[1]
        colors = mix(colors + MARK * mix(sums + np.repeat(_of_clusterings(colors, offsets), sizes))) * telling
        found, first, count = np.unique(colors[labels], return_index=True, return_counts=True)
        if len(found) == len(labels):
            break
        if len(found) == told_apart:  # as far as colors go: the first tie is broken
            tie = int(labels[first[count > 1][0]])
            colors[tie] = mix(colors[tie : tie + 1] + MARK)[0]
            told_apart += 1
        else:
            told_apart = len(found)
    return _kernels.color_rows(rows, offsets, mix(colors), own)[0], colors, _of_clusterings(colors, offsets)


def _telling(rows: Labels, offsets: Ints) -> Array:
    """Clusterings that tell rows apart: one label for all would only shift every color, so it has none, and stands last."""
    return np.asarray((np.diff(offsets) > 1) | (rows.min(axis=0) < 0))


def _of_clusterings(colors: Colors, offsets: Ints) -> Colors:
    return mix(np.add.reduceat(mix(colors + ROW), offsets[:-1]))


def _row_order(rows: Labels, whole: Colors, colors: Colors, label_colors: Colors, offsets: Ints, columns: Ints) -> Ints:
    """Rows by falling weight, then by color, then by the colors of their labels, then as given."""
    # One number to sort by: how light a row is, roughly, and the upper bits of its color. Equal ones are sorted out after.
    shift = np.uint64(max(0, int(whole.max()).bit_length() - 16))
    light = np.uint64(0xFFFF) - (whole >> shift)
    key = light << np.uint64(48) | colors >> np.uint64(16)
    order = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    if len(same):
        places = np.union1d(same, same + 1)
        tied = order[places]
        parts = [np.append(label_colors[offsets[q] : offsets[q + 1]], 0)[rows[tied, q]] for q in columns[::-1]]
        order[places] = tied[np.lexsort([np.arange(len(tied)), *parts, colors[tied], key[tied]])]
    return order


def mix(colors: Colors) -> Colors:
    colors = (colors ^ (colors >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    colors = (colors ^ (colors >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return colors ^ (colors >> np.uint64(31))


# What every consensus method works on: distinct rows of labels with weights, the number of clusters wanted, and sums over rows.


@dataclass(frozen=True)
class Problem:
    """The distinct rows of an ensemble, in an order that does not depend on that of its objects and clusterings."""

    # Objects with the same row of labels are interchangeable, so methods work on rows with weights and the answer equals that on all
    # objects. Objects without any label have no row: they belong to no cluster (−1, confidence 0).

    # (n_rows, n_clusterings) Distinct rows, codes 0 … k_q − 1 in every column, −1 missing; no row is all missing
    labels: Labels
    # (n_rows,) The number, or the summed weight, of the objects with the row. Whole sample weights count copies of an object; others are
    # relative, and scaled so that an object weighs 1 on average.
    weights: Floats
    # Clusters wanted; at least 2 and at most the number of rows. 1 where all objects are alike and none were asked for.
    n_clusters: int
    inverse: Ints  # (n_objects,) Row of every object, −1 for an object without labels
    given: Given | None = None  # Where columns and codes stand in the ensemble; None if they are as there
    # (n_rows,) How many objects have the row, where `inverse` does not say it: its entries are rows that stand for objects elsewhere
    copies: Ints | None = None
    # Whether the clusterings were spread evenly over numbers of clusters, rather than drawn independently of one another
    even: bool = False

    @property
    def n_rows(self) -> int:
        return int(self.labels.shape[0])

    @property
    def n_clusterings(self) -> int:
        return int(self.labels.shape[1])

    @cached_property
    def sizes(self) -> Ints:
        return self.labels.max(axis=0).astype(np.int64) + 1

    @cached_property
    def offsets(self) -> Ints:
        """(n_clusterings + 1,) where each clustering's labels begin when all are numbered through."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def label_weights(self) -> Floats:
        """(Σ k_q,) the weight of the rows with each label, numbered through."""
        columns = zip(self.labels.T, self.sizes, strict=True)
        # The place before the first is that of missing labels.
        return np.concatenate([np.bincount(column + 1, self.weights, size + 1)[1:] for column, size in columns])

    @property
    def coverage(self) -> Floats:
        return self.weights @ (self.labels >= 0) / self.weights.sum()

    @cached_property
    def whole(self) -> bool:
        return bool((self.weights == np.floor(self.weights)).all())

    @property
    def exact(self) -> Array:
        """The weights as what kernels add up exactly, where they can."""
        return self.weights.astype(np.int64) if self.whole else self.weights

    @cached_property
    def n_objects_of_rows(self) -> Ints:
        if self.copies is not None:
            return self.copies
        return np.bincount(self.inverse[self.inverse >= 0], minlength=self.n_rows)

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """What was worked out for these rows and may be asked for again, whatever the number of clusters."""
        return {}

    def to_objects(self, values: Array, missing: Any) -> Array:
        if self.inverse.min() >= 0:
            return values.take(self.inverse, axis=0)
        return np.where(self.inverse.reshape(-1, *[1] * (values.ndim - 1)) >= 0, values[self.inverse], missing)

    def with_clusters(self, n_clusters: int | None) -> Problem:
        """The same rows with another number of clusters wanted; None leaves it as it is."""
        if n_clusters is None:
            return self
        other = replace(self, n_clusters=_check_n_clusters(n_clusters, self.n_rows))
        vars(other)["kept"] = self.kept
        return other

    def part(self, rows: Ints, weights: Floats) -> Problem:
        """Some of the rows, that weigh as told and are the objects themselves."""
        return Problem(np.ascontiguousarray(self.labels[rows]), weights, self.n_clusters, np.arange(len(rows)))

    @property
    def first(self) -> Ints:
        return np.arange(self.n_rows) if self.given is None else self.given.first

    def as_given(self, rows: Labels) -> Labels:
        return rows if self.given is None else self.given.rows(rows)

    def columns_as_given(self) -> Ints:
        return np.arange(self.n_clusterings) if self.given is None else np.argsort(self.given.columns)

    def labels_as_given(self) -> tuple[Ints, Ints]:
        """The numbers of all labels in the order of the ensemble (clusterings without any left out), and its offsets."""
        if self.given is not None:
            return self.given.labels()
        return np.arange(self.offsets[-1]), self.offsets

    @property
    def hyperedges(self) -> Labels:
        """(n_rows, n_clusterings) clusters of all clusterings numbered through, −1 missing."""
        return np.where(self.labels >= 0, self.labels + self.offsets[:-1].astype(np.int32), -1).astype(np.int32)


def check_problem(
    labels: EnsembleLike,
    n_clusters: int | None = None,
    sample_weight: Any = None,
    copies: Ints | None = None,
    even: bool | None = None,
) -> Problem:
    """Collapse an ensemble (or what one is made from) to rows in canonical order; check the number of clusters and the weights."""
    # ``n_clusters=None`` takes the median number of clusters of the clusterings, but at least 2. Objects of weight 0 are as good as not
    # there: they have no row, and a cluster or a clustering of nothing but them does not count. With `copies`, every row of the ensemble
    # is a different one and stands for so many objects, which are elsewhere: the answer is the one that they would have. `even` says
    # whether the clusterings are spread evenly where the ensemble does not know it.
    ens = as_ensemble(labels)
    signatures = ens.signatures()
    weights = _row_weights(signatures, sample_weight, ens.n_objects) if copies is None else copies.astype(float)
    keep = (signatures.labels >= 0).any(axis=1) & (weights > 0)
    if not keep.any():
        raise InputError("no object has a label, so there is nothing to combine")
    inverse, first = _weighted_objects(signatures, sample_weight)
    rows, order, given = canonical(signatures.labels[keep], weights[keep], first[keep])
    kept = np.flatnonzero(keep)[order]
    place = np.full(len(keep), -1)
    place[kept] = np.arange(len(kept))
    if n_clusters is None and len(rows) == 1:
        k = 1  # all alike: one cluster
    else:
        median = max(2, int(np.median(rows.max(axis=0) + 1)))
        k = _check_n_clusters(median if n_clusters is None else n_clusters, len(rows))
    whole = None if copies is None else copies[kept]
    even = spread_evenly(ens) if even is None else even
    return Problem(rows, weights[kept], k, np.where(inverse >= 0, place[inverse], -1), given, whole, even)


def spread_evenly(ens: Any) -> bool:
    """Whether all clusterings have places from 0 to 1, as what made them has written to `info`, that leave no gap twice the mean one."""
    # Variations have the place of the one that they vary, and are not spread. Of many places, a part that was chosen,
    # by chance or on purpose, leaves larger gaps.
    info = ens.info
    if "place" not in info or "method" not in info or ("around" in info and info["around"].notna().any()):
        return False
    if info["place"].isna().any() or len(info) < 2:
        return False
    places = np.sort(info["place"].to_numpy(float))
    return bool(np.append(np.diff(places), places[0] + 1 - places[-1]).max() * len(places) <= 2)


def _check_n_clusters(k: Any, n_rows: int) -> int:
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 2:
        raise InputError(f"n_clusters must be a whole number of at least 2, or None; got {k!r}")
    if k > n_rows:
        rows = f"the ensemble has only {count(n_rows, 'distinct row')} of labels"
        raise InputError(f"{k} clusters cannot be told apart: {rows}; ask for fewer clusters")
    return int(k)


def _row_weights(signatures: Any, sample_weight: Any, n_objects: int) -> Floats:
    if sample_weight is None:
        return signatures.counts.astype(float)
    if np.ma.is_masked(sample_weight):
        raise InputError("sample weights have masked cells: fill them")
    weights = np.asarray(sample_weight, float)
    if weights.shape != (n_objects,):
        raise InputError(f"{n_objects} objects need as many weights; got shape {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise InputError("sample weights must be finite, not negative, and not all zero")
    some = weights[weights > 0]
    if some.max() > 1e12 * some.min() or some.sum() >= 2**53:
        far = "differ by more than a factor of 10¹², or sum to more than 2⁵³"
        raise InputError(f"sample weights {far}; scale or clip them")
    inverse = signatures.inverse
    if (some % 1 != 0).any():
        weights = weights / np.sort(some).mean()  # relative weights: an object weighs 1 on average
        order = np.lexsort((weights, inverse))  # fractions are added in one order, whatever that of the objects
        inverse, weights = inverse[order], weights[order]
    return np.bincount(inverse, weights, minlength=len(signatures)).astype(float)


def _weighted_objects(signatures: Any, sample_weight: Any) -> tuple[Ints, Ints]:
    """The row of every object, −1 of those of weight 0, and the first object of every row that has a weight."""
    if sample_weight is None or (there := np.asarray(sample_weight, float) > 0).all():
        return signatures.inverse, signatures.first
    objects, first = np.flatnonzero(there), signatures.first.copy()
    first[signatures.inverse[objects[::-1]]] = objects[::-1]  # the last one written is the first of them
    return np.where(there, signatures.inverse, -1), first


def by_size(labels: Array, weights: Floats, k: int, places: Ints | None = None) -> Ints:
    """Clusters 0 … k − 1 in the order that estimators number them: falling weight, ties by first object, empty ones last."""
    # `places` are the rows' first objects; without them the rows are the objects.
    places = np.arange(len(labels)) if places is None else places
    first = np.full(k, places.max(initial=0) + 1)
    np.minimum.at(first, labels, places)
    return np.lexsort((first, -np.bincount(labels, weights, minlength=k)))


def incidence(problem: Problem, rows: Ints | None = None) -> Any:
    """H, sparse (n_rows, Σ k_q): 1 where a row, or one of some of them, lies in a cluster; missing labels leave zeros."""
    labels = problem.labels if rows is None else problem.labels[rows]
    known = labels >= 0
    starts = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    numbers = (labels + problem.offsets[:-1].astype(np.int32))[known]
    return sparse.csr_array((np.ones(starts[-1]), numbers, starts), shape=(len(labels), int(problem.offsets[-1])))


def label_tables(problem: Problem, labels: Array, k: int) -> list[Floats]:
    """For every clustering, the weight of each cluster's rows with each label: k × k_q; labels −1 count nowhere."""
    table, offsets = label_table(problem, labels, k), np.cumsum(problem.sizes)
    return [np.ascontiguousarray(part.T) for part in np.split(table, offsets[:-1])]


def label_table(problem: Problem, labels: Array, k: int) -> Floats:
    """The same of all clusterings below each other: Σ k_q × k."""
    return _kernels.label_tables(problem.labels.T, problem.offsets, labels, k, weights=problem.exact).astype(float)


def row_scores(problem: Problem, tables: Sequence[Array]) -> Floats:
    """Σ_q table_q[c, y_q] for every row and cluster (n_rows × k); missing labels add nothing."""
    offsets = np.concatenate([[0], np.cumsum([table.shape[1] for table in tables])])
    return sum_over_labels(problem.labels, offsets, np.hstack(tables).T)


def sum_over_labels(labels: Labels, offsets: Ints, table: Floats) -> Floats:
    """(n, k): the sum of a table (labels × k) over the labels of every row; missing ones add nothing."""
    scores = np.zeros((len(labels), table.shape[1]))
    _kernels.row_scores(labels, offsets[:-1], table, scores)
    return scores


def row_distances(labels: Labels, others: Labels) -> Floats:
    """(n, m) distances of two sets of rows: the share of clusterings, of those that label both, that part them; else 1."""
    agree = np.zeros((len(labels), len(others)), np.float32)
    for mine, theirs in zip(labels.T, others.T, strict=True):
        agree += np.where(mine >= 0, mine, -2)[:, None] == theirs  # missing equals nothing
    both = (labels >= 0).astype(np.float32) @ (others >= 0).astype(np.float32).T
    distances = np.ones(agree.shape)
    np.divide(both - agree, both, out=distances, where=both > 0, dtype=float)
    return distances


def sample_rows(weights: Floats, size: int, seed: int) -> Ints:
    """Numbers of `size` rows, drawn without replacement in proportion to their weights; all if there are no more."""
    if len(weights) <= size:
        return np.arange(len(weights))
    # The smallest of exponential times with these rates are such a draw.
    times = stream(seed, "consensus.rows").exponential(size=len(weights)) / weights
    return np.sort(np.argpartition(times, size)[:size])


def sample_evenly(problem: Problem, most: int) -> Ints:
    """The rows of `most` objects, evenly taken in the canonical order of the rows: the order of the objects does not matter."""
    ends = problem.weights.cumsum()
    at = (np.arange(most) + 0.5) * ends[-1] / most
    return np.minimum(np.searchsorted(ends, at, side="right"), problem.n_rows - 1)
