"""One partition from many: the one that minimizes the expected loss over posterior samples, without a matrix of pairs.

For a partition C and samples Z_1 … Z_S, with n_c and n_sz the sizes of their clusters and T_s the table of both,

    loss(C) = [ Σ_c f(n_c) + (1/S) Σ_s Σ_z f(n_sz) − (2/S) Σ_s Σ_zc f(T_szc) ] / f₀

is the mean variation of information for f(x) = x log x and f₀ = n, and Binder's loss (the share of pairs that one puts together and the
other apart) for f(x) = x² and f₀ = n². The search starts at the samples of least loss, moves rows and merges clusters as long as the loss
falls (in the manner of SALSO: D. B. Dahl, D. J. Johnson and P. Müller 2022). Objects with the same labels are exchangeable, so they stay
together. A pass costs O(objects · samples · clusters), a merge O(clusters · samples' clusters).

**Clusters of one.** Either loss is least if every object without a majority for any cluster stands alone, even one that no sample
has alone: on noisy labels that makes more clusters than any sample has. Such an object is doubtful, which `confidence_` says, and no
cluster. So in the end objects that stand alone, and do not in most samples, join the cluster where the loss is least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience import _kernels
from consilience._types import Floats, Ints

LOSSES = ("vi", "binder")
CANDIDATES = 10  # samples tried as they are
POLISHED = 3  # of them, those that are improved
ROUNDS = 50
OPENED = 10  # clusters that a move opens, and that a partition may have more than any sample


def _f(x: Any, loss: str) -> Floats:
    x = np.asarray(x, float)
    return x * x if loss == "binder" else x * np.log(np.where(x > 0, x, 1.0))


@dataclass(frozen=True)
class Draws:
    """Posterior samples of the clusters of objects, the objects grouped by row and those alike in all samples counted once.

    Attributes
    ----------
    row : (units,) int array
        Row of every unit, in order.
    weight : (units,) float array
        Objects in it.
    clusters : (units, S) int32 array
    first : (S + 1,) int array
        Where each sample's clusters begin when all are numbered through.
    """

    row: Ints
    weight: Floats
    clusters: NDArray[np.int32]
    first: Ints

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
        """Number of samples."""
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
        """Objects of every row."""
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


def expected_loss(draws: Draws, labels: Ints, loss: str = "vi") -> float:
    """The mean loss of a partition of the rows over the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.consensus.bayes.summary import Draws, expected_loss
    >>> draws = Draws.of([np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])], np.arange(4))
    >>> round(expected_loss(draws, np.array([0, 0, 1, 1])), 4)  # half the variation of information with the second
    0.412
    """
    return _Partition(draws, labels, loss).loss


def best_partition(draws: Draws, *, loss: str = "vi", n_clusters: int | None = None) -> tuple[Ints, float]:
    """Labels of the rows and their expected loss: of the best partition found, merged down to `n_clusters` if that is fewer."""
    step = -(-draws.n_samples // CANDIDATES)
    starts = [_Partition(draws, draws.sample(s), loss) for s in range(0, draws.n_samples, step)]
    starts.sort(key=lambda start: start.loss)
    best = min((start.polish() for start in starts[:POLISHED]), key=lambda found: found.loss).gather()
    if n_clusters is not None:
        best = best.merge(n_clusters)
    return best.labels, best.loss


class _Partition:
    """A partition of the rows with its tables; `labels` are 0 … k − 1 without gaps."""

    def __init__(self, draws: Draws, labels: Ints, loss: str) -> None:
        self.draws, self.kind = draws, loss
        self.labels = np.unique(labels, return_inverse=True)[1].reshape(-1)
        self.k = int(self.labels.max()) + 1
        self.table = draws.tables(self.labels, self.k)
        self.sizes = np.asarray(np.bincount(self.labels, draws.row_weights, minlength=self.k), float)
        self.loss = table_loss(self.table, self.sizes, draws.n_samples, loss)

    def polish(self) -> _Partition:
        """Moves and merges until neither lowers the loss."""
        found: _Partition = self
        for _ in range(ROUNDS):
            better = found.move().merge()
            if better.loss >= found.loss - 1e-12:
                break
            found = better
        return found

    def move(self) -> _Partition:
        """Every row that gains by it goes where it gains most; if together they do not gain, the better half, and so on."""
        now, gain = self._wishes()
        movers = np.flatnonzero(gain > 1e-9)
        movers = movers[np.argsort(-gain[movers], kind="stable")]
        opening = np.cumsum(now[movers] == self.k)
        movers = movers[(now[movers] < self.k) | (opening <= self._room())]
        now = np.where(now == self.k, self.k + np.arange(len(now)), now)  # every new cluster is one's own
        while len(movers):
            labels = self.labels.copy()
            labels[movers] = now[movers]
            found = _Partition(self.draws, labels, self.kind)
            if found.loss < self.loss - 1e-12:
                return found
            movers = movers[: len(movers) // 2]
        return self

    def _room(self) -> int:
        """How many clusters a move may open: rows that wish to be alone are many in noise, and are gathered in the end."""
        most = int(np.diff(self.draws.first).max())
        return max(0, min(OPENED, most + OPENED - self.k))

    def _wishes(self) -> tuple[Ints, Floats]:
        """Where every row would lower the loss most, k for a cluster of its own, and by how much; as if it weighed little."""
        everyone = np.arange(len(self.labels))
        table, sizes = np.hstack([self.table, np.zeros((len(self.table), 1))]), np.append(self.sizes, 0.0)
        worth = self._worth(table, sizes, table + 1, sizes + 1)
        less = self._worth(np.maximum(self.table - 1, 0), np.maximum(self.sizes - 1, 0), self.table, self.sizes)
        own = less[everyone, self.labels]
        worth[everyone, self.labels] = own
        now = worth.argmax(axis=1)
        return now, worth[everyone, now] - own

    def _worth(self, table: Floats, sizes: Floats, larger: Floats, grown: Floats) -> Floats:
        """What an object of every row lowers the loss by if it lets each cluster grow so, times f₀ and the row's weight."""
        both = 2 / self.draws.n_samples * self.draws.by_row(_f(larger, self.kind) - _f(table, self.kind))
        return np.asarray(both - self.draws.row_weights[:, None] * (_f(grown, self.kind) - _f(sizes, self.kind)))

    def gather(self) -> _Partition:
        """Objects alone in a cluster that most samples do not have alone join the others where the loss is least."""
        lone = (self.sizes[self.labels] == 1) & ~self.draws.apart
        kept = np.flatnonzero(self.sizes > 1)  # outliers alone in their clusters do not attract it
        if not lone.any() or not len(kept):
            return self
        worth = self._worth(self.table, self.sizes, self.table + 1, self.sizes + 1)[:, kept]
        return _Partition(self.draws, np.where(lone, kept[worth.argmax(axis=1)], self.labels), self.kind)

    def merge(self, n_clusters: int | None = None) -> _Partition:
        """Merge the best pair of clusters as long as the loss falls, or down to `n_clusters`."""
        owner = merge_clusters(self.table, self.sizes, self.draws.n_samples, self.kind, n_clusters)
        return self if owner is None else _Partition(self.draws, owner[self.labels], self.kind)


def table_loss(table: Floats, sizes: Floats, n_samples: int, loss: str) -> float:
    """The loss, from the tables of all samples one below the other and the sizes of the partition's clusters."""
    n = float(sizes.sum())
    theirs = _f(table.sum(axis=1), loss).sum() / n_samples
    both = 2 * _f(table, loss).sum() / n_samples
    return max(0.0, float(_f(sizes, loss).sum() + theirs - both) / (n * n if loss == "binder" else n))


def merge_clusters(
    table: Floats, sizes: Floats, n_samples: int, loss: str, n_clusters: int | None = None
) -> Ints | None:
    """The new cluster of every cluster after merging pairs while the loss falls, or down to `n_clusters`; None if none merge."""
    k, left = len(sizes), len(sizes)
    columns, sizes, owner = table.T.copy(), sizes.copy(), np.arange(len(sizes))
    alive, inside = np.ones(k, bool), _f(columns, loss).sum(axis=1)
    change = np.full((k, k), np.inf)
    for a in range(k):
        change[a, :a] = _merge_changes(columns, inside, sizes, a, np.arange(a), n_samples, loss)
    change = np.minimum(change, change.T)
    while left > 1:
        a, b = divmod(int(change.argmin()), k)
        if (left <= n_clusters) if n_clusters is not None else (change[a, b] >= -1e-9):
            break
        columns[a] += columns[b]
        sizes[a] += sizes[b]
        inside[a] = _f(columns[a], loss).sum()
        owner[owner == b] = a
        alive[b], left = False, left - 1
        change[b], change[:, b] = np.inf, np.inf
        others = np.flatnonzero(alive & (np.arange(k) != a))
        change[a, others] = change[others, a] = _merge_changes(columns, inside, sizes, a, others, n_samples, loss)
    return None if left == k else owner


def _merge_changes(
    columns: Floats, inside: Floats, sizes: Floats, a: int, others: Ints, n_samples: int, loss: str
) -> Floats:
    """How merging cluster a with each of some others changes f₀ times the loss; `inside` is Σ f of every column."""
    gain = _f(columns[a] + columns[others], loss).sum(axis=1) - inside[a] - inside[others]
    whole = _f(sizes[a] + sizes[others], loss) - _f(sizes[a], loss) - _f(sizes[others], loss)
    return np.asarray(whole - 2 / n_samples * gain)
