"""How far to trust each cluster of a consensus, and each clustering that it was made of: docs/consensus.md defines the columns.

Everything is read off tables of labels × clusters, by the weights of the objects: two copies of an object count as an object of weight
2 does, and an object of weight 0 not at all. The votes of an object are those of :mod:`consilience.consensus.trust.confidence`. Ties go to
the heavier cluster, and then by the canonical order of the rows, never by how clusters happen to be numbered. What nothing tells is NaN:
the reliability of an only clustering, `kept` without pairs, `recurrence` of a cluster that none labels; `nearest` is then −1.

Reliability is measured against what the *others* say, since the consensus contains the clustering itself. It is the larger of the two
adjusted Wallace coefficients (Severiano et al. 2011), so that a clustering is not thought less of for being finer or coarser.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from consilience._kernels import x_log_x
from consilience._types import Array, Floats, Ints
from consilience.consensus.rows.cluster_similarity import cluster_weights
from consilience.consensus.rows.problem import Problem, label_tables, sample_evenly
from consilience.consensus.trust.confidence import heaviest_first, owners_of_labels, what_others_say
from consilience.consensus.trust.floaters import floating

OBJECTS = 100_000  # safeguard: for time, objects that the clusterings are judged by, at most
LABELS = 10**7  # safeguard: for time, labels that are looked at for it, but not below 2,000 objects
READ = 10**8  # safeguard: for time, labels that are read for the weights
JUDGES = 20  # safeguard: for time, clusterings by which a cluster is judged at least, where there are so many
FEWEST_OBJECTS = 2000  # safeguard: objects that are enough for reliabilities to differ by .02 at most
DEVIATIONS = 3.0
FEWEST_MEMBERS = 5  # clusterings of which some can be judged by the others


def trust_tables(
    problem: Problem, labels: Array, confidence: Floats, support: Floats, names: Sequence[Any] | None = None
) -> dict[str, Any]:
    """What makes both tables, as the fields `clusters` and `members` of a :class:`Consensus`, which are made when asked for."""
    return {
        "clusters": partial(cluster_table, problem, labels, confidence, support),
        "members": partial(member_table, problem, labels, names),
    }


def cluster_table(problem: Problem, labels: Array, confidence: Floats, support: Floats) -> pd.DataFrame:
    """How far to trust each cluster, from labels, confidence and support of the objects, the same for objects of the same row."""
    own = labels[problem.first]
    order, mine = heaviest_first(problem, own)
    found = confusions(label_tables(problem, mine, len(order)), order)
    shown = (confidence[problem.first], support[problem.first], problem.weights, problem.n_objects_of_rows)
    return cluster_means(own, *shown).assign(**found)


def confusions(tables: Sequence[Floats], order: Ints) -> pd.DataFrame:
    """`recurrence`, `nearest` and `confused` of clusters 0 … k − 1, from weights of clusters × labels, clusters in this order."""
    k = len(order)
    votes, recurrence, judged = np.zeros((k, k)), np.zeros(k), np.zeros(k)
    for table, owner in zip(tables, owners_of_labels(tables), strict=True):
        np.add.at(votes.T, owner, table.T)
        inside, theirs = table.sum(axis=1, keepdims=True), table.sum(axis=0)
        either = inside + theirs - table
        recurrence += np.max(np.divide(table, either, out=np.zeros_like(table), where=either > 0), axis=1, initial=0)
        judged += inside[:, 0] > 0
    total = votes.sum(axis=1)
    np.fill_diagonal(votes, 0)
    most = votes.max(axis=1, initial=0)
    columns = {
        "recurrence": np.where(judged > 0, recurrence / np.maximum(judged, 1), np.nan),
        "nearest": np.where(most > 0, order[votes.argmax(axis=1)] if k else 0, -1),
        "confused": np.divide(most, total, out=np.zeros(k), where=total > 0),
    }
    return pd.DataFrame(columns).iloc[np.argsort(order)].reset_index(drop=True)


def cluster_means(
    labels: Array, confidence: Floats, support: Floats, weights: Floats | None = None, copies: Ints | None = None
) -> pd.DataFrame:
    """The part of :func:`cluster_table` that needs no clusterings; of rows that weigh so much and stand for so many objects, or 1 each."""
    there = labels >= 0
    k = int(labels.max(initial=-1)) + 1
    copies = np.ones(len(labels), np.int64) if copies is None else copies
    weights = copies.astype(float) if weights is None else weights
    mass = np.bincount(labels[there], weights[there], minlength=k)
    weak = floating(labels, support)

    def mean(values: Floats) -> Floats:
        return np.bincount(labels[there], (values * weights)[there], minlength=k) / np.where(mass > 0, mass, 1)

    columns = {
        "cluster": np.arange(k),
        "size": np.bincount(labels[there], copies[there], minlength=k).astype(np.int64),
        "share": mass / max(mass.sum(), 1e-300),
        "confidence": mean(confidence),
        "support": mean(support),
        "floaters": np.bincount(labels[weak], copies[weak], minlength=k).astype(np.int64),
    }
    return pd.DataFrame(columns)


def member_table(problem: Problem, labels: Array, names: Sequence[Any] | None = None) -> pd.DataFrame:
    """How far to trust each clustering, and without which the answer is better; from labels of the objects."""
    # Cost O(rows · clusterings). Reliability is judged by 100,000 objects at most, evenly taken from the rows in their canonical order,
    # fewer where there are more than 100 clusterings; of many clusterings, weights by some of the others, at least 20.
    order, mine = heaviest_first(problem, labels[problem.first])
    tables = label_tables(problem, mine, len(order))
    place, m = _places(problem)
    reliability, without = _reliability(problem, mine, tables)
    clusters, coverage, weight, kept = np.zeros(m, np.int64), np.zeros(m), np.full(m, np.nan), np.full(m, np.nan)
    clusters[place], coverage[place] = problem.sizes, problem.coverage
    own = np.array([_pairs(table.sum(axis=0)) for table in tables])  # the pairs that a clustering puts together
    weight[place] = _weights(problem)
    kept[place] = np.where(own > 0, [_pairs(table) for table in tables] / np.where(own > 0, own, 1), np.nan)
    found = {"clustering": np.arange(m) if names is None else np.asarray(names), "n_clusters": clusters}
    found |= {"coverage": coverage, "reliability": reliability, "weight": weight, "kept": kept}
    return pd.DataFrame(found).assign(better_without=without)


def reliability_of(problem: Problem, labels: Array) -> tuple[Floats, Array]:
    """`reliability` and `better_without` of :func:`member_table`, without the rest of it, in a fraction of its time."""
    order, mine = heaviest_first(problem, labels[problem.first])
    return _reliability(problem, mine, label_tables(problem, mine, len(order)))


def _reliability(problem: Problem, labels: Ints, tables: Sequence[Floats]) -> tuple[Floats, Array]:
    """Of every clustering of the ensemble, by the clusters of the rows, the heaviest first."""
    place, m = _places(problem)
    k, reliability = len(tables[0]), np.full(m, np.nan)
    if m > 1 and k > 1:
        rows, weights = _judging(problem, LABELS // m)
        some, placed, owners = problem.labels[rows], labels[rows] >= 0, owners_of_labels(tables)
        for q, column, others, table in zip(place, some.T, what_others_say(some, owners, k), tables, strict=True):
            known = (column >= 0) & (others >= 0) & placed
            cells = others[known].astype(np.int64) * table.shape[1] + column[known]
            said = np.bincount(cells, weights[known], minlength=table.size).astype(float)
            reliability[q] = _adjusted_wallace(said.reshape(table.shape))
    middle = float(np.nanmedian(reliability)) if not np.isnan(reliability).all() else np.nan
    deviation = 1.4826 * float(np.nanmedian(np.abs(reliability - middle))) if not np.isnan(middle) else np.nan
    # a few clusterings do not say which of them is wrong, and most of them cannot be
    outlier = (reliability < middle / 2) & (reliability < middle - DEVIATIONS * deviation)
    return reliability, outlier & (reliability < 0.5) & (m >= FEWEST_MEMBERS)


def _judging(problem: Problem, affordable: int) -> tuple[Ints, Floats]:
    """Rows by which clusterings are judged, with weights: all, or those of so many objects, evenly taken."""
    most = max(FEWEST_OBJECTS, min(OBJECTS, affordable))
    if problem.n_rows <= most:
        return np.arange(problem.n_rows), problem.weights
    rows, times = np.unique(sample_evenly(problem, most), return_counts=True)
    return rows, times.astype(float)


def _places(problem: Problem) -> tuple[Ints, int]:
    """The clustering of every column, and the number of clusterings: those without labels have no column."""
    if problem.given is None:
        return np.arange(problem.n_clusterings), problem.n_clusterings
    return problem.given.columns, problem.given.n_clusterings


def _pairs(sizes: Floats) -> float:
    """Ordered pairs of objects in the same cell; a cell of less than one object has none."""
    return float((sizes * np.maximum(sizes - 1, 0)).sum())


def _adjusted_wallace(table: Floats) -> float:
    """(joint − expected) / (fewer − expected) over pairs, for what the others say × a clustering."""
    others, n = table.sum(axis=1), table.sum()
    if n < 2 or np.count_nonzero(others) < 2:
        return np.nan
    joint, a, b = _pairs(table), _pairs(others), _pairs(table.sum(axis=0))
    expected = a * b / (n * (n - 1))
    if not expected < min(a, b):
        return 0.0  # all together or all apart: it says nothing
    return float((joint - expected) / (min(a, b) - expected))


def _weights(problem: Problem) -> Floats:
    """(n_clusterings,) the mean weight of each clustering's clusters, by their sizes."""
    r = problem.n_clusterings
    rows, weights = _judging(problem, READ // (r * min(r, JUDGES)))
    some = problem if len(rows) == problem.n_rows else problem.part(rows, weights)
    worth, numbers = cluster_weights(some, work=READ), some.hyperedges
    found = np.full(r, np.nan)
    for q, column in enumerate(numbers.T):
        known = column >= 0
        if known.any():
            found[q] = np.average(worth[column[known]], weights=some.weights[known])
    return found


# Families: sets of clusterings that agree among themselves and have next to nothing in common with the others.
#
# One answer from several families is a compromise that none of them supports, so that people are told before they trust it. Two
# clusterings share what they tell about one another: mutual information beyond what chance gives, as a share of the smaller entropy, so
# that one that refines the other shares all of it, however fine.

# safeguard: for time, clusterings and objects among which families are looked for
FAMILY_SAMPLE, FAMILY_OBJECTS = 60, 1000
FEW_OBJECTS, FEW_SHARED = 20, 0.1  # objects that two clusterings must both have to be judged, and their share
FAMILY_SIZE = 3  # clusterings of a family, and
FAMILY_SHARE = 0.15  # of all
FAMILY_CLUSTERS = 1500  # safeguard: for time, clusters of all that are looked at, about
WITHIN, BETWEEN = 0.5, 0.1  # shared on average inside a family, at least, and by most pairs of two, at most


def shared_information(labels: Array) -> Floats:
    """(m, m) shares, of (n, m) label codes without gaps, −1 missing; 0 by chance, 1 where one refines the other."""
    # Two clusterings are judged by the objects that both have; NaN where these are fewer than 20 or than a tenth of all.
    n = len(labels)
    sizes = np.maximum(labels.max(axis=0) + 1, 1)  # one place also of a clustering without labels
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    rows, columns = np.nonzero(labels >= 0)
    member: Floats = np.zeros((n, int(sizes.sum())), np.float32)
    member[rows, starts[columns] + labels[rows, columns]] = 1
    has = (labels >= 0).astype(np.float32)
    both = np.asarray(has.T @ has, float)
    joint = np.add.reduceat(np.add.reduceat(x_log_x(member.T @ member), starts, axis=0), starts, axis=1)
    own = np.add.reduceat(x_log_x(member.T @ has), starts, axis=0)  # of the row, on objects of both
    ns = np.maximum(both, 1)
    joint, own = np.log(ns) - joint / ns, np.log(ns) - own / ns
    used = np.add.reduceat((member.T @ has > 0).astype(int), starts, axis=0)  # clusters of the row that occur there
    chance = (used - 1) * (used.T - 1) / (2 * ns)  # what independent clusterings of so many objects share on average
    least = np.minimum(own, own.T)
    told = own + own.T - joint
    found = np.where(least > chance, (told - chance) / np.where(least > chance, least - chance, 1), 0.0)
    found = np.where(both >= _enough(n), np.clip(found, 0, 1), np.nan)
    np.fill_diagonal(found, 1.0)
    return found


def _enough(n: int) -> float:
    """Of n objects, how many two clusterings must both have to be judged."""
    return max(min(n, FEW_OBJECTS), FEW_SHARED * n)


def families_of(problem: Problem) -> list[Ints]:
    """The clusterings of every family, the largest first; empty where there are not at least two. Cost O(clusterings)."""
    # Families are found among a few clusterings, evenly taken; every other one joins the family with which it shares at least `WITHIN`
    # on average, or none. Where two of them have too few objects in common, nothing is said.
    m = problem.n_clusterings
    if m < 2 * FAMILY_SIZE:
        return []
    most = int(np.clip(FAMILY_CLUSTERS / problem.sizes.mean(), 4 * FAMILY_SIZE, FAMILY_SAMPLE))
    members = np.unique(np.linspace(0, m - 1, min(m, most)).round().astype(int))
    objects = sample_evenly(problem, int(np.clip(problem.weights.sum().round(), 1, FAMILY_OBJECTS)))
    labels = _codes(problem.labels[np.ix_(objects, members)])
    has = (labels >= 0).sum(axis=0) >= _enough(len(objects))
    members, labels = members[has], labels[:, has]
    if len(members) < 2 * FAMILY_SIZE:
        return []
    shared = shared_information(labels)
    if np.isnan(shared).any():  # pairs that cannot be judged would be taken for unlike or alike
        return []
    distances = squareform(1 - shared, checks=False)
    groups = fcluster(linkage(distances, "average"), 1 - WITHIN, "distance")
    sizes = np.bincount(groups)
    large = [g for g in np.argsort(-sizes, kind="stable") if sizes[g] >= max(FAMILY_SIZE, FAMILY_SHARE * len(members))]
    found: list[Ints] = []
    for group in large:
        mine = np.flatnonzero(groups == group)
        if all(np.median(shared[np.ix_(mine, other)]) <= BETWEEN for other in found):
            found.append(mine)
    if len(found) < 2:
        return []
    joined = [members[one] for one in found]
    others = np.setdiff1d(np.arange(m), members)
    for begin in range(0, len(others), len(members)):
        some = others[begin : begin + len(members)]
        beside = shared_information(np.hstack([labels, _codes(problem.labels[np.ix_(objects, some)])]))
        means = np.nan_to_num([beside[len(members) :, one].mean(axis=1) for one in found])
        best = np.where(means.max(axis=0) >= WITHIN, means.argmax(axis=0), -1)
        joined = [np.concatenate([mine, some[best == f]]) for f, mine in enumerate(joined)]
    given, _ = _places(problem)
    return sorted((np.sort(given[mine]) for mine in joined), key=lambda one: (-len(one), one[0]))


def _codes(labels: Array) -> Array:
    return np.stack([np.unique(np.append(column, -1), return_inverse=True)[1][:-1] - 1 for column in labels.T], axis=1)
