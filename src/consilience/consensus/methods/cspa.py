"""CSPA: objects are as alike as the share of clusterings that put them together.

    S = H Hᵀ / r:   S_ij = (clusterings in which both are labeled and agree) / r

(A. Strehl and J. Ghosh, Cluster ensembles, JMLR 3, 2002). The graph with these weights is split into k balanced blocks with a small cut.
Rows of weight w_i and w_j stand for w_i · w_j pairs of objects, so their edge weighs S_ij w_i w_j, and the cut equals that
of the graph on all objects wherever equal rows stay together. There are no self-loops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from consilience._check import check_count, check_positive, check_seed
from consilience._run.random import stream
from consilience._types import Floats, Ints
from consilience.consensus.methods.estimator import Answer, ConsensusEstimator
from consilience.consensus.methods.graph_partition import check_imbalance, partition_graph
from consilience.consensus.rows.problem import Problem, incidence

BYTES = 12  # safeguard: of one stored similarity, a float64 and its column
CHUNK = 2**22  # safeguard: candidate pairs looked at together, 32 MB


def similarity(members: Any, r: int) -> Any:
    """S = H Hᵀ / r between all rows, sparse, without the diagonal."""
    graph = members @ members.T
    graph.data /= r
    graph.setdiag(0)
    graph.eliminate_zeros()
    return graph


def strongest_similarity(problem: Problem, members: Any, n_neighbors: int, seed: int) -> Any:
    """S between every row and about `n_neighbors` strong neighbors, found without looking at all pairs."""
    # Four times as many candidates are drawn from a row's clusters, as many from each, in proportion to their weights.
    # The most similar stay (of equals the heavier). A pair stays if either row chose it.
    rng = stream(seed, "consensus.cspa")
    n, r = problem.labels.shape
    numbers = problem.hyperedges()[0]
    columns = members.tocsc()
    ends = np.cumsum(problem.weights[columns.indices])  # one ladder of weights, cluster after cluster
    low = np.concatenate([[0.0], ends])[columns.indptr]
    per_cluster = -(-4 * n_neighbors // r)
    step = max(1, CHUNK // (per_cluster * r))
    parts = []
    for start in range(0, n, step):
        sets = np.repeat(numbers[start : start + step], per_cluster, axis=1)
        known = sets >= 0
        at = low[sets] + rng.random(sets.shape) * (low[sets + 1] - low[sets])
        drawn = columns.indices[np.minimum(np.searchsorted(ends, at, side="right"), columns.indptr[sets + 1] - 1)]
        parts.append(_keep_strongest(problem, start, np.where(known, drawn, -1), n_neighbors))
    rows, others, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    graph = sparse.csr_array((values, (rows, others)), shape=(n, n))
    return graph.maximum(graph.T)


def _keep_strongest(problem: Problem, start: int, drawn: Any, n_neighbors: int) -> tuple[Any, Any, Floats]:
    rows = np.arange(start, start + len(drawn), dtype=np.int32)
    drawn = np.sort(drawn, axis=1)
    fresh = (drawn >= 0) & (drawn != rows[:, None])
    fresh[:, 1:] &= drawn[:, 1:] != drawn[:, :-1]
    agree = np.zeros(drawn.shape)
    for column in problem.labels.T:
        agree += (column[rows][:, None] == column[drawn]) & (column[rows][:, None] >= 0)
    heavier = problem.weights[drawn] / (problem.weights.max() * 2)  # below 1: it decides only among equals
    score = np.where(fresh, agree + heavier, -1)
    n_kept = min(n_neighbors, drawn.shape[1])
    best = np.argpartition(-score, n_kept - 1, axis=1)[:, :n_kept]
    row, place = np.nonzero(np.take_along_axis(fresh, best, axis=1))
    place = best[row, place]
    return rows[row], drawn[row, place], agree[row, place] / problem.n_clusterings


def _bytes_needed(members: Any) -> float:
    sizes = np.bincount(members.indices, minlength=members.shape[1]).astype(float)
    return BYTES * min(float(sizes @ sizes), float(members.shape[0]) ** 2)


def _by_pairs(graph: Any, weights: Floats) -> Any:
    rows = np.repeat(weights, np.diff(graph.indptr))
    return sparse.csr_array(
        (graph.data * (rows * weights[graph.indices]), graph.indices, graph.indptr), shape=graph.shape
    )


def _mean_similarity(problem: Problem, members: Any, labels: Ints) -> Floats:
    k = int(labels.max()) + 1
    ours = sparse.csr_array((problem.weights, (np.arange(len(labels)), labels)), shape=(len(labels), k))
    shared = (members.T @ ours).toarray() / np.bincount(labels, problem.weights, minlength=k)
    means = members @ shared / problem.n_clusterings
    return np.asarray(means / means.sum(axis=1, keepdims=True))


@dataclass(eq=False, repr=False, kw_only=True)
class CSPA(ConsensusEstimator):
    """Cluster-based Similarity Partitioning Algorithm: partition the graph of co-occurrence in clusters.

    Parameters
    ----------
    memory_budget : int, default 2**30
        Bytes that the similarity of the distinct rows may take; the partitioner needs about three times as much again. An ensemble
        that needs more gets a sparsified similarity.
    n_neighbors : int, default 20
        Neighbors that each row keeps in a sparsified similarity. On noisy labels 20 gave partitions as good as all pairs did.
    imbalance : float, default 0.05
        How much heavier than even a block may be.

    Attributes
    ----------
    membership_ : (n_objects, n_clusters_) array
        Mean similarity of the object to the objects of each cluster (itself among them), scaled to sum to 1.
    sparsified_ : bool
        Whether the similarity was sparsified.

    Notes
    -----
    Up to O(n²) time and memory for n distinct rows, or O(n · n_neighbors · r) where sparsified, for r clusterings.
    A missing label agrees with nothing, and the similarity is still divided by all r clusterings (the indicator matrix has a zero
    row). Blocks are balanced, so clusters of very different sizes are split or merged; :class:`MCLA` does not mind them.

    Examples
    --------
    >>> labels = [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 2, 2]]
    >>> model = CSPA(2, random_state=0).fit(labels)
    >>> model.labels_.tolist(), model.sparsified_
    ([0, 0, 0, 1, 1, 1], False)
    """

    memory_budget: int = 2**30
    n_neighbors: int = 20
    imbalance: float = 0.05

    def _combine(self, problem: Problem) -> Answer:
        check_positive("memory_budget", self.memory_budget)
        check_count("n_neighbors", self.n_neighbors)
        check_imbalance(self.imbalance)
        seed = check_seed(self.random_state)
        members = incidence(problem)
        sparsified = _bytes_needed(members) > self.memory_budget
        if sparsified:
            graph = strongest_similarity(problem, members, self.n_neighbors, seed)
        else:
            graph = similarity(members, problem.n_clusterings)
        labels = partition_graph(
            _by_pairs(graph, problem.weights),
            problem.n_clusters,
            vertex_weights=problem.weights,
            imbalance=self.imbalance,
            random_state=seed,
        )
        return Answer(labels, _mean_similarity(problem, members, labels), {"sparsified": sparsified})
