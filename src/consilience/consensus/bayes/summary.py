"""One partition of the rows from posterior samples, and clusters merged along the expected loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience import _kernels
from consilience._types import Floats, Ints
from consilience.consensus.samples.expected_loss import TRIED, ExpectedLoss, best_partition, term, usual_starts


def merge_clusters(table: Floats, sizes: Floats, loss: str, n_clusters: int) -> Ints | None:
    """The new cluster of every cluster after merging, down to `n_clusters`, the pair that adds least to the loss; None if none merge."""
    # `table` (components × clusters) says how much of every component each cluster has, and stands for one sample of
    # `consilience.consensus.samples.expected_loss`.
    square = loss == "binder"
    k, left = len(sizes), len(sizes)
    columns, sizes, owner = table.T.copy(), sizes.copy(), np.arange(len(sizes))
    alive, inside = np.ones(k, bool), term(columns, square).sum(axis=1)
    change = np.full((k, k), np.inf)
    for a in range(k):
        change[a, :a] = _merge_changes(columns, inside, sizes, a, np.arange(a), square)
    change = np.minimum(change, change.T)
    while left > max(n_clusters, 1):
        a, b = divmod(int(change.argmin()), k)
        columns[a] += columns[b]
        sizes[a] += sizes[b]
        inside[a] = term(columns[a], square).sum()
        owner[owner == b] = a
        alive[b], left = False, left - 1
        change[b], change[:, b] = np.inf, np.inf
        others = np.flatnonzero(alive & (np.arange(k) != a))
        change[a, others] = change[others, a] = _merge_changes(columns, inside, sizes, a, others, square)
    return None if left == k else owner


def _merge_changes(columns: Floats, inside: Floats, sizes: Floats, a: int, others: Ints, square: bool) -> Floats:
    """How merging cluster a with each of some others changes f₀ times the loss; `inside` is Σ f of every column."""
    gain = term(columns[a] + columns[others], square).sum(axis=1) - inside[a] - inside[others]
    whole = term(sizes[a] + sizes[others], square) - term(sizes[a], square) - term(sizes[others], square)
    return np.asarray(whole - 2 * gain)


# One partition of the rows from posterior samples of their objects.
#
# The search is that of `consilience.summarize`, on rows instead of objects: objects with the same labels are exchangeable, so they
# stay together even where samples part them.
#
# **Clusters of one.** Either loss is least if every object without a majority for any cluster stands alone, even one that no sample
# has alone: on noisy labels that makes more clusters than any sample has. Such an object is doubtful, which `confidence_` says, and no
# cluster. So in the end objects that stand alone, and do not in most samples, join the cluster where the loss is least.

OPENED = 10  # clusters that a partition may have more than any sample: in noise most rows would stand alone, and are gathered anyway


@dataclass(frozen=True)
class Draws:
    """Posterior samples of the clusters of objects, the objects grouped by row and those alike in all samples counted once."""

    row: Ints  # (units,) Row of every unit, in order
    weight: Floats  # (units,) Objects in it
    clusters: NDArray[np.int32]  # (units, S)
    first: Ints  # (S + 1,) Where each sample's clusters begin when all are numbered through

    @classmethod
    def of(cls, samples: Sequence[NDArray[Any]], rows: Ints) -> Draws:
        """From samples of the clusters of all objects, and the objects' rows, which are numbered in order."""
        whole = np.empty((len(rows), len(samples) + 1), np.int32)
        whole[:, 0] = rows
        for s, sample in enumerate(samples):
            whole[:, s + 1] = sample
        first, _, count = _kernels.signatures(whole)
        order = np.argsort(rows[first], kind="stable")
        kept = whole[first[order]]
        sizes = kept[:, 1:].max(axis=0).astype(np.int64) + 1
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return cls(kept[:, 0].astype(np.int64), count[order].astype(float), np.ascontiguousarray(kept[:, 1:]), starts)

    @property
    def n_samples(self) -> int:
        return len(self.first) - 1

    def tables(self, labels: NDArray[Any], k: int) -> Floats:
        """T of all samples, one below the other: (clusters of all samples, k), for the labels of the rows."""
        mine = labels[self.row].astype(np.int32)
        weights = self.weight.astype(np.int64)
        parts = [
            _kernels.contingency(column.copy(), mine, (int(size), k), weights=weights)
            for column, size in zip(self.clusters.T, np.diff(self.first), strict=True)
        ]
        return np.concatenate(parts).astype(float)

    def by_row(self, table: Floats) -> Floats:
        """(rows, k): a table of clusters of all samples × k, summed over the samples and the objects of every row."""
        scores = np.zeros((len(self.row), table.shape[1]))
        _kernels.row_scores(self.clusters, self.first[:-1], table, scores)
        starts = np.flatnonzero(np.diff(self.row, prepend=-1))
        return np.add.reduceat(scores * self.weight[:, None], starts, axis=0)

    @cached_property
    def row_weights(self) -> Floats:
        return np.asarray(np.bincount(self.row, self.weight), float)

    @cached_property
    def apart(self) -> NDArray[np.bool_]:
        """Which rows are one object that is alone in most samples."""
        alone = [np.bincount(column, self.weight) == 1 for column in self.clusters.T]
        share = self.by_row(np.concatenate(alone).astype(float)[:, None])[:, 0]
        return np.asarray(share > 0.5 * self.n_samples * self.row_weights)

    def sample(self, s: int) -> Ints:
        """A sample as labels of the rows: where most of a row's objects are."""
        width = int(self.first[s + 1] - self.first[s])
        counts = np.zeros((int(self.row[-1]) + 1, width))
        np.add.at(counts, (self.row, self.clusters[:, s]), self.weight)
        return np.unique(counts.argmax(axis=1), return_inverse=True)[1].reshape(-1)


def rows_partition(
    draws: Draws, seed: int, *, loss: str = "vi", n_clusters: int | None = None, n_jobs: int | None = None
) -> tuple[Ints, float]:
    """Labels 0 … k − 1 of the rows and their expected loss: of the best partition found, lone objects gathered."""
    expected = ExpectedLoss.of(draws.clusters, draws.weight, loss).grouped(draws.row)
    most = int(np.diff(draws.first).max()) + OPENED
    limit = min(expected.n_items, most if n_clusters is None else n_clusters)
    tried = [draws.sample(s) for s in range(0, draws.n_samples, -(-draws.n_samples // TRIED))]
    n_starts = usual_starts(expected, float(np.median(np.diff(draws.first))))
    labels, _ = best_partition(expected, tried, limit=limit, n_starts=n_starts, seed=seed, n_jobs=n_jobs)
    labels = _gather(draws, expected, labels)
    return labels.astype(np.int64), expected.at(labels)


def _gather(draws: Draws, expected: ExpectedLoss, labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Objects alone in a cluster that most samples do not have alone join the others where the loss is least."""
    lone = np.bincount(labels, draws.row_weights)[labels] == 1
    gathered = np.flatnonzero(lone & ~draws.apart)
    if not len(gathered) or lone.all():
        return labels
    kept = np.full(len(labels), -1)  # outliers alone in their clusters do not attract them
    kept[~lone] = np.unique(labels[~lone], return_inverse=True)[1].reshape(-1)
    k = int(kept.max()) + 1
    found, _ = expected.improve(kept, gathered, limit=k, passes=1)
    outliers = np.flatnonzero(found < 0)
    found[outliers] = k + np.arange(len(outliers))
    return found
