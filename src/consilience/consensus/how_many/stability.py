"""How many clusters: at which numbers two halves of the clusterings find the same, by their labels alone; docs/consensus.md has the rule.

One tree of each half gives its clusters at all numbers, as :class:`consilience.consensus.ClusterWalk` cuts it, up to those of the finest.
Halves of noisy copies are groups of their clusters, as Dawid and Skene's model starts from: independent errors agree on nothing, so that
any agreement will do.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np
import pandas as pd
from joblib import delayed
from numpy.typing import NDArray

from consilience._run.parallel import workers
from consilience._run.random import stream
from consilience._types import Array, Floats, Ints
from consilience.consensus.methods.dawid_skene import grouped
from consilience.consensus.rows.cluster_similarity import Overlaps
from consilience.consensus.rows.problem import Problem
from consilience.consensus.rows.row_tree import SPECK, cut_tree, narrowed, similarity_tree
from consilience.consensus.trust.confidence import Assessment
from consilience.measures.counts import Sums
from consilience.measures.pairs import adjusted_rand_from

STABLE = 0.85  # stability of a peak that can be the answer
NEAR = 0.05  # stabilities within it are about the same
HALF = 15  # clusterings in a half at most
FEWEST = 4  # safeguard: precision; clusterings, two for each half
SPLITS = 5  # safeguard: time and precision; pairs of halves
OBJECTS = 1000  # safeguard: time; that stability is judged by
MOST = 60  # safeguard: time; clusters that are tried
ROUNDS = 3  # safeguard: time; in which rows join the cluster they are most similar to
Combine = Callable[[Problem, Ints, Ints, np.random.Generator], list[Ints]]


@dataclass(frozen=True, eq=False)
class Found:
    """Numbers of clusters at which halves of the clusterings agree."""

    curve: pd.DataFrame  # `n_clusters`, `stability` and `sem` of every number
    ranked: list[int]  # the answer, and then the other peaks that are stable, the most stable first
    copies: bool  # whether the clusterings are noisy copies

    @property
    def table(self) -> pd.DataFrame:
        """The curve at these numbers, and whether they are `real`: so stable as clouds without clusters are not."""
        at = self.curve.set_index("n_clusters").loc[self.ranked].reset_index()
        return at.assign(real=at["stability"] >= (NEAR if self.copies else 1 - NEAR))


def find_stable(problem: Problem) -> Found:
    """Stability of every number of clusters, and the answer. Cost independent of the number of objects."""
    some = sample_objects(narrowed(problem))
    objects, middle = some.weights.sum(), int(np.clip(np.median(some.sizes), 2, some.n_rows))
    copies = bool(np.mean(some.sizes == middle) >= 0.5 and middle < objects)
    copies = copies and not Assessment(some, grouped(some.with_clusters(middle))).errors_correlate
    most = int(min(MOST, some.n_rows, some.sizes.max(), objects - 1))  # to set every object apart says nothing
    numbers = np.array([middle]) if copies else np.arange(2, max(2, most) + 1)
    values = compare_halves(some, numbers, by_groups if copies else by_walk(Overlaps.of(some)))
    sem = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    curve = pd.DataFrame({"n_clusters": numbers, "stability": values.mean(axis=0), "sem": sem})
    return Found(curve, rank(curve), copies)


def rank(curve: pd.DataFrame) -> list[int]:
    """The answer, and then the other peaks that are stable, the most stable first."""
    k, value = curve["n_clusters"].to_numpy(), curve["stability"].to_numpy()
    first = [
        np.argmax(np.where((number < 2 * k) & (k < 2 * number), value, -np.inf)) for number in k
    ]  # of equals, the fewest
    peaks = np.flatnonzero((first == np.arange(len(k))) & (value >= STABLE))
    if len(peaks):
        others = peaks[:-1][np.argsort(-value[peaks[:-1]], kind="stable")]
        return [int(k[i]) for i in (peaks[-1], *others)]
    padded = np.concatenate(
        [value[:1], value, value[-1:]]
    )  # single numbers are stable by chance: means with those beside
    smooth = 0.25 * padded[:-2] + 0.5 * value + 0.25 * padded[2:]
    counts = k >= min(3, k[-1])
    return [int(k[counts][np.argmax(smooth[counts] >= smooth[counts].max() - NEAR)])]


def sample_objects(problem: Problem) -> Problem:
    """The rows of a sample of the objects, with their numbers of objects; all where there are no more."""
    if problem.weights.sum() <= OBJECTS:
        return problem
    at = stream(0, "consensus.scale_sample").random(OBJECTS) * problem.weights.sum()
    rows, counts = np.unique(np.searchsorted(problem.weights.cumsum(), at, side="right"), return_counts=True)
    labels = problem.labels[rows]
    for j, column in enumerate(labels.T):  # codes without gaps
        present = np.unique(column[column >= 0])
        labels[:, j] = np.where(column >= 0, np.searchsorted(present, column), -1)
    labels = np.ascontiguousarray(labels[:, (labels >= 0).any(axis=0)])
    return Problem(labels, counts.astype(float), problem.n_clusters, np.arange(len(rows)))


# Answers of halves, and how far they agree. What is drawn is the same every time: the number does not depend on a seed.


def compare_halves(problem: Problem, numbers: Ints, combine: Combine) -> Floats:
    """(SPLITS, n_numbers) adjusted Rand index of the answers of two halves of the clusterings; 0 where one cannot make as many."""
    m, values, tasks = problem.n_clusterings, np.zeros((SPLITS, len(numbers))), []
    size = min(m // 2, HALF)
    for s in range(SPLITS):
        order = stream(0, "consensus.halves", s).permutation(m)
        for h, half in enumerate((order[:size], order[size : 2 * size])):
            rng = stream(0, "consensus.ties", s, h)
            rows = len(np.unique(problem.labels[:, half] @ rng.random(size)))  # sums tell rows apart
            tasks.append((problem, half, numbers[numbers <= rows], rng))
    found = iter(workers(None, lazily=True)(delayed(combine)(*task) for task in tasks))
    for row in values:
        for i, (one, other) in enumerate(zip(next(found), next(found), strict=False)):
            row[i] = _agreement(one, other, problem.weights)
    return values


def _agreement(a: Ints, b: Ints, weights: Floats) -> float:
    if (a == a[0]).all() or (b == b[0]).all():  # halves that part nothing do not agree on parts
        return 0.0
    k = int(max(a.max(), b.max())) + 1
    table = np.bincount(a.astype(np.int64) * k + b, weights, minlength=k * k).reshape(k, k)
    squares = (np.array([np.square(part).sum()]) for part in (table, table.sum(axis=1), table.sum(axis=0)))
    return float(adjusted_rand_from(Sums(np.array([table.sum()]), *squares))[0])


def by_groups(problem: Problem, half: Ints, numbers: Ints, _: np.random.Generator) -> list[Ints]:
    """Clusters of the rows by some of the clusterings at several numbers, by groups of their clusters."""
    part = replace(problem, labels=np.ascontiguousarray(problem.labels[:, half]), given=None)
    return [grouped(part.with_clusters(k)) for k in numbers.tolist()]


def by_walk(overlaps: Overlaps) -> Combine:

    def combine(problem: Problem, half: Ints, numbers: Ints, rng: np.random.Generator) -> list[Ints]:
        if not len(numbers):
            return []
        similarity = overlaps.similarity(np.bincount(half, minlength=problem.n_clusterings).astype(float))
        order = rng.permutation(problem.n_rows)  # or both halves would break ties alike, and agree on them
        alike, weights = similarity.of_rows(problem.labels[order]), problem.weights[order]
        back = np.argsort(order)
        return [labels[back] for labels in cuts(similarity_tree(alike, weights), alike, weights, numbers)]

    return combine


def cuts(tree: Floats, alike: Array, weights: Floats, numbers: Ints) -> list[Ints]:
    """What `cut_clusters` and `nearest_clusters` find at several numbers of clusters, by (n, n) similarities of the leaves."""
    # Going up the tree, columns of similarity to the clusters are added, so that all numbers together cost little more than one.
    n, levels = len(weights), _levels(tree, weights, numbers)
    top = max(levels)
    labels = cut_tree(tree, top)
    heavy = weights.astype(np.float32)[:, None]
    sums, mass = alike.T @ (_members(labels, top) * heavy), np.bincount(labels, weights, minlength=top).astype(float)
    merges = tree[:, :2].astype(np.int64)
    column = labels.tolist()  # of the cluster that every node of the tree is in
    for one, _ in merges[: n - top].tolist():
        column.append(column[one])
    column += [-1] * (top - 1)
    found: dict[int, Ints] = {}
    for level in range(top, min(levels) - 1, -1):
        for k in (int(k) for k, at in zip(numbers, levels, strict=True) if at == level):
            kept = np.sort(np.argsort(-mass, kind="stable")[:k])
            place = np.full(top, -1)
            place[kept] = np.arange(k)
            found[k] = _nearest(sums[:, kept], mass[kept], place[labels], alike, weights)
        keep, gone = (column[one] for one in merges[n - level]) if level > 1 else (0, 0)
        if keep != gone:
            sums[:, keep] += sums[:, gone]
            mass[keep] += mass[gone]
            mass[gone] = 0.0
            labels = np.where(labels == gone, keep, labels)
            column[2 * n - level] = keep
    return [found[k] for k in numbers.tolist()]


def _levels(tree: Floats, weights: Floats, numbers: Ints) -> list[int]:
    """Clusters that the tree is to be cut into, of which as many as asked for are more than specks; all leaves where it cannot be."""
    n, total, sizes, merges = len(weights), weights.sum(), weights.tolist(), tree[:, :2].astype(int).tolist()
    for one, two in merges:
        sizes.append(sizes[one] + sizes[two])
    levels, there = [], [2 - 2 * n]  # the root; the largest number was merged last
    for k in numbers.tolist():
        least = total / (SPECK * k)
        while len(there) < k or (len(there) < n and sum(sizes[-node] >= least for node in there) < k):
            for child in merges[-heappop(there) - n]:
                heappush(there, -child)
        levels.append(len(there))
    return levels


def _members(labels: Ints, k: int) -> NDArray[np.float32]:
    member = np.zeros((len(labels), k), np.float32)
    member[np.arange(len(labels)), labels] = 1.0
    return member


def _nearest(sums: Array, mass: Floats, labels: Ints, alike: Array, weights: Floats) -> Ints:
    """Leaves move to the cluster of most mean similarity, until none moves or one would be left empty; those labeled −1 join."""
    k = len(mass)
    for again in range(ROUNDS):
        best = np.multiply(sums, (1 / mass).astype(np.float32)).argmax(axis=1)
        if (np.bincount(best, minlength=k) == 0).any():
            return np.where(labels >= 0, labels, best)
        moved = np.flatnonzero(best != labels)
        if not len(moved) or again == ROUNDS - 1:
            break
        change = _members(best[moved], k)
        left = np.flatnonzero(labels[moved] >= 0)
        change[left, labels[moved[left]]] -= 1.0
        change *= weights[moved, None]
        sums, mass, labels = sums + alike[moved].T @ change, mass + change.sum(axis=0, dtype=float), best
    return np.asarray(best)
