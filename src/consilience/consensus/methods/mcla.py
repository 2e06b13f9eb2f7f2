"""MCLA: cluster the clusters, then let the groups of clusters compete for the objects.

Clusters a, b of any two clusterings are as alike as their binary Jaccard measure (A. Strehl and J. Ghosh, JMLR 3, 2002)

    w_ab = h_a·h_b / (‖h_a‖² + ‖h_b‖² − h_a·h_b),   h the indicator vectors over objects.

This graph of clusters is split into k balanced meta-clusters with a small cut. The mean of the indicator vectors in a meta-cluster says
how strongly each object is associated with it, and every object goes to its strongest association.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from consilience._run.progress import step
from consilience._types import Floats, Ints
from consilience.consensus.methods.estimator import Answer, ConsensusEstimator, by_size
from consilience.consensus.methods.graph_partition import check_imbalance, partition_graph
from consilience.consensus.rows.cluster_similarity import co_occurrence
from consilience.consensus.rows.problem import Problem, incidence, sum_over_labels

DENSE = (
    1_000  # safeguard: clusters of which a table of all pairs is counted, 8 MB; beyond, only pairs that share objects
)
TABLE = 2**24  # safeguard: clusters × meta-clusters up to which a dense table says which is in which, 128 MB


def cluster_jaccard(members: Any, weights: Floats) -> Any:
    """Sparse binary Jaccard measure between the columns of `members`, rows counted by weight; zero diagonal."""
    weighted = sparse.csr_array(
        (members.data * np.repeat(weights, np.diff(members.indptr)), members.indices, members.indptr)
    )
    weighted.resize(members.shape)
    return jaccard_of(members.T @ weighted)


def jaccard_of(overlaps: Any) -> Any:
    """The same from the weight of what every two columns share, sparse or dense."""
    both = sparse.coo_array(overlaps)
    sizes = np.zeros(both.shape[0])
    own = both.row == both.col
    sizes[both.row[own]] = both.data[own]
    first, second, shared = both.row[~own], both.col[~own], both.data[~own]
    jaccard = shared / (sizes[first] + sizes[second] - shared)
    return sparse.csr_array((jaccard, (first, second)), shape=both.shape)


def associate(problem: Problem, meta: Ints) -> Floats:
    """(n_rows, n_meta) mean indicator vectors of the meta-clusters `meta` of all clusters, numbered through."""
    sizes = np.bincount(meta)
    if len(meta) * len(sizes) <= TABLE:
        found = sum_over_labels(problem.labels, problem.offsets, np.eye(len(sizes))[meta])
    else:
        one_each = sparse.csr_array((np.ones(len(meta)), meta, np.arange(len(meta) + 1)), shape=(len(meta), len(sizes)))
        found = (incidence(problem) @ one_each).toarray()
    found /= sizes
    return found


def compete(association: Floats, totals: Floats) -> Ints:
    """The strongest association of every row; ties go to the meta-cluster of the largest total, then the lowest number."""
    order = np.argsort(-totals, kind="stable")
    return order[association.take(order, axis=1).argmax(axis=1)]  # taken row by row: an index would lay out columns


@dataclass(eq=False, repr=False, kw_only=True)
class MCLA(ConsensusEstimator):
    """Meta-CLustering Algorithm: group the clusters of all clusterings, then assign objects to the groups.

    Parameters
    ----------
    imbalance : float, default 0.05
        How many more clusters than the mean a meta-cluster may hold.

    Attributes
    ----------
    labels_ : int array
        A meta-cluster that wins no object is not a cluster, so there can be fewer than asked.
    membership_ : (n_objects, n_clusters_) array
        `association_`, scaled to sum to 1.
    association_ : (n_objects, n_meta) array
        Share of the clusters in each meta-cluster that hold the object. Columns are numbered as `labels_`, and meta-clusters
        that won no object come last.
    meta_labels_ : (Σ k_q,) int array
        Meta-cluster of every cluster, clustering by clustering.

    Notes
    -----
    O(n r²) time for n distinct rows and r clusterings, plus the partition of a graph with Σ k_q vertices; O(n (r + k)) memory.
    An object with equally strong associations goes to the meta-cluster with the largest sum of associations over all
    objects, then to the one with the lowest number. A missing label is not a member of any cluster: it lowers the object's
    associations, which are still divided by the number of clusters in the meta-cluster.

    Examples
    --------
    >>> labels = [[0, 0, 0, 1, 1, 2, 2], [1, 1, 1, 2, 2, 0, 0], [0, 0, 1, 1, 2, 2, 2], [0, 1, -1, 0, 1, -1, -1]]
    >>> MCLA(3, random_state=0).fit(labels).labels_.tolist()
    [0, 0, 0, 1, 1, 2, 2]
    """

    imbalance: float = 0.05

    def _compete(self, problem: Problem) -> tuple[Ints, Floats, Ints]:
        """Meta-clusters of the clusters, associations with them, and the strongest of every row."""
        check_imbalance(self.imbalance)
        few = problem.offsets[-1] <= DENSE
        graph = jaccard_of(co_occurrence(problem)) if few else cluster_jaccard(incidence(problem), problem.weights)
        meta = partition_graph(graph, problem.n_clusters, imbalance=self.imbalance, random_state=self.random_state)
        association = associate(problem, meta)
        # Totals from whole cluster sizes, so that they are exact and equal rows or a row of their weight decide ties alike.
        return meta, association, compete(association, np.bincount(meta, problem.label_weights) / np.bincount(meta))

    def _label(self, problem: Problem) -> Ints:
        """The labels of `_answer`, without the rest of it."""
        with step("combining by MCLA"):
            labels = self._compete(problem)[2]
        order = by_size(labels, problem.weights, int(labels.max()) + 1, problem.first)
        return np.argsort(order)[labels]

    def _combine(self, problem: Problem) -> Answer:
        meta, association, labels = self._compete(problem)
        order = by_size(labels, problem.weights, association.shape[1], problem.first)
        extras = {
            "association": problem.to_objects(association[:, order], 0.0),
            "meta_labels": np.argsort(order)[meta][problem.labels_as_given()[0]],
        }
        return Answer(labels, association, extras)
