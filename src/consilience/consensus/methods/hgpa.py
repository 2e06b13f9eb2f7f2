"""HGPA: cut as few clusters as possible.

Every cluster of every clustering is a hyperedge of the same weight over its objects; the objects are split into k groups of
about equal size so that the fewest hyperedges are cut (A. Strehl and J. Ghosh, Cluster ensembles, JMLR 3, 2002).

**A poor objective.** A hyperedge counts as cut whether one of its objects strays or half of them do. At 10 % of label noise the
best cut lies *below* that of the true clusters, so a perfect search would still miss them (NMI about .5). The method is here
because Strehl and Ghosh 2002 have it, and is not a default anywhere. ``objective="km1"`` also counts how many groups a cluster
falls into, which helps a little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from consilience._check import check_choice, check_count, check_seed
from consilience.consensus.methods.estimator import Answer, ConsensusEstimator
from consilience.consensus.methods.graph_partition import check_imbalance, partition_hypergraph
from consilience.consensus.rows.problem import Problem, incidence, sample_rows


@dataclass(eq=False, repr=False, kw_only=True)
class HGPA(ConsensusEstimator):
    """HyperGraph-Partitioning Algorithm: k groups of about equal size that cut the fewest clusters.

    Its objective is poor, and it is never a default: whether one object of a cluster strays or half of them, the cluster
    counts as cut, so that already at 10 % of label noise better cuts than that of the true clusters exist.

    Parameters
    ----------
    objective : {"cut", "km1"}, default "cut"
        Clusters that are cut, as in Strehl and Ghosh 2002, or the groups beyond the first that each cluster falls into.
    max_rows : int, default 2500
        Above so many distinct rows a sample of them is partitioned, drawn by weight; the others join the group that holds
        most of their clusters. It bounds the hypergraph that is cut, not memory, and the result depends on it.
    imbalance : float, default 0.05
        How much heavier than even a group may be.

    Attributes
    ----------
    sampled_ : bool
        Whether a sample was partitioned.

    Notes
    -----
    O(n r) memory for n distinct rows and r clusterings, and O(n r k) time for k clusters. An object with missing labels
    lies in fewer hyperedges. Rows of weight w count w objects in the balance; a cluster that is cut costs 1 whatever it weighs.

    Examples
    --------
    >>> labels = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 2]]
    >>> HGPA(2, random_state=0).fit(list(labels)).labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    objective: Literal["cut", "km1"] = "cut"
    max_rows: int = 2500
    imbalance: float = 0.05

    def _combine(self, problem: Problem) -> Answer:
        check_choice(self.objective, ["cut", "km1"], "objective")
        check_count("max_rows", self.max_rows, problem.n_clusters)
        check_imbalance(self.imbalance)
        seed = check_seed(self.random_state)
        chosen = sample_rows(problem.weights, self.max_rows, seed)
        members = incidence(problem)
        clusters = members[chosen].tocsc()
        blocks = partition_hypergraph(
            np.split(clusters.indices, clusters.indptr[1:-1]),
            problem.n_clusters,
            n_vertices=len(chosen),
            vertex_weights=problem.weights[chosen],
            imbalance=self.imbalance,
            random_state=seed,
            objective=self.objective,
        )
        if len(chosen) == problem.n_rows:
            return Answer(blocks, extras={"sampled": False})
        ours = sparse.csr_array(
            (problem.weights[chosen], (np.arange(len(chosen)), blocks)), (len(chosen), problem.n_clusters)
        )
        held = (members[chosen].T @ ours).toarray()  # the weight of each cluster's rows in each block
        labels = np.asarray(
            members @ np.divide(held, held.sum(axis=1, keepdims=True), where=held > 0, out=held)
        ).argmax(axis=1)
        labels[chosen] = blocks
        return Answer(labels, extras={"sampled": True})
