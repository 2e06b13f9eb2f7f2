"""Labels whose distinct rows are too many: what adds up over blocks instead, and a sample of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from consilience import _kernels
from consilience._check import InputError, encode_labels
from consilience._types import Array, Ints, Labels
from consilience.blocks.distinct_rows import Coded, Layout, look_up_codes, read_part
from consilience.blocks.label_blocks import LabelBlocks
from consilience.blocks.running import Workers
from consilience.blocks.words import says
from consilience.consensus.methods.mcla import DENSE
from consilience.ensemble import Ensemble
from consilience.ensemble.info import object_vector

SAMPLE = 100_000  # objects, evenly taken, by which methods that need rows are fitted


@dataclass(frozen=True, eq=False)
class Seen:
    """Labels that occur in neighboring parts, and the objects of each part."""

    labels: list[list[Any]]
    lengths: tuple[int, ...]

    @classmethod
    def merge(cls, parts: Sequence[Seen]) -> Seen:
        """Those of neighbors."""
        each = zip(*(part.labels for part in parts), strict=True)
        lengths = tuple(n for part in parts for n in part.lengths)
        return cls([list(dict.fromkeys(chain(*labels))) for labels in each], lengths)


@dataclass(frozen=True, eq=False)
class Survey:
    """What was counted in all blocks.

    Attributes
    ----------
    codes : list of dicts
        The code of every label, clustering by clustering, as an ensemble of all objects has them.
    offsets : (r + 1,) int array
        Where each clustering's labels begin when all are numbered through.
    overlaps : (c, c) int64 array
        Objects that every two of the c clusters share; exact, whatever the blocks.
    sample : Ensemble
        Evenly taken objects.
    lengths : tuple of int
        Objects of every part.
    """

    codes: list[dict[Any, int]]
    offsets: Ints
    overlaps: Ints
    sample: Ensemble
    lengths: tuple[int, ...]

    @property
    def sizes(self) -> Ints:
        """(c,) objects of every cluster."""
        return self.overlaps.diagonal()

    @property
    def starts(self) -> list[int]:
        """The first object of every part."""
        return [0, *accumulate(self.lengths)][:-1]


def survey(blocks: LabelBlocks, workers: Workers, check: Callable[[int], None] = lambda n_objects: None) -> Survey:
    """Read all labels twice: which there are, and then which two occur together. Cost O(n_objects · r²), 8 c² bytes.

    What has no room is said after the first reading: by ``check(n_objects)``, and here of the clusters.
    """
    seen = workers.fold(partial(_see_part, layout=blocks.layout), blocks.parts, Seen.merge)
    check(sum(seen.lengths))
    c = sum(map(len, seen.labels))
    if c > DENSE:
        raise InputError(
            f"the clusterings have {c:,} clusters together, and tables of all pairs have room for {DENSE:,}: raise memory_limit= "
            "(--memory-limit), or combine fewer clusterings"
        )
    codes, label_names = [], []
    for j, labels in enumerate(seen.labels):
        new, names = encode_labels(
            object_vector(labels), f"clustering {j if blocks.names is None else blocks.names[j]!r}"
        )
        codes.append({label: int(code) for label, code in zip(labels, new, strict=True)})
        label_names.append(names)
    offsets = np.concatenate([[0], np.cumsum([len(known) for known in codes])]).astype(np.int64)
    n = sum(seen.lengths)
    taken = np.unique(((np.arange(min(n, SAMPLE)) + 0.5) * n / min(n, SAMPLE)).astype(np.int64))
    overlaps, rows = np.zeros((offsets[-1], offsets[-1]), np.int64), []
    starts = [0, *accumulate(seen.lengths)]
    mine = [taken[(taken >= a) & (taken < b)] - a for a, b in pairwise(starts)]
    count = partial(_count_part, layout=blocks.layout)
    for table, some in workers.each(count, blocks.parts, (codes, offsets), mine):
        overlaps += table
        rows.append(some)
    info = None if blocks.names is None else {"name": list(blocks.names)}
    sample = Ensemble.from_codes(np.concatenate(rows), label_names=label_names, info=info)
    return Survey(codes, offsets, overlaps, sample, seen.lengths)


@says("labels that occur")
def _see_part(part: Any, layout: Layout) -> Seen:
    found: list[list[Any]] | None = None
    n = 0
    for block in read_part(part, layout):
        n += len(block.codes)
        mine = [
            [labels[code] for code in _used(column)] for labels, column in zip(block.labels, block.codes.T, strict=True)
        ]
        found = mine if found is None else Seen.merge([Seen(found, ()), Seen(mine, ())]).labels
    return Seen(found or [], (n,))


def _used(column: Array) -> Ints:
    return np.flatnonzero(np.bincount(column[column >= 0]))


def coded_blocks(part: Any, codes: list[dict[Any, int]], layout: Layout) -> Iterator[tuple[Labels, Coded]]:
    """The blocks of a part in the codes of all objects."""
    for block in read_part(part, layout):
        yield look_up_codes(block, codes), block


@says("labels that occur together")
def _count_part(
    part: Any, shared: tuple[list[dict[Any, int]], Ints], taken: Ints, layout: Layout
) -> tuple[Ints, Labels]:
    """Objects that every two clusters share, and the rows of some objects."""
    (codes, offsets), begin = shared, 0
    table, rows = np.zeros((offsets[-1], offsets[-1]), np.int64), []
    for labels, _ in coded_blocks(part, codes, layout):
        columns = np.ascontiguousarray(labels.T)
        for q, column in enumerate(columns):
            size = int(offsets[q + 1] - offsets[q])
            table[:, offsets[q] : offsets[q + 1]] += _kernels.label_tables(columns, offsets, column, size)
        rows.append(labels[taken[(taken >= begin) & (taken < begin + len(labels))] - begin])
        begin += len(labels)
    return table, np.concatenate(rows)
