"""What chance would give: ensembles like the given one, of data without clusters.

Clusterings of a cloud without clusters agree too: the more so the fewer dimensions it has, and the longer it is in one of them. So the
null is k-means, with the ensemble's numbers of clusters and its missing labels, of Gaussian clouds that are round, or 2.5 or 6 times as
long in one direction. Each of the three shapes has as many dimensions as leave its clusterings in at least as much agreement with one
another as the ensemble's own have. What is to be more than chance must be more than any of the three shapes gives.

Clusterings that err independently are beside the same clusterings with shuffled labels instead, since clusterings of a cloud err alike.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from consilience._run.random import child_seed, stream
from consilience._types import Floats, Labels
from consilience.consensus.rows.problem import Problem
from consilience.ensemble import Ensemble
from consilience.generation.kmeans import kmeans_runs
from consilience.measures.pairwise import pairwise as all_pairs

LENGTHS = 1.0, 2.5, 6.0  # of one axis of a cloud, the others 1
CLOUDS = 3  # of each shape
SHUFFLES = 5
DIMENSIONS = 1, 2, 3, 4, 6, 10, 20, 50
PASSES = 30  # of k-means


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
