"""LWGP: spectral partition of the graph of objects and clusters, in which clusters weigh what they can be relied on.

(D. Huang, C.-D. Wang and J.-H. Lai, Locally weighted ensemble clustering, IEEE Trans. Cybernetics 48, 2018.) The weights are those of
:mod:`consilience.consensus.rows.cluster_similarity`, the partition that of :mod:`consilience.consensus.methods.transfer_cut`.
"""

from __future__ import annotations

from dataclasses import dataclass

from consilience._check import check_count, check_seed
from consilience.consensus.methods.estimator import Answer, ConsensusEstimator
from consilience.consensus.methods.transfer_cut import transfer_cut
from consilience.consensus.rows.cluster_similarity import THETA, cluster_weights
from consilience.consensus.rows.problem import Problem


@dataclass(eq=False, repr=False, kw_only=True)
class LWGP(ConsensusEstimator):
    """Locally Weighted Graph Partitioning: a spectral cut of the bipartite graph of objects and weighted clusters.

    Parameters
    ----------
    n_clusters : int, optional
        None takes the median of the clusterings.
    theta : float, default 0.4
        How little it counts that other clusterings tear a cluster apart; with large values all clusters weigh the same, as in
        ``HBGF(backend="spectral")``.
    n_init : int, default 5
        Starts of the k-means that groups the rows in the eigenvectors.
    random_state : int, generator or None
        For these starts.

    Attributes
    ----------
    labels_, confidence_, membership_, n_clusters_
        See :class:`ConsensusEstimator`; membership is the probability of each cluster given the row of labels.
    cluster_weights_ : (Σ k_q,) array
        Weights of the clusters, clustering by clustering in the order of the ensemble.
    eigenvalues_ : (n_clusters,) array
        The largest of the graph of clusters, from 1 down: a gap after the k-th speaks for k clusters.

    Notes
    -----
    All rows take part, however many: time O(rows · clusterings² + c³) for c clusters up to 1,000, beyond by Lanczos steps of O(rows ·
    clusterings) and without memory of c × c. A missing label is a tie less. Clusters need not be balanced.

    Examples
    --------
    >>> from consilience.consensus import LWGP
    >>> labels = [[0, 0, 0, 1, 1, 2, 2], [1, 1, 1, 2, 2, 0, 0], [0, 0, 1, 1, 2, 2, 2]]
    >>> LWGP(n_clusters=3, random_state=0).fit(labels).labels_.tolist()
    [0, 0, 0, 1, 1, 2, 2]
    """

    theta: float = THETA
    n_init: int = 5

    def _combine(self, problem: Problem) -> Answer:
        check_count("n_init", self.n_init)
        weights, seed = cluster_weights(problem, self.theta), check_seed(self.random_state)
        labels, values = transfer_cut(problem, weights, problem.n_clusters, n_init=self.n_init, seed=seed)
        extras = {"cluster_weights": weights[problem.labels_as_given()[0]], "eigenvalues": values}
        return Answer(labels, extras=extras)
