"""The same objects by kinds of clustering that fail differently, each at every number of clusters in one go."""

# Nothing is drawn, so that another seed has the same kinds. Average linkage and Genie are cuts of one tree each, and k-means starts from
# the means of Ward's clusters. Two kinds find their number themselves: the most persistent layer of density,
# which leaves out noise, and the mixture of Gaussians with full covariances whose Bayesian information criterion is least,
#
#     BIC = −2 Σ_i log Σ_c π_c N(x_i | μ_c, Σ_c) + (free parameters) log n,
#
# one component being an answer too. EM starts from the clusters of k-means, and the search ends where five numbers more have not helped.
# Of tables with more than ten columns the mixture sees ten principal components.

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from consilience._types import Floats, Ints, Labels
from consilience.ensemble import Ensemble
from consilience.generation.methods.trees import average_tree, cut, density_layers, genie_tree, ward_tree

MOST_OBJECTS = 3000  # safeguard: time and memory, that kinds are asked of: linkage takes their squares
FEWEST_NUMBERS, MOST_NUMBERS = 10, 60  # safeguard: time, up to which clusters are tried, √n between
COMPONENTS = 10  # that a mixture sees
PATIENCE = 5  # safeguard: time, numbers without a lower BIC after which no more are tried
STEPS, TOLERANCE = 100, 1e-3  # safeguard: time, of k-means and EM; gain of mean log-likelihood at which EM ends
RIDGE, SPARSE_RIDGE = (
    1e-6,
    0.1,
)  # safeguard: of the mean variance, added so that no covariance is singular; of few objects, at first


def numbers_for(n_objects: int) -> Ints:
    """The numbers of clusters that are tried: 2 … √n, but at least to 10 and at most to 60."""
    return np.arange(2, max(2, min(int(np.clip(np.sqrt(n_objects), FEWEST_NUMBERS, MOST_NUMBERS)), n_objects // 2)) + 1)


def kinds_of(scalings: Mapping[str, Floats], numbers: Ints) -> Ensemble:
    """Partitions of the points, which come in one or more scalings; `info` has `method`, `scaling`, `n_clusters` and `own`.

    `own` marks a number that a kind found itself.
    """
    labels: list[Labels] = []
    rows: list[dict[str, Any]] = []
    for scaling, points in scalings.items():
        for method, found, own in _partitions(points, numbers, mixture=not rows):
            labels.append(found)
            rows.append({"method": method, "scaling": scaling, "n_clusters": int(found.max()) + 1, "own": own})
    return Ensemble.from_codes(np.column_stack(labels), info=pd.DataFrame(rows))


def _partitions(points: Floats, numbers: Ints, mixture: bool) -> Iterator[tuple[str, Labels, bool]]:
    average, genie, ward = average_tree(points), genie_tree(points), ward_tree(points)
    means = {1: np.zeros(len(points), np.int32)}
    for k in numbers.tolist():
        yield "average", cut(average, k), False
        yield "genie", cut(genie, k), False
        means[k] = _means_from(points, cut(ward, k))
        yield "means", means[k], False
    if len(numbers) == 1:  # which is given: kinds with numbers of their own say nothing of it
        return
    if layers := density_layers(points):
        yield "density", layers[0][1], True
    if mixture:  # in the first scaling alone: covariances take any
        yield "mixture", best_mixture(points, means), True


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
    if d > COMPONENTS:
        centered = points - points.mean(axis=0)
        points = centered @ np.linalg.svd(centered, full_matrices=False)[2][:COMPONENTS].T
        d = points.shape[1]
    least, best = np.inf, (1, starts[1])
    for k, start in sorted(starts.items()):
        likelihood, labels = _em(points, start)
        criterion = (k - 1 + k * d + k * d * (d + 1) / 2) * np.log(n) - 2 * n * likelihood
        if criterion < least:
            least, best = criterion, (k, labels)
        elif k - best[0] >= PATIENCE:
            break
    return best[1]


def _em(points: Floats, start: Labels) -> tuple[float, Labels]:
    """Mean log-likelihood of a mixture of Gaussians after EM from clusters, and its clusters; O(n k d²) a step."""
    (n, d), k = points.shape, int(start.max()) + 1
    share = np.zeros((n, k))
    share[np.arange(n), start] = 1.0
    ridge = points.var(axis=0).mean() * np.where(share.sum(axis=0) > d, RIDGE, SPARSE_RIDGE)
    reached = -np.inf
    for _ in range(STEPS):
        mass = share.sum(axis=0) + 1e-10
        means = share.T @ points / mass[:, None]
        away = points - means[:, None]  # (k, n, d)
        covariances = (share.T[:, :, None] * away).transpose(0, 2, 1) @ away / mass[:, None, None]
        roots = np.linalg.inv(np.linalg.cholesky(covariances + ridge[:, None, None] * np.eye(d)))
        squares = np.square(away @ roots.transpose(0, 2, 1)).sum(axis=2)
        volumes = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        logs = (np.log(mass / n) + volumes - d / 2 * np.log(2 * np.pi))[:, None] - squares / 2
        top = logs.max(axis=0)
        total = top + np.log(np.exp(logs - top).sum(axis=0))
        share = np.exp(logs - total).T
        ridge = np.full(k, points.var(axis=0).mean() * RIDGE)
        if (now := float(total.mean())) - reached < TOLERANCE:
            break
        reached = now
    return now, share.argmax(axis=1).astype(np.int32)
