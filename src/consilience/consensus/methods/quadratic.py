"""Quadratic consensus: the partition that explains the most squares of the one-hot labels.

Maximizes Σ_q (1/n_q) Σ_c Σ_y T_cy² / T_c·, the quadratic mutual information (half the category utility) between the partition and each
clustering; the same as least squared error on one-hot columns, so k-means does it (A. Topchy, A. K. Jain and W. Punch, A mixture
model / Combining multiple weak clusterings, 2003; D. Gondek and T. Hofmann, KDD 2005, Eq. 7: batch k-means, then an online refinement).
"""

from __future__ import annotations

from dataclasses import dataclass

from consilience._check import check_count
from consilience.consensus.methods.engine_consensus import engine_search
from consilience.consensus.methods.estimator import Answer, ConsensusEstimator
from consilience.consensus.rows.problem import Problem


@dataclass(eq=False, repr=False, kw_only=True)
class QuadraticConsensus(ConsensusEstimator):
    """k-means on the labels: batch, then online (quadratic mutual information).

    Parameters
    ----------
    n_clusters : int, optional
        Median of the ensemble's by default.
    n_init : int
        Starts at most, by k-means++ on the rows; three that reach the same best are enough. Above 2,000 distinct rows they
        compete on a sample of 2,000.
    max_iter : int
        Online passes at most.
    random_state : int, optional
    n_jobs : int, optional
        Threads over the starts; the labels do not depend on it.

    Attributes
    ----------
    labels_, confidence_, membership_, n_clusters_, n_rows_
        See :class:`ConsensusEstimator`; membership is the probability of each cluster given the row of labels.
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
        """Batch k-means on the rows until it stops, then moves of single rows until none helps; the best of `n_init` starts."""
        check_count("n_init", self.n_init)
        check_count("max_iter", self.max_iter)
        return engine_search(
            problem,
            objective="quadratic",
            n_init=self.n_init,
            max_iter=self.max_iter,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
