"""Several groupings at once, each in a space of its own, at right angles to those of the others.

D. Mautz, W. Ye, C. Plant and C. Böhm, Discovering non-redundant k-means clusterings in optimal subspaces, KDD 2018. The axes of the
data are rotated and dealt out: B_j (d × d_j) spans the space of grouping j, and one more space has no clusters, for noise. The sum over
all spaces of tr(B_jᵀ S_j B_j), S_j the scatter inside the clusters of j, falls with every step: objects join the nearest mean in each
space, means are taken, and every two spaces share out their axes by the signs of the eigenvalues of S_i − S_j. A grouping keeps an
axis at least (theirs may lose all). Many starts are cheap, and the best is what counts: on large tables they begin on a sample of
the objects.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from joblib import delayed
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from consilience._check import InputError, count
from consilience._run.parallel import own_threads, workers
from consilience._run.random import child_seed, stream
from consilience._types import Array, Floats, Labels
from consilience.alternatives.diagnostics import quality_of
from consilience.alternatives.reproducibility import half_of
from consilience.measures import adjusted_rand

STARTS = 30  # a parameter: n_init
STEPS = 300  # safeguard: time; a search that still moves after so many ends
SAMPLE = 5000  # safeguard: time; objects that starts are made on
WIDEST = 200  # safeguard: time; columns, since every step decomposes matrices of that size
TINY = 1e-9  # safeguard: rounding; share of all scatter below which an axis tells no clusters apart


@dataclass(frozen=True, eq=False)
class Groupings:
    labels: Labels  # (n_objects, n_groupings)
    axes: list[Floats]  # B_j, (n_columns, n_axes): a basis of every grouping's space; the last one is that of the noise
    means: list[Floats]  # (n_clusters, n_columns)
    cost: float  # Σ tr(B_jᵀ S_j B_j)

    def quality(self, X: Floats) -> Floats:
        """Of every grouping, the share of the variance of its own space that it explains."""
        return np.array(
            [quality_of(X @ basis, codes, "variance") for basis, codes in zip(self.axes, self.labels.T, strict=False)]
        )

    def predict(self, X: Floats) -> Labels:
        parts = zip(self.axes[:-1], self.means, strict=True)
        return np.column_stack([_nearest(X @ basis, means @ basis) for basis, means in parts])


def find_at_once(
    X: Floats, sizes: Sequence[int], *, n_init: int = STARTS, seed: int = 0, n_jobs: int | None = None
) -> Groupings:
    check_at_once(X, sizes)
    middle = X.mean(axis=0)
    centered = X - middle
    some = centered
    if len(X) > SAMPLE:
        some = centered[np.sort(stream(seed, "alternatives.at_once_sample").permutation(len(X))[:SAMPLE])]
    with own_threads():  # so that no sum depends on the number of threads
        tasks = (delayed(_start)(some, sizes, stream(seed, "alternatives.at_once", i)) for i in range(n_init))
        best = min(workers(n_jobs)(tasks), key=lambda found: found.cost)
        if len(X) > SAMPLE:
            best = _improve(centered, best.axes, best.means)
    return Groupings(best.labels, best.axes, [means + middle for means in best.means], best.cost)


def check_at_once(X: Any, sizes: Sequence[int]) -> None:
    if sparse.issparse(X):
        raise InputError("at_once rotates the columns, which needs a dense table: leave it out, or reduce the columns")
    n, d = X.shape
    if d > WIDEST:
        raise InputError(
            f"at_once decomposes matrices of {d:,} columns squared at every step, and {WIDEST} are the most: reduce the columns "
            "first, to principal components say"
        )
    if d < len(sizes):
        raise InputError(f"{count(len(sizes), 'grouping')} at once need a column each, and there are {d}")
    if n < 2 * max(sizes):
        raise InputError(f"{max(sizes)} clusters in each half of the objects need twice as many, and there are {n}")


def reproducibility_at_once(
    X: Floats, found: Groupings, sizes: Sequence[int], n_splits: int, *, n_init: int, seed: int, n_jobs: int | None
) -> Floats:
    """Of every grouping, the adjusted Rand index of what two halves of the objects make of it, mean over several splits."""
    values = np.zeros((n_splits, len(sizes)))
    for split in range(n_splits):
        half = half_of(len(X), split, seed)
        answers = []
        for which, part in enumerate((half, ~half)):
            own = child_seed(seed, "alternatives.at_once_half", 2 * split + which)
            learned = find_at_once(X[part], sizes, n_init=n_init, seed=own, n_jobs=n_jobs).predict(X)
            alike = np.array([[adjusted_rand(a, b) for b in learned.T] for a in found.labels.T])
            answers.append(learned[:, linear_sum_assignment(alike, maximize=True)[1]])
        values[split] = [adjusted_rand(one, other) for one, other in zip(answers[0].T, answers[1].T, strict=True)]
    return np.asarray(values.mean(axis=0))


def _start(X: Floats, sizes: Sequence[int], rng: np.random.Generator) -> Groupings:
    """Spaces at random, and means that are far apart in them (k-means++)."""
    d = X.shape[1]
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    axes = [rotation[:, own] for own in np.array_split(np.arange(d), len(sizes) + 1)]
    means = [X[_far_apart(X @ basis, k, rng)] for basis, k in zip(axes, sizes, strict=False)]
    return _improve(X, axes, means)


def _far_apart(points: Floats, k: int, rng: np.random.Generator) -> list[int]:
    chosen = [int(rng.integers(len(points)))]
    squares = np.square(points - points[chosen[0]]).sum(axis=1)
    while len(chosen) < k:
        total = squares.sum()
        chosen.append(int(rng.choice(len(points), p=squares / total if total > 0 else None)))
        squares = np.minimum(squares, np.square(points - points[chosen[-1]]).sum(axis=1))
    return chosen


def _improve(X: Floats, axes: list[Floats], means: list[Floats]) -> Groupings:
    """Steps down until no object moves; X has mean 0."""
    axes, means = list(axes), list(means)
    total = X.T @ X
    least = TINY * np.trace(total)
    before: Labels | None = None
    for _ in range(STEPS):
        columns, scatters = [], []
        for j, basis in enumerate(axes[:-1]):
            codes, means[j], between = _assign(X, X @ basis, means[j] @ basis)
            columns.append(codes)
            scatters.append(total - between)
        labels = np.column_stack(columns)
        scatters.append(total)
        for one, other in combinations(range(len(axes)), 2):
            is_noise = other == len(axes) - 1
            axes[one], axes[other] = _share(
                axes[one], axes[other], scatters[one] - scatters[other], least, is_noise=is_noise
            )
        if before is not None and np.array_equal(labels, before):
            break
        before = labels
    cost = sum(
        float(np.einsum("ij,ik,kj->", basis, inside, basis)) for basis, inside in zip(axes, scatters, strict=True)
    )
    return Groupings(labels, axes, means, cost)


def _assign(X: Floats, points: Floats, means: Floats) -> tuple[Labels, Floats, Floats]:
    """The clusters of one space, their means in all columns, and the scatter of these."""
    k = len(means)
    codes = _nearest(points, means)
    while (sizes := np.bincount(codes, minlength=k)).min() == 0:  # an empty cluster takes the object that fits worst
        away = np.square(points - means[codes]).sum(axis=1)
        away[sizes[codes] < 2] = -1
        codes[int(away.argmax())] = int(sizes.argmin())
    members = sparse.csc_matrix((np.ones(len(codes)), codes, np.arange(len(codes) + 1)), (k, len(codes)))
    sums = np.asarray(members @ X)
    found = sums / sizes[:, None]
    return codes, found, sums.T @ found


def _share(one: Floats, other: Floats, difference: Floats, least: float, *, is_noise: bool) -> tuple[Floats, Floats]:
    """The axes of two spaces dealt out anew: to the one where less scatter is inside clusters along them."""
    both = np.column_stack([one, other])
    values, vectors = np.linalg.eigh(both.T @ difference @ both)
    own = values < (-least if is_noise else 0.0)
    own[0] = True
    if not is_noise:
        own[-1] = False
    return both @ vectors[:, own], both @ vectors[:, ~own]


def _nearest(points: Floats, means: Floats) -> Labels:
    distances: Array = np.square(means).sum(axis=1) - 2 * points @ means.T
    return np.asarray(distances.argmin(axis=1), np.int32)
