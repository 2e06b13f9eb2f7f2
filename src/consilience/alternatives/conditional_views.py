"""The problem of the coordinated conditional bottleneck: its views, its starts, and the move that coordinates groups.

I(C; Y | Z) = Σ_z (N_z / N) I(C; Y | Z = z) is blind to how the clusters of one group are numbered beside those of another, and
single objects cannot renumber a group. So there is a move of its own: renumber the clusters of one group so that I(C; Y) is
largest. That leaves I(C; Y | Z) as it is, splits into one term per pair (cluster of the others, cluster of the group), and is
solved exactly as an assignment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from consilience._kernels import x_log_x
from consilience._run.random import child_seed
from consilience._types import Floats, Labels
from consilience.engine.information import random_starts
from consilience.engine.views import Views, count_views


def conditional_views(X: Any, groups: NDArray[Any], weight: float) -> Views:
    """Views whose objective is I(C; Y | Z) + weight · I(C; Y): an object's counts in the view of its group, and in that of all.

    Objects without a group (−1) are in the last view only.
    """
    n, d = X.shape
    n_groups = int(groups.max(initial=0)) + 1
    row = np.repeat(np.arange(n), np.diff(X.indptr))
    known = groups[row] >= 0
    place = groups[row[known]].astype(np.int64) * d + X.indices[known]
    inside = sparse.csr_matrix((X.data[known], (row[known], place)), shape=(n, n_groups * d))
    table = sparse.hstack([inside, X], format="csr")
    table.sort_indices()
    mass = np.asarray(X.sum(axis=1)).ravel()
    share = np.bincount(groups[groups >= 0], mass[groups >= 0], minlength=n_groups) / mass[groups >= 0].sum()
    view_of = np.repeat(np.arange(n_groups + 1, dtype=np.int32), d)
    return Views(table, view_of, np.append(share, weight), np.ones(n))


def reweigh(views: Views, *, conditional: float, whole: float) -> Views:
    """The same views with I(C; Y | Z) times `conditional` and I(C; Y) times `whole`."""
    share = views.weights[:-1] / views.weights[:-1].sum()
    return Views(views.table, views.view_of, np.append(conditional * share, whole), views.object_weights)


def local_start(X: Any, groups: NDArray[Any], n_clusters: int, root: int, unit: int) -> Labels:
    """Every group split by seeds of its own, the splits coordinated; objects without a group by seeds of theirs."""
    labels = np.zeros(len(groups), np.int32)
    for group in range(-1, int(groups.max(initial=0)) + 1):
        rows = np.flatnonzero(groups == group)
        if len(rows):
            k = min(n_clusters, len(rows))
            seed = child_seed(root, "alternatives.conditional", unit, group + 1)
            labels[rows] = random_starts(count_views([X[rows]]), k, 1, random_state=seed)[0]
    return coordinate(X, groups, labels, n_clusters)


def coordinate(X: Any, groups: NDArray[Any], labels: Labels, n_clusters: int, *, max_iter: int = 20) -> Labels:
    """Renumber the clusters within one group after another, so that I(C; Y) grows, until no renumbering helps."""
    labels = labels.copy()
    everyone = _sums(X, np.arange(len(labels)), labels, n_clusters)
    for _ in range(max_iter):
        changed = False
        for group in range(-1, int(groups.max(initial=0)) + 1):
            rows = np.flatnonzero(groups == group)
            own = _sums(X, rows, labels, n_clusters)
            others = np.maximum(everyone - own, 0.0)
            name = _best_names(others, own)
            if len(rows) and (name != np.arange(n_clusters)).any():
                labels[rows] = name[labels[rows]]
                everyone = others + _sums(X, rows, labels, n_clusters)
                changed = True
        if not changed:
            break
    return labels


def _sums(X: Any, rows: NDArray[Any], labels: Labels, n_clusters: int) -> Floats:
    """(n_clusters, n_columns) summed counts of some rows."""
    member = sparse.csr_matrix((np.ones(len(rows)), (labels[rows], np.arange(len(rows)))), (n_clusters, len(rows)))
    return np.asarray((member @ X[rows]).todense())


def _best_names(others: Floats, own: Floats) -> NDArray[np.int64]:
    """Which cluster of the others each cluster of the group should be; their own numbers unless others are better."""
    seen = own.any(axis=0)
    others_seen, own_seen = others[:, seen], own[:, seen]
    gain = np.empty((len(own), len(own)))  # what joining adds to Σ φ(T_cy) − φ(T_c·), row: cluster of the others
    for c, (row, total) in enumerate(zip(others_seen, others.sum(axis=1), strict=True)):
        gain[c] = (
            (x_log_x(row + own_seen) - x_log_x(row)).sum(axis=1) - x_log_x(total + own.sum(axis=1)) + x_log_x(total)
        )
    names, clusters = linear_sum_assignment(gain, maximize=True)
    better = gain[names, clusters].sum() > np.trace(gain) + 1e-9 * abs(np.trace(gain))
    return names[np.argsort(clusters)] if better else np.arange(len(own))
