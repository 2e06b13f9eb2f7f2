"""How far to trust each cluster of a consensus, and each clustering that it was made of.

Everything is read off tables of labels × clusters. The **votes** of an object are those of :mod:`consilience.consensus.confidence`: a
label speaks for the cluster that holds most of its objects.

**Reliability** of a clustering is measured against what the *others* say, since the consensus contains the clustering itself: every
object goes to the cluster that most votes of the other clusterings speak for. Of the pairs of objects that the finer of the two puts
together, the share that the other puts together too, adjusted for chance (the larger of the two adjusted Wallace coefficients,
Severiano et al. 2011): 1 if one refines the other, 0 on average for shuffled labels. So a clustering is not thought less of for being
finer or coarser than the consensus, as it would be by the adjusted Rand index, which asks for the same number of clusters too.

**To drop** is a clustering that agrees with the others no better than shuffled labels would (by 3 standard deviations of the shuffles,
exact), or an outlier: less than half as reliable as the median, and more than 3 robust standard deviations (1.4826 median absolute
deviations) below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from consilience import _kernels
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.cluster_weights import cluster_weights
from consilience.consensus.confidence import floating
from consilience.consensus.distinct_rows import Problem, sample_evenly

OBJECTS = 100_000  # that the clusterings are judged by, at most
LABELS = 10**7  # that are looked at for it; clusterings × objects, but not below 2,000 objects
READ = 10**8  # labels that are read for the weights
JUDGES = 20  # clusterings by which a cluster is judged at least, where there are so many
FEWEST = 2000
DEVIATIONS = 3.0
FEWEST_MEMBERS = 5  # clusterings of which some can be judged by the others


def trust_tables(
    problem: Problem,
    columns: Labels,
    labels: Array,
    confidence: Floats,
    support: Floats,
    names: Sequence[Any] | None = None,
) -> dict[str, pd.DataFrame]:
    """Both tables, as the fields `clusters` and `members` of a :class:`Consensus`: the labels are counted once."""
    columns = np.ascontiguousarray(columns)
    tables = _tables(columns, labels)
    return {
        "clusters": cluster_table(columns, labels, confidence, support, tables=tables),
        "members": member_table(problem, columns, labels, names, tables=tables),
    }


def cluster_table(
    columns: Labels, labels: Array, confidence: Floats, support: Floats, *, tables: Sequence[Floats] | None = None
) -> pd.DataFrame:
    """How far to trust each cluster; a row per cluster.

    Parameters
    ----------
    columns : (n_clusterings, n_objects) int array
        Codes of the clusterings' labels, −1 missing.
    labels : (n_objects,) int array
        Clusters 0 … k − 1 of the consensus, −1 for none.
    confidence, support : (n_objects,) arrays
    tables : list of (k, k_q) arrays, optional
        Of every clustering, the number of objects of each cluster with each label, where they are known.

    Returns
    -------
    DataFrame
        `cluster`; `size`, and `share` of the objects with a cluster; `confidence` and `support`, means of its objects; `floaters`,
        how many of them float; `recurrence`, the mean over clusterings of the largest Jaccard index of the cluster with one of
        theirs, on the objects labeled in both (NaN if none labels any of its objects); `nearest`, the cluster that most other
        votes of its objects speak for (−1 if none do), and `confused`, the share of all its votes that do.

    Notes
    -----
    Cost O(objects · clusterings): a tenth of a second for 10 clusterings of a million objects.

    Examples
    --------
    >>> import consilience as cs
    >>> found = cs.combine([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]], 2)
    >>> found.clusters[["cluster", "size", "support", "recurrence", "nearest", "confused"]].round(3)
       cluster  size  support  recurrence  nearest  confused
    0        0     3    0.889       0.889        1     0.111
    1        1     3    1.000       0.917       -1     0.000
    """
    tables = _tables(columns, labels) if tables is None else tables
    k = len(tables[0])
    votes, recurrence, judged = np.zeros((k, k)), np.zeros(k), np.zeros(k)
    for table in tables:
        np.add.at(votes.T, table.argmax(axis=0), table.T)
        mine, theirs = table.sum(axis=1, keepdims=True), table.sum(axis=0)
        recurrence += np.max(table / np.maximum(mine + theirs - table, 1), axis=1, initial=0)
        judged += mine[:, 0] > 0
    total = np.maximum(votes.sum(axis=1), 1)
    np.fill_diagonal(votes, 0)
    most = votes.max(axis=1, initial=0)
    return cluster_means(labels, confidence, support).assign(
        recurrence=np.where(judged > 0, recurrence / np.maximum(judged, 1), np.nan),
        nearest=np.where(most > 0, votes.argmax(axis=1) if k else 0, -1),
        confused=most / total,
    )


def cluster_means(labels: Array, confidence: Floats, support: Floats) -> pd.DataFrame:
    """The part of :func:`cluster_table` that needs no clusterings: `cluster`, `size`, `share`, `confidence`, `support`, `floaters`."""
    there = labels >= 0
    k = int(labels.max(initial=-1)) + 1
    sizes = np.bincount(labels[there], minlength=k)
    return pd.DataFrame(
        {
            "cluster": np.arange(k),
            "size": sizes,
            "share": sizes / max(int(there.sum()), 1),
            "confidence": np.bincount(labels[there], confidence[there], minlength=k) / np.maximum(sizes, 1),
            "support": np.bincount(labels[there], support[there], minlength=k) / np.maximum(sizes, 1),
            "floaters": np.bincount(labels[floating(labels, support)], minlength=k),
        }
    )


def member_table(
    problem: Problem,
    columns: Labels,
    labels: Array,
    names: Sequence[Any] | None = None,
    *,
    tables: Sequence[Floats] | None = None,
) -> pd.DataFrame:
    """How far to trust each clustering, and which to drop; a row per clustering, in their order.

    Parameters
    ----------
    problem : Problem
        The distinct rows of the clusterings.
    columns : (n_clusterings, n_objects) int array
        Codes of the clusterings' labels, −1 missing.
    labels : (n_objects,) int array
        Clusters 0 … k − 1 of the consensus, −1 for none.
    names : sequence, optional
        Of the clusterings; their numbers by default.
    tables : as in :func:`cluster_table`

    Returns
    -------
    DataFrame
        `clustering`, its name; `n_clusters`; `coverage`, the share of the objects that it labels; `reliability`, how well it agrees
        with what the others say (see the module; 0 if it puts all objects together or all apart, NaN for the only clustering and if
        the others say nothing); `weight`, how much it says: the mean, over its objects, of the weight of their cluster, exp(−H / 0.4)
        for H the mean entropy in bits of the clusterings' labels inside it (:mod:`consilience.consensus.cluster_weights`);
        `kept`, the share of its pairs of objects that are together in the consensus (NaN without pairs); `drop`, whether it is
        better left out.

    Notes
    -----
    Cost O(objects · clusterings). Reliability is judged by 100,000 objects at most, evenly taken from the rows in their canonical
    order, fewer where there are more than 100 clusterings; of many clusterings, weights by some of the others, at least 20.

    Examples
    --------
    >>> import consilience as cs
    >>> runs = [[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]] * 3 + [[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5], [0, 1, 2] * 4]
    >>> cs.combine(runs, 3).members.round(3)
      clustering  n_clusters  coverage  reliability  weight   kept   drop
    0          0           3       1.0        1.000   0.287  1.000  False
    1          1           3       1.0        1.000   0.287  1.000  False
    2          2           3       1.0        1.000   0.287  1.000  False
    3          3           6       1.0        1.000   0.607  1.000  False
    4          4           3       1.0       -0.146   0.039  0.167   True
    """
    tables = _tables(columns, labels) if tables is None else tables
    m, k = len(columns), len(tables[0])
    reliability, chance = np.full(m, np.nan), np.zeros(m, bool)
    most = max(FEWEST, min(OBJECTS, LABELS // m))
    some = slice(None) if columns.shape[1] <= most else problem.first[sample_evenly(problem, most)]
    if m > 1 and k > 1:
        owners = [table.argmax(axis=0) for table in tables]
        for q, table in enumerate(_tables_with_others(columns[:, some], labels[some], owners, k)):
            reliability[q], chance[q] = _adjusted_wallace(table)
    middle = float(np.nanmedian(reliability)) if not np.isnan(reliability).all() else np.nan
    deviation = 1.4826 * float(np.nanmedian(np.abs(reliability - middle))) if not np.isnan(middle) else np.nan
    # a few clusterings do not say which of them is wrong, and most of them cannot be
    outlier = (reliability < middle / 2) & (reliability < middle - DEVIATIONS * deviation)
    drop = (chance | outlier) & (reliability < 0.5) & (m >= FEWEST_MEMBERS)
    return pd.DataFrame(
        {
            "clustering": np.arange(m) if names is None else np.asarray(names),
            "n_clusters": [np.count_nonzero(np.bincount(column + 1)[1:]) for column in columns],
            "coverage": (columns >= 0).mean(axis=1),
            "reliability": reliability,
            "weight": _weights(problem),
            "kept": [_kept(table) for table in tables],
            "drop": drop if 2 * drop.sum() <= m else np.zeros(m, bool),
        }
    )


def _offsets(columns: Labels) -> Ints:
    return np.concatenate([[0], np.cumsum(columns.max(axis=1).astype(np.int64) + 1)])


def _tables(columns: Labels, labels: Array) -> list[Floats]:
    """Of every clustering, the number of objects of each cluster with each label: k × k_q."""
    offsets = _offsets(columns)
    table = _kernels.label_tables(columns, offsets, labels, int(labels.max(initial=-1)) + 1).astype(float)
    return [part.T for part in np.split(table, offsets[1:-1])]


def _tables_with_others(columns: Labels, labels: Array, owners: Sequence[Ints], k: int) -> Iterator[Floats]:
    """The tables against what the other clusterings say: the cluster of most votes without the clustering's own."""
    offsets = np.concatenate([[0], np.cumsum([len(owner) for owner in owners])])
    speaks_for = np.concatenate(owners).astype(np.int32)
    votes = _kernels.label_votes(columns, offsets, speaks_for, k)
    everyone, total = np.arange(len(votes)), votes.sum(axis=1)
    first = votes.argmax(axis=1)
    most = votes[everyone, first]
    votes[everyone, first] = -1
    second = votes.argmax(axis=1)
    lead = (
        most - votes[everyone, second]
    )  # without one vote of the first: ahead, or a tie that goes to the larger cluster
    without = np.where((lead > 1) | ((lead == 1) & (first < second)), first, second)
    for column, owner in zip(columns, owners, strict=True):
        known = (column >= 0) & (total > 1) & (labels >= 0)
        label, leader = column[known], first[known]
        others = np.where(owner[label] == leader, without[known], leader)
        counts = np.bincount(others * len(owner) + label, minlength=k * len(owner))
        yield counts.reshape(k, len(owner)).astype(float)


def _kept(table: Floats) -> float:
    """Of the pairs that a clustering puts together, the share that the consensus does."""
    pairs = _pairs(table.sum(axis=0))
    return _pairs(table) / pairs if pairs else np.nan


def _pairs(sizes: Floats) -> float:
    """Ordered pairs of objects in the same cell."""
    return float((sizes * (sizes - 1)).sum())


def _adjusted_wallace(table: Floats) -> tuple[float, bool]:
    """(joint − expected) / (fewer − expected) over pairs, for what the others say × a clustering; and whether it is chance."""
    others, own, n = table.sum(axis=1), table.sum(axis=0), table.sum()
    if n < 2 or np.count_nonzero(others) < 2:
        return np.nan, False
    joint, a, b, pairs = _pairs(table), _pairs(others), _pairs(own), n * (n - 1)
    expected = a * b / pairs
    if not expected < min(a, b):
        return 0.0, True  # all together or all apart: it says nothing
    value = (joint - expected) / (min(a, b) - expected)
    limit = DEVIATIONS * np.sqrt(_variance(others, own, n)) if n > 3 else 0.0
    return float(value), bool(joint - expected <= limit)


def _variance(a: Floats, b: Floats, n: float) -> float:
    """Of the pairs together in both, if the labels of one are shuffled (Mantel 1967)."""
    (pairs_a, paths_a), (pairs_b, paths_b) = ((_pairs(x), float((x * (x - 1) * (x - 2)).sum())) for x in (a, b))
    apart_a, apart_b = (p * p - 2 * p - 4 * t for p, t in ((pairs_a, paths_a), (pairs_b, paths_b)))
    two = n * (n - 1)
    square = 2 * pairs_a * pairs_b / two + 4 * paths_a * paths_b / (two * (n - 2))
    square += apart_a * apart_b / (two * (n - 2) * (n - 3))
    return max(square - (pairs_a * pairs_b / two) ** 2, 0.0)


def _weights(problem: Problem) -> Floats:
    """The mean weight of each clustering's clusters, by their sizes; NaN where it labels nothing."""
    r, some = problem.n_clusterings, problem
    most = max(FEWEST, min(OBJECTS, READ // (r * min(r, JUDGES))))
    if problem.n_rows > most:
        rows, counts = np.unique(sample_evenly(problem, most), return_counts=True)
        labels = np.ascontiguousarray(problem.labels[rows])
        some = replace(problem, labels=labels, weights=counts.astype(float), inverse=np.arange(len(rows)), given=None)
    worth, numbers = cluster_weights(some, work=READ), some.hyperedges()[0]
    found = np.full(r if problem.given is None else problem.given.n_clusterings, np.nan)
    for at, column in zip(np.arange(r) if problem.given is None else problem.given.columns, numbers.T, strict=True):
        known = column >= 0
        if known.any():
            found[at] = np.average(worth[column[known]], weights=some.weights[known])
    return found
