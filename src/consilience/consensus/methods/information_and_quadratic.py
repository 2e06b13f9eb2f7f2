"""The partition that keeps the most information about the clusterings, by the information engine.

quadratic     Σ_q (1/n_q) Σ_c Σ_y T_cy² / T_c·     the quadratic mutual information (half the category utility)
information   Σ_q I(C; λ_q)
"""

# The first is the least squared error on one-hot columns, so k-means does it (A. Topchy, A. K. Jain and W. Punch, Combining multiple weak
# clusterings, ICDM 2003; D. Gondek and T. Hofmann, KDD 2005, Eq. 7: batch k-means, then an online refinement). For the second, Gondek and
# Hofmann write the information about the joint row (Eq. 8), which for any function of the row is just the entropy H(C); the bottleneck
# on the bag of labels, p(y | x) = 1/r, maximizes the mean over clusterings, their Eq. 1. It is searched for one row at a time (N. Slonim,
# N. Friedman and N. Tishby 2002), or by annealing (N. Tishby, F. Pereira and W. Bialek 1999): soft memberships
# p(c | x) ∝ p(c) exp(−β D[p(y | x) ‖ p(y | c)]), β raised until they are hard.

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import delayed

from consilience._check import InputError, check_choice, check_labels, check_positive, check_seed
from consilience._run.parallel import workers
from consilience._run.random import child_seed, stream
from consilience._types import Array, Ints, Labels
from consilience.consensus.methods.estimator import Answer, CheckedMethod
from consilience.consensus.rows.problem import Problem, sample_rows
from consilience.engine.annealing import anneal
from consilience.engine.objective import objective_of
from consilience.engine.search import Engine, batch_scores, random_starts, refill_empty
from consilience.engine.views import Views, label_views

SAMPLE = 2_000  # safeguard: for time, rows on which starts compete
ENOUGH = 3  # safeguard: for time, starts that reach the same best: no more are tried


def problem_views(problem: Problem, weights: Any = None) -> Views:
    return label_views(problem.labels, weights=weights, object_weights=problem.weights)


def rows_of_start(problem: Problem, start: Any) -> Ints:
    """Labels of the objects as labels of the rows: the plurality of a row's objects, −1 where none has a label."""
    codes, k = check_labels(start, "init").astype(np.int64), problem.n_clusters
    if len(codes) != len(problem.inverse):
        raise InputError(f"a start has {len(codes)} labels for {len(problem.inverse)} objects")
    if codes.max() + 1 > k:
        raise InputError(f"a start has {codes.max() + 1} clusters; at most {k} are wanted")
    use = (codes >= 0) & (problem.inverse >= 0)
    if not use.any():
        raise InputError("a start has no label for any object that a clustering labels")
    counts = np.bincount(problem.inverse[use] * k + codes[use], minlength=problem.n_rows * k).reshape(-1, k)
    return np.where(counts.any(axis=1), counts.argmax(axis=1), -1)


def best_start(views: Views, n_clusters: int, *, objective: str, n_init: int, seed: int, **how: Any) -> Labels:
    """Labels of all rows from the best of `n_init` searches, on a sample of the rows where there are many."""
    # The sample is drawn by weight without replacement; the other rows join the cluster that suits them best. Once
    # three starts have reached the same best objective, no more are tried.
    sample = sample_rows(views.object_weights, SAMPLE, seed)
    part = views.rows(sample)
    starts = random_starts(part, n_clusters, n_init, random_state=seed)
    found = Engine(part, n_clusters, objective=objective).best(starts, enough=ENOUGH, seed=seed, **how)
    return spread_labels(views, part, sample, found.labels, n_clusters, objective)


def spread_labels(views: Views, part: Views, sample: Array, labels: Labels, n_clusters: int, objective: str) -> Labels:
    if len(sample) == views.n_objects:
        return labels
    everyone = batch_scores(part, labels, n_clusters, objective, rows=views)
    out = everyone.argmax(axis=1).astype(np.int32)
    out[sample] = labels
    refill_empty(out, everyone[np.arange(len(out)), out], n_clusters)
    return out


def engine_search(
    problem: Problem,
    objective: str,
    *,
    n_init: int,
    max_iter: int,
    random_state: Any,
    n_jobs: int | None,
    start: Array | None = None,
    temperature: float = 0.0,
) -> Answer:
    """The best partition of a problem's rows under an objective, from a given start or from random ones."""
    seed, views, k, batch = check_seed(random_state), problem_views(problem), problem.n_clusters, 0
    how: dict[str, Any] = {"max_iter": max_iter, "n_jobs": n_jobs}
    if start is None:
        start = best_start(views, k, objective=objective, n_init=n_init, batch=20, seed=seed, **how)
        batch = 0 if views.n_objects > SAMPLE else 20  # a sample has had its batch passes
    how |= {"batch": batch, "temperature": temperature, "seed": child_seed(seed, "consensus.polish")}
    found = Engine(views, k, objective=objective).best([start], **how)
    extras = {"objective": found.objective, "history": found.history, "n_iter": len(found.moves)}
    return Answer(found.labels, extras=extras)


@dataclass(eq=False, repr=False, kw_only=True)
class QuadraticConsensus(CheckedMethod):
    """k-means on the labels: batch, then online (quadratic mutual information).

    Parameters
    ----------
    n_init : int
        Starts at most, by k-means++ on the rows; three that reach the same best are enough. Above 2,000 distinct rows they
        compete on a sample of 2,000.
    max_iter : int
        Online passes at most.

    Attributes
    ----------
    objective_ : float
        Σ_q of the quadratic information.
    history_ : list of float
        It, after every pass.
    n_iter_ : int

    Notes
    -----
    A pass costs O(rows · r · k). A missing label says nothing: a clustering is compared over the objects it labels.

    Examples
    --------
    >>> from consilience.consensus import QuadraticConsensus
    >>> QuadraticConsensus(2, random_state=0).fit([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]).labels_
    array([0, 0, 1, 1])
    """

    n_init: int = 10
    max_iter: int = 50
    n_jobs: int | None = None

    def _combine(self, problem: Problem) -> Answer:
        how: dict[str, Any] = {"random_state": self.random_state, "n_jobs": self.n_jobs}
        return engine_search(problem, "quadratic", n_init=self.n_init, max_iter=self.max_iter, **how)


def _annealed_start(problem: Problem, n_init: int, cooling: float, seed: int, n_jobs: int | None) -> Labels:
    """The best of `n_init` anneals, on a sample of the rows where there are many; each has its own stream."""
    views, k = problem_views(problem), problem.n_clusters
    sample = sample_rows(views.object_weights, SAMPLE, seed)
    part = views.rows(sample)

    def one(unit: int) -> Labels:
        return anneal(part, k, cooling=cooling, rng=stream(seed, "consensus.bottleneck", unit))

    found = workers(n_jobs)(delayed(one)(unit) for unit in range(n_init))
    best = max(found, key=lambda labels: objective_of(part, labels, k))
    return spread_labels(views, part, sample, best, k, "shannon")


@dataclass(eq=False, repr=False, kw_only=True)
class InformationBottleneck(CheckedMethod):
    """The partition that keeps the most information about the clusterings, Σ_q I(C; λ_q).

    Parameters
    ----------
    search : {"sequential", "annealing"}
        Moves of single rows from several starts, or deterministic annealing followed by such moves.
    n_init : int
        Starts, or anneals; above 2,000 distinct rows they compete on a sample of 2,000.
    max_iter : int
        Sequential passes at most.
    temperature : float
        Gumbel noise on the scores of the first eight sequential passes, falling; 0 is plain search.
    cooling : float
        Factor between the steps of β in annealing.

    Attributes
    ----------
    objective_ : float
        Σ_q I(C; λ_q) in nats.
    history_, n_iter_

    Notes
    -----
    A pass costs O(rows · r · k). Every clustering counts over the objects it labels.

    Examples
    --------
    >>> from consilience.consensus import InformationBottleneck
    >>> InformationBottleneck(2, random_state=0).fit([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]).labels_
    array([0, 0, 1, 1])
    """

    search: str = "sequential"
    n_init: int = 10
    max_iter: int = 50
    temperature: float = 0.0
    cooling: float = 1.3
    n_jobs: int | None = None

    def _combine(self, problem: Problem) -> Answer:
        check_choice(self.search, ("sequential", "annealing"), "search")
        check_positive("temperature", self.temperature, or_equal=True)
        check_positive("cooling", self.cooling, above=1)
        seed, start = check_seed(self.random_state), None
        if self.search == "annealing":
            start = _annealed_start(problem, self.n_init, self.cooling, seed, self.n_jobs)
        how: dict[str, Any] = {"random_state": seed, "n_jobs": self.n_jobs, "temperature": self.temperature}
        return engine_search(problem, "shannon", n_init=self.n_init, max_iter=self.max_iter, start=start, **how)
