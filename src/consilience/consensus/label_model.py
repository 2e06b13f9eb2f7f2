"""Models of rows of labels: what a fitted one says of rows it has not seen.

A model gives every row of labels y = (y_1 … y_r) a probability p(y) = Σ_c p(y, c). From it follow the cluster of a new row, the
mean log-likelihood of rows, and the perplexity per known label, exp(−Σ log p(y) / number of known labels) (P. Wang,
C. Domeniconi and K. B. Laskey, ECML 2010, Eq. 12 per label, so that it is at least 1).

**Which label is which.** New labels are matched with those of `fit` by value, clustering by clustering, so rows held out of an
array or a DataFrame just work. An :class:`~consilience.Ensemble` knows only its own numbers: take old and new rows from the same
one, ``model.fit(ens[old])`` and ``model.predict(ens[new])``.

**What is missing or new.** A missing label has no factor, so clusterings may be held out, or rows known in part. A clustering
without any label in fitting is not in the model, and its labels are passed over. A label that fitting never saw in a clustering
has probability 1 / (n_q + 1) in every cluster, n_q being the weight of the objects that the clustering labeled in fitting: it says
nothing about the cluster, and costs what such a surprise should.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from consilience import _kernels
from consilience._check import InputError, check_labels, count, show
from consilience._types import EnsembleLike, Floats, Labels
from consilience.consensus.distinct_rows import Problem
from consilience.consensus.estimator import Answer, ConsensusEstimator
from consilience.ensemble import Ensemble
from consilience.measures import perplexity
from consilience.tables.vectors import columns_of

BLOCK = 4096  # rows at a time, to bound the memory of tables of rows × components
UNSEEN = -2  # the code of a label that fitting never saw
Codes = dict[Hashable, int]


class LabelModel(ConsensusEstimator):
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

    label_codes_: list[Codes]

    def fit(self, X: EnsembleLike, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit the model to the rows of `X`; see :meth:`ConsensusEstimator.fit`."""
        self._vectors = None if isinstance(X, Ensemble) else columns_of(X)[1]
        return super().fit(X, y, sample_weight)

    def _fit(self, ens: Ensemble, problem: Problem) -> Any:
        super()._fit(ens, problem)
        vectors = self.__dict__.pop("_vectors", None)
        self._by_number = vectors is None
        used = problem.inverse >= 0
        pairs = [
            _names(vector, np.where(used, codes, -1))
            for vector, codes in zip(ens.labels.T if vectors is None else vectors, ens.labels.T, strict=True)
        ]
        self.label_codes_ = [{name: i for i, name in enumerate(names)} for names, _ in pairs]
        unknown = self.labels_ < 0
        if unknown.any():  # what the model says of a row without labels
            self.membership_[unknown] = self._posterior(np.full((1, len(self._columns())), -1, np.int32))
        return self

    def _combine(self, problem: Problem) -> Answer:
        self._labeled = problem.weights @ (problem.labels >= 0)
        return super()._combine(problem)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The most probable cluster of every row, −1 for rows without a label that the model knows.

        Parameters
        ----------
        X : Ensemble, (n_objects, n_clusterings) array, list of label vectors, or DataFrame
            As many clusterings as in `fit`, in the same order; those held out are missing (−1).
        """
        rows = self._read(X)
        return np.where((rows >= 0).any(axis=1), self._membership(rows).argmax(axis=1), -1)

    def predict_proba(self, X: Any) -> Floats:
        """(n_objects, n_clusters_) probabilities of the clusters given each row; those of no label for rows without one."""
        return self._membership(self._read(X))

    def score(self, X: Any, y: None = None) -> float:
        """Mean log-likelihood of the rows, in nats per object."""
        return float(self._logs(self._read(X)).mean())

    def perplexity(self, X: Any) -> float:
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
        return _by_row(self._posterior, rows)

    def _logs(self, rows: Labels) -> Floats:
        surprise = np.log1p(self._labeled)

        def logs(block: Labels) -> Floats:
            return self._log_rows(np.maximum(block, -1)) - (block == UNSEEN) @ surprise

        return _by_row(logs, rows)

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

    def _read(self, X: Any) -> Labels:
        """New rows in the codes of the model, −1 missing, UNSEEN where fitting never saw the label."""
        check_is_fitted(self, "label_codes_")
        vectors = self._numbered(X) if isinstance(X, Ensemble) else columns_of(X)[1]
        if len(vectors) != len(self.label_codes_):
            raise InputError(
                f"the model knows {count(len(self.label_codes_), 'clustering')} and these rows have {len(vectors)}: "
                "give as many, in the same order, with -1 for labels that are not known"
            )
        columns = [_recode(vectors[q], self.label_codes_[q], q) for q in self._columns()]
        return np.ascontiguousarray(np.stack(columns, axis=1))

    def _numbered(self, ens: Ensemble) -> list[Labels]:
        numbers = all(list(codes) == list(range(len(codes))) for codes in self.label_codes_)
        if not self._by_number and not numbers:
            raise InputError(
                "an Ensemble has numbers where the model was fitted to labels by name: give the labels themselves, or fit "
                "the model to rows of the same Ensemble, as in fit(ens[rows])"
            )
        return list(ens.labels.T)


def _names(vector: Any, codes: Labels) -> tuple[list[Hashable], Labels]:
    """The labels that occur, in the order of their codes, and the codes without gaps."""
    first = np.full(codes.max(initial=-1) + 2, len(codes))  # the last place is that of -1
    np.minimum.at(first, codes, np.arange(len(codes)))
    present = first < len(codes)
    present[-1] = False
    values = vector.iloc if hasattr(vector, "iloc") else vector
    place = np.append(np.cumsum(present[:-1], dtype=np.int32) - np.int32(1), np.int32(-1))
    return [_plain(values[int(i)]) for i in first[present]], place[codes]


def _plain(value: Any) -> Any:
    """A label as Python has it, so that equal ones are equal whatever held them."""
    if hasattr(value, "as_py"):  # pyarrow
        return value.as_py()
    return value.item() if isinstance(value, np.generic) else value


def _recode(vector: Any, known: Codes, q: int) -> Labels:
    """One clustering's new labels in the codes of the model."""
    names, codes = _names(vector, check_labels(vector, f"clustering {q}"))
    kinds = {isinstance(name, str) for name in known}
    for name in names:
        if isinstance(name, str) not in kinds:
            fitted, given = ("numbers", "a name") if isinstance(name, str) else ("names", "a number")
            raise InputError(
                f"clustering {q}: the label {show(name)} is {given}, and the model was fitted to {fitted}: give both as they are, "
                "or take both from one Ensemble, as in fit(ens[rows])"
            )
    return np.array([*(known.get(name, UNSEEN) for name in names), -1], np.int32)[codes]


def _by_row(function: Callable[[Labels], Floats], rows: Labels) -> Floats:
    """A function of rows, called once for every distinct one and for not too many at a time."""
    first, inverse, _ = _kernels.signatures(rows + np.int32(1))
    distinct = rows[first]
    blocks = [function(distinct[begin : begin + BLOCK]) for begin in range(0, len(distinct), BLOCK)]
    return np.concatenate(blocks)[inverse]
