"""Nesting: how far the clusterings of an ensemble refine, or are refined by, some clusters of its objects.

Of a clustering K and clusters C, 1 − min(H(C | K) / H(C), H(K | C) / H(K)): 1 where every cluster of the one lies within a cluster of
the other, and 0 where they are independent. Clusters that stand apart are not torn by any clustering, however fine or coarse; a cut
through a cloud tears the clusters that lie on it. Averaged over the clusterings, on the objects that each of them labels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from consilience._types import Array, Floats, Ints
from consilience.consensus.distinct_rows import Problem, label_tables

TINY = 1e-9


def nesting(problem: Problem, answers: Sequence[Ints]) -> Floats:
    """(n_answers,) mean nesting of the clusterings with each of several partitions of the rows."""
    return np.array([_mean_nesting(problem, labels) for labels in answers])


def _mean_nesting(problem: Problem, labels: Ints) -> float:
    tables = label_tables(problem, labels, int(labels.max()) + 1)
    joined, starts = np.hstack(tables), np.cumsum([0, *(table.shape[1] for table in tables[:-1])])
    mine = np.add.reduceat(joined, starts, axis=1)  # (k, clusterings) objects of a cluster that a clustering labels
    total = mine.sum(axis=0)
    # Σ x log x of every clustering's clusters, of the answer's, and of their parts in common
    theirs = np.add.reduceat(_x_log_x(joined.sum(axis=0)), starts)
    both = np.add.reduceat(_x_log_x(joined).sum(axis=0), starts)
    whole, own = _x_log_x(total), _x_log_x(mine).sum(axis=0)
    known = (own < whole - TINY) & (theirs < whole - TINY)  # one cluster says nothing
    if not known.any():
        return 0.0
    theirs, both, whole, own = theirs[known], both[known], whole[known], own[known]
    torn = np.minimum((theirs - both) / (whole - own), (own - both) / (whole - theirs))
    return float(np.mean(1.0 - np.maximum(torn, 0.0)))


def _x_log_x(x: Array) -> Floats:
    return x * np.log(x, out=np.zeros_like(x), where=x > 0)
