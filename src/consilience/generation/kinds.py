"""The same objects by kinds of clustering that fail differently, each at every number of clusters in one go."""

# Nothing is drawn, so that another seed has the same kinds. Average linkage and Genie are cuts of one tree each, and k-means starts from
# the means of Ward's clusters. Two kinds find their number themselves: the most persistent layer of density,
# which leaves out noise, and the mixture of Gaussians whose Bayesian information criterion is least,
#
#     BIC = −2 Σ_i log Σ_c π_c N(x_i | μ_c, Σ_c) + (free parameters) log n,
#
# one component being an answer too, with covariances that are full (up to ten columns), diagonal, or one variance. EM starts from the
# clusters of k-means, and the search ends where five numbers more have not helped.

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from consilience._run.random import stream
from consilience._types import Floats, Ints, Labels
from consilience.ensemble import Ensemble
from consilience.generation.methods.linkage_genie_layers import average_tree, cut, density_layers, genie_tree, ward_tree

TREES = {"average": average_tree, "genie": genie_tree, "means": ward_tree}  # k-means starts from Ward's clusters
MOST_OBJECTS = 3000  # safeguard: time and memory, that kinds are asked of: linkage takes their squares
FEWEST_NUMBERS, MOST_NUMBERS = 10, 60  # safeguard: time, up to which clusters are tried, √n between
MOST_FULL = 10  # columns of full covariances
PATIENCE = 5  # safeguard: time, numbers without a lower BIC after which no more are tried
STEPS, TOLERANCE = 100, 1e-3  # safeguard: time, of k-means and EM; gain of mean log-likelihood at which EM ends
RIDGE, SPARSE_RIDGE = (
    1e-6,
    0.1,
)  # safeguard: of the mean variance, added so that no covariance is singular; of few objects, at first


def numbers_for(n_objects: int) -> Ints:
    """The numbers of clusters that are tried: 2 … √n, but at least to 10 and at most to 60."""
    return np.arange(2, max(2, min(int(np.clip(np.sqrt(n_objects), FEWEST_NUMBERS, MOST_NUMBERS)), n_objects // 2)) + 1)


def kinds_of(scalings: Mapping[str, Floats], numbers: Ints, mixture: bool = True) -> Ensemble:
    """Partitions of the points, which come in one or more scalings; `info` has `method`, `scaling`, `n_clusters` and `own`.

    `own` marks a number that a kind found itself. No `mixture` is asked of columns that came from words, which no Gaussian describes.
    """
    labels: list[Labels] = []
    rows: list[dict[str, Any]] = []
    for scaling, points in scalings.items():
        for method, found, own in _partitions(points, numbers, mixture and not rows):
            labels.append(found)
            rows.append({"method": method, "scaling": scaling, "n_clusters": int(found.max()) + 1, "own": own})
    return Ensemble.from_codes(np.column_stack(labels), info=pd.DataFrame(rows))


def _partitions(points: Floats, numbers: Ints, mixture: bool) -> Iterator[tuple[str, Labels, bool]]:
    trees = {kind: plant(points) for kind, plant in TREES.items()}
    means = {1: np.zeros(len(points), np.int32)}
    for k in numbers.tolist():
        for kind, tree in trees.items():
            labels = _cut(kind, tree, points, k)
            if kind == "means":
                means[k] = labels
            yield kind, labels, False
    if len(numbers) == 1:  # which is given: kinds with numbers of their own say nothing of it
        return
    if layers := density_layers(points):
        yield "density", layers[0][1], True
    if mixture:  # in the first scaling alone: covariances take any
        yield "mixture", best_mixture(points, means), True


class Halves:
    """The kinds that are cut from trees, on two halves of the objects."""

    # The same halves whatever the seed. Trees are planted when first asked for.

    def __init__(self, scalings: Mapping[str, Floats]) -> None:
        n = len(next(iter(scalings.values())))
        order = stream(0, "generation.halves").permutation(n)
        self._halves = np.sort(order[: n // 2]), np.sort(order[n // 2 :])
        self._scalings, self._trees = scalings, dict[tuple[str, str, int], Floats]()

    def partitions(self, kind: str, scaling: str, k: int) -> Iterator[tuple[Ints, Labels]]:
        """The objects of each half, and their clusters; nothing where k is more than half of them."""
        for h, objects in enumerate(self._halves):
            if 2 * k < len(objects):
                points, key = self._scalings[scaling][objects], (kind, scaling, h)
                if key not in self._trees:
                    self._trees[key] = TREES[kind](points)
                yield objects, _cut(kind, self._trees[key], points, k)


def _cut(kind: str, tree: Floats, points: Floats, k: int) -> Labels:
    return _means_from(points, cut(tree, k)) if kind == "means" else cut(tree, k)


def _means_from(points: Floats, start: Labels) -> Labels:
    """Lloyd's k-means from the means of clusters; those that it leaves empty are gone."""
    labels, k = start.astype(np.int64), int(start.max()) + 1
    for _ in range(STEPS):
        sums = np.stack([np.bincount(labels, column, k) for column in points.T], axis=1)
        centers = sums / np.maximum(np.bincount(labels, minlength=k), 1)[:, None]
        nearest = (np.square(centers).sum(axis=1) - 2 * points @ centers.T).argmin(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def best_mixture(points: Floats, starts: Mapping[int, Labels]) -> Labels:
    """The clusters of the mixture of Gaussians with the least BIC, of those that there are clusters to start from."""
    n, d = points.shape
    least, best = np.inf, starts[1]
    for shape, free in {"full": d * (d + 1) / 2, "diagonal": d, "spherical": 1}.items():
        if shape == "full" and d > MOST_FULL:
            continue
        lowest, at = np.inf, 1
        for k, start in sorted(starts.items()):
            likelihood, labels = _em(points, start, shape)
            criterion = (k - 1 + k * d + k * free) * np.log(n) - 2 * n * likelihood
            if criterion < least:
                least, best = criterion, labels
            if criterion < lowest:
                lowest, at = criterion, k
            elif k - at >= PATIENCE:
                break
    return best


def _em(points: Floats, start: Labels, shape: str) -> tuple[float, Labels]:
    """Mean log-likelihood of a mixture of Gaussians after EM from clusters, and its clusters; O(n k d²) a step, O(n k d) if not full."""
    (n, d), k = points.shape, int(start.max()) + 1
    share = np.zeros((n, k))
    share[np.arange(n), start] = 1.0
    size = points.var(axis=0).mean()
    ridge, reached = size * np.where(share.sum(axis=0) > d, RIDGE, SPARSE_RIDGE), -np.inf
    density = _full if shape == "full" else partial(_axes, points**2, shape == "spherical")
    for _ in range(STEPS):
        mass = share.sum(axis=0) + 1e-10
        logs = density(points, share / mass, ridge) + np.log(mass / n) - d / 2 * np.log(2 * np.pi)
        top = logs.max(axis=1)
        total = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
        share, ridge = np.exp(logs - total[:, None]), np.full(k, size * RIDGE)
        if (now := float(total.mean())) - reached < TOLERANCE:
            break
        reached = now
    return now, share.argmax(axis=1).astype(np.int32)


def _full(points: Floats, weights: Floats, ridge: Floats) -> Floats:
    """(n, k) log-densities but for the constant, of means and full covariances by `weights` (n, k), whose columns sum to 1."""
    away = points - (weights.T @ points)[:, None]  # (k, n, d)
    covariances = (weights.T[:, :, None] * away).transpose(0, 2, 1) @ away
    roots = np.linalg.inv(np.linalg.cholesky(covariances + ridge[:, None, None] * np.eye(points.shape[1])))
    volumes = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    return volumes - np.square(away @ roots.transpose(0, 2, 1)).sum(axis=2).T / 2


def _axes(squares: Floats, is_round: bool, points: Floats, weights: Floats, ridge: Floats) -> Floats:
    """The same of variances along the columns, or of one variance for all columns."""
    means = weights.T @ points
    variances = np.maximum(weights.T @ squares - means**2, 0.0)
    if is_round:
        variances = np.repeat(variances.mean(axis=1, keepdims=True), points.shape[1], axis=1)
    variances += ridge[:, None]
    distances = squares @ (1 / variances).T - 2 * points @ (means / variances).T + (means**2 / variances).sum(axis=1)
    return -(np.log(variances).sum(axis=1) + distances) / 2
