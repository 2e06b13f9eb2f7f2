"""HBGF: partition objects and clusters together.

The bipartite graph joins every object with the clusters it lies in (X. Z. Fern and C. E. Brodley, Solving cluster ensemble problems by
bipartite graph partitioning, ICML 2004). Its partition into k blocks with a small cut groups objects by their clusters and
clusters by their objects at once. A row of weight w is w objects, so its edges weigh w. Only objects are balanced: clusters weigh nothing.

The spectral partition (:mod:`consilience.consensus.methods.lwgp`), the other one of Fern and Brodley 2004, balances nothing and
sees all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from consilience._check import check_choice, check_count, check_seed
from consilience._types import Floats, Ints
from consilience.consensus.methods.estimator import Answer, ConsensusEstimator
from consilience.consensus.methods.graph_partition import check_imbalance, partition_graph
from consilience.consensus.methods.lwgp import transfer_cut
from consilience.consensus.rows.problem import Problem, incidence, sample_rows


def _shares(members: Any, homes: Ints, k: int) -> Floats:
    """Share of every row's clusters in each block, given the blocks of the clusters."""
    n = len(homes)
    groups = sparse.csr_array((np.ones(n), (np.arange(n), homes)), shape=(n, k))
    return np.asarray((members @ groups).toarray() / np.diff(members.indptr)[:, None])


def bipartite(members: Any, weights: Any) -> Any:
    """Symmetric adjacency of rows (first) and clusters, an edge as heavy as its row."""
    edges = sparse.csr_array(
        (np.repeat(weights, np.diff(members.indptr)), members.indices, members.indptr), shape=members.shape
    )
    return sparse.block_array([[None, edges], [edges.T, None]], format="csr")


@dataclass(eq=False, repr=False, kw_only=True)
class HBGF(ConsensusEstimator):
    """Hybrid Bipartite Graph Formulation: partition the graph of objects and clusters.

    Parameters
    ----------
    max_rows : int, default 2500
        An ensemble with more distinct rows is partitioned on so many of them, drawn in proportion to their weights. Each other row
        joins the block with most of its clusters. This bounds the graph that is cut, not memory, and the result depends on it.
    imbalance : float, default 0.05
        How much heavier than even a block may be, counted in objects.
    backend : {"mtkahypar", "spectral"}, default "mtkahypar"
        A balanced partition of the graph, or a normalized cut by eigenvectors, of all rows and without balance; :class:`LWGP` is the
        same with weighted clusters.

    Attributes
    ----------
    labels_ : int array
        A block without objects is not a cluster, so there can be fewer than asked.
    membership_ : (n_objects, n_clusters_) array
        Share of the object's clusters that lie in each block; with "spectral", the probability of each cluster given the row.
    sampled_ : bool
        Whether there were more than `max_rows` distinct rows; never with "spectral".

    Notes
    -----
    O(n r) memory and about O(n r) time for n distinct rows and r clusterings. A missing label is an edge less.
    Balanced blocks split or merge clusters of very different sizes; :class:`MCLA` and "spectral" do not mind them.

    Examples
    --------
    >>> labels = [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 2, 2]]
    >>> HBGF(2, random_state=0).fit(labels).labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    max_rows: int = 2500
    imbalance: float = 0.05
    backend: Literal["mtkahypar", "spectral"] = "mtkahypar"

    def _combine(self, problem: Problem) -> Answer:
        check_choice(self.backend, ["mtkahypar", "spectral"], "partitioner")
        check_count("max_rows", self.max_rows, problem.n_clusters)
        check_imbalance(self.imbalance)
        seed = check_seed(self.random_state)
        if self.backend == "spectral":
            equal = np.ones(int(problem.sizes.sum()))
            return Answer(transfer_cut(problem, equal, problem.n_clusters, seed=seed)[0], extras={"sampled": False})
        members = incidence(problem)
        chosen = sample_rows(problem.weights, self.max_rows, seed)
        blocks = partition_graph(
            bipartite(members[chosen], problem.weights[chosen]),
            problem.n_clusters,
            vertex_weights=np.concatenate([problem.weights[chosen], np.zeros(members.shape[1])]),
            imbalance=self.imbalance,
            random_state=seed,
        )
        membership = _shares(members, blocks[len(chosen) :], problem.n_clusters)
        labels = membership.argmax(axis=1)
        labels[chosen] = blocks[: len(chosen)]
        return Answer(labels, membership, {"sampled": len(chosen) < problem.n_rows})
