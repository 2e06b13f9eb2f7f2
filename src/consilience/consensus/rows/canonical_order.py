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

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from consilience import _kernels
from consilience._types import Floats, Ints, Labels

Colors = NDArray[np.uint64]
ROUNDS = 8, 1000  # of refinement, at least and at most
FRACTION = 2.0**20  # parts of an object's mean weight that are told apart
WORK = 2e7  # labels looked at, beyond the least
ROW, MARK = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xD1B54A32D192ED03),
)  # so that rows, labels and marks do not mix alike


@dataclass(frozen=True, eq=False)
class Given:
    """Where columns and codes in canonical order stand in the ensemble.

    Attributes
    ----------
    n_clusterings : int
        Of the ensemble; those without a label have no column.
    columns : (n_columns,) int array
        The clustering of every column.
    codes : tuple of int arrays
        For every column, the ensemble's code of each of its codes.
    first : (n_rows,) int array
        The first object of every row.
    """

    n_clusterings: int
    columns: Ints
    codes: tuple[Ints, ...]
    first: Ints

    def rows(self, labels: Labels) -> Labels:
        """(n, n_clusterings) rows of labels as the ensemble has them."""
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
    """Distinct rows in canonical order, the place each had, and what they, their columns and codes were.

    Rows stand by falling weight, if roughly, codes by falling weight of their objects, equals by color; clusterings by color. Codes
    are 0 … k − 1 in every column, and a clustering without labels has no column. Weights must not depend on the order either.
    """
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
    """Colors of the rows, of the labels and of the clusterings."""
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


def _telling(rows: Labels, offsets: Ints) -> NDArray[np.bool_]:
    """Clusterings that tell rows apart: one label for all would only shift every color, so it has none, and stands last."""
    return np.asarray((np.diff(offsets) > 1) | (rows.min(axis=0) < 0))


def _of_clusterings(colors: Colors, offsets: Ints) -> Colors:
    return mix(np.add.reduceat(mix(colors + ROW), offsets[:-1]))


def _row_order(
    rows: Labels, weights: Colors, colors: Colors, label_colors: Colors, offsets: Ints, columns: Ints
) -> Ints:
    """Rows by falling weight, then by color, then by the colors of their labels, then as given."""
    # One number to sort by: how light a row is, roughly, and the upper bits of its color. Equal ones are sorted out after.
    shift = np.uint64(max(0, int(weights.max()).bit_length() - 16))
    light = np.uint64(0xFFFF) - (weights >> shift)
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
    """The finalizer of splitmix64."""
    colors = (colors ^ (colors >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    colors = (colors ^ (colors >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return colors ^ (colors >> np.uint64(31))
