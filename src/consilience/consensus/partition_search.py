"""The search for the partition of least expected loss: sequential allocation, dissolved clusters, and crossing of good partitions.

A start puts the items one after the other, in random order, where the loss is least, and moves them until none gains (SALSO: D. B. Dahl,
D. J. Johnson and P. Müller 2022); one start begins at the best sample. Then whole clusters move as items, which merges them. The partitions
found are crossed: in the overlay of two of them the pieces move as items, from nothing or from the better one, and then the items
again. Others have one cluster dissolved and its items put anew. What is better than the worst found so far takes its place, until two
generations bring no better best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from consilience._parallel import workers
from consilience._progress import Bar
from consilience._random import stream
from consilience._types import Labels
from consilience.consensus.expected_loss import ExpectedLoss

STARTS = 12
WORK = 4e8  # entries × clusters beyond which there are fewer starts
FEWEST = 2
TRIED = 10  # samples, of which the best is a start
PATIENCE, GENERATIONS = 2, 10
Found = tuple[Labels, float]


def usual_starts(loss: ExpectedLoss, n_clusters: float) -> int:
    """Starts where none are asked for: fewer where a pass over the items takes long."""
    return int(np.clip(WORK / (len(loss.column) * max(n_clusters, 1.0)), FEWEST, STARTS))


def best_partition(
    loss: ExpectedLoss,
    samples: Sequence[NDArray[Any]],
    *,
    limit: int,
    n_starts: int,
    seed: int,
    n_jobs: int | None = None,
    progress: bool | None = False,
) -> Found:
    """Labels 0 … k − 1 of the items, k at most `limit`, and their expected loss.

    `samples` are partitions of the items to begin at (−1: in no cluster); the best of them is improved, so the answer is no worse.
    """
    search = _Search(loss, limit, seed)
    own = [search.within_limit(sample) for sample in samples]
    own = [loss.improve(labels, np.flatnonzero(labels < 0), limit=limit, passes=1)[0] for labels in own]
    first: list[Labels | None] = [min(own, key=loss.at)] if own else []
    first += [None] * (n_starts - len(first))
    with Bar(n_starts * (1 + GENERATIONS), "partitions", progress) as bar, workers(n_jobs) as side_by_side:
        found: list[Found] = side_by_side(delayed(search.start)(labels, i) for i, labels in enumerate(first))
        found.sort(key=lambda one: one[1])
        bar.advance(n_starts)
        idle = 0
        for generation in range(GENERATIONS):
            children = side_by_side(delayed(search.child)(found, generation, i) for i in range(n_starts))
            before = found[0][1]
            for child in children:
                found = _keep(found, child)
            bar.advance(n_starts)
            idle = 0 if found[0][1] < before - 1e-12 else idle + 1
            if idle == PATIENCE:
                break
    return found[0]


def _keep(found: list[Found], child: Found) -> list[Found]:
    """The partitions with a new one in the place of the worst, if it is better and not there yet."""
    if child[1] > found[-1][1] or any(abs(child[1] - one[1]) < 1e-12 for one in found):
        return found
    return sorted([*found[:-1], child], key=lambda one: one[1])


class _Search:
    """What makes partitions, and partitions from others."""

    def __init__(self, loss: ExpectedLoss, limit: int, seed: int) -> None:
        self.loss, self.limit, self.seed = loss, limit, seed

    def start(self, labels: Labels | None, number: int) -> Found:
        """From given labels, or from nothing."""
        rng = stream(self.seed, "consensus.summary_start", number)
        return self.polish(np.full(self.loss.n_items, -1) if labels is None else labels, rng)

    def child(self, found: Sequence[Found], generation: int, number: int) -> Found:
        """A new partition from one or two of those found, the best first."""
        rng = stream(self.seed, "consensus.summary_child", generation, number)
        ways: list[Callable[[], Found]] = [
            lambda: self.dissolve(found[0][0], rng),
            lambda: self.dissolve(found[int(rng.integers(len(found)))][0], rng),
        ]
        if len(found) > 1:
            a, b = (found[i][0] for i in np.sort(rng.choice(len(found), 2, replace=False)))
            ways += [lambda: self.cross(a, b, True, rng), lambda: self.cross(a, b, False, rng)]
        return ways[number % len(ways)]()

    def polish(self, labels: NDArray[Any], rng: np.random.Generator) -> Found:
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
        """The items of one cluster are put anew."""
        members = np.flatnonzero(labels == rng.integers(int(labels.max()) + 1))
        rest = labels.copy()
        rest[members] = -1
        rest, _ = self.loss.improve(rest, rng.permutation(members), limit=self.limit, passes=1)
        return self.polish(rest, rng)

    def within_limit(self, labels: NDArray[Any]) -> Labels:
        """The largest clusters, as many as may be, numbered through; the others' items are in none (−1)."""
        known = labels >= 0
        order = np.argsort(-np.bincount(labels[known], self.loss.weight[known]), kind="stable")
        rank = np.full(len(order), -1, np.int32)
        rank[order[: self.limit]] = np.arange(min(self.limit, len(order)))
        return np.where(known, rank[labels], np.int32(-1)).astype(np.int32)


def _numbered(labels: NDArray[Any]) -> Labels:
    """Labels 0 … k − 1 without gaps."""
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int32)
