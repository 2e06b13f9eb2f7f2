"""The cluster ensembles of A. Strehl and J. Ghosh (JMLR 3, 2002): CSPA, HGPA and MCLA cut graphs made of the indicator matrix H.

H (rows × all clusters) is 1 where a row lies in a cluster; r is the number of clusterings.
"""

# CSPA: objects are as alike as the share of clusterings that put them together, S = H Hᵀ / r. Rows of weight w_i and w_j stand for
# w_i · w_j pairs of objects, so their edge weighs S_ij w_i w_j, and the cut equals that of the graph on all objects wherever equal rows
# stay together. There are no self-loops.
#
# HGPA: every cluster is a hyperedge of the same weight over its objects. A poor objective: a hyperedge counts as cut whether one of its
# objects strays or half of them do. At 10 % of label noise the best cut lies below that of the true clusters, so a perfect search would
# still miss them (NMI about .5). It is here because Strehl and Ghosh have it.
#
# MCLA: clusters a, b of any two clusterings are as alike as their binary Jaccard measure
#
#     w_ab = h_a·h_b / (‖h_a‖² + ‖h_b‖² − h_a·h_b),   h the columns of H.
#
# This graph of clusters is split into k balanced meta-clusters. The mean of the indicator vectors in a meta-cluster says how strongly
# each object is associated with it, and every object goes to its strongest association.

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from consilience._check import check_choice, check_count, check_seed
from consilience._run.random import stream
from consilience._types import Floats, Ints
from consilience.consensus.methods.estimator import Answer, CheckedMethod
from consilience.consensus.methods.graph_partition import in_blocks, partition_graph, partition_hypergraph
from consilience.consensus.rows.cluster_similarity import co_occurrence
from consilience.consensus.rows.problem import Problem, by_size, incidence, sample_rows, sum_over_labels

BYTES = 12  # safeguard: of one stored similarity, a float64 and its column
CHUNK = 2**22  # safeguard: candidate pairs looked at together, 32 MB
DENSE = 1_000  # safeguard: clusters of which all pairs are counted, 8 MB; beyond, only pairs that share objects
TABLE = 2**24  # safeguard: clusters × meta-clusters up to which a dense table says which is in which, 128 MB


def similarity(members: Any, r: int) -> Any:
    graph = members @ members.T
    graph.data /= r
    graph.setdiag(0)
    graph.eliminate_zeros()
    return graph


def _by_pairs(graph: Any, weights: Floats) -> Any:
    graph.data *= np.repeat(weights, np.diff(graph.indptr)) * weights[graph.indices]
    return graph


def strongest_similarity(problem: Problem, members: Any, n_neighbors: int, seed: int) -> Any:
    """S between every row and about `n_neighbors` strong neighbors, found without looking at all pairs."""
    # Four times as many candidates are drawn from a row's clusters, as many from each, in proportion to their weights.
    # The most similar stay (of equals the heavier). A pair stays if either row chose it.
    rng = stream(seed, "consensus.cspa")
    n, r = problem.labels.shape
    numbers = problem.hyperedges
    columns = members.tocsc()
    ends = np.cumsum(problem.weights[columns.indices])  # one ladder of weights, cluster after cluster
    low = np.concatenate([[0.0], ends])[columns.indptr]
    per_cluster = -(-4 * n_neighbors // r)
    size = max(1, CHUNK // (per_cluster * r))
    parts = []
    for start in range(0, n, size):
        sets = np.repeat(numbers[start : start + size], per_cluster, axis=1)
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


@dataclass(eq=False, repr=False, kw_only=True)
class CSPA(CheckedMethod):
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
    Up to O(n²) time and memory for n distinct rows, or O(n · n_neighbors · r) where sparsified. A missing label agrees with
    nothing, and the similarity is still divided by all r clusterings. Blocks are balanced, so clusters of very different sizes are
    split or merged; :class:`MCLA` does not mind them.

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
        seed = check_seed(self.random_state)
        members, weights = incidence(problem), problem.weights
        sizes = np.bincount(members.indices, minlength=members.shape[1]).astype(float)
        sparsified = BYTES * min(float(sizes @ sizes), float(members.shape[0]) ** 2) > self.memory_budget
        if sparsified:
            graph = strongest_similarity(problem, members, self.n_neighbors, seed)
        else:
            graph = similarity(members, problem.n_clusterings)
        how: dict[str, Any] = {"vertex_weights": weights, "imbalance": self.imbalance, "random_state": seed}
        labels = partition_graph(_by_pairs(graph, weights), problem.n_clusters, **how)
        shared = (members.T @ in_blocks(labels, weights, int(labels.max()) + 1)).toarray()
        return Answer(labels, members @ (shared / np.bincount(labels, weights)), {"sparsified": sparsified})


@dataclass(eq=False, repr=False, kw_only=True)
class HGPA(CheckedMethod):
    """HyperGraph-Partitioning Algorithm: k groups of about equal size that cut the fewest clusters; never a default.

    Parameters
    ----------
    objective : {"cut", "km1"}, default "cut"
        Clusters that are cut, as in Strehl and Ghosh 2002, or the groups beyond the first that each cluster falls into, which helps
        a little.
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
    O(n r) memory for n distinct rows, and O(n r k) time for k clusters. An object with missing labels lies in fewer hyperedges. Rows
    of weight w count w objects in the balance; a cluster that is cut costs 1 whatever it weighs.

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
        seed = check_seed(self.random_state)
        chosen = sample_rows(problem.weights, self.max_rows, seed)
        members, weights = incidence(problem), problem.weights[chosen]
        clusters = members[chosen].tocsc()
        edges, k = np.split(clusters.indices, clusters.indptr[1:-1]), problem.n_clusters
        how: dict[str, Any] = {"imbalance": self.imbalance, "random_state": seed, "objective": self.objective}
        blocks = partition_hypergraph(edges, k, n_vertices=len(chosen), vertex_weights=weights, **how)
        if len(chosen) == problem.n_rows:
            return Answer(blocks, extras={"sampled": False})
        held = (members[chosen].T @ in_blocks(blocks, weights, k)).toarray()
        held = np.divide(held, held.sum(axis=1, keepdims=True), where=held > 0, out=held)
        labels = np.asarray(members @ held).argmax(axis=1)
        labels[chosen] = blocks
        return Answer(labels, extras={"sampled": True})


def cluster_jaccard(problem: Problem) -> Any:
    """Sparse binary Jaccard measure between all clusters, rows counted by weight; zero diagonal."""
    if problem.offsets[-1] <= DENSE:
        both = sparse.coo_array(co_occurrence(problem))
    else:
        members, weighted = incidence(problem), incidence(problem)
        weighted.data = np.repeat(problem.weights, np.diff(members.indptr))
        both = (members.T @ weighted).tocoo()
    sizes = both.diagonal()
    apart = both.row != both.col
    first, second, shared = both.row[apart], both.col[apart], both.data[apart]
    jaccard = shared / (sizes[first] + sizes[second] - shared)
    return sparse.csr_array((jaccard, (first, second)), shape=both.shape)


def associate(problem: Problem, meta: Ints) -> Floats:
    """(n_rows, n_meta) mean indicator vectors of the meta-clusters `meta` of all clusters, numbered through."""
    sizes = np.bincount(meta)
    if len(meta) * len(sizes) <= TABLE:
        found = sum_over_labels(problem.labels, problem.offsets, np.eye(len(sizes))[meta])
    else:
        found = (incidence(problem) @ in_blocks(meta, np.ones(len(meta)), len(sizes))).toarray()
    found /= sizes
    return found


def compete(association: Floats, totals: Floats) -> Ints:
    """The strongest association of every row; ties go to the meta-cluster of the largest total, then the lowest number."""
    order = np.argsort(-totals, kind="stable")
    return order[association.take(order, axis=1).argmax(axis=1)]  # taken row by row: an index would lay out columns


@dataclass(eq=False, repr=False, kw_only=True)
class MCLA(CheckedMethod):
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
    O(n r²) time for n distinct rows, plus the partition of a graph with Σ k_q vertices; O(n (r + k)) memory. An object with equally
    strong associations goes to the meta-cluster with the largest sum of associations, then to the one with the lowest number. A
    missing label lowers the object's associations, which are still divided by the number of clusters in the meta-cluster.

    Examples
    --------
    >>> labels = [[0, 0, 0, 1, 1, 2, 2], [1, 1, 1, 2, 2, 0, 0], [0, 0, 1, 1, 2, 2, 2], [0, 1, -1, 0, 1, -1, -1]]
    >>> MCLA(3, random_state=0).fit(labels).labels_.tolist()
    [0, 0, 0, 1, 1, 2, 2]
    """

    imbalance: float = 0.05

    def _compete(self, problem: Problem) -> tuple[Ints, Floats, Ints]:
        """Meta-clusters of the clusters, associations with them, and the strongest of every row."""
        graph = cluster_jaccard(problem)
        meta = partition_graph(graph, problem.n_clusters, imbalance=self.imbalance, random_state=self.random_state)
        association = associate(problem, meta)
        # Totals from whole cluster sizes, so that they are exact and equal rows or a row of their weight decide ties alike.
        return meta, association, compete(association, np.bincount(meta, problem.label_weights) / np.bincount(meta))

    def _combine(self, problem: Problem) -> Answer:
        meta, association, labels = self._compete(problem)
        order = by_size(labels, problem.weights, association.shape[1], problem.first)
        extras = {
            "association": problem.to_objects(association[:, order], 0.0),
            "meta_labels": np.argsort(order)[meta][problem.labels_as_given()[0]],
        }
        return Answer(labels, association, extras)
