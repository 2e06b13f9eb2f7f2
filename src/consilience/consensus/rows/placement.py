"""Combine a sample of the objects and place the rest: where an object belongs, given the labels that the clusterings have for it.

Whoever has too many objects combines some (:func:`sample_objects`) as if they were all, and asks :class:`Placement` for the others: the
explorer, row blocks, `predict` and `update` all place objects here. An object that has the same labels as one that was combined joins
its cluster. For others p(c | labels) ∝ π_c Π_q p_q(y_q | c)^τ decides (:mod:`consilience.consensus.trust.confidence`). Where the two
differ, they exchange their probabilities. The confidence of a placed object is the mean of those that were combined and have as much
support, made monotone (isotonic regression).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from consilience import _kernels
from consilience._run.random import stream
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.result import Consensus
from consilience.consensus.rows.problem import Problem, sum_over_labels
from consilience.consensus.trust.confidence import Assessment, support_of
from consilience.ensemble import Ensemble
from consilience.ensemble.results import register

SEEN = 50_000  # safeguard: rows of labels that are remembered, the most frequent first; they are saved with a model


def sample_objects(n_objects: int, size: int) -> Ints:
    """The numbers of the objects that stand for all, in rising order: the same ones every time, and all where they are few."""
    if n_objects <= size:
        return np.arange(n_objects)
    return np.sort(stream(0, "consensus.sample").choice(n_objects, size, replace=False))


@register
@dataclass(frozen=True, eq=False)
class Placement:
    seen: Labels  # (n_rows, n_clusterings) Distinct rows of labels of the data
    seen_labels: Ints  # (n_rows,) Their clusters
    table: Floats  # (n_clusters, all labels) Objects of each cluster with each label
    offsets: Ints  # (n_clusterings + 1,) First label of every clustering
    logs: Floats  # (all labels, n_clusters) τ log p_q(label | c)
    log_shares: Floats  # (n_clusters,) log π_c
    # supports, confidences: Confidence by support, at some supports; linear between them
    supports: Floats
    confidences: Floats

    @classmethod
    def of(cls, sample: Ensemble, consensus: Consensus | Ints, n_labels: Ints | None = None) -> Placement:
        """From clusterings of some objects and what they were combined into, or its labels alone where no confidence is asked for."""
        # `n_labels` says how many labels each clustering has among all objects: those that the sample lacks speak for no cluster.
        if isinstance(consensus, Consensus):
            answer, curve = consensus.labels, by_support(consensus)
        else:
            answer, curve = consensus, (np.zeros(1), np.zeros(1))
        rows, k = sample.signatures(), int(answer.max()) + 1
        of_rows = answer[rows.first]
        known = of_rows >= 0
        place = np.where(known, np.cumsum(known) - 1, -1)[rows.inverse]
        problem = Problem(rows.labels[known], rows.counts[known].astype(float), k, place)
        if n_labels is not None:
            vars(problem)["sizes"] = n_labels
        labels = of_rows[known]
        found = Assessment(problem, labels)
        tables, tau, logs = found.tables, found.discount, []
        for table in tables:
            prior = table.shape[1] * table.sum(axis=0) / max(table.sum(), 1)
            shares = (table + prior) / (table.sum(axis=1, keepdims=True) + table.shape[1])
            logs.append(tau * np.log(np.maximum(shares, 1e-300)))
        sizes = np.bincount(labels, problem.weights, minlength=k)
        kept = np.sort(np.argsort(-rows.counts, kind="stable")[:SEEN])
        return cls(
            rows.labels[kept],
            of_rows[kept],
            np.hstack(tables),
            np.concatenate([[0], np.cumsum([table.shape[1] for table in tables])]),
            np.ascontiguousarray(np.concatenate(logs, axis=1).T),
            np.log(sizes / sizes.sum()),
            *curve,
        )

    def places(self, rows: Labels) -> tuple[Ints, Floats]:
        """Clusters of rows of labels, −1 for a row without any, and their probabilities. Cost O(rows · clusterings · clusters)."""
        scores = sum_over_labels(rows, self.offsets, self.logs) + self.log_shares
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        n = len(self.seen)
        first, inverse, _ = _kernels.signatures(np.concatenate([self.seen, rows]))
        at = first[inverse[n:]]
        labels = np.full(len(rows), -1)
        labels[at < n] = self.seen_labels[at[at < n]]
        seen, best = np.flatnonzero(labels >= 0), scores.argmax(axis=1)
        scores[seen, best[seen]] = scores[seen, labels[seen]]
        scores[seen, labels[seen]] = 1 + 1e-9  # the largest, where two are equal too
        labels = np.where((rows >= 0).any(axis=1), scores.argmax(axis=1), -1)
        return labels, scores / scores.sum(axis=1, keepdims=True)

    def places_of_columns(self, columns: Array, threads: int = 1) -> Ints:
        """Clusters of labels that are clusterings × objects, in any type that the kernels know; equal labels have equal clusters."""
        # Objects that were combined have no say of their own here, so that nothing is looked up.
        scores = _kernels.column_scores(columns, self.offsets, self.logs, threads=threads) + self.log_shares
        return np.asarray(scores.argmax(axis=1))

    def support(self, rows: Labels, labels: Ints) -> Floats:
        """The share of the members that agree with the cluster of each row; 0 without one."""
        known, support = labels >= 0, np.zeros(len(rows))
        if known.any():
            tables = np.split(self.table, self.offsets[1:-1], axis=1)
            spoken_for = self.table.sum(axis=0) > 0
            if not spoken_for.all():  # labels that the sample lacks are no votes
                rows = np.where(spoken_for[self.offsets[:-1] + np.maximum(rows, 0)], rows, -1)
            support[known] = support_of(rows[known], labels[known], tables)
        return support

    def confidence(self, support: Floats, labels: Ints) -> Floats:
        """What objects of the data with as much support have; 0 without a cluster."""
        return np.where(labels >= 0, np.interp(support, self.supports, self.confidences), 0.0)


def by_support(consensus: Consensus) -> tuple[Floats, Floats]:
    """Mean confidence by support, made monotone: some supports, and the confidence at each."""
    from sklearn.isotonic import IsotonicRegression

    there = consensus.labels >= 0
    curve = IsotonicRegression(out_of_bounds="clip").fit(consensus.support[there], consensus.confidence[there])
    return np.asarray(curve.X_thresholds_, float), np.asarray(curve.y_thresholds_, float)
