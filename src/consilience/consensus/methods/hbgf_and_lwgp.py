"""Partitions of the bipartite graph that joins every object with the clusters it lies in: HBGF and LWGP."""

# HBGF: a partition into k blocks with a small cut groups objects by their clusters and clusters by their objects at once (X. Z. Fern
# and C. E. Brodley, Solving cluster ensemble problems by bipartite graph partitioning, ICML 2004). A row of weight w is w objects, so its
# edges weigh w. Only objects are balanced: clusters weigh nothing.
#
# LWGP: a spectral cut, in which an object is tied to each of its clusters with the cluster's weight (D. Huang, C.-D. Wang and J.-H. Lai,
# Locally weighted ensemble clustering, IEEE Trans. Cybernetics 48, 2018): Z (rows × clusters). Normalized cuts of this graph need no
# eigenvectors of its objects, since those follow from the much smaller graph of clusters (the transfer cut)
#
#     E = Zᵀ D⁻¹ Z,   D the row sums of Z, rows counted by their weights
#
# (Z. Li, X.-M. Wu and S.-F. Chang, Segmentation using superpixels: a bipartite graph partitioning approach, CVPR 2012): with v the leading
# eigenvectors of the normalized E, row i lies at the mean of v over its clusters. Rows of unit length are grouped by k-means. With equal
# weights of the clusters this is the spectral cut of Fern and Brodley.

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from consilience._check import check_choice, check_count, check_seed
from consilience._run.random import stream
from consilience._types import Floats, Ints
from consilience.consensus.methods.estimator import Answer, CheckedMethod
from consilience.consensus.methods.graph_partition import in_blocks, partition_graph
from consilience.consensus.rows.cluster_similarity import THETA, cluster_weights, co_occurrence
from consilience.consensus.rows.problem import Problem, incidence, sample_rows, sum_over_labels

DENSE = 1_000  # safeguard: clusters up to which clusters × clusters is formed; beyond, Lanczos steps on rows × clusters
SAMPLE = 20_000  # safeguard: for time, rows on which starts of k-means compete
MOST = 300  # safeguard: steps of k-means, which stands still long before


def transfer_cut(problem: Problem, label_weights: Floats, n_clusters: int, **how: int) -> tuple[Ints, Floats]:
    """Clusters of the rows, and the leading eigenvalues of the graph of clusters, from 1 down."""
    # `label_weights` (Σ k_q,), above 0, are numbered as `Problem.hyperedges`. Cost O(rows · (clusterings² + clusterings · k)) and
    # O(c³) for c clusters up to 1,000; beyond, O(rows · clusterings) a Lanczos step, and no memory of c × c.
    points, values = embed_rows(problem, label_weights, n_clusters)
    return weighted_kmeans(points, problem.weights, n_clusters, **how), values


def embed_rows(problem: Problem, label_weights: Floats, n_vectors: int) -> tuple[Floats, Floats]:
    """(n_rows, n_vectors) rows of unit length in the leading eigenvectors of the graph of clusters, and their eigenvalues."""
    rows, offsets, c = problem.labels, problem.offsets, len(label_weights)
    degree = sum_over_labels(rows, offsets, label_weights[:, None])
    number = min(n_vectors, c)
    small = c <= DENSE or 4 * number >= c
    values, vectors = (_dense if small else _sparse)(problem, label_weights, problem.weights / degree[:, 0], number)
    points = sum_over_labels(rows, offsets, vectors * label_weights[:, None]) / np.maximum(degree, 1e-300)
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-300)
    return points, values


def _dense(problem: Problem, label_weights: Floats, scale: Floats, number: int) -> tuple[Floats, Floats]:
    """Leading eigenvalues and, scaled back, eigenvectors of the normalized graph of clusters."""
    graph = co_occurrence(replace(problem, weights=scale))
    graph *= label_weights[:, None]
    graph *= label_weights
    root = 1 / np.sqrt(graph.sum(axis=1))
    graph *= root[:, None]
    graph *= root
    c = len(graph)
    values, vectors = eigh(graph, subset_by_index=[c - number, c - 1], overwrite_a=True, check_finite=False)
    return values[::-1], vectors[:, ::-1] * root[:, None]


def _sparse(problem: Problem, label_weights: Floats, scale: Floats, number: int) -> tuple[Floats, Floats]:
    """The same by Lanczos steps from a fixed start, without the graph of clusters."""
    ties = incidence(problem)
    ties.data = label_weights[ties.indices] * np.sqrt(np.repeat(scale, np.diff(ties.indptr)))
    back = ties.T.tocsr()
    root = 1 / np.sqrt(back @ (ties @ np.ones(ties.shape[1])))
    c = len(root)
    graph = LinearOperator((c, c), matvec=lambda x: root * (back @ (ties @ (root * x.ravel()))), dtype=float)
    start = stream(0, "consensus.transfer_cut").random(c) + 0.5
    values, vectors = eigsh(graph, number, which="LA", v0=start)
    order = np.argsort(-values)
    return values[order], vectors[:, order] * root[:, None]


def weighted_kmeans(points: Floats, weights: Floats, n_clusters: int, *, n_init: int = 5, seed: int = 0) -> Ints:
    """Labels of the best of `n_init` runs of k-means from k-means++ starts, every point counted by its weight."""
    # Of many points, starts compete on some drawn by weight. Where fewer points than clusters are distinct, some clusters stay empty.
    # scikit-learn's KMeans draws its starts otherwise, and the labels for a seed would change.
    some = sample_rows(weights, SAMPLE, seed)
    part = points[some]
    counts = weights[some] if len(some) == len(points) else np.ones(len(some))  # drawn by weight
    rngs = (stream(seed, "consensus.transfer_kmeans", unit) for unit in range(n_init))
    runs = (_lloyd(part, counts, _plus_plus(part, counts, n_clusters, rng)) for rng in rngs)
    labels, centers, _ = min(runs, key=lambda run: run[2])
    return labels if len(some) == len(points) else _lloyd(points, weights, centers)[0]


def _plus_plus(points: Floats, weights: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Centers drawn one by one in proportion to the squared distance to the nearest before; the best of a few draws each."""
    squares = (points**2).sum(axis=1)

    def away(chosen: Any) -> Floats:
        return np.maximum(squares - 2 * points[chosen] @ points.T + squares[chosen][:, None], 0)

    centers = _draw(weights, rng, 1).tolist()
    nearest = away(centers)[0]
    while len(centers) < k:
        chosen = _draw(weights * nearest, rng, 2 + int(np.log(k)))
        found = np.minimum(nearest, away(chosen))
        best = int((found @ weights).argmin())
        centers.append(int(chosen[best]))
        nearest = found[best]
    return points[centers]


def _draw(odds: Floats, rng: np.random.Generator, size: int) -> Ints:
    ladder = np.cumsum(odds)
    if ladder[-1] <= 0:
        return np.zeros(size, np.int64)
    return np.minimum(np.searchsorted(ladder, rng.random(size) * ladder[-1], side="right"), len(odds) - 1)


def _lloyd(points: Floats, weights: Floats, centers: Floats) -> tuple[Ints, Floats, float]:
    """Labels, centers, and the weighted sum of squares but for a constant."""
    k, everyone, labels = len(centers), np.arange(len(points)), np.full(len(points), -1)
    for step in range(MOST):
        scores = points @ (-2 * centers.T) + (centers**2).sum(axis=1)  # squared distances less the point's own square
        nearest = scores.argmin(axis=1)
        if (nearest == labels).all() or step == MOST - 1:
            break
        labels = nearest
        mass = np.bincount(labels, weights, minlength=k)
        sums = sparse.csr_array((weights, (labels, everyone)), shape=(k, len(points))) @ points
        centers = np.where(mass[:, None] > 0, sums / np.maximum(mass, 1e-300)[:, None], centers)  # an empty one stays
    return nearest, centers, float(weights @ scores[everyone, nearest])


def _shares(members: Any, homes: Ints, k: int) -> Floats:
    """Share of every row's clusters in each block, given the blocks of the clusters."""
    return np.asarray((members @ in_blocks(homes, np.ones(len(homes)), k)).toarray() / np.diff(members.indptr)[:, None])


def bipartite(members: Any, weights: Any) -> Any:
    """Symmetric adjacency of rows (first) and clusters, an edge as heavy as its row."""
    edges = members.copy()
    edges.data = np.repeat(weights, np.diff(members.indptr))
    return sparse.block_array([[None, edges], [edges.T, None]], format="csr")


@dataclass(eq=False, repr=False, kw_only=True)
class HBGF(CheckedMethod):
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
        seed = check_seed(self.random_state)
        if self.backend == "spectral":
            equal = np.ones(int(problem.sizes.sum()))
            return Answer(transfer_cut(problem, equal, problem.n_clusters, seed=seed)[0], extras={"sampled": False})
        members, chosen = incidence(problem), sample_rows(problem.weights, self.max_rows, seed)
        weights = problem.weights[chosen]
        balanced = np.concatenate([weights, np.zeros(members.shape[1])])
        how: dict[str, Any] = {"vertex_weights": balanced, "imbalance": self.imbalance, "random_state": seed}
        blocks = partition_graph(bipartite(members[chosen], weights), problem.n_clusters, **how)
        membership = _shares(members, blocks[len(chosen) :], problem.n_clusters)
        labels = membership.argmax(axis=1)
        labels[chosen] = blocks[: len(chosen)]
        return Answer(labels, membership, {"sampled": len(chosen) < problem.n_rows})


@dataclass(eq=False, repr=False, kw_only=True)
class LWGP(CheckedMethod):
    """Locally Weighted Graph Partitioning: a spectral cut of the bipartite graph of objects and weighted clusters.

    Parameters
    ----------
    theta : float, default 0.4
        How little it counts that other clusterings tear a cluster apart; with large values all clusters weigh the same.
    n_init : int, default 5
        Starts of the k-means that groups the rows in the eigenvectors.

    Attributes
    ----------
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
        weights, seed = cluster_weights(problem, self.theta), check_seed(self.random_state)
        labels, values = transfer_cut(problem, weights, problem.n_clusters, n_init=self.n_init, seed=seed)
        extras = {"cluster_weights": weights[problem.labels_as_given()[0]], "eigenvalues": values}
        return Answer(labels, extras=extras)
