"""Evidence accumulation: average linkage of objects by their co-association, plain (evidence) or with weighted clusters (LWEA).

    d(i, j) = 1 − Σ_q w(y_iq) [y_iq = y_jq] / (number of clusterings that label both)

With w = 1 for all clusters this is evidence accumulation (A. Fred and A. K. Jain, Combining multiple clusterings using evidence
accumulation, IEEE PAMI 27, 2005). With w = exp(−H / θ) of :mod:`consilience.consensus.rows.cluster_similarity`, a cluster that the other
clusterings tear apart counts less: LWEA (D. Huang, C.-D. Wang and J.-H. Lai, Locally weighted ensemble clustering, IEEE Trans.
Cybernetics 48, 2018), which for large θ is evidence accumulation again. The tree is made in :mod:`consilience.consensus.rows.row_tree`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from consilience._check import check_choice, check_seed
from consilience._types import Floats
from consilience.consensus.methods.estimator import Answer, ConsensusEstimator
from consilience.consensus.rows.cluster_similarity import THETA, cluster_weights
from consilience.consensus.rows.problem import Problem
from consilience.consensus.rows.row_tree import LINKAGES, MEMORY, association_tree, cluster_association


def accumulate(
    problem: Problem, label_weights: Floats | None, *, linkage: str = "average", memory_budget: int, random_state: Any
) -> Answer:
    """Clusters cut from the tree of the rows by their co-association, in which labels weigh `label_weights` (all 1 by default)."""
    seed = check_seed(random_state)
    tree = association_tree(problem, label_weights, linkage=linkage, memory_budget=memory_budget, seed=seed)
    labels = tree.cut(problem.n_clusters)
    extras = {"linkage": tree.tree, "linkage_rows": problem.as_given(tree.leaves), "sampled": tree.sampled}
    return Answer(labels, cluster_association(problem, labels, label_weights), extras)


@dataclass(eq=False, repr=False, kw_only=True)
class EvidenceAccumulation(ConsensusEstimator):
    """Consensus by hierarchical clustering of the co-association of the objects.

    Parameters
    ----------
    linkage : {"average", "single", "complete"}, default "average"
    memory_budget : int, default 2**30
        Bytes for the distances, 8 for every pair of distinct rows; the default has room for 11,585 rows. With more rows, 4,000 of them
        stand for all (the heaviest half, and a random draw from the others), and every other row joins the cluster with the largest
        mean co-association. `sampled_` tells; without it nothing is random.

    Attributes
    ----------
    membership_ : (n_objects, n_clusters_) array
        Mean co-association with the objects of each cluster, scaled to sum to 1.
    linkage_ : (n_leaves − 1, 4) array
        The tree in SciPy's format, ready for ``scipy.cluster.hierarchy.dendrogram``; a leaf is a distinct row.
    linkage_rows_ : (n_leaves, n_clusterings) array
        The labels of the leaves.
    sampled_ : bool
        Whether there were too many rows for the budget.

    Notes
    -----
    Two objects are compared by the clusterings that label both; without any they are at distance 1. Cost: time
    O(leaves² · clusterings + rows · clusterings · clusters), memory 8 · leaves² bytes.

    Examples
    --------
    >>> from consilience.consensus import EvidenceAccumulation
    >>> labels = [[0, 0, 0, 1, 1, 2, 2], [1, 1, 1, 2, 2, 0, 0], [0, 0, 1, 1, 2, 2, 2]]
    >>> evidence = EvidenceAccumulation(n_clusters=3).fit(labels)
    >>> evidence.labels_.tolist()
    [0, 0, 0, 1, 1, 2, 2]
    >>> evidence.linkage_[:, 2].round(2).tolist()
    [0.33, 0.33, 0.83, 0.97]
    """

    linkage: str = "average"
    memory_budget: int = MEMORY

    _resample: ClassVar[str] = "association"

    def _combine(self, problem: Problem) -> Answer:
        check_choice(self.linkage, LINKAGES, "linkage")
        how: dict[str, Any] = {"memory_budget": self.memory_budget, "random_state": self.random_state}
        return accumulate(problem, None, linkage=self.linkage, **how)


@dataclass(eq=False, repr=False, kw_only=True)
class LWEA(ConsensusEstimator):
    """Locally Weighted Evidence Accumulation: average linkage of a co-association in which clusters weigh differently.

    Parameters
    ----------
    theta : float, default 0.4
        How little it counts that other clusterings tear a cluster apart; with large values all clusters weigh the same, as in
        :class:`EvidenceAccumulation`.
    memory_budget : int, default 2**30
        See :class:`EvidenceAccumulation`.

    Attributes
    ----------
    membership_ : (n_objects, n_clusters_) array
        Mean weighted similarity to the objects of each cluster, scaled to sum to 1.
    cluster_weights_ : (Σ k_q,) array
        Weights of the clusters, clustering by clustering in the order of the ensemble.
    linkage_, linkage_rows_, sampled_
        The tree, its leaves, and whether some rows stood for all; see :class:`EvidenceAccumulation`.

    Notes
    -----
    Missing labels: two objects are compared by the clusterings that label both; a cluster's entropies are over the objects
    labeled in both, by the number of clusterings that label any of its objects. Cost: time O(leaves² · clusterings + rows ·
    clusterings²), memory 8 · leaves² bytes.

    Examples
    --------
    >>> from consilience.consensus import LWEA
    >>> labels = [[0, 0, 0, 1, 1, 2, 2], [1, 1, 1, 2, 2, 0, 0], [0, 0, 1, 1, 2, 2, 2]]
    >>> LWEA(n_clusters=3).fit(labels).labels_.tolist()
    [0, 0, 0, 1, 1, 2, 2]
    """

    theta: float = THETA
    memory_budget: int = MEMORY

    def _combine(self, problem: Problem) -> Answer:
        weights = cluster_weights(problem, self.theta)
        answer = accumulate(problem, weights, memory_budget=self.memory_budget, random_state=self.random_state)
        answer.extras["cluster_weights"] = weights[problem.labels_as_given()[0]]
        return answer
