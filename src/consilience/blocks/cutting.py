"""LWGP by row blocks: the graph of clusters adds up, its eigenvectors place every row, and k-means passes over the blocks group them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from consilience import _kernels
from consilience._check import check_count, check_seed
from consilience._types import Floats, Ints, Labels
from consilience.blocks.distinct_rows import Layout
from consilience.blocks.label_blocks import LabelBlocks
from consilience.blocks.running import Workers
from consilience.blocks.survey import Survey, coded_blocks
from consilience.blocks.words import says
from consilience.consensus import LWGP
from consilience.consensus.methods.lwgp import (
    MOST,
    best_centers,
    leading,
    move,
    nearest,
    sum_points,
    unit_points,
)
from consilience.consensus.rows.cluster_similarity import weights_of_overlaps
from consilience.consensus.rows.problem import Problem, sum_over_labels


@dataclass(frozen=True, eq=False)
class PointRule:
    """A row lies at the mean of its clusters' vectors, scaled to unit length, and joins the nearest center.

    Attributes
    ----------
    offsets : (r + 1,) int array
    weights : (labels,) array
        Of the clusters that are combined.
    vectors : (labels, d) array
    centers : (k, d) array
    """

    offsets: Ints
    weights: Floats
    vectors: Floats
    centers: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of labels and of clusters."""
        return len(self.weights), len(self.centers)

    def points(self, rows: Labels) -> Floats:
        """(n, d)."""
        return unit_points(rows, self.offsets, self.weights, self.vectors)

    def labels(self, rows: Labels) -> Ints:
        """(n,) clusters; −1 of rows without labels."""
        return np.where((rows >= 0).any(axis=1), nearest(self.points(rows), self.centers)[0], -1)

    def keep(self, clusters: Ints) -> PointRule:
        """Only these clusters, numbered anew."""
        return replace(self, centers=self.centers[clusters])


def fit_cut(
    blocks: LabelBlocks, workers: Workers, survey: Survey, problem: Problem, model: LWGP, order: Ints
) -> PointRule:
    """What LWGP finds of all objects; `problem` is that of the sample, `order` that in which memory has the labels.

    Labels are read once for the graph and, where starts of k-means competed on some rows, once for each of its steps.
    """
    check_count("n_init", model.n_init)
    offsets, seed, k = survey.offsets, check_seed(model.random_state), problem.n_clusters
    weights = weights_of_overlaps(survey.overlaps.astype(float), offsets, model.theta)

    def over(function: Any, shared: Any) -> Any:
        task = partial(function, layout=blocks.layout)
        return workers.each(task, blocks.parts, (survey.codes, shared), survey.lengths)

    graph = sum(over(_tie, (offsets, weights)))[np.ix_(order, order)]
    vectors = np.empty((len(weights), min(k, len(weights))))
    vectors[order] = leading(graph, weights[order], vectors.shape[1])[1]
    rule = PointRule(offsets, weights, vectors, np.zeros((k, vectors.shape[1])))
    points = rule.points(problem.as_given(problem.labels))
    found, whole = best_centers(points, problem.weights, k, n_init=model.n_init, seed=seed)
    rule = replace(rule, centers=found[1])
    if whole and survey.sample.n_objects == sum(survey.lengths):
        return rule
    for _ in range(MOST):
        mass, sums = (sum(some) for some in zip(*over(_sum_points, rule), strict=True))
        centers = move(rule.centers, mass, sums)
        if np.array_equal(centers, rule.centers):
            break
        rule = replace(rule, centers=centers)
    return rule


@says("graph of clusters")
def _tie(part: Any, shared: Any, length: int, layout: Layout) -> Floats:
    """(c, c): the objects that every two clusters share, each counted by 1 / the weight of its clusters."""
    codes, (offsets, weights) = shared
    graph = np.zeros((len(weights), len(weights)))
    for rows, _ in coded_blocks(part, codes, layout):
        rows = rows[(rows >= 0).any(axis=1)]
        scale = 1 / sum_over_labels(rows, offsets, weights[:, None])[:, 0]
        columns = np.ascontiguousarray(rows.T)
        for q, column in enumerate(columns):
            size = int(offsets[q + 1] - offsets[q])
            tied = _kernels.label_tables(columns, offsets, column, size, weights=scale)
            graph[:, offsets[q] : offsets[q + 1]] += tied
    return graph


@says("step of k-means")
def _sum_points(part: Any, shared: tuple[Any, PointRule], length: int, layout: Layout) -> tuple[Floats, Floats]:
    """Objects of every cluster, and the sums of their points."""
    codes, rule = shared
    mass, sums = np.zeros(len(rule.centers)), np.zeros(rule.centers.shape)
    for rows, _ in coded_blocks(part, codes, layout):
        points = rule.points(np.ascontiguousarray(rows[(rows >= 0).any(axis=1)]))
        found = sum_points(points, np.ones(len(points)), nearest(points, rule.centers)[0], len(mass))
        mass, sums = mass + found[0], sums + found[1]
    return mass, sums
