"""DawidSkene: the most probable cluster of every object by :mod:`consilience.consensus.rows.error_model`, from groups of clusters."""

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from consilience._check import check_positive
from consilience._types import Ints
from consilience.consensus.methods.cspa_hgpa_mcla import associate, cluster_jaccard, compete
from consilience.consensus.methods.estimator import Answer, CheckedMethod
from consilience.consensus.rows.error_model import error_posterior
from consilience.consensus.rows.problem import Problem
from consilience.consensus.rows.row_tree import narrowed

START = 600  # safeguard: for time, clusters of the clusterings whose groups EM begins with; all clusterings count in EM


def grouped(problem: Problem) -> Ints:
    """The rows by Ward's groups of the clusters of all clusterings, as MCLA by a partition of them; one tree for all numbers."""
    some, key = narrowed(problem, START), ("grouped", problem.n_clusters)
    if "clusters" not in problem.kept:
        problem.kept["clusters"] = linkage(cluster_jaccard(some).toarray() + np.eye(some.offsets[-1]), "ward")
    if key not in problem.kept:
        groups = fcluster(problem.kept["clusters"], problem.n_clusters, "maxclust") - 1
        labels = compete(associate(some, groups), np.bincount(groups, some.label_weights) / np.bincount(groups))
        problem.kept[key] = np.unique(labels, return_inverse=True)[1]
    found: Ints = problem.kept[key]
    return found


@dataclass(eq=False, repr=False, kw_only=True)
class DawidSkene(CheckedMethod):
    """Consensus of clusterings with independent errors: groups of their clusters, improved by EM on how reliable each clustering is.

    What ``method="auto"`` takes for noisy copies of one grouping: annotators, or labels with errors. Clusterings with correlated
    errors, such as runs of k-means, are better combined by :class:`ClusterWalk`.

    Parameters
    ----------
    prior : float, default 500
        Objects per cluster that one reliability per clustering counts for, beside the clustering's own table of errors. Much
        is one number per clustering (the "one-coin" model), little is the whole table (Dawid and Skene).
    max_iter : int, default 50
        Iterations of EM at most.

    Attributes
    ----------
    membership_ : (n_objects, n_clusters_) array
        Probability of each cluster given the object's labels.
    reliability_ : (n_clusterings,) array
        Share of each clustering's labels that stand for their object's cluster; clusterings without labels are left out.

    Notes
    -----
    EM looks at 20,000 distinct rows at most, O(rows · clusterings · k) an iteration; all rows then join the most probable cluster.
    Where EM would leave a cluster without objects, these groups stand.

    Examples
    --------
    >>> from consilience.consensus import DawidSkene
    >>> labels = [[0, 0, 0, 1, 1, 2, 2], [1, 1, 1, 2, 2, 0, 0], [0, 0, 1, 1, 2, 2, 2]]
    >>> model = DawidSkene(n_clusters=3, random_state=0).fit(labels)
    >>> model.labels_.tolist()
    [0, 0, 0, 1, 1, 2, 2]
    >>> model.reliability_.round(2).tolist()
    [0.88, 0.88, 0.67]
    """

    prior: float = 500.0
    max_iter: int = 50

    def _combine(self, problem: Problem) -> Answer:
        check_positive("prior", self.prior)
        start = grouped(problem)
        posterior, reliability = error_posterior(problem, start, self.prior, self.max_iter)
        labels = posterior.argmax(axis=1)
        if len(np.unique(labels)) <= start.max():  # EM gave a cluster up
            labels = start
        return Answer(labels, posterior, {"reliability": reliability[problem.columns_as_given()]})
