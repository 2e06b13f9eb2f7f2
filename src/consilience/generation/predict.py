"""Labels of new objects, by every clustering of a run: the nearest mean, what its method says, or else the nearest object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from consilience._run.random import stream
from consilience._types import Array, ArrayLike, Floats, Ints, Labels
from consilience.ensemble import Ensemble
from consilience.ensemble.results import register
from consilience.generation.cluster_means import cluster_means
from consilience.generation.clustering_spec import Spec
from consilience.generation.methods.method import Space
from consilience.generation.methods.registry import METHODS
from consilience.generation.runner import Runner
from consilience.generation.spaces import Preparation
from consilience.generation.tasks import weighted
from consilience.tables import CountScaling, Standardizer

BLOCK = 2**24  # scores at a time
NEIGHBORS = 20_000  # objects of a clustering without means that are kept, at most
TOTAL = 100_000  # of all clusterings that weigh the columns in ways of their own
FEWEST = 1000

register(Preparation)
register(Standardizer)
register(CountScaling)


@register
@dataclass(frozen=True, eq=False)
class Means:
    """The means of the clusters of several clusterings in one space: |w (x − c)|² = |w x|² − 2 x·(w² c) + |w c|²."""

    space: Space
    columns: Ints  # which clusterings these are
    sizes: Ints  # their numbers of clusters
    factors: Floats  # (all clusters, width): −2 w² c
    constants: Floats  # |w c|²

    @classmethod
    def of(cls, space: Space, specs: list[Spec], columns: list[int], labels: Labels) -> Means:
        """From the labels (objects × clusterings) that the specs made."""
        means, counts, sizes = cluster_means(space.table, labels[:, columns])
        weights = np.ones((len(columns), space.width))
        for row, spec in zip(weights, specs, strict=True):
            if spec.weights is not None:
                row[:] = spec.weights
        squares = np.repeat(np.square(weights), sizes, axis=0)
        constants = np.where(
            counts > 0, (squares * np.square(means)).sum(axis=1), np.inf
        )  # no object joins an empty cluster
        return cls(space.bare(), np.asarray(columns), sizes, -2 * squares * means, constants)

    def label(self, table: ArrayLike, labels: Labels) -> None:
        """Fill in the labels of new rows."""
        table, begins = self.space.transform(table), np.concatenate([[0], np.cumsum(self.sizes)])
        step = max(1, BLOCK // len(self.factors))
        for begin in range(0, table.shape[0], step):
            rows = slice(begin, begin + step)
            scores = np.asarray(table[rows] @ self.factors.T) + self.constants
            for j, first, last in zip(self.columns, begins, begins[1:], strict=False):
                labels[rows, j] = scores[:, first:last].argmin(axis=1)


@register
@dataclass(frozen=True, eq=False)
class Nearest:
    """Clusterings without means: a new object has the labels of the nearest of the objects that are kept.

    Those that weigh the columns alike share their objects and one search.
    """

    space: Space  # without its table
    columns: Ints
    weights: Array | None
    objects: Any  # (kept, width) array or CSR matrix, its columns weighted already
    labels: Labels  # (kept, clusterings)

    @classmethod
    def of(cls, space: Space, weights: Array | None, columns: list[int], labels: Labels, most: int) -> Nearest:
        """Keep all objects, or a random sample of `most`, and of every cluster at least one."""
        kept = np.arange(len(labels))
        if len(labels) > most:
            order = stream(len(labels), "generation.neighbors", columns[0]).permutation(len(labels))
            firsts = [order[np.unique(labels[order, j], return_index=True)[1]] for j in columns]
            kept = np.unique(np.concatenate([order[:most], *firsts]))
        objects = space.places[kept]
        objects = objects if weights is None else weighted(objects, weights)
        return cls(space.bare(), np.asarray(columns), weights, objects, labels[kept][:, columns])

    def label(self, table: ArrayLike, labels: Labels) -> None:
        """Fill in the labels of new rows; O(new · kept · width), in blocks."""
        from sklearn.metrics import pairwise_distances_argmin

        new = self.space.transform(table)
        new = new if self.weights is None else weighted(new, self.weights)
        labels[:, self.columns] = self.labels[pairwise_distances_argmin(new, self.objects)]


@register
@dataclass(frozen=True, eq=False)
class Predicted:
    """One clustering whose method labels new rows itself."""

    space: Space
    column: int
    weights: Array | None
    predictor: Any

    def label(self, table: ArrayLike, labels: Labels) -> None:
        """Fill in the labels of new rows."""
        new = self.space.transform(table)
        labels[:, self.column] = self.predictor.label(new if self.weights is None else weighted(new, self.weights))


@register
@dataclass(frozen=True, eq=False)
class Labeler:
    """Labels new objects as the clusterings of an ensemble that a runner made would.

    K-means keeps its means, and some methods what they place new objects by, so that no data is kept. Of other clusterers
    up to 20,000 objects are, fewer each where many of them weigh the columns in ways of their own (100,000 in all).

    Attributes
    ----------
    preparation : Preparation
        What is done to the given columns.
    n_clusterings : int
    parts : list of Means, Predicted or Nearest

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.generation.predict import Labeler
    >>> from consilience.generation.plan import Plan
    >>> from consilience.generation.runner import Runner
    >>> X = np.array([[0.0, 1], [0, 2], [9, 1], [9, 2]])
    >>> runner = Runner(X, Plan.checked(methods="minima", n_clusters=2))
    >>> ensemble = runner.run(5)
    >>> bool((Labeler.of(runner, ensemble).label(X) == ensemble.labels).all())
    True
    """

    preparation: Preparation
    n_clusterings: int
    parts: list[Any]

    @classmethod
    def of(cls, runner: Runner, ensemble: Ensemble) -> Labeler:
        """From a runner of a plan with ``metric="euclidean"``, and the ensemble that it made, its predictors kept or not."""
        specs = [runner.fitted(Spec.of_row(row)) for row in ensemble.info.to_dict("records")]
        means: dict[str, list[int]] = {}
        alike: dict[str, list[int]] = {}  # without means, but one search serves them all
        others: list[list[int]] = []
        parts: list[Any] = []
        for j, spec in enumerate(specs):
            if runner.base is None and METHODS[spec.method].is_kmeans:
                means.setdefault(METHODS[spec.method].space, []).append(j)
            elif (spec.seed, spec.unit) in runner.predictors:
                space = runner.spaces.of(spec.method).bare()
                parts.append(Predicted(space, j, spec.weights, runner.predictors[spec.seed, spec.unit]))
            elif spec.weights is None:
                alike.setdefault(METHODS[spec.method].space, []).append(j)
            else:
                others.append([j])
        for some in means.values():
            space = runner.spaces.of(specs[some[0]].method)
            parts.append(Means.of(space, [specs[j] for j in some], some, ensemble.labels))
        most = int(np.clip(TOTAL // max(1, len(others)), FEWEST, NEIGHBORS))
        for some, size in [*((part, NEIGHBORS) for part in alike.values()), *((part, most) for part in others)]:
            spec = specs[some[0]]
            parts.append(Nearest.of(runner.spaces.of(spec.method), spec.weights, some, ensemble.labels, size))
        return cls(runner.spaces.preparation, ensemble.n_clusterings, parts)

    def label(self, X: ArrayLike) -> Labels:
        """(n_new, n_clusterings) labels of new rows of the data, dense or CSR. Cost O(n_new · columns · all clusters)."""
        table = self.preparation.apply(X)
        labels = np.full((X.shape[0], self.n_clusterings), -1, np.int32)
        for part in self.parts:
            part.label(table, labels)
        return labels

    @property
    def n_kept(self) -> int:
        """Rows of the data that it keeps, all clusterings together."""
        return sum(part.objects.shape[0] for part in self.parts if isinstance(part, Nearest))
