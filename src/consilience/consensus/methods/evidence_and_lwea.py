"""Evidence accumulation: average linkage of objects by their co-association, plain (evidence) or with weighted clusters (LWEA).

d(i, j) = 1 − Σ_q w(y_iq) [y_iq = y_jq] / (number of clusterings that label both)
"""

# With w = 1 for all clusters this is evidence accumulation (A. Fred and A. K. Jain, Combining multiple clusterings using evidence
# accumulation, IEEE PAMI 27, 2005). With w = exp(−H / θ) of rows/cluster_similarity, a cluster that the other clusterings tear apart counts
# less: LWEA (D. Huang, C.-D. Wang and J.-H. Lai, Locally weighted ensemble clustering, IEEE Trans. Cybernetics 48, 2018), which for large θ
# is evidence accumulation again. Equal rows merge first, so the tree starts from the distinct rows, and average linkage counts a row as
# often as it has objects. A pair that no clustering labels has no evidence and distance 1.

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from consilience import _kernels
from consilience._check import InputError, check_choice, check_positive, check_seed
from consilience._run.random import stream
from consilience._types import Floats, Ints
from consilience.consensus.methods.estimator import Answer, CheckedMethod
from consilience.consensus.rows.cluster_similarity import THETA, cluster_weights
from consilience.consensus.rows.co_association import mean_association
from consilience.consensus.rows.problem import Problem
from consilience.consensus.rows.row_tree import choose_leaves, cut_tree, weighted_linkage

MEMORY = 2**30  # safeguard: bytes for distances, the default of memory_budget


def accumulate(problem: Problem, label_weights: Floats, budget: Any, seed: Any, linkage: str = "average") -> Answer:
    """Clusters cut from the tree of the rows by their co-association, in which labels weigh `label_weights`."""
    rows, weights = leaf_rows(problem, budget, check_seed(seed))
    leaves = replace(problem, labels=np.ascontiguousarray(problem.labels[rows]), weights=weights)
    distances = _kernels.row_distances(leaves.labels.T, problem.offsets, label_weights)
    tree = weighted_linkage(distances, weights, linkage)
    mine, sampled = cut_tree(tree, problem.n_clusters), len(rows) < problem.n_rows
    labels = mean_association(problem, leaves, mine, label_weights).argmax(axis=1) if sampled else mine
    labels[rows] = mine
    extras = {"linkage": tree, "linkage_rows": problem.as_given(leaves.labels), "sampled": sampled}
    return Answer(labels, mean_association(problem, problem, labels, label_weights), extras)


def leaf_rows(problem: Problem, memory_budget: Any, seed: int, sample: int = 4_000) -> tuple[Ints, Floats]:
    """The rows that are leaves, and how many objects each stands for: all where 8 · rows² bytes are within the budget."""
    room = int(np.sqrt(check_positive("memory_budget", memory_budget) / 8))
    if room < (k := problem.n_clusters):
        raise InputError(f"a memory budget of {memory_budget} bytes has no room for {k} × {k} distances; raise it")
    if problem.n_rows <= room:
        return np.arange(problem.n_rows), problem.weights
    rows, weights = choose_leaves(problem, min(room, max(sample, k)), stream(seed, "consensus.evidence"))
    order = np.argsort(rows)
    return rows[order], weights[order]


@dataclass(eq=False, repr=False, kw_only=True)
class EvidenceAccumulation(CheckedMethod):
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
        check_choice(self.linkage, _kernels.LINKAGES, "linkage")
        return accumulate(problem, np.ones(problem.offsets[-1]), self.memory_budget, self.random_state, self.linkage)


@dataclass(eq=False, repr=False, kw_only=True)
class LWEA(CheckedMethod):
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
        answer = accumulate(problem, weights, self.memory_budget, self.random_state)
        answer.extras["cluster_weights"] = weights[problem.labels_as_given()[0]]
        return answer
