"""ClusterWalk: average linkage of objects whose clusters are alike, by a weighted random walk over all clusters.

The similarities are those of :mod:`consilience.consensus.rows.cluster_similarity`. Average linkage of the distinct rows, each counted as
often as it has objects, is cut where k clusters are more than specks; then rows join the cluster they are most similar to until none
moves. Nothing is random.
"""

from dataclasses import dataclass

import numpy as np

from consilience._check import InputError
from consilience._types import Ints
from consilience.consensus.methods.estimator import Answer, CheckedMethod
from consilience.consensus.rows.cluster_similarity import STEPS, THETA, nearest_clusters
from consilience.consensus.rows.problem import Problem
from consilience.consensus.rows.row_tree import LEAVES, cut_clusters, fits, narrowed, row_tree


@dataclass(eq=False, repr=False, kw_only=True)
class ClusterWalk(CheckedMethod):
    """Consensus by average linkage of similarities from a random walk over all clusters: what ``method="auto"`` mostly takes.

    Parameters
    ----------
    theta : float, default 0.4
        How fast the weight of a cluster falls with the entropy of the other clusterings inside it.
    steps : int, default 2
        Of the walk.
    max_leaves : int, default 3000
        Distinct rows that the tree is built on. With more, so many of them (the heaviest half, and every so-manieth of the others)
        carry the tree and the rest join the cluster they are most similar to; `sampled_` tells.

    Attributes
    ----------
    membership_ : (n_objects, n_clusters_) array
        Mean similarity with the objects of each cluster, scaled to sum to 1.
    linkage_ : (n_leaves − 1, 4) array
        The tree in SciPy's format; a leaf is a distinct row.
    sampled_ : bool
        Whether there were more rows than leaves.
    n_clusterings_used_ : int
        Clusterings that were looked at: all, unless they have more than 3,000 clusters together.

    Notes
    -----
    Time O(c³ + leaves² · clusterings + rows · clusterings · k) for c clusters of all clusterings together, memory O(c² + leaves²).

    Examples
    --------
    >>> from consilience.consensus import ClusterWalk
    >>> labels = [[0, 0, 0, 1, 1, 2, 2], [1, 1, 1, 2, 2, 0, 0], [0, 0, 1, 1, 2, 2, 2]]
    >>> ClusterWalk(n_clusters=3).fit(labels).labels_.tolist()
    [0, 0, 0, 1, 1, 2, 2]
    """

    theta: float = THETA
    steps: int = STEPS
    max_leaves: int = LEAVES

    def _combine(self, problem: Problem) -> Answer:
        return self._from(problem, None)

    def _from(self, problem: Problem, labels: Ints | None) -> Answer:
        """The answer by a cut of the tree; or by clusters of the rows from elsewhere, which the rows labeled −1 join."""
        narrow = narrowed(problem)
        if not fits(narrow):
            two = f"two clusterings of {narrow.sizes.sum():,} clusters"
            raise InputError(f"{two} are too many for a walk over clusters; use method 'vote' or 'lwea'")
        tree = row_tree(narrow, max(self.max_leaves, problem.n_clusters), self.theta, self.steps)
        if labels is None:
            start = np.full(narrow.n_rows, -1)
            start[tree.leaves] = cut_clusters(tree.linkage, tree.weights, problem.n_clusters)
            labels, scores = nearest_clusters(narrow, tree.similarity, start, problem.n_clusters)
        else:
            scores = tree.similarity.to_clusters(narrow, labels, problem.n_clusters)
            labels = np.where(labels >= 0, labels, scores.argmax(axis=1))
        extras = {"linkage": tree.linkage, "sampled": len(tree.leaves) < narrow.n_rows}
        extras["n_clusterings_used"] = narrow.n_clusterings
        return Answer(labels, np.maximum(scores, 0.0) + 1e-12, extras)
