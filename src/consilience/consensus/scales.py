"""How many clusters: the numbers at which an ensemble agrees with itself, beside what chance would give.

**Stability.** Two random halves of the clusterings are combined separately (:mod:`consilience.consensus.cluster_similarity`); one tree
of each half gives its clusters at every k. The stability of k is the adjusted Rand index of the two answers, averaged over eight
splits, on a sample of 1,000 objects.

**Null.** Clusterings of a cloud without clusters agree too, the more so the fewer dimensions it has. So the null is a Gaussian cloud with
as many dimensions as leave its clusterings (k-means, the same numbers of clusters, as many objects) in at least as much agreement with one
another as the ensemble's own have; its stability at k is measured alike, on several clouds. A number of clusters is **real** if its
stability exceeds the mean of the clouds by four standard deviations, and by 0.15, both of Fisher's z = artanh(stability).

**Scales** are the peaks of the stability curve, smoothed over neighboring k, at least a factor 1.4 apart, the highest first. k = 2
needs a lead of 0.2, because the coarsest cut is stable on nearly any data.

**Copies.** Where half of the clusterings have the median of their numbers of clusters, and they err independently of one another beside
a consensus at this number, they are noisy copies of one grouping, and this number is the answer. Its stability is then measured by
MCLA, and its null is the same clusterings with shuffled labels, since clusterings of a cloud err alike.

**Splits.** From one scale to the next finer one some clusters split. A split is real if, within the cluster, the halves agree on its parts
more than the halves of the clouds do within theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._progress import track
from consilience._random import child_seed, stream
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.assessment import err_alike
from consilience.consensus.cluster_similarity import Overlaps, nearest_clusters
from consilience.consensus.distinct_rows import Problem, check_problem
from consilience.consensus.linkage import cut_tree
from consilience.consensus.mcla import MCLA
from consilience.consensus.row_tree import leaf_tree, narrowed
from consilience.ensemble import Ensemble
from consilience.generation.kmeans import kmeans_runs
from consilience.measures.counts import Sums
from consilience.measures.pairs import adjusted_rand_from
from consilience.measures.pairwise import pairwise as all_pairs

OBJECTS = 1000  # by which stability is judged
SPLITS = 8  # into halves
CLOUDS, CLOUD_SPLITS = 5, 4
DIMENSIONS = 1, 2, 3, 4, 6, 10, 20, 50
MOST = 60  # clusters that are tried
SHOWN = 4  # scales
APART = 1.4  # ratio of neighboring scales, at least
HANDICAP = 0.2  # of k = 2
LEAD = 4.0, 0.15  # standard deviations of Fisher's z, and z itself, above the null that are more than chance
ROUNDS = 3
NEARLY = 0.999  # stability beyond which z is not told apart
PART = 0.05  # of a cluster that must leave it to be a split
MOSTLY = 0.5  # of the clusterings that have one number of clusters, where they are copies of one grouping
FEWEST = 4  # clusterings: two for each half


@dataclass(frozen=True, eq=False)
class Halves:
    """Answers of both halves of several splits, at every number of clusters.

    Attributes
    ----------
    labels : (n_splits, 2, n_numbers, n_rows) int array
    weights : (n_rows,) array
        Objects of every row.
    numbers : (n_numbers,) int array
        Of clusters.
    """

    labels: NDArray[np.int16]
    weights: Floats
    numbers: Ints

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


Combine = Callable[[Problem, Ints, Ints], list[Ints]]


def by_walk(overlaps: Overlaps) -> Combine:
    """Clusters of the rows by some of the clusterings at several numbers, all cut from one tree."""

    def combine(problem: Problem, half: Ints, numbers: Ints) -> list[Ints]:
        similarity = overlaps.similarity(np.bincount(half, minlength=problem.n_clusterings).astype(float))
        tree = leaf_tree(problem, similarity, np.arange(problem.n_rows), problem.weights)
        return [nearest_clusters(problem, similarity, cut_tree(tree, k), k, ROUNDS)[0] for k in numbers.tolist()]

    return combine


def by_mcla(problem: Problem, half: Ints, numbers: Ints) -> list[Ints]:
    """The same by MCLA, anew for every number."""
    part = replace(problem, labels=np.ascontiguousarray(problem.labels[:, half]), given=None)
    return [_mcla(part, k) for k in numbers.tolist()]


def compare_halves(problem: Problem, numbers: Ints, n_splits: int, seed: int, combine: Combine) -> Halves:
    """Combine the halves of several splits of the clusterings at every number of clusters; 0 where a half cannot make as many."""
    m = problem.n_clusterings
    labels = np.zeros((n_splits, 2, len(numbers), problem.n_rows), np.int16)
    for s in range(n_splits):
        order = stream(seed, "consensus.halves", s).permutation(m)
        for h, half in enumerate((order[: m // 2], order[m // 2 : 2 * (m // 2)])):
            can = numbers <= len(np.unique(problem.labels[:, half], axis=0))
            if can.any():
                labels[s, h, can] = combine(problem, half, numbers[can])
    return Halves(labels, problem.weights, numbers)


@dataclass(frozen=True, eq=False)
class Scales:
    """Numbers of clusters at which an ensemble agrees with itself.

    Attributes
    ----------
    curve : DataFrame
        `n_clusters`, `stability`, `sem`, `null`, `null_high` of every number tried.
    ranked : list of int
        The scales, the most stable first.
    halves, null : Halves, list of Halves
        Of the ensemble, and of every cloud.
    rows : (n_sampled,) int array
        Rows of the problem that were sampled.
    dimensions : int
        Of the clouds; 0 where labels were shuffled instead.
    """

    curve: pd.DataFrame
    ranked: list[int]
    halves: Halves
    null: list[Halves]
    rows: Ints
    dimensions: int

    @property
    def table(self) -> pd.DataFrame:
        """The scales in order: `n_clusters`, `stability`, `null`, `null_high`, `excess`, `real`."""
        at = self.curve.set_index("n_clusters").loc[self.ranked].reset_index()
        at["excess"] = at["stability"] - at["null_high"]
        at["real"] = at["stability"].clip(upper=NEARLY) > at["null_high"]
        return at.drop(columns="sem")


def find_scales(problem: Problem, seed: int, progress: bool | None = None) -> Scales:
    """Stability of every number of clusters beside the null, and the scales. Cost independent of the number of objects."""
    some, rows = sample_objects(narrowed(problem), seed)
    middle = int(np.clip(np.median(problem.sizes), 2, some.n_rows))
    alike = np.mean(some.sizes == middle) >= MOSTLY  # copies of one grouping have its number of clusters
    copies = some.n_clusterings >= FEWEST and alike and not err_alike(some, _mcla(some, middle))
    if copies:
        numbers = np.array([middle])
    else:
        top = min(MOST, some.n_rows, max(10, int(np.ceil(1.5 * np.quantile(some.sizes, 0.75)))))
        numbers = np.arange(2, top + 1)
    halves = compare_halves(some, numbers, SPLITS, seed, by_mcla if copies else by_walk(Overlaps.of(some)))
    dimensions = 0 if copies else _match_dimensions(some, seed)
    null = []
    for c in track(range(CLOUDS), CLOUDS, "what chance would give", progress):
        chance = check_problem(_shuffled(some, seed, c) if copies else _cloud(some, dimensions, seed, c))
        how = by_mcla if copies else by_walk(Overlaps.of(chance))
        within, unit = numbers[numbers <= chance.n_rows], child_seed(seed, "consensus.scale_halves", c)
        null.append(compare_halves(chance, within, 2 if copies else CLOUD_SPLITS, unit, how))
    # numbers that fewer than two clouds can make are beside nothing
    judged = max(1, sorted(len(cloud.numbers) for cloud in null)[-2])
    halves = Halves(halves.labels[:, :, :judged], halves.weights, numbers[:judged])
    curve = _curve(halves, null)
    ranked = [middle] if copies else rank(curve, all_apart=halves.numbers[-1] == some.n_rows)
    return Scales(curve, ranked, halves, null, rows, dimensions)


def _mcla(problem: Problem, k: int) -> Ints:
    return MCLA(k, random_state=0)._answer(problem.with_clusters(k))[1]


def sample_objects(problem: Problem, seed: int) -> tuple[Problem, Ints]:
    """The rows of a sample of the objects, with their numbers of objects; all where there are no more."""
    if problem.weights.sum() <= OBJECTS:
        return problem, np.arange(problem.n_rows)
    at = stream(seed, "consensus.scale_sample").random(OBJECTS) * problem.weights.sum()
    rows, counts = np.unique(np.searchsorted(problem.weights.cumsum(), at, side="right"), return_counts=True)
    labels = problem.labels[rows]
    for j, column in enumerate(labels.T):  # codes without gaps
        present = np.unique(column[column >= 0])
        labels[:, j] = np.where(column >= 0, np.searchsorted(present, column), -1)
    labels = np.ascontiguousarray(labels[:, (labels >= 0).any(axis=0)])
    weights, inverse = counts.astype(float), np.arange(len(rows))
    return replace(problem, labels=labels, weights=weights, inverse=inverse, given=None), rows


def _cloud(problem: Problem, dimensions: int, seed: int, unit: int) -> Ensemble:
    """k-means of a Gaussian cloud with as many objects, and as many clusters in every clustering."""
    n = round(problem.weights.sum())
    X = stream(seed, "consensus.scale_null", unit, dimensions).normal(size=(n, dimensions))
    sizes = np.minimum(problem.sizes, n)
    runs = kmeans_runs(X, sizes, seed=child_seed(seed, "consensus.scale_runs", unit, dimensions), max_iter=30)
    return Ensemble(np.asarray(runs.labels).T)


def _shuffled(problem: Problem, seed: int, unit: int) -> Ensemble:
    """The labels of every clustering shuffled among the objects."""
    labels = _objects(problem)
    return Ensemble(stream(seed, "consensus.scale_null", unit, 0).permuted(labels, axis=0))


def _objects(problem: Problem) -> Labels:
    """Rows as often as they have objects."""
    return np.repeat(problem.labels, np.maximum(problem.weights.round().astype(int), 1), axis=0)


def _match_dimensions(problem: Problem, seed: int) -> int:
    """The most dimensions in which clusterings of a cloud agree with one another at least as much as those of the ensemble."""
    target = _mean_agreement(Ensemble(_objects(problem)))
    low, high = 0, len(DIMENSIONS)  # the first always serves
    while high - low > 1:
        middle = (low + high) // 2
        if _mean_agreement(_cloud(problem, DIMENSIONS[middle], seed, CLOUDS)) >= target:
            low = middle
        else:
            high = middle
    return DIMENSIONS[low]


def _mean_agreement(ens: Ensemble) -> float:
    values = all_pairs(ens, "adjusted_rand", progress=False)
    return float(np.nanmean(values[np.triu_indices(len(values), 1)]))


def _curve(halves: Halves, null: list[Halves]) -> pd.DataFrame:
    values, k = halves.agreement, halves.numbers
    clouds = np.full((len(null), len(k)), np.nan)
    clouds[:, 0] = 1.0  # where all of a cloud are alike, nothing is more stable
    for c, cloud in enumerate(null):
        clouds[c, : len(cloud.numbers)] = cloud.agreement.mean(axis=0)[: len(k)]
    z = np.arctanh(np.clip(clouds, -NEARLY, NEARLY))
    mean, deviation = np.nanmean(z, axis=0), np.sqrt(np.nanmean(np.nanvar(z, axis=0, ddof=1)))
    return pd.DataFrame(
        {
            "n_clusters": k,
            "stability": values.mean(axis=0),
            "sem": values.std(axis=0, ddof=1) / np.sqrt(len(values)),
            "null": np.tanh(mean),
            "null_high": np.tanh(mean + max(LEAD[0] * deviation, LEAD[1])),
        }
    )


def rank(curve: pd.DataFrame, *, all_apart: bool = False) -> list[int]:
    """Peaks of the smoothed stability, far enough apart, the highest first.

    The largest number tried is not a peak, since the curve may go on rising, unless it sets all rows apart (`all_apart`) or no
    other is.
    """
    k, value = curve["n_clusters"].to_numpy(), curve["stability"].to_numpy()
    padded = np.concatenate([value[:1], value, value[-1:]])
    smooth = 0.25 * padded[:-2] + 0.5 * value + 0.25 * padded[2:]
    smooth[k == 2] -= HANDICAP
    around = np.concatenate([[-np.inf], smooth, [-np.inf]])
    peaks = np.flatnonzero((smooth >= around[:-2]) & (smooth >= around[2:])).tolist()
    if not all_apart and len(peaks) > 1:
        peaks = [i for i in peaks if i < len(k) - 1]
    # smoothing may move a peak by one: take the best number beside it, the larger of equals
    best = [max(range(max(i - 1, 0), min(i + 2, len(k))), key=lambda j: (round(value[j], 3), j)) for i in peaks]
    found: list[int] = []
    for _, number in sorted((-smooth[i], int(k[j])) for i, j in zip(peaks, best, strict=True)):
        if len(found) < SHOWN and all(max(number / other, other / number) >= APART for other in found):
            found.append(number)
    return found


def find_splits(scales: Scales, labels: dict[int, Ints], objects: Floats) -> pd.DataFrame:
    """What every scale splits of the next coarser one, given the answers for the rows at every scale, and the objects of every row.

    Columns: `from_k`, `to_k`, `cluster`, `into`, `size`, `stability`, `null_high`, `real`.
    """
    numbers: list[int] = sorted(labels)
    found = []
    weights, at = scales.halves.weights, {int(k): i for i, k in enumerate(scales.halves.numbers)}
    for coarse, fine in pairwise(numbers):
        high = _null_within(scales.null, coarse, fine)
        one, two = labels[coarse][scales.rows], labels[fine][scales.rows]
        table = np.zeros((coarse, fine))
        np.add.at(table, (one, two), weights)
        for cluster in range(coarse):
            parts = np.flatnonzero((table[cluster] >= PART * table[cluster].sum()) & (table.argmax(axis=0) == cluster))
            if len(parts) < 2:
                continue
            inside = (one == cluster) & np.isin(two, parts)
            stability = float(np.mean(scales.halves.within(at[fine], inside)))
            found.append(
                (
                    coarse,
                    fine,
                    cluster,
                    ", ".join(map(str, parts)),
                    round(objects[labels[coarse] == cluster].sum()),
                    stability,
                    high,
                    stability > high,
                )
            )
    names = ["from_k", "to_k", "cluster", "into", "size", "stability", "null_high", "real"]
    return pd.DataFrame(found, columns=names)


def _null_within(null: list[Halves], coarse: int, fine: int) -> float:
    """What the halves of clouds reach at most, in nineteen of twenty clusters, inside a cluster of the coarser scale."""
    values = []
    for cloud in null:
        at = {int(k): i for i, k in enumerate(cloud.numbers)}
        if fine not in at:
            continue
        one, two = cloud.labels[0, 0, at[coarse]], cloud.labels[0, 0, at[fine]]
        for cluster in range(coarse):
            inside = one == cluster
            if len(np.unique(two[inside])) > 1 and inside.sum() >= 4:
                values.append(cloud.within(at[fine], inside).mean())
    return float(np.quantile(values, 0.95)) if values else 1.0
