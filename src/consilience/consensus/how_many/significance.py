"""Answers of two halves of the clusterings at many numbers of clusters: how far an ensemble agrees with itself.

Two random halves of the clusterings are combined separately, or two sets of fifteen where there are more than thirty: of ever more
clusterings any cut becomes stable, also one through the middle of a cloud. One tree of each half gives its clusters at every number, cut as
:class:`consilience.consensus.ClusterWalk` cuts it, with rows joining the cluster they are most similar to. Going up the tree, columns
of similarity to the clusters are added, so that all numbers together cost little more than one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed
from numpy.typing import NDArray

from consilience._run.parallel import workers
from consilience._run.random import child_seed, stream
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.methods.dawid_skene import grouped
from consilience.consensus.rows.cluster_similarity import Overlaps
from consilience.consensus.rows.problem import Problem, label_tables
from consilience.consensus.rows.row_tree import SPECK, cut_tree, similarity_tree
from consilience.ensemble import Ensemble
from consilience.generation.kmeans import kmeans_runs
from consilience.measures.counts import Sums
from consilience.measures.pairs import adjusted_rand_from
from consilience.measures.pairwise import pairwise as all_pairs

HALF = 15  # clusterings in a half at most
ROUNDS = 3  # in which rows join the cluster they are most similar to
Combine = Callable[[Problem, Ints, Ints], list[Ints]]


@dataclass(frozen=True, eq=False)
class Halves:
    """Answers of both halves of several splits, at every number of clusters."""

    labels: NDArray[np.int16]  # (n_splits, 2, n_numbers, n_rows)
    weights: Floats  # (n_rows,) Objects of every row
    numbers: Ints  # (n_numbers,) Of clusters

    @cached_property
    def agreement(self) -> Floats:
        """(n_splits, n_numbers) adjusted Rand index of the halves; 0 where they leave all in one cluster."""
        return np.array(
            [[self._compare(split[0, i], split[1, i]) for i in range(len(self.numbers))] for split in self.labels]
        )

    def within(self, i: int, inside: Array) -> Floats:
        """(n_splits,) adjusted Rand index of the halves at the i-th number on some of the rows."""
        return np.array([self._compare(split[0, i], split[1, i], inside) for split in self.labels])

    def _compare(self, a: Array, b: Array, inside: Array | None = None) -> float:
        a, b, weights = (a, b, self.weights) if inside is None else (a[inside], b[inside], self.weights[inside])
        if (a == a[0]).all() or (b == b[0]).all():  # halves that part nothing do not agree on parts
            return 0.0
        k = int(max(a.max(), b.max())) + 1
        table = np.bincount(a.astype(np.int64) * k + b, weights, minlength=k * k).reshape(k, k)
        squares = (np.array([np.square(part).sum()]) for part in (table, table.sum(axis=1), table.sum(axis=0)))
        return float(adjusted_rand_from(Sums(np.array([table.sum()]), *squares))[0])


def by_walk(overlaps: Overlaps) -> Combine:
    """Clusters of the rows by some of the clusterings at several numbers, all cut from one tree."""

    def combine(problem: Problem, half: Ints, numbers: Ints) -> list[Ints]:
        similarity = overlaps.similarity(np.bincount(half, minlength=problem.n_clusterings).astype(float))
        alike = similarity.of_rows(problem.labels)
        return cuts(similarity_tree(alike, problem.weights), alike, problem.weights, numbers)

    return combine


def by_groups(problem: Problem, half: Ints, numbers: Ints) -> list[Ints]:
    """The same by groups of the clusters, cut from one tree of them."""
    part = replace(problem, labels=np.ascontiguousarray(problem.labels[:, half]), given=None)
    return [grouped(part.with_clusters(k)) for k in numbers.tolist()]


def compare_halves(problem: Problem, numbers: Ints, n_splits: int, seed: int, combine: Combine) -> Halves:
    """Combine the halves of several splits of the clusterings at every number of clusters; 0 where a half cannot make as many."""
    m = problem.n_clusterings
    labels = np.zeros((n_splits, 2, len(numbers), problem.n_rows), np.int16)
    size = min(m // 2, HALF)
    tasks = []
    for s in range(n_splits):
        order = stream(seed, "consensus.halves", s).permutation(m)
        for h, half in enumerate((order[:size], order[size : 2 * size])):
            can = numbers <= len(np.unique(problem.labels[:, half], axis=0))
            if can.any():
                tasks.append((s, h, half, can))
    found = workers(None, lazily=True)(delayed(combine)(problem, half, numbers[can]) for _, _, half, can in tasks)
    for (s, h, _, can), answers in zip(tasks, found, strict=True):
        labels[s, h, can] = answers
    return Halves(labels, problem.weights, numbers)


def cuts(tree: Floats, alike: Array, weights: Floats, numbers: Ints) -> list[Ints]:
    """What `cut_clusters` and `nearest_clusters` find at several numbers of clusters, by (n, n) similarities of the leaves."""
    n, levels = len(weights), _levels(tree, weights, numbers)
    top = max(levels)
    labels = cut_tree(tree, top)
    pull = np.multiply(alike, weights, dtype=np.float32)  # (n, n): of every leaf on every other
    sums, mass = pull @ _members(labels, top), np.bincount(labels, weights, minlength=top).astype(float)
    column = np.concatenate([labels, np.full(n - 1, -1)])  # of the cluster that every node of the tree is in
    merges = tree[:, :2].astype(np.int64)
    for i, (one, _) in enumerate(merges[: n - top]):
        column[n + i] = column[one]
    found: dict[int, Ints] = {}
    for level in range(top, min(levels) - 1, -1):
        for k in (int(k) for k, at in zip(numbers, levels, strict=True) if at == level):
            kept = np.sort(np.argsort(-mass, kind="stable")[:k])
            place = np.full(top, -1)
            place[kept] = np.arange(k)
            found[k] = _nearest(sums[:, kept], mass[kept], place[labels], pull, weights)
        keep, gone = column[merges[n - level]] if level > 1 else (0, 0)
        if keep != gone:
            sums[:, keep] += sums[:, gone]
            mass[keep] += mass[gone]
            mass[gone] = 0.0
            labels = np.where(labels == gone, keep, labels)
            column[2 * n - level] = keep
    return [found[k] for k in numbers.tolist()]


def _levels(tree: Floats, weights: Floats, numbers: Ints) -> list[int]:
    """Clusters that the tree is to be cut into, of which as many as asked for are more than specks; all leaves where it cannot be."""
    n, total = len(weights), weights.sum()
    sizes, merges = np.concatenate([weights, np.zeros(n - 1)]), tree[:, :2].astype(np.int64)
    for i, (one, two) in enumerate(merges):
        sizes[n + i] = sizes[one] + sizes[two]
    levels, wanted, there = [], 1, [2 - 2 * n]  # the root; the largest number was merged last
    for k in numbers.tolist():
        while wanted < k or (wanted < n and np.count_nonzero(sizes[np.negative(there)] >= total / (SPECK * k)) < k):
            for child in merges[-heappop(there) - n].tolist():
                heappush(there, -child)
            wanted += 1
        levels.append(wanted)
    return levels


def _members(labels: Ints, k: int) -> NDArray[np.float32]:
    member = np.zeros((len(labels), k), np.float32)
    member[np.arange(len(labels)), labels] = 1.0
    return member


def _nearest(sums: Array, mass: Floats, labels: Ints, pull: Array, weights: Floats) -> Ints:
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
        sums, mass, labels = sums + pull[:, moved] @ change, mass + weights[moved] @ change, best
    return np.asarray(best)


# Nesting: how far the clusterings of an ensemble refine, or are refined by, some clusters of its objects.
#
# Of a clustering K and clusters C, 1 − min(H(C | K) / H(C), H(K | C) / H(K)): 1 where every cluster of the one lies within a cluster of
# the other, and 0 where they are independent. Clusters that stand apart are not torn by any clustering, however fine or coarse; a cut
# through a cloud tears the clusters that lie on it. Averaged over the clusterings, on the objects that each of them labels.

TINY = 1e-9  # safeguard: a tolerance of sums of logarithms


def nesting(problem: Problem, answers: Sequence[Ints]) -> Floats:
    """(n_answers,) mean nesting of the clusterings with each of several partitions of the rows."""
    return np.array([_mean_nesting(problem, labels) for labels in answers])


def _mean_nesting(problem: Problem, labels: Ints) -> float:
    tables = label_tables(problem, labels, int(labels.max()) + 1)
    joined, starts = np.hstack(tables), np.cumsum([0, *(table.shape[1] for table in tables[:-1])])
    mine = np.add.reduceat(joined, starts, axis=1)  # (k, clusterings) objects of a cluster that a clustering labels
    total = mine.sum(axis=0)
    # Σ x log x of every clustering's clusters, of the answer's, and of their parts in common
    theirs = np.add.reduceat(_x_log_x(joined.sum(axis=0)), starts)
    both = np.add.reduceat(_x_log_x(joined).sum(axis=0), starts)
    whole, own = _x_log_x(total), _x_log_x(mine).sum(axis=0)
    known = (own < whole - TINY) & (theirs < whole - TINY)  # one cluster says nothing
    if not known.any():
        return 0.0
    theirs, both, whole, own = theirs[known], both[known], whole[known], own[known]
    torn = np.minimum((theirs - both) / (whole - own), (own - both) / (whole - theirs))
    return float(np.mean(1.0 - np.maximum(torn, 0.0)))


def _x_log_x(x: Array) -> Floats:
    return x * np.log(x, out=np.zeros_like(x), where=x > 0)


# By which test a number of clusters is real: its stability, its nesting, or gaps in the data.

NEARLY = 0.999  # stability and nesting beyond which z is not told apart
STEADY = 0.9  # stability from which an answer that is not real is said not to be told from chance, where chance is as high as can be
TESTS = {"stability": "null_high", "nesting": "nesting_high"}  # with what chance reaches
SAID = {"stability": "", "nesting": " (by nesting)", "gaps": " (by gaps in the data)", "": ""}


def z_of(stability: Array) -> Floats:
    """artanh of stabilities, which has no end, so that differences near 1 count as others do; clipped where they are not told apart."""
    return np.arctanh(np.clip(stability, -NEARLY, NEARLY))


def nesting_z(nesting: Array) -> Floats:
    """−log(1 − nesting), which has no end either."""
    return -np.log1p(-np.clip(nesting, 0, NEARLY))


def is_real(curve: pd.DataFrame) -> pd.Series:
    """Of every row of a curve, whether the stability or the nesting is more than chance."""
    stable, nested = (_beyond(curve[name], curve[high]) for name, high in TESTS.items())
    # Clusterings without common objects nest perfectly: nesting counts only where the halves agree at all.
    return stable | (nested & (curve["stability"] > 0))


def _beyond(value: Any, chance: Any) -> Any:
    return np.minimum(value, NEARLY) > chance


def real_by(row: Mapping[str, Any]) -> str:
    """Which test says that a scale is real: "stability", "nesting", "both", or "gaps" where neither does; "" where it is not."""
    if not row["real"] or "stability" not in row:
        return ""
    figures = {name: (row.get(name), row.get(high)) for name, high in TESTS.items()}
    passed = [
        name
        for name, (value, high) in figures.items()
        if value is not None and high is not None and _beyond(value, high)
    ]
    return "both" if len(passed) > 1 else passed[0] if passed else "gaps"


def say_real(scales: pd.DataFrame) -> tuple[str, list[str]]:
    """What the scales that are real are more than chance by, "more stable than chance" where all are; and each with its other test."""
    rows = [(str(row["n_clusters"]), real_by(row)) for row in scales.to_dict("records") if row["real"]]
    said = [number + SAID[by.replace("both", "stability")] for number, by in rows]
    return "more than chance" if any("(" in one for one in said) else "more stable than chance", said


def at_ceiling(scales: pd.DataFrame | None) -> bool:
    """Whether the null is already at the ceiling, so that no stability can exceed it."""
    if scales is None or "null_high" not in scales or scales["real"].any():
        return False
    return bool(scales["null_high"].iloc[0] >= NEARLY and scales["stability"].iloc[0] >= STEADY)


# What chance would give: ensembles like the given one, of data without clusters.
#
# Clusterings of a cloud without clusters agree too: the more so the fewer dimensions it has, and the longer it is in one of them. So the
# null is k-means, with the ensemble's numbers of clusters and its missing labels, of Gaussian clouds that are round, or 2.5 or 6 times as
# long in one direction. Each of the three shapes has as many dimensions as leave its clusterings in at least as much agreement with one
# another as the ensemble's own have. What is to be more than chance must be more than any of the three shapes gives.
#
# Clusterings whose errors are independent are beside the same clusterings with shuffled labels, since errors on a cloud are correlated.

LENGTHS = 1.0, 2.5, 6.0  # of one axis of a cloud, the others 1
CLOUDS = 3  # of each shape
SHUFFLES = 5
DIMENSIONS = 1, 2, 3, 4, 6, 10, 20, 50
PASSES = 30  # safeguard: for time, of k-means


def clouds(problem: Problem, seed: int) -> Iterator[tuple[int, Ensemble]]:
    """The number of a shape and clusterings of a cloud of this shape, for every cloud; in one dimension all shapes are one."""
    labels = expanded(problem)
    target = mean_agreement(Ensemble(labels))
    for shape, length in enumerate(LENGTHS):
        dimensions = _match_dimensions(problem, labels, length, target, child_seed(seed, "consensus.scale_runs", shape))
        for c in range(CLOUDS):
            unit = child_seed(seed, "consensus.scale_runs", shape, c)
            yield 0 if dimensions == 1 else shape, cluster_cloud(problem, labels, dimensions, length, unit)


def shuffles(problem: Problem, seed: int) -> Iterator[tuple[int, Ensemble]]:
    """0 and the labels of every clustering shuffled among the objects, some times."""
    labels = expanded(problem)
    for c in range(SHUFFLES):
        yield 0, Ensemble(stream(seed, "consensus.scale_null", c).permuted(labels, axis=0))


def expanded(problem: Problem) -> Labels:
    """(n_objects, n_clusterings) the rows, as often as they have objects."""
    return np.repeat(problem.labels, np.maximum(problem.weights.round().astype(int), 1), axis=0)


def cluster_cloud(problem: Problem, labels: Labels, dimensions: int, length: float, seed: int) -> Ensemble:
    """k-means of a cloud with as many objects, as many clusters in every clustering, and the same labels missing."""
    n = len(labels)
    X = stream(seed, "consensus.scale_null", dimensions).normal(size=(n, dimensions))
    X[:, 0] *= length
    runs = kmeans_runs(X, np.minimum(problem.sizes, n), seed=seed, max_iter=PASSES)
    return Ensemble(np.where(labels >= 0, np.asarray(runs.labels).T, -1))


def _match_dimensions(problem: Problem, labels: Labels, length: float, target: float, seed: int) -> int:
    """The most dimensions in which clusterings of a cloud agree with one another at least as much as the target."""
    low, high = 0, len(DIMENSIONS)  # the first always serves
    while high - low > 1:
        middle = (low + high) // 2
        if mean_agreement(cluster_cloud(problem, labels, DIMENSIONS[middle], length, seed)) >= target:
            low = middle
        else:
            high = middle
    return DIMENSIONS[low]


def mean_agreement(ens: Ensemble) -> float:
    """Mean adjusted Rand index of two clusterings."""
    values: Floats = all_pairs(ens, "adjusted_rand", progress=False)
    return float(np.nanmean(values[np.triu_indices(len(values), 1)]))
