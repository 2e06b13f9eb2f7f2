"""One batch pass of co-clustering by its definition: every row to the cluster of its best score, all by the same tables."""

import numpy as np


def batch_pass(counts, rows, columns, n_clusters):
    """New row labels of a dense table of counts; clusters that run empty are refilled by the rows that fit worst."""
    n_columns = columns.max() + 1
    seen = np.array([[row[columns == b].sum() for b in range(n_columns)] for row in counts], float)
    table = np.array([seen[rows == a].sum(axis=0) for a in range(n_clusters)])
    lift = counts[counts > 0].mean() / np.e
    new, fit = rows.copy(), np.empty(len(rows))
    for i, row in enumerate(seen):
        scores = [
            sum(x * (np.log(table[a, b] + lift) - np.log(table[a].sum() + lift)) for b, x in enumerate(row))
            for a in range(n_clusters)
        ]
        best = int(np.argmax(scores))
        if scores[best] > scores[rows[i]] + 1e-12 * abs(scores[rows[i]]):
            new[i] = best
        fit[i] = scores[new[i]]
    for a in range(n_clusters):
        if not (new == a).any():
            for i in np.argsort(fit, kind="stable"):
                if (new == new[i]).sum() > 1:
                    new[i], fit[i] = a, np.inf
                    break
    return new
