"""Too many distinct rows for the memory: a method is fitted to a sample of the objects, and all others are placed by their labels."""

# Objects whose row of labels is in the sample have its answer; the others join the cluster that their labels make most probable
# (:mod:`consilience.consensus.rows.placement`), as new objects do in ``predict``. Where the sample is all objects, the answer is that of
# memory. Voting, the mixture's EM and NBCE's bound go on from there over all objects (:mod:`consilience.blocks.vote_mixture_nbce`).

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, Protocol

import numpy as np
import pandas as pd

from consilience import _kernels
from consilience._types import Array, Floats, Ints, Labels
from consilience.blocks.distinct_rows import Coded, DistinctRows, Layout, RowTable, look_up_codes, of_block, read_part
from consilience.blocks.reading_and_writing import Reading
from consilience.consensus.result import Consensus
from consilience.consensus.rows.placement import Placement, sample_objects
from consilience.consensus.trust.floaters import FLOATING
from consilience.ensemble import Ensemble

SAMPLE = 100_000  # safeguard: for memory, objects that a method is fitted to where all distinct rows have no room
CHUNK = 2**16  # safeguard: rows that are placed at a time, whose scores for all clusters take some MB


class Rule(Protocol):
    """What gives rows of labels their clusters, and a number for each cluster; :class:`Placement` is one."""

    def places(self, rows: Labels) -> tuple[Ints, Floats]:
        """(n,) clusters, −1 for a row without labels, and (n, k) memberships."""


@dataclass(frozen=True, eq=False)
class Placed:
    """What gives every object of a block its cluster, confidence, support and memberships."""

    sampled: RowTable  # the distinct rows of the sample, with their values
    placement: Placement
    order: Ints  # the clusters by falling size; those that no object joins are left out
    rule: Rule | None = None  # by which rows that the sample lacks are placed instead
    wanted: tuple[str, ...] = ("cluster", "confidence", "support")

    @classmethod
    def of(cls, sample: Ensemble, answer: Consensus, rule: Rule | None = None) -> "Placed":
        """From the objects of a sample and what they were combined into; a rule numbers clusters as the answer does."""
        first = sample.signatures().first
        values: dict[str, Array] = {"cluster": answer.labels.astype(np.int32), "membership": answer.membership}
        values |= {"confidence": answer.confidence, "support": answer.support}
        table = RowTable.of(sample[first], {name: some[first] for name, some in values.items()})
        placement = Placement.of(sample, answer)
        # rows that the sample has are looked up in it, so that the placement need not remember them
        placement = replace(placement, seen=placement.seen[:0], seen_labels=placement.seen_labels[:0])
        return cls(table, placement, np.arange(answer.n_clusters), rule)

    def look_up(self, block: Coded) -> dict[str, Array]:
        rows = look_up_codes(block, self.sampled.codes)
        labeled = np.any(block.codes >= 0, axis=1, keepdims=True)
        parts = [self._values(rows[i : i + CHUNK], labeled[i : i + CHUNK]) for i in range(0, max(1, len(rows)), CHUNK)]
        return {name: np.concatenate([part[name] for part in parts]) for name in self.wanted}

    def _values(self, rows: Labels, labeled: Array) -> dict[str, Array]:
        at = _kernels.find_rows(self.sampled.rows, self.sampled.slots, rows.astype(self.sampled.rows.dtype))
        found = {name: values.take(np.maximum(at, 0), axis=0) for name, values in self.sampled.values.items()}
        new = np.flatnonzero(at < 0)
        if len(new):
            labels, membership = (self.rule or self.placement).places(rows[new])
            unknown = labeled[new, 0] & (labels < 0)  # no label that the sample has: what most objects are
            labels = np.where(unknown, int(self.placement.log_shares.argmax()), labels)
            membership = np.where(unknown[:, None], np.exp(self.placement.log_shares), membership)
            support = self.placement.support(rows[new], labels)
            found["cluster"][new], found["membership"][new] = labels, membership
            found["confidence"][new], found["support"][new] = self.placement.confidence(support, labels), support
        place = np.full(len(self.placement.log_shares) + 1, -1, np.int32)
        place[self.order] = np.arange(len(self.order))
        membership = found["membership"][:, self.order]
        total = membership.sum(axis=1, keepdims=True)
        found["membership"] = np.divide(membership, total, out=np.zeros_like(membership), where=total > 0)
        return found | {"cluster": place[found["cluster"]]}


def take_sample(reading: Reading, check: Callable[[int], None]) -> tuple[DistinctRows, tuple[int, ...]]:
    # That no cutting into blocks changes.
    lengths = tuple(reading.each("counting objects", _count))
    n = sum(lengths)
    check(n)
    taken = sample_objects(n, SAMPLE)
    mine = [taken[(taken >= a) & (taken < b)] - a for a, b in pairwise([0, *accumulate(lengths)])]
    return DistinctRows.merge(*reading.each("sample", _take, more=mine)), lengths


def _count(part: Any, shared: None, more: None, layout: Layout) -> int:
    return sum(len(block.codes) for block in read_part(part, layout))


def _take(part: Any, shared: None, taken: Ints, layout: Layout) -> DistinctRows:
    begin, rows = 0, []
    for block in read_part(part, layout):
        mine = taken[(taken >= begin) & (taken < begin + len(block.codes))] - begin
        rows.append(of_block(Coded(np.ascontiguousarray(block.codes[mine]), block.labels)))
        begin += len(block.codes)
    return DistinctRows.merge(*rows)


def sum_clusters(placed: Placed, reading: Reading) -> tuple[Placed, Floats]:
    sums: Floats = sum(reading.each("means of clusters", _sum, placed))  # type: ignore[assignment]
    sizes = sums[0, :-1]
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    return replace(placed, order=order), sums[:, [*order, len(sizes)]]


def _sum(part: Any, placed: Placed, more: None, layout: Layout) -> Floats:
    found = (placed.look_up(block) for block in read_part(part, layout))
    k = len(placed.order)
    return sum((sums_of(one["cluster"], one["confidence"], one["support"], k) for one in found), np.zeros((4, k + 1)))


def sums_of(labels: Ints, confidence: Floats, support: Floats, k: int, counts: Ints | None = None) -> Floats:
    # (4, k + 1): objects of every cluster, sums of their confidence and support, and floaters; the last column is without a cluster.
    labels, n = np.where(labels < 0, k, labels), np.ones(len(labels)) if counts is None else counts
    weak = (support <= FLOATING + 1e-12) & (labels < k)
    return np.array([np.bincount(labels, n * values, k + 1) for values in (1.0, confidence, support, weak)])


def cluster_table(sums: Floats, order: Ints, sampled: pd.DataFrame) -> pd.DataFrame:
    """The table of clusters: means of all objects, and what the sample says of which clusters are taken for each other."""
    size, place = sums[0, :-1], np.full(len(sampled) + 1, -1)
    place[order] = np.arange(len(order))
    table = sampled.iloc[order].reset_index(drop=True)
    return table.assign(
        cluster=np.arange(len(order)),
        size=size.astype(np.int64),
        share=size / size.sum(),
        confidence=sums[1, :-1] / size,
        support=sums[2, :-1] / size,
        floaters=sums[3, :-1].astype(np.int64),
        nearest=place[table["nearest"]],
    )


def tally_of(sums: Floats) -> dict[str, Any]:
    size = sums[0, :-1]
    return {
        "n_objects": int(sums[0].sum()),
        "n_without_labels": int(sums[0, -1]),
        "n_floaters": int(sums[3].sum()),
        "sizes": size.astype(np.int64).tolist(),
        "mean_confidence": float(sums[1, :-1].sum() / size.sum()),
        "mean_support": float(sums[2, :-1].sum() / size.sum()),
    }
