"""Co-association: how often rows stand together with the objects of clusters."""

import numpy as np

from consilience import _kernels
from consilience._types import Floats, Ints
from consilience.consensus.rows.problem import Problem, sum_over_labels


def mean_association(problem: Problem, some: Problem, labels: Ints, label_weights: Floats | None = None) -> Floats:
    """(n_rows, k) mean co-association of every row with the objects of every cluster, whose rows are those of `some`."""
    # The mean is over pairs of labels: what sharing them counts (1 by default), by joint labels. Cost O(rows · clusterings · clusters).
    rows, offsets = problem.labels, problem.offsets
    clusters, k = labels.astype(np.int32), int(labels.max()) + 1
    table = _kernels.label_tables(some.labels.T, offsets, clusters, k, weights=some.exact).astype(float)
    known = np.add.reduceat(table, offsets[:-1], axis=0)
    if rows.min(initial=0) >= 0:
        joint = known.sum(axis=0)[None]
    else:
        joint = sum_over_labels(rows, offsets, np.repeat(known, problem.sizes, axis=0))
    agree = sum_over_labels(rows, offsets, table if label_weights is None else table * label_weights[:, None])
    return np.divide(agree, joint, out=np.zeros_like(agree), where=joint > 0)
