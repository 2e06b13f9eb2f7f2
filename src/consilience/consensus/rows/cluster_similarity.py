"""How alike the clusters of the clusterings are: overlaps, weights, and a random walk over them.

Clusters of different clusterings overlap. Three things are read off their overlaps, and nothing else of the objects is needed.

**Weight** of a cluster: exp(−H / θ), H the mean entropy, in bits, of the labels that the clusterings give to its objects (D. Huang, C.-D.
Wang and J.-H. Lai, Locally weighted ensemble clustering, IEEE Trans. Cybernetics 2018). A cluster that the others tear apart says little.

**Walk**: from a cluster to another in proportion to their Jaccard index times the weight of the one walked to; two steps. Two clusters are
alike if walks from them end in the same places: the cosine of their distributions. So two clusters of one clustering, which share no
object, are alike if they overlap the same clusters of others, and clusterings of different fineness support one another.

**Similarity** of two objects: the mean, over the clusterings that label both, of the similarity of their clusters times the root of
the product of their weights. Where labels are missing, one clustering more has the mean similarity of all pairs: few joint labels say
little. The clusterings may count any number of times (`copies`), which is how they are resampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from consilience import _kernels
from consilience._types import Floats, Ints, Labels
from consilience.consensus.rows.problem import Problem, label_table, label_tables, sum_over_labels

THETA = 0.4  # as in Huang, Wang and Lai, who found .2 to .6 equally good
STEPS = 2
BLOCK = 2**22  # safeguard: numbers in a block of similarities, 16 MB
TINY = np.float32(1e-30)  # safeguard: of single-precision sums that divide; a cluster torn to pieces is like none
Single = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Overlaps:
    counts: Floats  # (c, c) Weight of the objects in both clusters
    offsets: Ints  # (n_clusterings + 1,) First cluster of every clustering

    @classmethod
    def of(cls, problem: Problem) -> Overlaps:
        """Count them; O(rows · clusterings²) time, 8 c² bytes."""
        return cls(co_occurrence(problem), problem.offsets)

    @property
    def sizes(self) -> Floats:
        return self.counts.diagonal()

    @cached_property
    def clustering(self) -> Ints:
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def labeled(self) -> Floats:
        """(c, n_clusterings) weight of the objects of a cluster that a clustering labels."""
        return np.add.reduceat(self.counts, self.offsets[:-1], axis=1)

    @cached_property
    def entropies(self) -> Floats:
        """(c, n_clusterings) entropy, in bits, of a clustering's labels within a cluster; 0 where it labels none of its objects."""
        share = self.counts / np.maximum(self.labeled, 1e-300)[:, self.clustering]
        terms = share * np.log2(share, out=np.zeros_like(share), where=share > 0)
        return -np.add.reduceat(terms, self.offsets[:-1], axis=1)

    @cached_property
    def jaccard(self) -> Single:
        """(c, c) Jaccard indices, on the objects that both clusterings label."""
        inside = self.labeled[:, self.clustering]
        union = inside + inside.T - self.counts
        return (self.counts / np.maximum(union, 1e-300)).astype(np.float32)

    def weights(self, copies: Floats | None = None, theta: float = THETA) -> Floats:
        """(c,) exp(−H / θ), H the mean entropy over the clusterings that label any object of the cluster."""
        copies = np.ones(len(self.offsets) - 1) if copies is None else copies
        seen = np.maximum((self.labeled > 0) @ copies, 1e-300)  # 0 where none of those that count labels the cluster
        return np.exp(-(self.entropies @ copies) / seen / theta)

    def similarity(self, copies: Floats | None = None, theta: float = THETA, steps: int = STEPS) -> Similarity:
        copies = np.ones(len(self.offsets) - 1) if copies is None else copies
        kept = copies[self.clustering] > 0
        times = copies[self.clustering][kept].astype(np.float32)
        weight = np.sqrt(self.weights(copies, theta)[kept])
        step = self.jaccard[np.ix_(kept, kept)] * (weight**2).astype(np.float32)
        step /= np.maximum(step @ times, TINY)[:, None]
        ends: Single = step
        for _ in range(steps - 1):
            ends = ((ends * times) @ step).astype(np.float32, copy=False)
        ends = (ends * np.sqrt(times)).astype(np.float32)
        ends /= np.maximum(np.linalg.norm(ends, axis=1, keepdims=True), TINY)
        blocks, begin = [], 0
        for width, often in zip(np.diff(self.offsets), copies, strict=True):
            if often:
                part = slice(begin, begin + width)
                blocks.append(often * (ends[part] @ ends[part].T).astype(float) * np.outer(weight[part], weight[part]))
                begin += width
            else:
                blocks.append(np.zeros((width, width)))
        return Similarity(blocks, self.offsets, copies)


@dataclass(frozen=True, eq=False)
class Groups:
    shares: list[Single]  # Of every clustering, the share of each label in each group
    covered: Floats  # (n_clusterings, n_groups) The share of each group that each clustering labels
    mass: Floats  # (n_groups,) Weight of the objects

    @classmethod
    def of(cls, problem: Problem, groups: Ints) -> Groups:
        mass = np.bincount(groups, problem.weights).astype(float)
        shares = [table / mass[:, None] for table in label_tables(problem, groups, len(mass))]
        covered = np.array([share.sum(axis=1) for share in shares])
        return cls([share.astype(np.float32) for share in shares], covered, mass)


@dataclass(frozen=True, eq=False)
class Similarity:
    """Similarity of the clusters of each clustering, and so of objects and of groups of objects."""

    blocks: list[Floats]  # Of every clustering, times how often it counts
    offsets: Ints  # (n_clusterings + 1,)
    copies: Floats  # (n_clusterings,) How often each clustering counts

    def of_rows(self, rows: Labels, weights: Floats | None = None) -> Single:
        """(n, n) similarity of rows of labels, that stand for as many objects each as `weights` say (by default, one)."""
        total = np.zeros((len(rows), len(rows)), np.float32)
        used = np.flatnonzero(self.copies)
        complete = bool((rows >= 0).all())
        for q in used:
            block = np.zeros((len(self.blocks[q]) + 1,) * 2, np.float32)  # the last place is that of -1
            block[:-1, :-1] = self.blocks[q]
            codes = np.where(rows[:, q] >= 0, rows[:, q], len(block) - 1)
            wide = np.ascontiguousarray(block[:, codes])
            for begin in range(0, len(rows), step := max(1, BLOCK // len(rows))):
                total[begin : begin + step] += wide[codes[begin : begin + step]]
        if complete:
            return np.divide(total, np.float32(self.copies.sum()), out=total)
        known = (rows >= 0).astype(np.float32)
        both = (known * self.copies.astype(np.float32)) @ known.T
        return _shrunk(total, both, np.ones(len(rows)) if weights is None else weights)

    def of_groups(self, groups: Groups) -> Single:
        used = np.flatnonzero(self.copies)
        parts = [groups.shares[q] for q in used]
        ends = [part @ self.blocks[q].astype(np.float32) for q, part in zip(used, parts, strict=True)]
        total = np.hstack(ends) @ np.hstack(parts).T
        if groups.covered.min() > 1 - 1e-9:
            return np.divide(total, np.float32(self.copies.sum()), out=total)
        both = ((groups.covered.T * self.copies) @ groups.covered).astype(np.float32)
        return _shrunk(total, both, groups.mass)

    def to_clusters(self, problem: Problem, labels: Ints, k: int, rows: Labels | None = None) -> Floats:
        """(n_rows, k) mean similarity of rows, or of all, with the objects of each cluster of the rows; −1 for an empty cluster."""
        rows = problem.labels if rows is None else rows
        mass = np.bincount(labels[labels >= 0], problem.weights[labels >= 0], minlength=k)
        share = label_table(problem, labels, k) / np.maximum(mass, 1e-300)
        per_label = np.empty_like(share)
        for begin, end, block in zip(self.offsets[:-1], self.offsets[1:], self.blocks, strict=True):
            np.matmul(block, share[begin:end], out=per_label[begin:end])
        found = sum_over_labels(rows, self.offsets, per_label)
        if rows.min() >= 0 and problem.labels.min() >= 0:
            found /= self.copies.sum()
        else:
            both = ((rows >= 0) * self.copies) @ np.add.reduceat(share, self.offsets[:-1])
            np.divide(found, both, out=found, where=both > 1e-12)
            found[both <= 1e-12] = 0.0
        found[:, mass <= 0] = -1.0
        return found


def _shrunk(total: Single, both: Single, weights: Floats) -> Single:
    """Sums of similarities divided by the clusterings that label both, and one more that has the mean similarity of all pairs."""
    # A pair that one clustering labels is else as alike as one that twenty label, and lucky pairs lead the tree.
    mean = (weights @ total @ weights) / max(float(weights @ both @ weights), 1e-300)
    total += np.float32(mean)
    both += 1
    return np.divide(total, both, out=total)


def nearest_clusters(
    problem: Problem, similarity: Similarity, labels: Ints, k: int, max_iter: int = 10
) -> tuple[Ints, Floats]:
    """Move rows to the cluster they are most similar to, on average, until none moves or one would be left empty."""
    # Rows labeled −1 count for no cluster at first. Returns the labels and the similarities they were last judged by.
    scores = similarity.to_clusters(problem, labels, k)
    for _ in range(max_iter):
        best = scores.argmax(axis=1)
        joined = np.where(labels >= 0, labels, best)
        if (np.bincount(best, minlength=k) == 0).any():
            return joined, scores
        if (best == labels).all():
            break
        labels = best
        scores = similarity.to_clusters(problem, labels, k)
    return labels, scores


# The same weights of clusters, where there may be too many of them for a table of their overlaps. One that every other clustering keeps
# together weighs 1; one that they tear apart, as a large cluster of a coarse clustering often is, weighs little. With missing labels an
# entropy is that over the objects labeled in both, and M counts the clusterings that label any of the cluster's objects.

LEAST = 1e-100  # safeguard: weights divide and are multiplied, so they stay above 0
CELLS = 4 * 10**6  # safeguard: cells of a table of all clusters and those of one clustering, 32 MB; else one by one


def cluster_weights(problem: Problem, theta: float = THETA, *, work: int = 10**9, fewest: int = 20) -> Floats:
    """(Σ k_q,) weights exp(−H / (θ M)) of all clusters, numbered through as in :attr:`Problem.hyperedges`."""
    # Cost O(rows · clusterings²) and O((Σ k_q)²) time, O(Σ k_q + rows) memory; beyond `work` labels read the
    # entropies are means over some of the clusterings, at least `fewest`.
    offsets = problem.offsets
    columns, sizes = np.ascontiguousarray(problem.labels.T), np.diff(offsets)
    r = problem.n_clusterings
    most = max(fewest, work // max(1, problem.n_rows * r))
    judges = np.arange(r) if r <= most else np.unique(np.linspace(0, r - 1, most).astype(np.int64))  # evenly spread

    def judge(q: int) -> tuple[Floats, Floats]:
        if offsets[-1] * sizes[q] <= CELLS:
            return _entropies(_kernels.label_tables(columns, offsets, columns[q], int(sizes[q]), weights=problem.exact))
        parts = [_entropies_inside(problem, column, columns[q], k) for column, k in zip(columns, sizes, strict=True)]
        total, bits = (np.concatenate(part) for part in zip(*parts, strict=True))
        return total, bits

    entropies, known = np.zeros(offsets[-1]), np.zeros(offsets[-1])
    for q in judges[sizes[judges] > 0]:
        total, bits = judge(q)
        bits[offsets[q] : offsets[q + 1]] = 0.0  # a cluster's own clustering says nothing of it
        entropies += bits
        known += total > 0
    if len(judges) < r:  # the mean over the others stands for all of them; a cluster's own clustering has entropy 0
        itself = np.repeat(np.isin(np.arange(r), judges), sizes)
        others = np.maximum(known - itself, 0)
        mean = entropies / np.maximum(others, 1) * (r - 1) / r
    else:
        mean = entropies / np.maximum(known, 1)  # a label that no row has is judged by none
    return np.maximum(np.exp(-mean / theta), LEAST)


def _entropies(table: Floats) -> tuple[Floats, Floats]:
    total = table.sum(axis=1).astype(float)
    share = table / np.maximum(total, 1e-300)[:, None]
    return total, -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1)


def _entropies_inside(problem: Problem, column: Ints, judge: Ints, k: int) -> tuple[Floats, Floats]:
    """The same for the clusters of one clustering and the labels of another, without the many cells that have nothing."""
    both, width = (column >= 0) & (judge >= 0), int(judge.max()) + 1
    cells, place = np.unique(column[both].astype(np.int64) * width + judge[both], return_inverse=True)
    counts, rows = np.bincount(place, problem.weights[both], minlength=len(cells)), cells // width
    total = np.bincount(rows, counts, minlength=k)
    share = counts / total[rows]
    bits = np.bincount(rows, -share * np.log2(share), minlength=k)
    return np.asarray(total, float), np.asarray(bits, float)  # whole where there is nothing to count


def co_occurrence(problem: Problem) -> Floats:
    """(c, c): the weight of the objects that every two of all c clusters share, numbered as :attr:`Problem.hyperedges`."""
    # Tables of disjoint sets of objects add up. O(rows · clusterings²) time, 8 c² bytes.
    offsets, columns = problem.offsets, np.ascontiguousarray(problem.labels.T)
    found = np.empty((offsets[-1], offsets[-1]))
    for q, (begin, end) in enumerate(pairwise(offsets.tolist())):  # what follows it, and by symmetry what it follows
        later = offsets[q:] - begin
        tables = _kernels.label_tables(columns[q:], later, columns[q], end - begin, weights=problem.exact)
        found[begin:, begin:end] = tables
        found[begin:end, begin:] = tables.T
    return found
