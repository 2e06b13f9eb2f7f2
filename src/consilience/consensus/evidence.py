"""Evidence accumulation (Fred and Jain 2005): hierarchical clustering of the co-association of the objects.

The distance of two objects is one minus their co-association: the share of the clusterings, among those that label
both, that put them together. A pair that no clustering labels has no evidence and distance 1.

Equal rows are at distance 0 and merge first, so the tree starts from the distinct rows. Average linkage then has to count
a row as often as it has objects: with S(A, B) = Σ_{i∈A, j∈B} w_i w_j d_ij, clusters are S(A, B) / (W_A W_B) apart, and
merging adds rows of S. Nearest-neighbor chains find the tree in O(rows²). Ties, which abound here, go to the cluster
with the earliest row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from consilience._check import InputError, check_choice, check_positive, check_seed
from consilience._random import stream
from consilience._types import Floats, Ints
from consilience.consensus.distinct_rows import Problem, label_tables, representative_rows, row_distances, row_scores
from consilience.consensus.estimator import Answer, ConsensusEstimator
from consilience.consensus.linkage import LINKAGES, cut_tree, weighted_linkage

PROTOTYPES = 2_000  # rows that stand for all when there are too many
BLOCK = 2**24  # numbers in a block of distances


def _rows_in(memory_budget: int, k: int) -> int:
    room = int(np.sqrt(check_positive("memory_budget", memory_budget) / 8))
    if room < k:
        raise InputError(f"a memory budget of {memory_budget} bytes has no room for {k} × {k} distances; raise it")
    return room


def _blocks(n: int, width: int) -> list[slice]:
    step = max(1, BLOCK // width)
    return [slice(begin, begin + step) for begin in range(0, n, step)]


def _absorb(problem: Problem, size: int, seed: int) -> tuple[Ints, Floats, Ints]:
    """Rows that stand for all, the weight each takes over, and for every row the nearest of them (the heaviest of those)."""
    rows, _ = representative_rows(problem, size, stream(seed, "consensus.evidence"))
    rows = rows[np.argsort(-problem.weights[rows], kind="stable")]
    nearest = np.empty(problem.n_rows, np.int64)
    for block in _blocks(problem.n_rows, size):
        nearest[block] = row_distances(problem.labels[block], problem.labels[rows]).argmin(axis=1)
    nearest[rows] = np.arange(size)  # with missing labels another row may be at distance 0 as well
    return rows, np.bincount(nearest, problem.weights, minlength=size).astype(float), nearest


def cluster_association(problem: Problem, labels: Ints) -> Floats:
    """Mean co-association of every row with the objects of every cluster, scaled to sum to 1 over the clusters.

    The mean is over pairs of labels: joint labels that agree, by joint labels. Cost O(rows · clusterings · clusters).
    """
    tables = label_tables(problem, labels, int(labels.max()) + 1)
    joint = (problem.labels >= 0).astype(float) @ np.array([table.sum(axis=1) for table in tables])
    agree = row_scores(problem, tables)
    share = np.divide(agree, joint, out=np.zeros_like(agree), where=joint > 0)
    return np.asarray(share / share.sum(axis=1, keepdims=True))


@dataclass(eq=False, repr=False, kw_only=True)
class EvidenceAccumulation(ConsensusEstimator):
    """Consensus by hierarchical clustering of the co-association of the objects.

    Parameters
    ----------
    n_clusters : int, optional
        None takes the median of the clusterings.
    linkage : {"average", "single", "complete"}, default "average"
    memory_budget : int, default 2**30
        Bytes for the distances, 8 for every pair of distinct rows; the default has room for 11,585 rows. With more
        rows, 2,000 of them stand for all (the heaviest thousand, and a random thousand of the others): every row joins
        the one it agrees with most, and the tree of these is exact. `sparsified_` tells.
    random_state : int, generator or None
        For the choice of the rows that stand for all; without `sparsified_` nothing is random.

    Attributes
    ----------
    labels_, confidence_, n_clusters_
        See :class:`ConsensusEstimator`.
    membership_ : (n_objects, n_clusters_) array
        Mean co-association with the objects of each cluster, scaled to sum to 1.
    linkage_ : (n_leaves − 1, 4) array
        The tree in SciPy's format, ready for ``scipy.cluster.hierarchy.dendrogram``; a leaf is a distinct row.
    linkage_rows_ : (n_leaves, n_clusterings) array
        The labels of the leaves.
    sparsified_ : bool
        Whether there were too many rows for the budget.

    Notes
    -----
    Two objects are compared by the clusterings that label both; without any they are at distance 1. Cost: time
    O(leaves² · clusterings + rows · leaves · clusterings if sparsified), memory 8 · leaves² bytes.

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
    memory_budget: int = 2**30

    def _combine(self, problem: Problem) -> Answer:
        check_choice(self.linkage, LINKAGES, "linkage")
        seed = check_seed(self.random_state)
        room = _rows_in(self.memory_budget, problem.n_clusters)
        sparsified = problem.n_rows > room
        if sparsified:
            rows, weights, nearest = _absorb(problem, min(room, max(PROTOTYPES, problem.n_clusters)), seed)
        else:
            rows = nearest = np.arange(problem.n_rows)
            weights = problem.weights
        leaves = problem.labels[rows]
        distances = np.empty((len(rows), len(rows)))
        for block in _blocks(len(rows), len(rows)):
            distances[block] = row_distances(leaves[block], leaves)
        tree = weighted_linkage(distances, weights, self.linkage)
        labels = cut_tree(tree, problem.n_clusters)[nearest]
        extras = {"linkage": tree, "sparsified": sparsified, "linkage_rows": problem.as_given(leaves)}
        return Answer(labels, cluster_association(problem, labels), extras)
