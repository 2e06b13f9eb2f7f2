"""The chance that an independent ensemble of the same kind keeps an object where it is.

**Resamples.** The clusterings are drawn with replacement, as many as there are, and in every other resample half of them without; every
draw is combined anew: its weights, its walk, its tree, its clusters (:mod:`consilience.consensus.walk`). Clusters are matched one to one
with those of the answer.

**Estimate.** q_c, the share of resamples that put an object into cluster c. An independent ensemble agrees with the answer with a
probability between two estimates: q of the answer's own cluster, too high since the answer was made of the very clusterings that are
resampled, and Σ_c q_c², the agreement of two resamples, too low since both have the noise of resampling. The confidence is their
mean. On label pools of ten real data sets it is what happens in a second, disjoint draw (docs/pools.md).

Trees are built on up to 500 groups of rows that the tree of all clusterings keeps together longest; every row then joins by itself.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from consilience._random import stream
from consilience._types import Array, Floats, Ints
from consilience.consensus.cluster_similarity import Groups, Overlaps, nearest_clusters
from consilience.consensus.distinct_rows import Problem
from consilience.consensus.linkage import cut_tree, weighted_linkage
from consilience.consensus.row_tree import LEAVES, choose_leaves, cut_clusters, leaf_tree, narrowed

RESAMPLES = 20
GROUPS = 500
CLUSTERS = 1500  # of all clusterings together, that are resampled
CLUSTERINGS = 30  # that are resampled at least, where there are too many objects for all
ROUNDS = 4  # in which rows join the clusters of a resample
WORK = 2e9  # labels × clusters that are looked at, about


def resampled_shares(problem: Problem, labels: Array, seed: int) -> Floats:
    """(n_rows, k) share of the resamples that put a row into each cluster of an answer.

    Where a row went to a cluster that matches none of the answer's, its shares sum to less than 1.
    """
    k = int(labels.max()) + 1
    time = max(CLUSTERINGS, WORK / (problem.n_rows * k * RESAMPLES))
    narrow = narrowed(problem, int(min(CLUSTERS, time * problem.sizes.mean())))
    overlaps = Overlaps.of(narrow)
    leaves, weights = choose_leaves(narrow, LEAVES, seed)
    some = replace(
        narrow, labels=np.ascontiguousarray(narrow.labels[leaves]), weights=weights, inverse=np.arange(len(leaves))
    )
    groups = _groups(some, overlaps, k)
    items = Groups.of(some, groups)
    n_items = len(items.mass)
    found, rows = np.zeros((narrow.n_rows, k)), np.arange(narrow.n_rows)
    for b in range(RESAMPLES):
        similarity = overlaps.similarity(_copies(narrow.n_clusterings, seed, b))
        alike = similarity.of_groups(items).astype(float)
        distances = alike.max() - alike
        np.fill_diagonal(distances, 0.0)
        again = cut_clusters(weighted_linkage(distances, items.mass), items.mass, min(k, n_items))[groups]
        again, _ = nearest_clusters(some, similarity, again, min(k, n_items), ROUNDS)
        if len(leaves) < narrow.n_rows:
            again = similarity.to_clusters(some, again, k, narrow.labels).argmax(axis=1)
        place = matched(labels, again, narrow.weights, k)[again]
        met = place >= 0
        found[rows[met], place[met]] += 1
    return found / RESAMPLES


def _copies(m: int, seed: int, b: int) -> Floats:
    """How often each clustering counts in a resample: a bootstrap, or half of them."""
    rng = stream(seed, "consensus.resamples", b)
    drawn = rng.permutation(m)[: -(-m // 2)] if b % 2 else rng.integers(0, m, m)
    return np.bincount(drawn, minlength=m).astype(float)


def _groups(problem: Problem, overlaps: Overlaps, k: int) -> Ints:
    """Up to GROUPS groups of rows: the rows themselves, or clusters of the tree."""
    everyone = np.arange(problem.n_rows)
    if problem.n_rows <= GROUPS:
        return everyone
    return cut_tree(leaf_tree(problem, overlaps.similarity(), everyone, problem.weights), max(GROUPS, k))


def matched(labels: Array, others: Array, weights: Floats, k: int) -> Ints:
    """The cluster of `labels` that each cluster of `others` is matched with, one to one, by most weight in common; −1 for none."""
    table = np.zeros((k, int(others.max()) + 1))
    np.add.at(table, (labels, others), weights)
    mine, theirs = linear_sum_assignment(-table)
    place = np.full(table.shape[1], -1)
    place[theirs] = mine
    return place


def resampled_confidence(shares: Floats, labels: Array) -> Floats:
    """(n_rows,) the mean of the own cluster's share and of the agreement of two resamples."""
    own = shares[np.arange(len(labels)), labels]
    return np.asarray((own + (shares**2).sum(axis=1)) / 2)
