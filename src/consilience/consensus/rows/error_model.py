"""Clusterings whose errors are independent: how reliable each is, and the probability of every cluster given a row.

p(c | row) ∝ π_c Π_q p_q(y_q | c), by EM from an answer (A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer
error-rates, Applied Statistics 1979). A few hundred objects cannot tell k² errors of every clustering apart, and EM would fit noise.
So every p_q is drawn toward one number per clustering, its reliability: the share r_q of its labels that stand for their object's
cluster; the others are spread as the clustering spreads its labels. The tables have the weight of `prior` objects per cluster, so they
speak for themselves where clusters have thousands of objects.

**Which label stands for which cluster.** One to one, by most objects in common; labels or clusters left over go to where they have most.
"""

from itertools import pairwise

import numpy as np
from scipy.optimize import linear_sum_assignment

from consilience._types import Array, Floats, Ints
from consilience.consensus.rows.problem import Problem, incidence, sum_over_labels
from consilience.consensus.rows.row_tree import choose_leaves
from consilience.engine.annealing import soft_rows

SAMPLE = 20_000  # safeguard: for time, rows that EM looks at: the error of a share is below .004
CHUNK = 8192  # safeguard: rows whose probabilities stay in the cache while they are worked out
ALIGNED = 10  # safeguard: iterations after which labels keep the clusters that they stand for, so that EM cannot go in circles


def error_posterior(problem: Problem, labels: Array, prior: float = 500.0, max_iter: int = 50) -> tuple[Floats, Floats]:
    """(n_rows, k) probabilities of the clusters given each row, and (n_clusterings,) reliabilities, by EM from labels of the rows."""
    # EM ends when no probability changes by more than .001, or when a cluster would be left without a row. An iteration costs
    # O(rows · clusterings · k), on 20,000 rows at most.
    k, (rows, weights) = int(labels.max()) + 1, choose_leaves(problem, SAMPLE)
    codes, holders = problem.labels[rows], incidence(problem, rows).T.tocsr()
    mass, offsets = problem.label_weights, problem.offsets
    place = np.argsort(np.argsort(np.unique(labels, return_index=True)[1]))  # ties go by the clusters' first rows
    soft = np.eye(k)[place[labels[rows]]]
    stands = np.zeros((len(mass), k), bool)
    for i in range(max_iter):
        counts = holders @ (soft * weights[:, None])
        if i < ALIGNED:
            stands = _stands_for(counts, offsets)
        shares, reliability = _shares(counts, mass, stands, offsets, prior)
        logs = np.log(shares), np.log((weights @ soft + 1) / (weights.sum() + k))
        again = soft_rows(sum_over_labels(codes, offsets, logs[0]) + logs[1])[0]
        change, soft = np.abs(again - soft).max(), again
        if change <= 1e-3 or len(np.unique(soft.argmax(axis=1))) < k:
            break
    of_label, of_cluster, found = logs[0][:, place], logs[1][place], np.empty((problem.n_rows, k))
    for begin in range(0, problem.n_rows, CHUNK):
        some = slice(begin, begin + CHUNK)
        found[some] = soft_rows(sum_over_labels(problem.labels[some], offsets, of_label) + of_cluster)[0]
    return found, reliability


def _stands_for(counts: Floats, offsets: Ints) -> Array:
    """(labels, k) bool: the label and the cluster that stand for each other, from weights of labels × clusters."""
    stands = np.zeros(counts.shape, bool)
    for begin, end in pairwise(offsets):
        part, found = counts[begin:end], stands[begin:end]
        found[linear_sum_assignment(-part)] = True
        for label in np.flatnonzero(~found.any(axis=1)):
            found[label, part[label].argmax()] = True
        for cluster in np.flatnonzero(~found.any(axis=0)):
            found[part[:, cluster].argmax(), cluster] = True
    return stands


def _shares(counts: Floats, mass: Floats, stands: Array, offsets: Ints, prior: float) -> tuple[Floats, Floats]:
    """(labels, k) p(label | cluster), drawn toward one reliability per clustering; and these."""
    starts, widths = offsets[:-1], np.diff(offsets)

    def summed(values: Floats) -> Floats:
        """Over the labels of every clustering, and back to all its labels."""
        return np.repeat(np.add.reduceat(values, starts, axis=0), widths, axis=0)

    right = np.add.reduceat((counts * stands).sum(axis=1), starts)
    reliability = (right + 1) / (np.add.reduceat(counts.sum(axis=1), starts) + 2)
    of_label, spread = np.repeat(reliability, widths)[:, None], mass[:, None] + 1e-9
    inside, outside = spread * stands, spread * ~stands
    expected = of_label * inside / np.maximum(summed(inside), 1e-300)
    expected += (1 - of_label) * outside / np.maximum(summed(outside), 1e-300)
    expected /= summed(expected)  # a clustering of one label has nothing outside
    return (counts + prior * expected) / (summed(counts) + prior), reliability
