"""How many clusters: the numbers at which an ensemble agrees with itself, beside what chance would give.

**Stability** of k: the adjusted Rand index of the answers of two halves of the clusterings,
averaged over eight splits, on a sample of 1,000 objects. Whatever the method of the answer, halves are combined as
:class:`consilience.consensus.ClusterWalk` does.

**Real** is a number whose stability, or whose nesting, is more than clouds without clusters give. Both are judged as z without an end,
artanh(stability) and −log(1 − nesting): above the mean of every shape of cloud by five standard deviations of single clouds at this
number, and by 0.15 and 0.3 at least. Five, since several numbers are judged, twice each, and the deviation is that of a few clouds.

**Scales** come from peaks of the stability curve, smoothed over neighboring k, the highest first, at least a factor 1.4 apart. The peak
at k = 2 counts as 0.2 lower than it is, because the coarsest cut is stable on nearly any data: it comes after others, and is a scale only
where it still is a peak, or leads the numbers beside it by as much, or is real. Where a peak is below 0.9 the scale is the
fewest clusters beside it that are hardly less stable (0.06 in z), since a flat curve has no number of its own, and there must be a valley
between it and any higher peak of fewer clusters. The range of a scale holds the numbers around it that are about as stable (within 0.05).
Real scales come before others.

**Copies.** Where half of the clusterings have the median of their numbers of clusters, and their errors beside a consensus at this
number are independent, they are noisy copies of one grouping, and this number is the answer. Its stability is then measured by
groups of the clusters (as the start of Dawid and Skene's model), beside shuffled labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd
from joblib import delayed
from scipy.stats import t

from consilience._run.parallel import workers
from consilience._run.progress import track
from consilience._run.random import child_seed, stream
from consilience._types import Array, Floats, Ints
from consilience.consensus.how_many.significance import (
    CLOUDS,
    LENGTHS,
    NEARLY,
    SHUFFLES,
    Combine,
    Halves,
    by_groups,
    by_walk,
    clouds,
    compare_halves,
    is_real,
    nesting,
    nesting_z,
    shuffles,
    z_of,
)
from consilience.consensus.methods.dawid_skene import grouped
from consilience.consensus.rows.cluster_similarity import Overlaps
from consilience.consensus.rows.problem import Problem, check_problem
from consilience.consensus.rows.row_tree import narrowed
from consilience.consensus.trust.confidence import Assessment
from consilience.ensemble import Ensemble
from consilience.measures import adjusted_rand

OBJECTS = 1000  # safeguard: for time, by which stability is judged
SPLITS = 8  # into halves
CLOUD_SPLITS = 3  # safeguard: for time, the same of clouds, of which there are many
MOST = 60  # clusters that are tried
SHOWN = 4  # safeguard: display, scales
APART = 1.4  # ratio of neighboring scales, at least
HANDICAP = 0.2  # of k = 2
ERRORS = 2.0  # standard errors of a difference of stabilities, from which one is higher
DEVIATIONS = 5.0  # of clouds, above their mean, that are more than chance
LEAD = {"stability": 0.15, "nesting": 0.3}  # above their mean at least, as z
NEAR = 0.05  # stability that numbers in the range of a scale may lack
HARDLY = (
    0.06  # z of stability that fewer clusters may lack to be preferred, and that a valley between peaks has at least
)
SURE = 0.9  # stability from which a peak is taken as it is
MOSTLY = 0.5  # of the clusterings that have one number of clusters, where they are copies of one grouping
FEWEST = 4  # clusterings: two for each half
AS_STABLE = 0.02  # difference of stabilities that does not count


@dataclass(frozen=True, eq=False)
class Judged:
    """An ensemble at every number of clusters: answers of halves, and the nesting of the answer of all clusterings."""

    halves: Halves
    nesting: Floats  # (n_numbers,)
    shape: int = 0  # of a cloud without clusters

    @property
    def z(self) -> dict[str, Floats]:
        """(n_numbers,) artanh of the stability, and −log(1 − nesting)."""
        stability = self.halves.agreement.mean(axis=0)
        return {"stability": z_of(stability), "nesting": nesting_z(self.nesting)}


@dataclass(frozen=True, eq=False)
class Scales:
    """Numbers of clusters at which an ensemble agrees with itself."""

    # `n_clusters`, `stability`, `sem`, `null`, `null_high`, `nesting`, `nesting_high` of every number
    curve: pd.DataFrame
    ranked: list[int]  # the scales, those that are real first, and then the most stable first
    halves: Halves  # of the ensemble
    null: list[Halves]  # of every cloud
    rows: Ints  # of the problem, that were sampled
    copies: bool  # whether the clusterings are noisy copies, beside shuffled labels

    @property
    def table(self) -> pd.DataFrame:
        """The scales in order: the curve there, its range `from_k` to `to_k`, `excess` of the stability above chance, `real`."""
        at = self.curve.set_index("n_clusters").loc[self.ranked].reset_index()
        ends = [stable_range(self.curve, k) for k in self.ranked]
        at.insert(1, "from_k", [low for low, _ in ends])
        at.insert(2, "to_k", [high for _, high in ends])
        at["excess"] = at["stability"] - at["null_high"]
        at["real"] = is_real(at)
        return at.drop(columns="sem")

    def finest(self) -> int:
        """The largest number of the scales that are more than chance and as stable as any; without such, the first."""
        # The first stands on the highest peak of the smoothed curve, which favors broad ones.
        table = self.table
        as_stable = table["real"] & (table["stability"] >= self._highest - AS_STABLE)
        return int(table.loc[as_stable, "n_clusters"].max()) if table["real"].iloc[0] else self.ranked[0]

    def finer(self, k: int) -> list[int]:
        """Finer numbers than k in the range of a real scale, themselves more than chance and as stable as any, the finest first."""
        # A scale stands for neighboring numbers about as stable as itself. One of these that only sets a few objects apart is as stable
        # whatever becomes of these, so that such a number counts only where its answer moves more objects (`moves`).
        table, curve = self.table, self.curve
        if not table["real"].iloc[0]:
            return []
        good = (curve["stability"] >= self._highest - AS_STABLE) & (curve["stability"] > curve["null_high"])
        spans = table.loc[table["real"], ["from_k", "to_k"]].to_numpy()
        inside = [bool(((spans[:, 0] <= number) & (number <= spans[:, 1])).any()) for number in curve["n_clusters"]]
        chosen = curve.loc[good & np.array(inside) & (curve["n_clusters"] > k), "n_clusters"]
        return sorted(map(int, chosen), reverse=True)

    def preferring(self, k: int) -> Scales:
        """The same with the scale at k before all others."""
        return replace(self, ranked=[k, *(number for number in self.ranked if number != k)])

    @property
    def _highest(self) -> float:
        """Stability of the most stable real scale; two clusters count only as the first, since they are stable on nearly any data."""
        table = self.table
        counts = table["real"] & ((table["n_clusters"] > 2) | (table.index == 0))
        return float(table.loc[counts, "stability"].max())


def moves(labels: Ints, others: Ints) -> bool:
    """Whether two answers differ by more objects than stabilities do that count as equal."""
    return bool(adjusted_rand(labels, others) < 1 - 2 * AS_STABLE)


def find_scales(problem: Problem, seed: int, progress: bool | None = None) -> Scales:
    """Stability of every number of clusters beside the null, and the scales. Cost independent of the number of objects."""
    some, rows = sample_objects(narrowed(problem), seed)
    middle = int(np.clip(np.median(problem.sizes), 2, some.n_rows))
    alike = np.mean(some.sizes == middle) >= MOSTLY  # copies of one grouping have its number of clusters
    copies = some.n_clusterings >= FEWEST and bool(alike)
    copies = copies and not Assessment(some, grouped(some.with_clusters(middle))).errors_correlate
    if copies:
        numbers = np.array([middle])
    else:
        top = min(MOST, some.n_rows, max(10, int(np.ceil(1.5 * np.quantile(some.sizes, 0.75)))))
        numbers = np.arange(2, top + 1)
    found = judge(some, numbers, SPLITS, seed, copies)
    like, total = (shuffles, SHUFFLES) if copies else (clouds, len(LENGTHS) * CLOUDS)
    tasks = (
        delayed(_judge_chance)(ens, numbers, child_seed(seed, "consensus.scale_halves", c), copies, shape)
        for c, (shape, ens) in enumerate(like(some, seed))
    )
    null = list(track(workers(None, lazily=True)(tasks), total, "what chance would give", progress))
    # numbers that fewer than two clouds can make are beside nothing
    judged = max(1, sorted(len(cloud.nesting) for cloud in null)[-2])
    halves = Halves(found.halves.labels[:, :, :judged], some.weights, numbers[:judged])
    curve = make_curve(Judged(halves, found.nesting[:judged]), null)
    ranked = [middle] if copies else rank(curve, all_apart=halves.numbers[-1] == some.n_rows)
    real = set(curve["n_clusters"][is_real(curve)])
    ranked = sorted(ranked, key=lambda k: k not in real)
    return Scales(curve, ranked, halves, [cloud.halves for cloud in null], rows, copies)


def _judge_chance(ens: Ensemble, numbers: Ints, seed: int, copies: bool, shape: int) -> Judged:
    """What an ensemble without clusters gives."""
    chance = check_problem(ens)
    return judge(chance, numbers[numbers <= chance.n_rows], 2 if copies else CLOUD_SPLITS, seed, copies, shape)


def judge(problem: Problem, numbers: Ints, n_splits: int, seed: int, copies: bool, shape: int = 0) -> Judged:
    """Combine halves, and all clusterings, at every number."""
    how: Combine = by_groups if copies else by_walk(Overlaps.of(problem))
    answers = how(problem, np.arange(problem.n_clusterings), numbers) if len(numbers) else []
    return Judged(compare_halves(problem, numbers, n_splits, seed, how), nesting(problem, answers), shape)


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
    return Problem(labels, counts.astype(float), problem.n_clusters, np.arange(len(rows))), rows


def make_curve(found: Judged, null: list[Judged]) -> pd.DataFrame:
    """Stability and nesting of every number beside those of the null."""
    values, k = found.halves.agreement, found.halves.numbers
    mean, high = {}, {}
    for name, least in LEAD.items():
        z = np.full((len(null), len(k)), np.nan)
        z[:, 0] = np.arctanh(NEARLY)  # where all of a cloud are alike, nothing is more stable
        for c, cloud in enumerate(null):
            there = cloud.z[name][: len(k)]
            z[c, : len(there)] = there
        mean[name], deviation = _by_shape(z, np.array([cloud.shape for cloud in null]))
        high[name] = mean[name] + np.maximum(DEVIATIONS * deviation, least)
    return pd.DataFrame(
        {
            "n_clusters": k,
            "stability": values.mean(axis=0),
            "sem": values.std(axis=0, ddof=1) / np.sqrt(len(values)),
            "null": np.tanh(mean["stability"]),
            "null_high": np.tanh(high["stability"]),
            "nesting": found.nesting,
            "nesting_high": -np.expm1(-high["nesting"]),
        }
    )


def _by_shape(z: Floats, shapes: Array) -> tuple[Floats, Floats]:
    """(n_numbers,) the largest mean of any shape of cloud, and the deviation of clouds of one shape, smoothed over neighbors."""
    groups = [z[shapes == shape] for shape in np.unique(shapes)]
    known = [np.isfinite(group).sum(axis=0) for group in groups]
    means = np.array(
        [np.where(n > 0, np.nansum(g, axis=0) / np.maximum(n, 1), -np.inf) for g, n in zip(groups, known, strict=True)]
    )
    squares = sum(
        np.nansum(np.square(group - np.where(np.isfinite(mean), mean, 0)), axis=0)
        for group, mean in zip(groups, means, strict=True)
    )
    freedom = sum(np.maximum(n - 1, 0) for n in known)
    around = [np.concatenate([part[:1], part, part[-1:]]) for part in (squares, freedom)]
    square, free = (part[:-2] + 2 * part[1:-1] + part[2:] for part in around)
    return means.max(axis=0), np.sqrt(square / np.maximum(free, 1))


def stable_range(curve: pd.DataFrame, number: int) -> tuple[int, int]:
    """The first and last of the numbers around a scale, without a gap, that are about as stable."""
    value = curve["stability"].to_numpy()
    at = int(np.flatnonzero(curve["n_clusters"] == number)[0])
    first, last = _around(-np.abs(value - value[at]), at, NEAR)
    return int(curve["n_clusters"].iloc[first]), int(curve["n_clusters"].iloc[last])


def _around(values: Floats, at: int, less: float) -> tuple[int, int]:
    """The places around one, without a gap, whose values are at most so much less."""
    lower = np.flatnonzero(values < values[at] - less)
    return int(lower[lower < at].max(initial=-1)) + 1, int(lower[lower > at].min(initial=len(values))) - 1


def _is_peak(values: Floats) -> Array:
    around = np.concatenate([[-np.inf], values, [-np.inf]])
    return (values >= around[:-2]) & (values >= around[2:])


def _best_beside(peak: int, value: Floats, sem: Floats, doubtful: Array) -> int:
    """The best number beside a peak, which smoothing may have moved by one, the larger of equals; a doubtful one only if it leads."""
    # Where it does not, the peak stands for what is left, unless another is more stable by what can be measured.

    def best(places: list[int]) -> int:
        return max(places, key=lambda j: (round(float(value[j]), 3), j))

    beside = list(range(max(peak - 1, 0), min(peak + 2, len(value))))
    first = best(beside)
    if first == peak or not doubtful[first]:
        return first
    other = best([j for j in beside if not doubtful[j]])
    if value[first] >= value[other] + HANDICAP:
        return first
    return other if value[other] >= value[peak] + ERRORS * np.hypot(sem[other], sem[peak]) else peak


def rank(curve: pd.DataFrame, *, all_apart: bool = False) -> list[int]:
    """Scales: peaks of the smoothed stability, far enough apart, the highest first."""
    # The largest number is not a peak, since the curve may go on rising, unless it sets all rows apart (`all_apart`) or no other is.
    k, value = curve["n_clusters"].to_numpy(), curve["stability"].to_numpy()
    padded = np.concatenate([value[:1], value, value[-1:]])
    smooth = 0.25 * padded[:-2] + 0.5 * value + 0.25 * padded[2:]
    real, two = is_real(curve).to_numpy(bool), k == 2
    height = smooth - np.where(two, HANDICAP, 0)
    peaks = np.flatnonzero(_is_peak(height) | (_is_peak(smooth) & two & real)).tolist()
    if not all_apart and len(peaks) > 1:
        peaks = [i for i in peaks if i < len(k) - 1]
    best = [_best_beside(i, value, curve["sem"].to_numpy(), two & ~real) for i in peaks]
    found: list[int] = []
    z = z_of(value)
    for _, j in sorted((-height[i], j) for i, j in zip(peaks, best, strict=True)):
        if value[j] < SURE and k[j] > 2:  # where the curve is flat, the fewest clusters that are hardly less stable
            first = max(_around(z, j, HARDLY)[0], int(np.searchsorted(k, 3)))
            if (
                found and z[first : j + 1].max() > z[j] + HARDLY
            ):  # on the flank of another peak, without a valley between
                continue
            j = first
        number = int(k[j])
        if len(found) < SHOWN and all(max(number / other, other / number) >= APART for other in found):
            found.append(number)
    return found


# Is a split real? What every scale splits of the next coarser one, beside the splits of clouds without clusters.
#
# A split is real if, within the cluster, the halves agree on its parts more than the halves of clouds do within theirs, corrected for the
# number of splits that are looked at.

PART = 0.05  # of a cluster that must leave it to be a split
CHANCE = 0.05  # that any split of a table is called real where there are no clusters


def find_splits(scales: Scales, labels: dict[int, Ints], objects: Floats) -> pd.DataFrame:
    """What every scale splits of the next coarser one, given the answers for the rows at every scale, and the objects of every row."""
    weights, at = scales.halves.weights, {int(k): i for i, k in enumerate(scales.halves.numbers)}
    found = []
    for coarse, fine in pairwise(sorted(labels)):
        one, two = labels[coarse][scales.rows], labels[fine][scales.rows]
        table = np.zeros((coarse, fine))
        np.add.at(table, (one, two), weights)
        for cluster in range(coarse):
            parts = np.flatnonzero((table[cluster] >= PART * table[cluster].sum()) & (table.argmax(axis=0) == cluster))
            if len(parts) < 2:
                continue
            stability = float(np.mean(scales.halves.within(at[fine], (one == cluster) & np.isin(two, parts))))
            size = round(objects[labels[coarse] == cluster].sum())
            found.append((coarse, fine, cluster, ", ".join(map(str, parts)), size, stability))
    splits = pd.DataFrame(found, columns=["from_k", "to_k", "cluster", "into", "size", "stability"])
    high = {
        pair: _null_within(scales.null, *pair, len(found))
        for pair in zip(splits["from_k"], splits["to_k"], strict=True)
    }
    splits["null_high"] = [high[pair] for pair in zip(splits["from_k"], splits["to_k"], strict=True)]
    splits["real"] = splits["stability"].clip(upper=NEARLY) > splits["null_high"]
    return splits


def _null_within(null: list[Halves], coarse: int, fine: int, n_splits: int) -> float:
    """What the halves of clouds hardly ever reach inside a cluster of the coarser scale: once in twenty tables of as many splits."""
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
    if len(values) < 2:
        return 1.0
    z = z_of(np.array(values))
    return float(np.tanh(z.mean() + t.ppf(1 - CHANCE / n_splits, len(z) - 1) * z.std(ddof=1)))
