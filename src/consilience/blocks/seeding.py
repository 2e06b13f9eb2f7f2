"""Stable components by passes over blocks: the heaviest rows are found exactly, without ever holding all distinct ones.

SCCC's next seed is the heaviest row that differs from all earlier seeds in enough clusterings. A first pass counts objects by a hash of
their rows: no row is heavier than its place in that table. A second counts the rows of the heaviest places exactly; those that are
heavier than all other places are the heaviest of all, in their order. Seeds are taken from them, and the two passes go on among the
rows that are far from these seeds, until every gap has its seeds or no row is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from consilience import _kernels
from consilience._check import InputError
from consilience._types import Array, Ints, Labels
from consilience.blocks.distinct_rows import Layout
from consilience.blocks.label_blocks import LabelBlocks
from consilience.blocks.running import Workers
from consilience.blocks.survey import Survey, coded_blocks
from consilience.blocks.words import says
from consilience.consensus import SCCC
from consilience.consensus.rows.problem import mix

PLACES = 20  # bits of the hash of a row
HEAVIEST = 2**14  # places whose rows are counted exactly
AT_ONCE = (
    4  # gaps in one pass: each has a table of 8 MB here and in every worker, which FIXED of a memory limit has room for
)


@dataclass(frozen=True, eq=False)
class Far:
    """Rows that differ from all of some seeds in at least `gap` clusterings."""

    seeds: Labels  # (s, r), in the codes of all objects
    gap: int

    def among(self, rows: Labels) -> Labels:
        """Those of them that are."""
        far = np.ones(len(rows), bool)
        for seed in self.seeds:
            far &= np.count_nonzero(rows != seed, axis=1) >= self.gap
        return rows if far.all() else rows[far]


def find_seeds(blocks: LabelBlocks, workers: Workers, survey: Survey, k: int, gaps: Sequence[int]) -> dict[int, Labels]:
    """The seeds (k, r) of every gap that has enough of them. Cost O(n_objects · r · k) in each of two or more passes.

    Rows with as many objects as each other stand in the order of their codes, and not, as in memory, in canonical order.
    """
    none = np.empty((0, len(survey.codes)), np.int32)
    [(rows, is_all)] = _heaviest(blocks, workers, survey, [Far(none, 0)])
    seeds = {gap: _take(none, rows, gap, k) for gap in gaps}
    left = [gap for gap in gaps if len(seeds[gap]) < k and not is_all]
    while left:
        some, left = left[:AT_ONCE], left[AT_ONCE:]
        every = [Far(seeds[gap], max(gap, 1)) for gap in some]  # a gap of 0 leaves out the seeds themselves, as 1 does
        for gap, (rows, is_all) in zip(some, _heaviest(blocks, workers, survey, every), strict=True):
            seeds[gap] = _take(seeds[gap], rows, gap, k)
            left += [gap] if len(seeds[gap]) < k and not is_all else []
    return {gap: one for gap, one in seeds.items() if len(one) == k}


def _take(seeds: Labels, ranked: Labels, gap: int, k: int) -> Labels:
    """More seeds from rows in their order, each far from all earlier ones."""
    while len(seeds) < k and len(ranked := Far(seeds[-1:], max(gap, 1)).among(ranked)):
        seeds = np.vstack([seeds, ranked[:1]])
    return seeds


def _heaviest(blocks: LabelBlocks, workers: Workers, survey: Survey, every: Sequence[Far]) -> list[tuple[Labels, bool]]:
    """Of the rows of each kind the heaviest, by falling number of objects, and whether these are all."""
    marks = mix(np.arange(1, survey.offsets[-1] + 1, dtype=np.uint64))
    counted = np.zeros((len(every), 2**PLACES), np.int64)
    shared = (survey.codes, survey.offsets, marks, list(every))
    for some in workers.each(partial(_count_part, layout=blocks.layout), blocks.parts, shared, survey.lengths):
        counted += some
    wanted, bounds = np.zeros(counted.shape, bool), []
    for places, counts in zip(wanted, counted, strict=True):
        order = np.argsort(-counts, kind="stable")
        places[order[:HEAVIEST]] = counts[order[:HEAVIEST]] > 0
        bounds.append(int(counts[order[HEAVIEST]]))
    held: list[tuple[Labels, Ints] | None] = [None] * len(every)
    each = workers.each(partial(_list_part, layout=blocks.layout), blocks.parts, (*shared, wanted), survey.lengths)
    for listed in each:
        held = [one if mine is None else _merge(mine, one) for mine, one in zip(held, listed, strict=True)]
    found = []
    for one, bound in zip(held, bounds, strict=True):
        assert one is not None
        rows, counts = one
        sure = counts > bound
        if bound and not sure.any():
            raise InputError(
                f"{blocks.layout.source}: rows that may be seeds are too many and too rare to rank without all distinct rows: raise "
                "memory_limit= (--memory-limit), give a smaller gap=, or name another method"
            )
        rows, counts = rows[sure], counts[sure]
        found.append((rows[np.lexsort([*rows.T[::-1], -counts])], not bound))
    return found


Shared = tuple[list[dict[Any, int]], Ints, Array, list[Far]]


@says("objects by hash of their row")
def _count_part(part: Any, shared: Shared, length: int, layout: Layout) -> Ints:
    codes, offsets, marks, every = shared
    counted = np.zeros((len(every), 2**PLACES), np.int64)
    for rows, _ in coded_blocks(part, codes, layout):
        for places, far in zip(counted, every, strict=True):
            places += np.bincount(_places(far.among(rows), offsets, marks), minlength=2**PLACES)
    return counted


@says("heaviest rows")
def _list_part(
    part: Any, shared: tuple[Any, Ints, Array, list[Far], Array], length: int, layout: Layout
) -> list[tuple[Labels, Ints]]:
    codes, offsets, marks, every, wanted = shared
    held: list[tuple[Labels, Ints] | None] = [None] * len(every)
    for rows, _ in coded_blocks(part, codes, layout):
        for i, (places, far) in enumerate(zip(wanted, every, strict=True)):
            some = far.among(rows)
            some = np.ascontiguousarray(some[places[_places(some, offsets, marks)]])
            first, counts = _kernels.distinct_rows(some)
            mine, one = held[i], (some[first], counts)
            held[i] = one if mine is None else _merge(mine, one)
    nothing = np.empty((0, len(codes)), np.int32), np.empty(0, np.int64)  # of a part without blocks
    return [nothing if one is None else one for one in held]


def _merge(one: tuple[Labels, Ints], other: tuple[Labels, Ints]) -> tuple[Labels, Ints]:
    rows = np.concatenate([one[0], other[0]])
    first, inverse, _ = _kernels.signatures(rows)
    counts = np.zeros(len(first), np.int64)
    np.add.at(counts, inverse, np.concatenate([one[1], other[1]]))
    return rows[first], counts


def _places(rows: Labels, offsets: Ints, marks: Array) -> Ints:
    """The place of every row: the upper bits of a mixed sum of its labels' marks."""
    sums = np.zeros(len(rows), np.uint64)
    for begin, column in zip(offsets[:-1], rows.T, strict=True):
        sums += marks[begin + column]
    return (mix(sums) >> np.uint64(64 - PLACES)).astype(np.int64)


def check_seeding(model: SCCC, survey: Survey, source: str) -> None:
    """Refuse what needs all distinct rows in their order."""
    if model.centroid:
        raise InputError("SCCC with centroid=True takes rows one by one, and needs the distinct rows: leave it out")
    n = sum(survey.lengths)
    if any(part.sum() < n for part in np.split(survey.sizes, survey.offsets[1:-1])):
        raise InputError(
            f"{source}: some labels are missing, and SCCC then needs the distinct rows: raise memory_limit= (--memory-limit), or name a "
            "method that works by tables"
        )
