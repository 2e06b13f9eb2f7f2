"""Confidence where errors are correlated: the clusterings are resampled, and every resample is combined anew.

**Resamples.** The clusterings are drawn with replacement, as many as there are, and in every other resample half of them without. Each
draw has its own weights, walk, tree and clusters (:mod:`consilience.consensus.methods.walk`), matched one to one with those of the
answer. Leiden runs are spread evenly over their numbers of clusters (`place` in `info`): there, clusterings are exchanged for others of
about as many clusters, as an independent ensemble of the kind would have them. Evidence accumulation is resampled by itself.

**Estimate.** q_c is the share of resamples that put an object into cluster c. An independent ensemble agrees with the answer with a
probability between q of the answer's own cluster, too high since the answer was made of the very clusterings that are resampled, and
Σ_c q_c², the agreement of two resamples, too low since both have the noise of resampling. The confidence is their mean. On label pools
of ten real data sets it is what happens in a second, disjoint draw (docs/pools.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from joblib import delayed
from scipy.optimize import linear_sum_assignment

from consilience._kernels import row_distances
from consilience._run.parallel import workers
from consilience._run.random import stream
from consilience._types import Array, Floats, Ints
from consilience.consensus.rows.cluster_similarity import Groups, nearest_clusters
from consilience.consensus.rows.problem import Problem
from consilience.consensus.rows.row_tree import (
    LEAVES,
    RowTree,
    choose_leaves,
    cut_clusters,
    cut_tree,
    mean_association,
    narrowed,
    row_tree,
    similarity_tree,
    weighted_linkage,
)

RESAMPLES = 20  # of which a share is known to .1
ALIKE = 6  # clusterings of about as many clusters that are exchanged for one another in even ensembles
GROUPS = 500  # safeguard: for time, groups of rows that a tree is built on
EVIDENCE = 700  # safeguard: for time, rows that a tree of co-association is built on
CLUSTERS = 1500  # safeguard: for time, of all clusterings together, that are resampled
CLUSTERINGS = 30  # safeguard: for time, that are resampled at least, where there are too many objects for all
ROUNDS = 4  # safeguard: for time, rounds in which rows join the clusters of a resample
WORK = 2e9  # safeguard: for time, labels × clusters that are looked at, about


def resampled_shares(problem: Problem, labels: Array, seed: int, kind: str = "walk") -> Floats:
    """(n_rows, k) share of the resamples, of those that label a row, that put it into each cluster of an answer.

    Shares sum to less than 1 where a row went to a cluster that matches none of the answer's. `kind` is "walk" or "association".
    """
    k = int(labels.max()) + 1
    affordable = max(CLUSTERINGS, WORK / (problem.n_rows * k * RESAMPLES))
    narrow = narrowed(problem, int(min(CLUSTERS, affordable * problem.sizes.mean())))
    combine_again = (_by_walk if kind == "walk" else _by_association)(narrow, k)
    found, rows, judged = np.zeros((narrow.n_rows, k)), np.arange(narrow.n_rows), np.zeros(narrow.n_rows)
    first = np.full(k, narrow.n_rows)
    np.minimum.at(first, labels, rows)
    order = np.argsort(first)  # ties of matches go by the clusters' first rows, however they are numbered
    mine = np.argsort(order)[labels]
    drawn = [_copies(narrow.n_clusterings, seed, b, neighbors_of(narrow)) for b in range(RESAMPLES)]
    answers = workers(None, lazily=True)(delayed(combine_again)(copies) for copies in drawn)
    for copies, again in zip(drawn, answers, strict=True):
        place = matched(mine, again, narrow.weights, k)[again]
        seen = (narrow.labels[:, copies > 0] >= 0).any(axis=1)
        met = (place >= 0) & seen
        found[rows[met], order[place[met]]] += 1
        judged += seen
    return np.asarray(found / np.maximum(judged, 1)[:, None])


def _copies(m: int, seed: int, b: int, groups: list[Ints] | None = None) -> Floats:
    """How often each clustering counts in a resample, of each group as many as it has."""
    rng = stream(seed, "consensus.resamples", b)
    if groups is None or len(groups) == 1:
        drawn = rng.permutation(m)[: -(-m // 2)] if b % 2 else rng.integers(0, m, m)
    else:
        # halves of odd groups are rounded up and down by turns
        halves = [(len(group) + i % 2) // 2 for i, group in enumerate(groups)]
        parts = [
            group[rng.permutation(len(group))[:half] if b % 2 else rng.integers(0, len(group), len(group))]
            for group, half in zip(groups, halves, strict=True)
        ]
        drawn = np.concatenate(parts)
    return np.bincount(drawn, minlength=m).astype(float)


def neighbors_of(problem: Problem) -> list[Ints] | None:
    """Groups of about six clusterings with neighboring numbers of clusters, where they are spread evenly over these; else None."""
    if not problem.even:
        return None
    m = problem.n_clusterings
    return np.array_split(np.argsort(problem.sizes, kind="stable"), max(1, m // ALIKE))


def _by_walk(problem: Problem, k: int) -> Callable[[Floats], Ints]:
    """Clusters of the rows by how often each clustering counts, as :class:`ClusterWalk` finds them."""
    whole = row_tree(problem, max(LEAVES, k))
    leaves = whole.leaves
    some = _only(problem, leaves, whole.weights)
    groups = _groups(whole, k)
    items = Groups.of(some, groups)

    def again(copies: Floats) -> Ints:
        similarity = whole.overlaps.similarity(copies)
        tree = similarity_tree(similarity.of_groups(items), items.mass)
        labels, _ = nearest_clusters(some, similarity, cut_clusters(tree, items.mass, k)[groups], k, ROUNDS)
        if len(leaves) < problem.n_rows:
            labels = similarity.to_clusters(some, labels, k, problem.labels).argmax(axis=1)
        return labels

    return again


def _by_association(problem: Problem, k: int) -> Callable[[Floats], Ints]:
    """Clusters of the rows by how often each clustering counts, as :class:`EvidenceAccumulation` finds them."""
    leaves, weights = choose_leaves(problem, max(EVIDENCE, k))
    some = _only(problem, leaves, weights)

    def again(copies: Floats) -> Ints:
        used = np.flatnonzero(copies)
        sizes = problem.sizes[used]
        times, offsets = np.repeat(copies[used], sizes), np.concatenate([[0], np.cumsum(sizes)])
        part = replace(some, labels=np.ascontiguousarray(some.labels[:, used]))
        tree = weighted_linkage(row_distances(part.labels.T, offsets, times), weights)
        mine = cut_tree(tree, min(k, len(leaves)))
        if len(leaves) == problem.n_rows:
            return mine
        whole = replace(problem, labels=np.ascontiguousarray(problem.labels[:, used]))
        return np.asarray(mean_association(whole, part, mine, times).argmax(axis=1))

    return again


def _only(problem: Problem, rows: Ints, weights: Floats) -> Problem:
    """The problem of some of the rows, that weigh as told; a cluster that none of them is in keeps its number."""
    labels = np.ascontiguousarray(problem.labels[rows])
    some = Problem(labels, weights, problem.n_clusters, np.arange(len(rows)))
    vars(some)["sizes"] = problem.sizes
    return some


def _groups(tree: RowTree, k: int) -> Ints:
    """Up to GROUPS groups of leaves: the leaves themselves, or clusters of the tree."""
    n, most = len(tree.leaves), max(GROUPS, k)
    return np.arange(n) if n <= most else cut_tree(tree.linkage, most)


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
