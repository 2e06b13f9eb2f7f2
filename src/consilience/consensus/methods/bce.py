"""Bayesian cluster ensembles: every object belongs to several clusters in proportions of its own.

θ ~ Dirichlet(α) for each object; each of its labels is given by a cluster drawn from θ: p(y) = E_θ Π_q Σ_c θ_c p_q(y_q | c), over the
known labels (H. Wang, H. Shan and A. Banerjee, Bayesian cluster ensembles, SDM 2009). Variational EM: q(θ) is
Dirichlet(γ) for each row, and with the labels' clusters summed out the bound on Σ log p(y) is

    Σ_rows [ log Γ(Σ α) − Σ log Γ(α) − log Γ(Σ γ) + Σ log Γ(γ) + Σ_c (α_c − γ_c) e_c + Σ_q log Σ_c p_q(y_q | c) exp(e_c) ]

with e_c = Ψ(γ_c) − Ψ(Σ γ). `smoothing` s adds s Σ log p_q(y | c), the Dirichlet(1 + s) prior of every p_q(· | c).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, zeta

from consilience._check import check_positive, check_seed
from consilience._run.random import stream
from consilience._types import Floats, Ints, Labels
from consilience.consensus.methods.estimator import Answer
from consilience.consensus.methods.label_model import SHORT, EMModel, LabelRows, best_start, shares_of
from consilience.consensus.rows.problem import Problem, sum_over_labels

SMALLEST = 1e-3  # safeguard: of α; below it proportions are pure anyway, and exp Ψ(α) is not a number
START = 0.5  # of α: from smaller ones the memberships are pure too soon, and stay so


@dataclass(frozen=True)
class Membership:
    """Parameters α (k,) and p (labels × k); the bound after every iteration of variational EM."""

    alpha: Floats
    shares: Floats
    history: list[float]
    converged: bool


def variational_em(
    rows: LabelRows, alpha: Floats, shares: Floats, gamma: Floats, smoothing: float, max_iter: int, tol: float
) -> Membership:
    """Coordinate ascent on the bound, until it grows by less than `tol` per object; it never falls."""
    # An iteration updates, in this order, the clusters of the labels (which need not be kept), γ, p and α.
    history: list[float] = []
    total, logs = rows.weights.sum(), _expected_logs(gamma)
    while True:
        taken, evidence, counts = _attribute(rows, shares, np.exp(logs))
        bound = rows.weights @ (_divergence(alpha, gamma, logs) + evidence) + smoothing * np.log(shares).sum()
        history.append(float(bound))
        converged = len(history) > 1 and history[-1] - history[-2] <= tol * total
        if converged or len(history) == max_iter:
            return Membership(alpha, shares, history, converged)
        gamma = alpha + taken
        shares = shares_of(counts, rows.offsets, smoothing)
        logs = _expected_logs(gamma)
        alpha = dirichlet_newton(alpha, rows.weights @ logs / total)


def _expected_logs(gamma: Floats) -> Floats:
    """e: E log θ of every row under Dirichlet(γ)."""
    return np.asarray(digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True)))


def _attribute(rows: LabelRows, shares: Floats, expected: Floats) -> tuple[Floats, Floats, Floats]:
    """Each label shared among the clusters, φ ∝ p(label | c) exp(e_c)."""
    # Returns each row's labels per cluster (n_rows × k), its Σ_q log Σ_c p exp(e_c), and the weight of each label per cluster.
    taken, evidence = np.zeros_like(expected), np.zeros(len(expected))
    counts = []
    for q, holders in enumerate(rows.holders_by_clustering):
        if holders.shape[0] == 1:  # a single label has probability 1 in every cluster, and says nothing
            counts.append(np.zeros((1, expected.shape[1])))
            continue
        part, total = _attribute_one(rows.labels[:, q], rows.offsets[q], shares, expected)
        taken += part
        evidence += np.log(total)
        counts.append(holders @ part)
    return taken, evidence, np.vstack(counts)


def _attribute_one(labels: Labels, offset: int, shares: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """φ of one clustering's labels (n_rows × k), nothing where the label is missing, and what it was divided by."""
    known = labels >= 0
    part = shares[np.where(known, labels + offset, 0)]
    part *= expected
    total = np.where(known, part.sum(axis=1), 1.0)
    part /= total[:, None]
    part[~known] = 0
    return part, total


def _divergence(alpha: Floats, gamma: Floats, logs: Floats) -> Floats:
    """−KL(Dirichlet(γ) ‖ Dirichlet(α)) of every row."""
    own = gammaln(gamma).sum(axis=1) - gammaln(gamma.sum(axis=1))
    return gammaln(alpha.sum()) - gammaln(alpha).sum() + own + ((alpha - gamma) * logs).sum(axis=1)


def dirichlet_newton(alpha: Floats, mean_logs: Floats, *, max_iter: int = 5) -> Floats:
    """The α that maximizes log Γ(Σ α) − Σ log Γ(α) + Σ α · mean_logs, at least `SMALLEST`; the value never falls."""
    # Newton's steps in time linear in k (D. Blei, A. Ng and M. Jordan 2003, appendix A), halved while they overshoot.

    def value(a: Floats) -> float:
        return float(gammaln(a.sum()) - gammaln(a).sum() + a @ mean_logs)

    if len(alpha) == 1:  # θ is 1, whatever α
        return alpha
    now = value(alpha)
    for _ in range(max_iter):
        gradient = digamma(alpha.sum()) - digamma(alpha) + mean_logs
        free = (alpha > SMALLEST) | (gradient > 0)
        curvature = -zeta(2, alpha)  # the trigamma function
        inverse = np.where(free, 1 / curvature, 0.0)
        shift = (gradient @ inverse) / (1 / zeta(2, alpha.sum()) + inverse.sum())
        step, size = (gradient - shift) * inverse, 1.0
        while True:
            new = np.maximum(alpha - size * step, SMALLEST)
            then = value(new)
            if then >= now:
                break
            size /= 2
            if size < 1e-10:
                return alpha
        done = float(np.abs(new / alpha - 1).max()) < 1e-9
        alpha, now = new, then
        if done:
            break
    return alpha


def infer(labels: Labels, offsets: Ints, alpha: Floats, shares: Floats, *, max_iter: int = 1000) -> Floats:
    """γ (n × k) of rows under fixed parameters, from labels shared evenly, until no entry changes by more than 1e-8."""
    # A clustering with a single label says nothing of the cluster, and is left out.
    telling = np.flatnonzero(np.diff(offsets) > 1)
    known = (labels[:, telling] >= 0).sum(axis=1, keepdims=True)
    gamma = alpha + known / len(alpha) * np.ones(len(alpha))
    active = np.arange(len(labels))
    for _ in range(max_iter):
        rows, old = labels[active], gamma[active]
        expected = np.exp(_expected_logs(old))
        new = np.tile(alpha, (len(active), 1))
        for q in telling:
            new += _attribute_one(rows[:, q], int(offsets[q]), shares, expected)[0]
        gamma[active] = new
        active = active[np.abs(new - old).max(axis=1) > 1e-8]
        if not len(active):
            break
    return gamma


@dataclass(eq=False, repr=False, kw_only=True)
class BCE(EMModel):
    """Bayesian cluster ensembles: objects that belong to several clusters in proportions, by variational EM.

    Parameters
    ----------
    smoothing : float, default 0.1
        Counts added to every label of every cluster; above 0.
    n_init : int, default 5
        Starts, which compete over 20 iterations, above 2,000 distinct rows on a sample of 2,000.
    max_iter : int, default 200
        Iterations at most.
    tol : float, default 1e-5
        It stops when the bound grows by no more than this per object.

    Attributes
    ----------
    membership_ : (n_objects, n_clusters_) array
        E[θ] under q; the label is its largest entry.
    alpha_ : (k,) array
        In the order of the clusters.
    shares_ : list of (k, J_q) arrays
        p_q(label | cluster) of every clustering with a label.
    history_ : list of float
        The variational bound on the log-likelihood (and the log prior) after every iteration; it never falls.
    bound_ : float
        The last of them.
    n_iter_, converged_, seed_

    Notes
    -----
    An iteration costs O(rows · r · k) on distinct rows. Missing labels have no factor. New rows get their memberships by variational
    inference under the fitted parameters, and so do those of `fit`. log p(row), for `score` and `perplexity`, is not the bound
    but the mean over 2,000 draws of θ from Dirichlet(α), the same for all rows: a mixture of 2,000 components, so the
    probabilities of all rows sum to 1.

    Examples
    --------
    >>> from consilience.consensus import BCE
    >>> labels = [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1]]
    >>> model = BCE(2, random_state=0).fit(labels)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.predict([[0, -1], [1, 0], [-1, 1]])
    array([0, 1])
    """

    n_init: int = 5
    max_iter: int = 200
    tol: float = 1e-5

    def _combine(self, problem: Problem) -> Answer:
        check_positive("smoothing", self.smoothing)
        seed, rows, k = check_seed(self.random_state), LabelRows.of(problem), problem.n_clusters

        def fit(part: LabelRows, labels: Labels) -> Membership:
            shares = shares_of(part.holders @ np.eye(k)[labels], part.offsets, self.smoothing)
            return self._ascend(part, np.full(k, START), shares, min(SHORT, self.max_iter))

        start = best_start(rows, k, fit, n_init=self.n_init, seed=seed, n_jobs=self.n_jobs)
        found = self._ascend(rows, start.alpha, start.shares, self.max_iter)
        gamma = infer(rows.labels, rows.offsets, found.alpha, found.shares)
        answer = self._answered(problem, gamma, found.shares, found, alpha=found.alpha)
        answer.extras.update(bound=found.history[-1], seed=seed)
        return answer

    def _ascend(self, rows: LabelRows, alpha: Floats, shares: Floats, max_iter: int) -> Membership:
        gamma = infer(rows.labels, rows.offsets, alpha, shares, max_iter=20)
        return variational_em(rows, alpha, shares, gamma, self.smoothing, max_iter, self.tol)

    def _posterior(self, rows: Labels) -> Floats:
        offsets, shares = self._table()
        gamma = infer(np.maximum(rows, -1), offsets, self.alpha_, shares)[:, : self.n_clusters_]
        return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))

    def _log_rows(self, rows: Labels, n_draws: int = 2000) -> Floats:
        # log p(row) is a mean over draws of θ
        offsets, shares = self._table()
        theta = stream(self.seed_, "consensus.bce").dirichlet(self.alpha_, n_draws)
        return np.asarray(logsumexp(sum_over_labels(rows, offsets, np.log(shares @ theta.T)), axis=1)) - np.log(n_draws)
