"""Distinct rows of labels with counts, block by block: each block has its own, and two make one.

Every method that sees only labels works on the distinct rows with their counts, so they are all that has to travel. A block's rows
stand in the order of their first objects, and so do those of two neighboring blocks after merging: the result is what
:meth:`consilience.Ensemble.signatures` finds of all rows at once, however they were cut into blocks and in whatever order
neighbors were merged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from consilience import _kernels
from consilience._check import InputError, encode_labels
from consilience._types import Array, Ints, Labels
from consilience.blocks.coding import Coded, Layout, narrowest, read_part
from consilience.blocks.words import says
from consilience.ensemble import Ensemble
from consilience.ensemble.info import object_vector

BYTES = 60, 16, 60  # that combining takes: of a row, of each of its labels, and of its membership in each cluster


class TooManyRowsError(InputError):
    """More distinct rows than there is room for."""


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of neighboring blocks.

    Attributes
    ----------
    rows : (n_rows, r) int8, int16 or int32 array
        In the order of their first objects; −1 missing.
    counts : (n_rows,) int64 array
        Objects with each row.
    labels : list of lists
        What the codes of every clustering stand for.
    lengths : tuple of int
        Objects of every part.
    """

    rows: Labels
    counts: Ints
    labels: list[list[Any]]
    lengths: tuple[int, ...]

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return sum(self.lengths)

    def n_labels(self, clustering: int) -> int:
        """How many different labels occur in a clustering."""
        return int(np.count_nonzero(np.bincount(self.rows[:, clustering].astype(np.int64) + 1)[1:]))

    def merge(self, *others: DistinctRows) -> DistinctRows:
        """These rows and those of the blocks that follow, in their order. Cost O(rows · r).

        Examples
        --------
        >>> import numpy as np
        >>> one = of_block(Coded(np.array([[0], [1], [0]], np.int32), [["a", "b"]]))
        >>> other = of_block(Coded(np.array([[1], [0]], np.int32), [["c", "b"]]))
        >>> both = one.merge(other)
        >>> [both.labels[0][code] for code in both.rows[:, 0]], both.counts.tolist(), both.lengths
        (['a', 'b', 'c'], [2, 2, 1], (3, 2))
        """
        for other in others:
            if len(self.labels) != len(other.labels):
                raise InputError(
                    f"a block has {len(other.labels)} clusterings, the one before {len(self.labels)}: give all blocks the same"
                )
        every = [self, *others]
        known = [{label: code for code, label in enumerate(labels)} for labels in self.labels]
        for other in others:
            for mine, theirs in zip(known, other.labels, strict=True):
                for label in theirs:
                    mine.setdefault(label, len(mine))
        kind = narrowest(known)  # type: ignore[arg-type]
        rows = np.concatenate([look_up_codes(Coded(one.rows, one.labels), known, kind) for one in every])
        first, inverse, _ = _kernels.signatures(rows)
        counts = np.zeros(len(first), np.int64)
        counts[: len(self.counts)] = self.counts  # distinct already, so the first rows are these
        np.add.at(
            counts, inverse[len(self.counts) :], np.concatenate([one.counts for one in every])[len(self.counts) :]
        )
        lengths = sum((one.lengths for one in every), ())
        return DistinctRows(rows[first], counts, [list(labels) for labels in known], lengths)

    @property
    def n_bytes(self) -> int:
        """About what it takes to combine them."""
        row, label, cluster = BYTES
        k = float(
            np.median([self.n_labels(j) for j in range(len(self.labels))])
        )  # codes may stand for labels that do not occur
        return int(len(self.counts) * (row + label * len(self.labels) + cluster * k))

    def places(self, block: Coded) -> Ints:
        """Which of the rows every object of a block has; all of them must be here."""
        codes = [{label: code for code, label in enumerate(labels)} for labels in self.labels]
        return RowTable(self.rows, _kernels.slots_of(self.rows), codes, {}).places(block)

    def check_room(self, room: int | None) -> DistinctRows:
        """Itself, if so many bytes are enough to combine these rows."""
        if room is not None and self.n_bytes > room:
            raise TooManyRowsError(
                f"{len(self.counts):,} or more distinct rows of labels need more than {room:,} bytes"
            )
        return self

    def ensemble(self, names: Sequence[str] | None) -> Ensemble:
        """The rows as an ensemble, labels coded and named as in that of all objects."""
        codes, label_names = np.empty(self.rows.shape[::-1], np.int32), []
        by_column = np.ascontiguousarray(self.rows.T)
        for j, (labels, column) in enumerate(zip(self.labels, by_column, strict=True)):
            first = np.full(len(labels) + 1, len(column))
            first[column[::-1]] = np.arange(len(column))[::-1]  # the last one written is the first row
            used = np.argsort(first[:-1], kind="stable")[: np.count_nonzero(first[:-1] < len(column))]
            what = f"clustering {j if names is None else names[j]!r}"
            new, found = encode_labels(object_vector([labels[code] for code in used]), what)
            place = np.full(len(labels) + 1, -1, np.int32)
            place[used] = new
            codes[j] = place[column]
            label_names.append(found)
        info = None if names is None else {"name": list(names)}
        return Ensemble.from_codes(np.ascontiguousarray(codes.T), label_names=label_names, info=info)


def of_block(block: Coded) -> DistinctRows:
    """Those of one block."""
    first, counts = _kernels.distinct_rows(block.codes)
    return DistinctRows(block.codes[first], counts, block.labels, (len(block.codes),))


@says("distinct rows")
def of_part(part: Any, layout: Layout, room: int | None = None) -> DistinctRows:
    """Those of a part, read block by block; an error once there are more than so many bytes have room for."""

    def add(found: DistinctRows, block: Coded) -> DistinctRows:
        return found.merge(of_block(block)).check_room(room)

    blocks = read_part(part, layout)
    found = reduce(add, blocks, of_block(next(blocks)).check_room(room))
    return replace(found, lengths=(found.n_objects,))


def merge(parts: Sequence[DistinctRows], room: int | None = None) -> DistinctRows:
    """Those of neighbors; an error if there is no room for so many."""
    return parts[0].merge(*parts[1:]).check_room(room)


def look_up_codes(block: Coded, codes: Sequence[Mapping[Any, int]], kind: Any = np.int32) -> Labels:
    """The labels of a block in other codes, by clustering and label, of a type that holds them; −1 where there is none."""
    found = block.codes.astype(kind, copy=False)
    for j, (labels, known) in enumerate(zip(block.labels, codes, strict=True)):
        place = np.array([*(known.get(label, -1) for label in labels), -1], np.int32)
        if not np.array_equal(place[:-1], np.arange(len(labels))):
            found = found.copy() if found is block.codes else found
            found[:, j] = place[block.codes[:, j]]
    return found


@dataclass(frozen=True, eq=False)
class RowTable:
    """Distinct rows with values, in which the rows of blocks are looked up.

    Attributes
    ----------
    rows : (n_rows, r) int8, int16 or int32 array
    slots : uint32 array
        By which they are found (:func:`consilience._kernels.slots_of`): made once, and sent along.
    codes : list of dicts
        The code of every label, clustering by clustering.
    values : dict of name to (n_rows, …) array
    """

    rows: Labels
    slots: Array
    codes: list[dict[Any, int]]
    values: dict[str, Array]

    @classmethod
    def of(cls, ens: Ensemble, values: dict[str, Array]) -> RowTable:
        """For an ensemble of distinct rows."""
        codes = [{label: code for code, label in enumerate(ens.categories(j))} for j in range(ens.n_clusterings)]
        rows = np.ascontiguousarray(ens.labels, narrowest(codes))  # type: ignore[arg-type]
        return cls(rows, _kernels.slots_of(rows), codes, values)

    def look_up(self, block: Coded) -> dict[str, Array]:
        """The values of the objects of a block."""
        at = self.places(block)
        return {name: values.take(at, axis=0, mode="clip") for name, values in self.values.items()}

    def places(self, block: Coded) -> Ints:
        """The row of every object of a block. Cost O(n · r), and no comparing of text beyond the labels' names."""
        at = _kernels.find_rows(self.rows, self.slots, look_up_codes(block, self.codes, self.rows.dtype))
        if at.min(initial=0) < 0:
            raise InputError(
                "the labels have changed since they were first read: keep them as they are until the answer is there"
            )
        return at
