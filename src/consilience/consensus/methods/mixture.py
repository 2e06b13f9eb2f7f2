"""Mixture model: every cluster gives each clustering's labels with probabilities of its own.

p(y) = Σ_c π_c Π_q p_q(y_q | c), over the known labels of the row (A. Topchy, A. K. Jain and W. Punch, A mixture model for
clustering ensembles, SDM 2004). EM climbs to a local maximum of the likelihood, or, with `smoothing` s, of the
posterior under Dirichlet(1 + s) priors of every p_q(· | c): p_q(y | c) = (n_cy + s) / (n_c + J_q s).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import xlogy

from consilience._check import check_positive, check_seed
from consilience._types import Floats, Ints, Labels
from consilience.consensus.methods.estimator import Answer
from consilience.consensus.methods.information_and_quadratic import SAMPLE
from consilience.consensus.methods.label_model import SHORT, EMModel, LabelRows, best_start, shares_of
from consilience.consensus.rows.problem import Problem, sum_over_labels
from consilience.engine.annealing import soft_rows


@dataclass(frozen=True)
class Mixture:
    """Parameters of a mixture: log π (k,) and log p (labels × k); and what every iteration of EM reached."""

    log_weights: Floats
    log_shares: Floats
    history: list[float]
    converged: bool

    def joint(self, rows: LabelRows) -> Floats:
        return rows.scores(self.log_shares) + self.log_weights


@dataclass(frozen=True)
class Expected:
    """What EM needs of rows given their memberships, which adds up over parts of the rows."""

    mass: Floats  # (k,) Weight of the rows in every cluster
    counts: Floats  # (labels, k) Weight of the rows in every cluster with every label
    logs: float = 0.0  # Σ log p(row)

    @classmethod
    def of(cls, rows: LabelRows, soft: Floats, logs: Floats | None = None) -> Expected:
        return cls(rows.weights @ soft, rows.holders @ soft, 0.0 if logs is None else float(rows.weights @ logs))

    @classmethod
    def under(cls, rows: LabelRows, mixture: Mixture) -> Expected:
        return cls.of(rows, *soft_rows(mixture.joint(rows)))

    def __add__(self, other: Expected) -> Expected:
        return Expected(self.mass + other.mass, self.counts + other.counts, self.logs + other.logs)


def climb(
    expected: Expected,
    again: Callable[[Mixture], Expected],
    offsets: Ints,
    total: float,
    *,
    smoothing: float,
    max_iter: int,
    tol: float,
) -> Mixture:
    """EM from what is expected of rows of this total weight, until the objective per object grows by less than `tol`."""
    # ``again(mixture)`` is what is expected of the rows under a mixture. The objective, which never falls, is
    # Σ log p(row) + s Σ log p_q(y | c), the log posterior but for a constant.
    history: list[float] = []
    while True:
        with np.errstate(divide="ignore"):  # without smoothing, what was not seen has no chance
            log_weights = np.log(expected.mass / total)
            log_shares = np.log(shares_of(expected.counts, offsets, smoothing))
        found = Mixture(log_weights, log_shares, history, False)
        expected = again(found)
        history.append(float(expected.logs + xlogy(smoothing, np.exp(log_shares)).sum()))
        if len(history) > 1 and history[-1] - history[-2] <= tol * total:
            return Mixture(log_weights, log_shares, history, True)
        if len(history) == max_iter:
            return found


def expectation_maximization(rows: LabelRows, soft: Floats, smoothing: float, max_iter: int, tol: float) -> Mixture:
    total = float(rows.weights.sum())
    start = Expected.of(rows, soft)
    return climb(
        start, partial(Expected.under, rows), rows.offsets, total, smoothing=smoothing, max_iter=max_iter, tol=tol
    )


class MixtureModel(EMModel):
    """A mixture of clusters that each give the labels of every clustering at random, fitted by EM.

    Parameters
    ----------
    smoothing : float, default 0.1
        Counts added to every label of every cluster: 0 is maximum likelihood, which gives no chance to labels that a
        cluster did not have; 1 says that clusterings err often.
    n_init : int, default 10
        Starts, which compete over 20 iterations, above 2,000 distinct rows on a sample of 2,000.
    max_iter : int, default 500
        Iterations of EM at most.
    tol : float, default 1e-6
        EM stops when the objective grows by no more than this per object.

    Attributes
    ----------
    membership_ : (n_objects, n_clusters_) array
        The model's p(cluster | row).
    weights_ : (k,) array
        π, in the order of the clusters; components that are no row's most probable come last.
    shares_ : list of (k, J_q) arrays
        p_q(label | cluster) of every clustering with a label.
    log_likelihood_ : float
        Σ log p(row) over the objects.
    history_ : list of float
        The objective after every iteration; it never falls.
    n_iter_, converged_

    Notes
    -----
    An iteration costs O(rows · r · k) on distinct rows. Missing labels have no factor.

    Examples
    --------
    >>> from consilience.consensus import MixtureModel
    >>> labels = [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1]]
    >>> model = MixtureModel(2, random_state=0).fit(labels)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.predict([[0, -1], [1, 0], [-1, 1]])
    array([0, 1])
    >>> round(model.perplexity(labels), 2)
    1.68
    """

    def _start(self, problem: Problem) -> Mixture:
        """A few iterations of EM from `n_init` starts, on a sample where there are many rows: the best of them."""
        check_positive("smoothing", self.smoothing, or_equal=True)
        seed, rows, k = check_seed(self.random_state), LabelRows.of(problem), problem.n_clusters

        def fit(part: LabelRows, labels: Labels) -> Mixture:
            few = min(SHORT, self.max_iter)
            return expectation_maximization(part, np.eye(k)[labels], self.smoothing, few, self.tol)

        start: Mixture = best_start(rows, k, fit, n_init=self.n_init, seed=seed, n_jobs=self.n_jobs)
        if problem.n_rows <= SAMPLE:
            return start
        # A label that the sample lacks has a little chance, so that every row finds a cluster.
        return replace(start, log_shares=np.log(np.exp(start.log_shares) + 0.5 / problem.n_rows))

    def _combine(self, problem: Problem) -> Answer:
        rows = LabelRows.of(problem)
        soft = soft_rows(self._start(problem).joint(rows))[0]
        found = expectation_maximization(rows, soft, self.smoothing, self.max_iter, self.tol)
        soft, logs = soft_rows(found.joint(rows))
        answer = self._answered(problem, soft, np.exp(found.log_shares), found, weights=np.exp(found.log_weights))
        answer.extras["log_likelihood"] = float(problem.weights @ logs)
        return answer

    def _log_joint(self, rows: Labels) -> Floats:
        offsets, shares = self._table()
        with np.errstate(divide="ignore"):
            return sum_over_labels(rows, offsets, np.log(shares)) + np.log(self.weights_)
