"""Mixture model: every cluster gives each clustering's labels with probabilities of its own.

p(y) = Σ_c π_c Π_q p_q(y_q | c), over the known labels of the row (A. Topchy, A. K. Jain and W. Punch, A mixture model for
clustering ensembles, SDM 2004). EM climbs to a local maximum of the likelihood, or, with `smoothing` s, of the
posterior under Dirichlet(1 + s) priors of every p_q(· | c): p_q(y | c) = (n_cy + s) / (n_c + J_q s).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from consilience._check import check_positive, check_seed
from consilience._types import Floats, Labels
from consilience.annealing import soft_rows
from consilience.consensus.distinct_rows import Problem, sum_over_labels
from consilience.consensus.engine_consensus import SAMPLE
from consilience.consensus.estimator import Answer, by_size
from consilience.consensus.label_model import EMModel
from consilience.consensus.label_tables import SHORT, LabelRows, best_start, shares_as_given


@dataclass(frozen=True)
class Mixture:
    """Parameters of a mixture: log π (k,) and log p (labels × k); and what every iteration of EM reached."""

    log_weights: Floats
    log_shares: Floats
    history: list[float]
    converged: bool

    def joint(self, rows: LabelRows) -> Floats:
        """log p(row, cluster)."""
        return rows.scores(self.log_shares) + self.log_weights


def expectation_maximization(rows: LabelRows, soft: Floats, smoothing: float, max_iter: int, tol: float) -> Mixture:
    """EM from soft memberships (n_rows × k), until the objective per object grows by less than `tol`.

    The objective, which never falls, is Σ log p(row) + s Σ log p_q(y | c), the log posterior but for a constant.
    """
    history: list[float] = []
    total = rows.weights.sum()
    while True:
        with np.errstate(divide="ignore"):  # without smoothing, what was not seen has no chance
            log_weights = np.log(rows.weights @ soft / total)
            log_shares = np.log(rows.shares(rows.holders @ soft, smoothing))
        found = Mixture(log_weights, log_shares, history, False)
        soft, logs = soft_rows(found.joint(rows))
        history.append(float(rows.weights @ logs + xlogy(smoothing, np.exp(log_shares)).sum()))
        if len(history) > 1 and history[-1] - history[-2] <= tol * total:
            return Mixture(log_weights, log_shares, history, True)
        if len(history) == max_iter:
            return found


class MixtureModel(EMModel):
    """A mixture of clusters that each give the labels of every clustering at random, fitted by EM.

    Parameters
    ----------
    n_clusters : int, optional
        Median of the ensemble's by default.
    smoothing : float, default 0.1
        Counts added to every label of every cluster: 0 is maximum likelihood, which gives no chance to labels that a
        cluster did not have; 1 says that clusterings err often.
    n_init : int, default 10
        Starts, which compete over 20 iterations, above 2,000 distinct rows on a sample of 2,000.
    max_iter : int, default 500
        Iterations of EM at most.
    tol : float, default 1e-6
        EM stops when the objective grows by no more than this per object.
    random_state : int, optional
    n_jobs : int, optional
        Threads over the starts; the labels do not depend on it.

    Attributes
    ----------
    labels_, confidence_, membership_, n_clusters_, n_rows_
        See :class:`ConsensusEstimator`; membership is the model's p(cluster | row).
    label_codes_
        See :class:`LabelModel`, also for `predict`, `predict_proba`, `score` and `perplexity`.
    weights_ : (k,) array
        π, in the order of the clusters; components that are no row's most probable come last.
    shares_ : list of (k, J_q) arrays
        p_q(label | cluster) of every clustering with a label.
    log_likelihood_ : float
        Σ log p(row) over the objects.
    history_ : list of float
        The objective after every iteration; it never falls.
    n_iter_ : int
    converged_ : bool

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
    1.44
    """

    def _combine(self, problem: Problem) -> Answer:
        """A few iterations of EM from `n_init` starts, on a sample where there are many rows; then on, from the best of them."""
        check_positive("smoothing", self.smoothing, or_equal=True)
        self._check_iterations()
        seed, rows, k = check_seed(self.random_state), LabelRows.of(problem), problem.n_clusters

        def fit(part: LabelRows, labels: Labels) -> Mixture:
            return expectation_maximization(
                part, np.eye(k)[labels], self.smoothing, min(SHORT, self.max_iter), self.tol
            )

        start = best_start(rows, k, fit, n_init=self.n_init, seed=seed, n_jobs=self.n_jobs)
        shares = np.exp(start.log_shares)
        if (
            problem.n_rows > SAMPLE
        ):  # a label that the sample lacks has a little chance, so that every row finds a cluster
            shares = shares + 0.5 / problem.n_rows
        with np.errstate(divide="ignore"):
            soft = soft_rows(rows.scores(np.log(shares)) + start.log_weights)[0]
        found = expectation_maximization(rows, soft, self.smoothing, self.max_iter, self.tol)
        soft, logs = soft_rows(found.joint(rows))
        labels = soft.argmax(axis=1)
        order = by_size(labels, problem.weights, k, problem.first)
        extras = {
            "weights": np.exp(found.log_weights[order]),
            "shares": shares_as_given(problem, np.exp(found.log_shares[:, order])),
            "log_likelihood": float(problem.weights @ logs),
            "history": found.history,
            "n_iter": len(found.history),
            "converged": found.converged,
        }
        return Answer(labels, soft, extras)

    def _log_joint(self, rows: Labels) -> Floats:
        offsets, shares = self._table()
        with np.errstate(divide="ignore"):
            return sum_over_labels(rows, offsets, np.log(shares)) + np.log(self.weights_)
