"""Information-bottleneck consensus: the partition that keeps the most information about the clusterings.

Maximizes Σ_q I(C; λ_q). (D. Gondek and T. Hofmann, KDD 2005, write the information about the joint row in Eq. 8, which for any
function of the row is just the entropy H(C); the bottleneck on the bag of labels, p(y | x) = 1/r, maximizes the mean over
clusterings, their Eq. 1.)

- ``"sequential"`` (N. Slonim, N. Friedman and N. Tishby 2002): rows move one at a time to where the information grows most.
- ``"annealing"`` (deterministic annealing, N. Tishby, F. Pereira and W. Bialek 1999): soft memberships
  p(c | x) ∝ p(c) exp(−β D[p(y | x) ‖ p(y | c)]), β raised step by step until they are hard (:mod:`consilience.engine.annealing`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from consilience._check import check_choice, check_count, check_positive, check_seed
from consilience._run.parallel import workers
from consilience._run.random import stream
from consilience.consensus.methods.engine_consensus import SAMPLE, engine_search, problem_views, spread_labels
from consilience.consensus.methods.estimator import Answer, ConsensusEstimator
from consilience.consensus.rows.problem import Problem, sample_rows
from consilience.engine.annealing import anneal
from consilience.engine.information import objective_of


def _annealed_start(problem: Problem, n_init: int, cooling: float, seed: int, n_jobs: int | None) -> NDArray[np.int32]:
    """The best of `n_init` anneals, on a sample of the rows where there are many; each has its own stream."""
    from joblib import delayed

    views, k = problem_views(problem), problem.n_clusters
    sample = sample_rows(views.object_weights, SAMPLE, seed)
    part = views.rows(sample)

    def one(unit: int) -> NDArray[np.int32]:
        return anneal(part, k, cooling=cooling, rng=stream(seed, "consensus.bottleneck", unit))

    found = workers(n_jobs)(delayed(one)(unit) for unit in range(n_init))
    best = max(found, key=lambda labels: objective_of(part, labels, k))
    return spread_labels(views, part, sample, best, k, "shannon")


@dataclass(eq=False, repr=False, kw_only=True)
class InformationBottleneck(ConsensusEstimator):
    """The partition that keeps the most information about the clusterings, Σ_q I(C; λ_q).

    Parameters
    ----------
    n_clusters : int, optional
        Median of the ensemble's by default.
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
    random_state : int, optional
    n_jobs : int, optional
        Threads over the starts or anneals; the labels do not depend on it.

    Attributes
    ----------
    labels_, confidence_, membership_, n_clusters_, n_rows_
        See :class:`ConsensusEstimator`; membership is the probability of each cluster given the row of labels.
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
        """The best partition by sequential search or by annealing; annealing ends in sequential passes."""
        check_choice(self.search, ("sequential", "annealing"), "search")
        check_count("n_init", self.n_init)
        check_count("max_iter", self.max_iter)
        check_positive("temperature", self.temperature, or_equal=True)
        check_positive("cooling", self.cooling, above=1)
        seed = check_seed(self.random_state)
        starts = (
            [_annealed_start(problem, self.n_init, self.cooling, seed, self.n_jobs)]
            if self.search == "annealing"
            else None
        )
        return engine_search(
            problem,
            objective="shannon",
            n_init=self.n_init,
            max_iter=self.max_iter,
            temperature=self.temperature,
            starts=starts,
            batch=0 if self.search == "annealing" else 20,
            random_state=seed,
            n_jobs=self.n_jobs,
        )
