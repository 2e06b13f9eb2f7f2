"""Recommendation from co-clusterings (Bekkerman et al. 2009, section 5.1): popularity, lifted by the clusters.

For a row u (a user) in cluster ũ and a column m (a movie) in cluster m̃ of a count table,

    r(u, m) = p(u) p(m) · p(ũ, m̃) / (p(ũ) p(m̃)),

with all probabilities estimated from the table. One co-clustering gives one ranking: row clustering i goes with column clustering i. A row
or column without a label is lifted by 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import roc_auc_score

from consilience._types import Floats


class Recommender:
    """Rank the columns of a count table for every row, by clusterings of both sides."""

    def __init__(self, counts: Any, rows: Any, columns: Any) -> None:
        counts = sparse.csr_matrix(counts)
        total = counts.sum()
        self._row_labels, self._column_labels = rows.labels, columns.labels
        self._row_share = np.asarray(counts.sum(axis=1), float).ravel() / total
        self._column_share = np.asarray(counts.sum(axis=0), float).ravel() / total
        pairs = zip(rows.labels.T, columns.labels.T, strict=True)
        self._lifts = [lift_table(counts, row, column) for row, column in pairs]

    def popularity(self, u: Any, m: Any) -> Floats:
        """p(u) p(m) of pairs: the score without clusters."""
        return np.asarray(self._row_share[u] * self._column_share[m])

    def scores(self, u: Any, m: Any) -> Floats:
        """r(u, m) of pairs by their numbers, a column for each co-clustering."""
        parts = zip(self._lifts, self._row_labels.T, self._column_labels.T, strict=True)
        lifts = [
            np.where((row[u] >= 0) & (column[m] >= 0), table[row[u], column[m]], 1.0) for table, row, column in parts
        ]
        return np.asarray(self.popularity(u, m)[:, None] * np.column_stack(lifts))

    def auc(self, u: Any, m: Any, positive: Any) -> Floats:
        """Area under the ROC curve of the ranking of pairs, of which some came true, for every co-clustering."""
        return np.array([roc_auc_score(np.asarray(positive, int), scores) for scores in self.scores(u, m).T])


def lift_table(counts: Any, rows: Any, columns: Any) -> Floats:
    """p(ũ, m̃) / (p(ũ) p(m̃)) of every cluster of rows and cluster of columns; 1 where either is empty, −1 counts nowhere."""
    joint = (_members(rows).T @ counts @ _members(columns)).toarray()
    outer = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return np.divide(joint * joint.sum(), outer, out=np.ones_like(joint), where=outer > 0)


def _members(labels: Any) -> Any:
    """(n, clusters) sparse: 1 where an object lies in a cluster."""
    known = np.flatnonzero(labels >= 0)
    shape = len(labels), max(int(np.max(labels, initial=-1)) + 1, 1)
    return sparse.csr_matrix((np.ones(len(known)), (known, labels[known])), shape)
