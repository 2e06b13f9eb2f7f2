"""Models of rows of labels: what a fitted one says of rows it has not seen.

A model gives every row of labels y = (y_1 … y_r) a probability p(y) = Σ_c p(y, c). From it follow the cluster of a new row, the
mean log-likelihood of rows, and the perplexity per known label, exp(−Σ log p(y) / number of known labels) (P. Wang,
C. Domeniconi and K. B. Laskey, ECML 2010, Eq. 12 per label, so that it is at least 1).

**Which label is which.** New labels are matched with those of `fit` by their names, clustering by clustering, in whatever order or
container they come.

**What is missing or new.** A missing label has no factor, so clusterings may be held out, or rows known in part. A clustering
without any label in fitting is not in the model, and its labels are passed over. A label that fitting never saw in a clustering
has probability 1 / (n_q + 1) in every cluster, n_q being the weight of the objects that the clustering labeled in fitting: it says
nothing about the cluster, and costs what such a surprise should.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import delayed
from scipy import sparse
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from consilience import _kernels
from consilience._check import InputError, count
from consilience._run.parallel import workers
from consilience._types import EnsembleLike, Floats, Ints, Labels
from consilience.consensus.methods.estimator import Answer, CheckedMethod
from consilience.consensus.methods.information_and_quadratic import SAMPLE
from consilience.consensus.rows.problem import Problem, by_size, sample_rows, sum_over_labels
from consilience.engine.search import random_starts
from consilience.engine.views import label_views
from consilience.ensemble import Ensemble
from consilience.inputs import as_ensemble
from consilience.measures import perplexity

BLOCK = 4096  # safeguard: rows at a time, to bound the memory of tables of rows × components
UNSEEN = -2  # safeguard: the code of a label that fitting never saw, which no other label can have
Codes = dict[Hashable, int]


class LabelModel(CheckedMethod):
    """Base of the probabilistic methods: `predict`, `predict_proba`, `score` and `perplexity` on new rows of labels.

    A method adds ``_log_joint(rows)``: for (n, r) codes of labels, −1 missing, the (n, K) log p(row, cluster), clusters in the
    order of `labels_` and further components, if any, behind them. Where there is no such table, ``_log_rows(rows)`` gives the (n,)
    log p(row) and ``_posterior(rows)`` the (n, n_clusters_) p(cluster | row) instead.

    Attributes
    ----------
    membership_ : (n_objects, n_clusters_) array
        Of an object without labels, the probabilities of the clusters before any label is known.
    label_codes_ : list of dict
        For every clustering of `fit`, the codes 0 … J_q − 1 that the model gave to its labels, by label.
    """

    def _fit(self, ens: Ensemble, problem: Problem) -> Any:
        super()._fit(ens, problem)
        self._labeled = (problem.weights @ (problem.labels >= 0))[problem.columns_as_given()]
        used = ens.labels[problem.inverse >= 0]
        present = [np.unique(codes[codes >= 0]) for codes in used.T]
        names = [ens.categories(q)[codes] for q, codes in enumerate(present)]
        self.label_codes_: list[Codes] = [{name: i for i, name in enumerate(some)} for some in names]
        self._clusterings = ens.info["name"].tolist() if "name" in ens.info else None
        unknown = self.labels_ < 0
        if unknown.any():  # what the model says of a row without labels
            self.membership_[unknown] = self._posterior(np.full((1, len(self._columns())), -1, np.int32))
        return self

    def predict(self, X: EnsembleLike) -> Ints:
        """The most probable cluster of every row, −1 for rows without a label that the model knows.

        Parameters
        ----------
        X : Ensemble, (n_objects, n_clusterings) array, list of label vectors, or DataFrame
            As many clusterings as in `fit`, in the same order; those held out are missing (−1). Labels are matched by name.
        """
        rows = self._read(X)
        return np.where((rows >= 0).any(axis=1), self._membership(rows).argmax(axis=1), -1)

    def predict_proba(self, X: EnsembleLike) -> Floats:
        """(n_objects, n_clusters_) probabilities of the clusters given each row; those of no label for rows without one."""
        return self._membership(self._read(X))

    def score(self, X: EnsembleLike, y: Any = None) -> float:
        """Mean log-likelihood of the rows, in nats per object; a label that fitting never saw has 1 / (labeled objects + 1)."""
        return float(self._logs(self._read(X)).mean())

    def perplexity(self, X: EnsembleLike) -> float:
        """exp of minus the mean log-likelihood per known label: 1 is certainty, a uniform guess among J labels scores J."""
        rows = self._read(X)
        known = np.count_nonzero(rows != -1)
        if not known:
            raise InputError("perplexity needs at least one known label in a clustering that the model knows")
        return perplexity(self._logs(rows).sum() / known)

    def _log_joint(self, rows: Labels) -> Floats:
        raise NotImplementedError

    def _log_rows(self, rows: Labels) -> Floats:
        return np.asarray(logsumexp(self._log_joint(rows), axis=1))

    def _membership(self, rows: Labels) -> Floats:
        return by_row(self._posterior, rows)

    def _logs(self, rows: Labels) -> Floats:
        # One label more than were seen may be new: those that the model knows share what is left, so that all add up to 1.
        surprise, known = np.log1p(self._labeled), np.log1p(1 / self._labeled)

        def logs(block: Labels) -> Floats:
            rows = self._log_rows(np.maximum(block, -1))
            return rows - (block == UNSEEN) @ surprise - (block >= 0) @ known

        return by_row(logs, rows)

    def _posterior(self, rows: Labels) -> Floats:
        """p(cluster | row) of the clusters that have objects; where the model gives the row no chance, p(cluster)."""
        known = np.maximum(rows, -1)
        joint = self._log_joint(known)[:, : self.n_clusters_]
        lost = np.isneginf(joint).all(axis=1)
        if lost.any():
            joint[lost] = self._log_joint(np.full_like(known[:1], -1))[:, : self.n_clusters_]
        joint = np.exp(joint - joint.max(axis=1, keepdims=True))
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    def _columns(self) -> list[int]:
        """The clusterings that are in the model: those with a label in fitting."""
        return [q for q, codes in enumerate(self.label_codes_) if codes]

    def _read(self, X: EnsembleLike) -> Labels:
        """New rows in the codes of the model, −1 missing, UNSEEN where fitting never saw the label."""
        check_is_fitted(self, "label_codes_")
        ens, r = as_ensemble(X), len(self.label_codes_)
        if ens.n_clusterings != r:
            raise InputError(
                f"the model knows {count(r, 'clustering')} and these rows have {ens.n_clusterings}: "
                "give as many, in the same order, with -1 for labels that are not known"
            )
        info = None if self._clusterings is None else {"name": self._clusterings}
        names = [np.fromiter(codes, object, len(codes)) for codes in self.label_codes_]
        known = Ensemble.from_codes(np.full((1, r), -1, np.int32), label_names=names, info=info)
        columns, sizes = self._columns(), np.array([len(codes) for codes in self.label_codes_])
        rows = known.align(ens).labels[:, columns]
        return np.ascontiguousarray(np.where(rows < sizes[columns], rows, UNSEEN))


@dataclass(eq=False, repr=False, kw_only=True)
class EMModel(LabelModel):
    """Base of the models with `n_clusters` clusters and tables of label probabilities, fitted by iterations from several starts."""

    smoothing: float = 0.1
    n_init: int = 10
    max_iter: int = 500
    tol: float = 1e-6
    n_jobs: int | None = None

    def _table(self) -> tuple[Ints, Floats]:
        """Where each clustering's labels begin, and p(label | cluster) of all labels (labels × k)."""
        offsets = np.concatenate([[0], np.cumsum([share.shape[1] for share in self.shares_])])
        return offsets, np.hstack(self.shares_).T

    def _answered(self, problem: Problem, soft: Floats, shares: Floats, found: Any, **by_cluster: Floats) -> Answer:
        """The answer for memberships of the rows and what was fitted, p(label | cluster) and more by cluster."""
        labels = soft.argmax(axis=1)
        order = by_size(labels, problem.weights, shares.shape[1], problem.first)
        extras: dict[str, Any] = {name: values[order] for name, values in by_cluster.items()}
        extras |= {"shares": shares_as_given(problem, shares[:, order]), "history": found.history}
        extras |= {"n_iter": len(found.history), "converged": found.converged}
        return Answer(labels, soft, extras)


def by_row(function: Callable[[Labels], Floats], rows: Labels) -> Floats:
    """A function of rows, called once for every distinct one and for not too many at a time."""
    first, inverse, _ = _kernels.signatures(rows + np.int32(1))
    distinct = rows[first]
    blocks = [function(distinct[begin : begin + BLOCK]) for begin in range(0, len(distinct), BLOCK)]
    return np.concatenate(blocks)[inverse]


# Weighted rows of labels as the fitting of a label model sees them: tables of labels × clusters, and starts to compete.

SHORT = 20  # safeguard: for time, iterations over which starts compete


@dataclass(frozen=True)
class LabelRows:
    """Rows of labels with weights; the labels of all clusterings are numbered through, as rows of tables of labels × clusters."""

    labels: Labels  # (n_rows, r) −1 missing
    weights: Floats  # (n_rows,)
    offsets: Ints  # (r + 1,) Where each clustering's labels begin in a table

    @classmethod
    def of(cls, problem: Problem) -> LabelRows:
        return cls(problem.labels, problem.weights, problem.offsets)

    def take(self, rows: Ints) -> LabelRows:
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
        return [self.holders[begin:end] for begin, end in pairwise(self.offsets)]

    def scores(self, table: Floats) -> Floats:
        """(n_rows, k): the sum of a table (labels × k) over each row's labels."""
        return sum_over_labels(self.labels, self.offsets, table)


def shares_of(counts: Floats, offsets: Ints, smoothing: float) -> Floats:
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
    rows: LabelRows, k: int, fit: Callable[[LabelRows, Labels], Any], *, n_init: int, seed: int, n_jobs: int | None
) -> Any:
    """The best of `n_init` fits by the end of their `history`, to a sample of 2,000 rows where there are more."""
    # Each begins with a partition seeded by rows (k-means++) from its own stream.
    sample = sample_rows(rows.weights, SAMPLE, seed)
    part = rows if len(sample) == len(rows.labels) else rows.take(sample)
    starts = random_starts(label_views(part.labels, object_weights=part.weights), k, n_init, random_state=seed)
    found = workers(n_jobs)(delayed(fit)(part, start) for start in starts)
    return max(found, key=lambda fitted: fitted.history[-1])
