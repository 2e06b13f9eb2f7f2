"""Weighted rows of labels as the fitting of a label model sees them: tables of labels × clusters, and starts to compete."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._run.parallel import workers
from consilience._types import Floats, Labels
from consilience.consensus.methods.engine_consensus import SAMPLE
from consilience.consensus.rows.problem import Problem, sample_rows, sum_over_labels
from consilience.engine.information import random_starts
from consilience.engine.views import label_views

SHORT = 20  # iterations over which starts compete


@dataclass(frozen=True)
class LabelRows:
    """Rows of labels with weights; the labels of all clusterings are numbered through, as rows of tables of labels × clusters.

    Attributes
    ----------
    labels : (n_rows, r) int32 array
        −1 missing.
    weights : (n_rows,) array
    offsets : (r + 1,) int array
        Where each clustering's labels begin in a table.
    """

    labels: Labels
    weights: Floats
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, problem: Problem) -> LabelRows:
        """Those of a problem."""
        return cls(problem.labels, problem.weights, problem.offsets)

    def take(self, rows: NDArray[np.int64]) -> LabelRows:
        """Some of the rows, over the same labels."""
        return LabelRows(np.ascontiguousarray(self.labels[rows]), self.weights[rows], self.offsets)

    @cached_property
    def holders(self) -> Any:
        """Sparse (labels, n_rows): the weight of a row at each of its labels."""
        rows, columns = np.nonzero(self.labels >= 0)
        numbers = self.labels[rows, columns] + self.offsets[columns]
        shape = (int(self.offsets[-1]), len(self.labels))
        return sparse.csr_array((self.weights[rows], (numbers, rows)), shape)

    @cached_property
    def holders_by_clustering(self) -> list[Any]:
        """The same, one (J_q, n_rows) part per clustering."""
        return [self.holders[begin:end] for begin, end in pairwise(self.offsets)]

    def scores(self, table: Floats) -> Floats:
        """(n_rows, k): the sum of a table (labels × k) over each row's labels."""
        return sum_over_labels(self.labels, self.offsets, table)

    def shares(self, counts: Floats, smoothing: float) -> Floats:
        """p(label | cluster) from weights of labels × clusters, after `smoothing` counts of every label."""
        return shares_of(counts, self.offsets, smoothing)


def shares_of(counts: Floats, offsets: NDArray[np.int64], smoothing: float) -> Floats:
    """p(label | cluster) from weights of labels × clusters, after `smoothing` counts of every label; `offsets` as in LabelRows."""
    counts = counts + smoothing
    totals = np.add.reduceat(counts, offsets[:-1], axis=0)
    widths = np.diff(offsets)
    uniform = np.broadcast_to(1 / np.repeat(widths, widths)[:, None], counts.shape).copy()
    totals = np.repeat(totals, widths, axis=0)
    return np.divide(counts, totals, out=uniform, where=totals > 0)


def shares_as_given(problem: Problem, table: Floats) -> list[Floats]:
    """A table (labels × k) as one (k, J_q) array per clustering, clusterings and labels in the order of the ensemble."""
    numbers, offsets = problem.labels_as_given()
    return [np.ascontiguousarray(part.T) for part in np.split(table[numbers], offsets[1:-1])]


def best_start(
    rows: LabelRows,
    n_clusters: int,
    fit: Callable[[LabelRows, Labels], Any],
    *,
    n_init: int,
    seed: int,
    n_jobs: int | None,
) -> Any:
    """The best of `n_init` fits by the end of their `history`, to a sample of 2,000 rows where there are more.

    Each begins with a partition seeded by rows (k-means++) from its own stream.
    """
    from joblib import delayed

    sample = sample_rows(rows.weights, SAMPLE, seed)
    part = rows if len(sample) == len(rows.labels) else rows.take(sample)
    starts = random_starts(label_views(part.labels, object_weights=part.weights), n_clusters, n_init, random_state=seed)
    found = workers(n_jobs)(delayed(fit)(part, start) for start in starts)
    return max(found, key=lambda fitted: fitted.history[-1])
