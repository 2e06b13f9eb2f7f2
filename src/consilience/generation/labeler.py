"""Labels of new objects, by every clustering of a run: the nearest mean, or the nearest object where there are no means."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from consilience._types import Array, ArrayLike, Floats, Ints, Labels
from consilience.ensemble import Ensemble
from consilience.generation.method import Space
from consilience.generation.registry import METHODS
from consilience.generation.runner import Runner, weighted
from consilience.generation.specs import Spec

BLOCK = 2**24  # scores at a time


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
        sizes = labels[:, columns].max(axis=0).astype(np.int64) + 1
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows, which = np.nonzero(labels[:, columns] >= 0)
        numbers = labels[rows, np.asarray(columns)[which]] + offsets[which]
        members = sparse.csr_array((np.ones(len(rows)), (numbers, rows)), (int(offsets[-1]), len(labels)))
        sums = members @ space.table
        means = np.asarray(sums.todense() if sparse.issparse(sums) else sums)
        counts = np.bincount(numbers, minlength=len(means))
        means = means / np.maximum(counts, 1)[:, None]
        weights = np.ones((len(columns), space.width))
        for row, spec in zip(weights, specs, strict=True):
            if spec.weights is not None:
                row[:] = spec.weights
        squares = np.repeat(np.square(weights), sizes, axis=0)
        constants = np.where(
            counts > 0, (squares * np.square(means)).sum(axis=1), np.inf
        )  # no object joins an empty cluster
        return cls(replace(space, table=None), np.asarray(columns), sizes, -2 * squares * means, constants)

    def label(self, table: ArrayLike, labels: Labels) -> None:
        """Fill in the labels of new rows."""
        table, begins = self.space.transform(table), np.concatenate([[0], np.cumsum(self.sizes)])
        step = max(1, BLOCK // len(self.factors))
        for begin in range(0, table.shape[0], step):
            rows = slice(begin, begin + step)
            scores = np.asarray(table[rows] @ self.factors.T) + self.constants
            for j, first, last in zip(self.columns, begins, begins[1:], strict=False):
                labels[rows, j] = scores[:, first:last].argmin(axis=1)


@dataclass(frozen=True, eq=False)
class Nearest:
    """One clustering without means: a new object has the label of the nearest one that was clustered."""

    space: Space
    column: int
    weights: Array | None
    labels: Labels

    def label(self, table: ArrayLike, labels: Labels) -> None:
        """Fill in the labels of new rows."""
        from sklearn.metrics import pairwise_distances_argmin

        new, old = self.space.transform(table), self.space.table
        if self.weights is not None:
            new, old = weighted(new, self.weights), weighted(old, self.weights)
        labels[:, self.column] = self.labels[pairwise_distances_argmin(new, old)]


class Labeler:
    """Labels new objects as the clusterings of an ensemble that a runner made would.

    Parameters
    ----------
    runner : Runner
        Of a plan with ``metric="euclidean"``.
    ensemble : Ensemble
        What it made. K-means keeps its means, so that no data is kept; for other clusterers the data is.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.generation.labeler import Labeler
    >>> from consilience.generation.plan import Plan
    >>> from consilience.generation.runner import Runner
    >>> X = np.array([[0.0, 1], [0, 2], [9, 1], [9, 2]])
    >>> runner = Runner(X, Plan.checked(methods="minima", n_clusters=2))
    >>> ensemble = runner.run(5)
    >>> bool((Labeler(runner, ensemble).label(X) == ensemble.labels).all())
    True
    """

    def __init__(self, runner: Runner, ensemble: Ensemble) -> None:
        self._preparation, self._n = runner.spaces.preparation, ensemble.n_clusterings
        self._parts: list[Means | Nearest] = []
        specs = [runner.fitted(Spec.of_row(row)) for row in ensemble.info.to_dict("records")]
        means: dict[str, list[int]] = {}
        for j, spec in enumerate(specs):
            if runner.base is None and METHODS[spec.method].is_kmeans:
                means.setdefault(METHODS[spec.method].space, []).append(j)
            else:
                space = runner.spaces.of(spec.method)
                self._parts.append(Nearest(space, j, spec.weights, ensemble.labels[:, j].copy()))
        for some in means.values():
            space = runner.spaces.of(specs[some[0]].method)
            self._parts.append(Means.of(space, [specs[j] for j in some], some, ensemble.labels))

    def label(self, X: ArrayLike) -> Labels:
        """(n_new, n_clusterings) labels of new rows of the data, dense or CSR. Cost O(n_new · columns · all clusters)."""
        table = self._preparation.apply(X)
        labels = np.full((X.shape[0], self._n), -1, np.int32)
        for part in self._parts:
            part.label(table, labels)
        return labels
