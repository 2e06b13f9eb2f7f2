"""The expected loss of one partition over many samples of it, in the form that a search can lower, without a matrix of pairs.

For a partition C and samples Z_1 … Z_S, with n_c and n_sz the sizes of their clusters and T_s the table of both,

    loss(C) = (1/S) Σ_s [ (2 − a) Σ_c f(n_c) + a Σ_z f(n_sz) − 2 Σ_zc f(T_szc) ] / f₀

is the mean variation of information (in nats) for f(x) = x log x and f₀ = n, and Binder's loss (the share of ordered pairs that one puts
together and the other apart) for f(x) = x² and f₀ = n². The cost a, between 0 and 2, is that of putting apart what belongs
together, and 2 − a that of putting together what does not (D. B. Dahl, D. J. Johnson and P. Müller, Search algorithms and loss
functions for Bayesian clustering, 2022). **Missing labels**: a sample that leaves objects out is compared with C on the objects that
it labels, n_c and f₀ counted among them.

**Rows alike in all samples share a cluster** in some partition of least loss: as a function of how many of them are in one of
two clusters, the loss is concave, because f″ is not larger at n_c than at T_szc ≤ n_c, and 2 − a ≤ 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import delayed
from scipy import sparse

from consilience import _kernels
from consilience._check import InputError
from consilience._run.parallel import workers
from consilience._run.progress import Bar
from consilience._run.random import stream
from consilience._types import Array, Floats, Ints, Labels

LOSSES = ("vi", "binder")
Found = tuple[Labels, float]  # a partition, and its loss


@dataclass(frozen=True)
class ExpectedLoss:
    """Items that a search puts into clusters, and what their places cost: constant + Σ_y scale_y Σ_c f(T_yc)."""

    # A column y is a cluster of a sample, or all objects that a sample labels; T_yc is the weight that cluster c has in it.

    start: Ints  # (n_items + 1,) Where the entries of every item begin
    column: Labels  # (entries,)
    value: Labels  # (entries,) The item's weight in the column; empty where that is `weight`
    weight: Labels  # (n_items,) Objects in every item
    scale: Floats  # (columns,)
    constant: float  # What the samples alone contribute
    square: bool  # Whether f(x) is x² (Binder's loss) or x log x

    @classmethod
    def of(cls, labels: Labels, weights: Array, loss: str = "vi", cost: float = 1.0) -> ExpectedLoss:
        """Of distinct rows of sampled labels (rows × samples, −1 missing, every sample labels some) and the objects in each."""
        if weights.sum() >= 2**31:
            raise InputError(f"{weights.sum():,.0f} objects are more than a search of partitions can count (2³¹)")
        known, square, n_samples = labels >= 0, loss == "binder", labels.shape[1]
        sizes = labels.max(axis=0).astype(np.int64) + 1
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        partial = np.flatnonzero(~known.all(axis=0))
        masses = weights @ known
        base = masses**2 if square else masses
        scale = np.repeat(-2 / n_samples / base, sizes)
        scale = np.append(scale, (2 - cost) / base[partial] / n_samples)
        of_partial = np.arange(len(partial), dtype=np.int32) + np.int32(offsets[-1])
        numbers = [labels + offsets[:-1].astype(np.int32), np.tile(of_partial, (len(labels), 1))]
        there = [known, known[:, partial]]
        if len(partial) < n_samples:  # the samples that label everything share one column of all objects
            whole = float(weights.sum())
            scale = np.append(scale, (2 - cost) * (1 - len(partial) / n_samples) / (whole**2 if square else whole))
            numbers.append(np.full((len(labels), 1), len(scale) - 1, np.int32))
            there.append(np.ones((len(labels), 1), bool))
        entries, filled = np.hstack(numbers), np.hstack(there)
        theirs = [np.bincount(column[here], weights[here]) for column, here in zip(labels.T, known.T, strict=True)]
        constant = sum(cost * term(part, square).sum() / b for part, b in zip(theirs, base, strict=True)) / n_samples
        start = np.concatenate([[0], np.cumsum(filled.sum(axis=1))]).astype(np.int64)
        none, weight = np.empty(0, np.int32), weights.astype(np.int32)
        return cls(start, np.ascontiguousarray(entries[filled]), none, weight, scale, float(constant), square)

    @property
    def n_items(self) -> int:
        return len(self.weight)

    def at(self, labels: Array) -> float:
        return self.improve(labels, np.empty(0, np.int64))[1]

    def improve(self, labels: Array, order: Ints, *, limit: int | None = None, passes: int = 100) -> Found:
        """Put items, in an order, where the loss is least, until none moves; new labels of all, and the loss."""
        # A label of −1 is an item that has no cluster yet; there are at most `limit` clusters. Costs O(entries · clusters) a pass.
        found = np.array(labels, np.int32)
        most = self.n_items if limit is None else limit
        _, value = _kernels.allocate(
            self.start, self.column, self.value, self.weight, self.scale, found, order,
            square=self.square, limit=max(most, int(found.max(initial=0)) + 1), passes=passes,
        )  # fmt: skip
        return found, max(0.0, value + self.constant)

    def grouped(self, groups: Array) -> ExpectedLoss:
        """The same loss for items that move together: `groups` are 0 … without gaps."""
        value = self.value if len(self.value) else np.repeat(self.weight, np.diff(self.start))
        shape = (self.n_items, len(self.scale))
        entries = sparse.csr_array((value, self.column, self.start), shape)
        first = np.concatenate([[0], np.cumsum(np.bincount(groups))])
        members = np.ones(self.n_items, np.int32), np.argsort(groups, kind="stable"), first
        table = sparse.csr_array(members, (len(first) - 1, self.n_items)) @ entries
        start, weight = table.indptr.astype(np.int64), np.bincount(groups, self.weight).astype(np.int32)
        column, value = table.indices.astype(np.int32), table.data.astype(np.int32)
        return replace(self, start=start, column=column, value=value, weight=weight)


def term(x: Any, square: bool) -> Floats:
    x = np.asarray(x, float)
    return x * x if square else x * np.log(np.where(x > 0, x, 1.0))


# The search for the partition of least expected loss: sequential allocation, dissolved clusters, and crossing of good partitions.
#
# A start puts the items one after the other, in random order, where the loss is least, and moves them until none gains (SALSO: D. B.
# Dahl, D. J. Johnson and P. Müller 2022); one start begins at the best sample. Then whole clusters move as items, which merges them. The
# partitions found are crossed: in the overlay of two of them the pieces move as items, from nothing or from the better one, and then the
# items again. Others have one cluster dissolved and its items put anew. What is better than the worst found so far takes its place, until
# two generations bring no better best.

TRIED = 10  # safeguard: for time, samples, of which the best is a start


def usual_starts(loss: ExpectedLoss, n_clusters: float, *, fewest: int = 2, most: int = 12, work: float = 4e8) -> int:
    """Starts where none are asked for: `most`, and fewer where their passes read more than `work` entries × clusters."""
    return int(np.clip(work / (len(loss.column) * max(n_clusters, 1.0)), fewest, most))


def best_partition(
    loss: ExpectedLoss,
    samples: Sequence[Array],
    *,
    limit: int,
    n_starts: int,
    seed: int,
    n_jobs: int | None = None,
    progress: bool | None = False,
    generations: int = 10,
    patience: int = 2,
) -> Found:
    """Labels 0 … k − 1 of the items, k at most `limit`, and their expected loss."""
    # `samples` are partitions of the items to begin at (−1: in no cluster); the best of them is improved, so the answer is no worse.
    search = _Search(loss, limit, seed)
    own = [search.within_limit(sample) for sample in samples]
    own = [loss.improve(labels, np.flatnonzero(labels < 0), limit=limit, passes=1)[0] for labels in own]
    first: list[Labels | None] = [min(own, key=loss.at)] if own else []
    first += [None] * (n_starts - len(first))
    with Bar(n_starts * (1 + generations), "partitions", progress) as bar, workers(n_jobs) as side_by_side:
        found: list[Found] = side_by_side(delayed(search.start)(labels, i) for i, labels in enumerate(first))
        found.sort(key=lambda one: one[1])
        bar.advance(n_starts)
        idle = 0
        for generation in range(generations):
            children = side_by_side(delayed(search.child)(found, generation, i) for i in range(n_starts))
            before = found[0][1]
            for child in children:
                found = _keep(found, child)
            bar.advance(n_starts)
            idle = 0 if found[0][1] < before - 1e-12 else idle + 1
            if idle == patience:
                break
    return found[0]


def _keep(found: list[Found], child: Found) -> list[Found]:
    """The partitions with a new one in the place of the worst, if it is better and not there yet."""
    if child[1] > found[-1][1] or any(abs(child[1] - one[1]) < 1e-12 for one in found):
        return found
    return sorted([*found[:-1], child], key=lambda one: one[1])


class _Search:
    def __init__(self, loss: ExpectedLoss, limit: int, seed: int) -> None:
        self.loss, self.limit, self.seed = loss, limit, seed

    def start(self, labels: Labels | None, number: int) -> Found:
        rng = stream(self.seed, "consensus.summary_start", number)
        return self.polish(np.full(self.loss.n_items, -1) if labels is None else labels, rng)

    def child(self, found: Sequence[Found], generation: int, number: int) -> Found:
        rng = stream(self.seed, "consensus.summary_child", generation, number)
        ways: list[Callable[[], Found]] = [
            lambda: self.dissolve(found[0][0], rng),
            lambda: self.dissolve(found[int(rng.integers(len(found)))][0], rng),
        ]
        if len(found) > 1:
            a, b = (found[i][0] for i in np.sort(rng.choice(len(found), 2, replace=False)))
            ways += [lambda: self.cross(a, b, True, rng), lambda: self.cross(a, b, False, rng)]
        return ways[number % len(ways)]()

    def polish(self, labels: Array, rng: np.random.Generator) -> Found:
        """Items move, then whole clusters, until neither lowers the loss."""
        everyone = rng.permutation(self.loss.n_items)
        labels, value = self.loss.improve(labels, everyone, limit=self.limit)
        while True:
            labels = _numbered(labels)
            clusters = self.loss.grouped(labels)
            order = rng.permutation(clusters.n_items)
            merged, lower = clusters.improve(np.arange(clusters.n_items), order, limit=self.limit)
            if lower >= value - 1e-12:
                return labels, value
            labels, value = self.loss.improve(merged[labels], rng.permutation(everyone), limit=self.limit)

    def cross(self, a: Labels, b: Labels, anew: bool, rng: np.random.Generator) -> Found:
        """The pieces of the overlay of two partitions are put together anew, or beginning at the first."""
        pieces = _numbered(a.astype(np.int64) * (int(b.max()) + 1) + b)
        loss = self.loss.grouped(pieces)
        begin = np.full(loss.n_items, -1)
        if not anew:
            begin[pieces] = a
        together, _ = loss.improve(begin, rng.permutation(loss.n_items), limit=self.limit)
        return self.polish(together[pieces], rng)

    def dissolve(self, labels: Labels, rng: np.random.Generator) -> Found:
        members = np.flatnonzero(labels == rng.integers(int(labels.max()) + 1))
        rest = labels.copy()
        rest[members] = -1
        rest, _ = self.loss.improve(rest, rng.permutation(members), limit=self.limit, passes=1)
        return self.polish(rest, rng)

    def within_limit(self, labels: Array) -> Labels:
        """The largest clusters, as many as may be, numbered through; the others' items are in none (−1)."""
        known = labels >= 0
        order = np.argsort(-np.bincount(labels[known], self.loss.weight[known]), kind="stable")
        rank = np.full(len(order), -1, np.int32)
        rank[order[: self.limit]] = np.arange(min(self.limit, len(order)))
        return np.where(known, rank[labels], np.int32(-1)).astype(np.int32)


def _numbered(labels: Array) -> Labels:
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int32)
