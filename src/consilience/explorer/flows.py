"""How objects flow between the clusters of several clusterings, side by side, and the order in which those are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Any

import numpy as np

from consilience import _kernels
from consilience._types import Array, Floats, Ints, Labels
from consilience.explorer.codec import RefusedError, Reply, binary_reply
from consilience.measures import variation_of_information

LEAST, MOST = 2, 8  # clusterings side by side
CELLS = 250_000  # of all tables together


@dataclass(frozen=True, eq=False)
class Column:
    """One clustering of a flow: how clients name it, its codes (−1 missing), and the names of its clusters where it has some."""

    ref: str
    codes: Labels
    names: list[str] | None = None

    @property
    def clusters(self) -> int:
        """Number of clusters."""
        return int(self.codes.max(initial=-1)) + 1


def flow_reply(revision: int, columns: Sequence[Column], **more: Any) -> Reply:
    """The columns, the table of every two neighbors, and the labels of all; a table's last row and column are of missing labels."""
    sizes = [column.clusters + 1 for column in columns]
    cells = sum(a * b for a, b in pairwise(sizes))
    if cells > CELLS:
        raise RefusedError(400, f"these clusterings have too many clusters for a flow: {cells:,} pairs of neighbors")
    header = {
        "revision": revision,
        "columns": [
            {
                "ref": column.ref,
                "clusters": column.clusters,
                "names": column.names,
                "sizes": np.bincount(column.codes[column.codes >= 0], minlength=column.clusters),
                "n_missing": int(np.count_nonzero(column.codes < 0)),
            }
            for column in columns
        ],
        "tables": [flow_table(a, b) for a, b in pairwise(columns)],
        **more,
    }
    return binary_reply(header, {"labels": encoded(columns)})


def encoded(columns: Sequence[Column]) -> Array:
    """The labels of all columns in as few bytes as their clusters need; the largest value is missing."""
    small = max(column.clusters for column in columns) < 255
    return np.stack([column.codes for column in columns]).astype(np.uint8 if small else np.uint16)


def flow_table(a: Column, b: Column) -> Ints:
    """Counts of objects, clusters of one × clusters of the other, with those without a label last on each side.

    Examples
    --------
    >>> flow_table(Column("0m", np.array([0, 0, 1, -1])), Column("1m", np.array([0, 1, 1, 1])))
    array([[1, 1, 0],
           [0, 1, 0],
           [0, 1, 0]])
    """
    mine, theirs = (np.where(one.codes < 0, one.clusters, one.codes) for one in (a, b))
    return np.asarray(_kernels.contingency(mine, theirs, (a.clusters + 1, b.clusters + 1)))


def arranged(columns: Sequence[Column]) -> list[int]:
    """The order in which neighbors are most alike: the shortest way through all by variation of information, the coarser end first.

    Examples
    --------
    >>> coarse, finer, finest = np.array([0, 0, 0, 0]), np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])
    >>> arranged([Column("0m", finest), Column("1m", coarse), Column("2m", finer)])
    [1, 2, 0]
    """
    n = len(columns)
    far = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            far[i, j] = far[j, i] = _distance(columns[i].codes, columns[j].codes)
    ways = np.array([way for way in permutations(range(n)) if way[0] <= way[-1]])
    best = ways[far[ways[:, :-1], ways[:, 1:]].sum(axis=1).round(9).argmin()].tolist()
    ends = columns[best[0]].clusters, columns[best[-1]].clusters
    return best[::-1] if ends[0] > ends[1] else best


def _distance(a: Labels, b: Labels) -> float:
    both = (a >= 0) & (b >= 0)
    return float(variation_of_information(a, b)) if both.any() else float(np.log(max(2, len(a))))


def numbers_of(median: int, most: int, n_rows: int) -> list[int]:
    """At most eight numbers of clusters from 2 to `most`, each about as much larger than the one before; the median is one of them.

    Examples
    --------
    >>> numbers_of(4, 8, 100), numbers_of(11, 30, 100), numbers_of(4, 8, 3)
    ([2, 3, 4, 5, 6, 7, 8], [2, 3, 4, 6, 11, 14, 20, 30], [2, 3])
    """
    most = max(2, min(most, n_rows))
    numbers = sorted({int(k) for k in np.round(np.geomspace(2, most, MOST))})
    if len(numbers) < MOST:
        numbers = list(range(2, most + 1))[:MOST] if most <= MOST + 1 else numbers
    if 2 < median < most and median not in numbers:
        nearest: Floats = np.abs(np.log(np.array(numbers[1:-1]) / median))
        numbers[1 + int(nearest.argmin())] = median
    return numbers
