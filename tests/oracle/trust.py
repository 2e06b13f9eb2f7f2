"""How far to trust clusters and clusterings, by their plain definitions: loops over objects and pairs."""

from itertools import permutations

import numpy as np

from oracle.walk import cluster_weights, clusters_of


def owners(columns, labels, k, rank):
    """For every clustering, the cluster that holds most objects of each label.

    Ties go to the cluster with more labels, then to the one with purer ones, then to that of lower rank.
    """
    found = []
    for column in columns:
        counts = {label: np.zeros(k, int) for label in set(column[column >= 0].tolist())}
        for label, cluster in zip(column, labels, strict=True):
            if label >= 0 and cluster >= 0:
                counts[label][cluster] += 1
        found.append(counts)
    everything = np.array([count for counts in found for count in counts.values()])
    labeled, pure = everything.sum(axis=0), (everything**2).sum(axis=0)
    return [
        {
            label: min(range(k), key=lambda c: (-count[c], -labeled[c], -pure[c], rank[c]))
            for label, count in counts.items()
        }
        for counts in found
    ]


def votes(columns, labels, k, rank):
    """For every object, (clustering, cluster) of each of its votes."""
    speaks = owners(columns, labels, k, rank)
    return [
        [(q, speaks[q][column[i]]) for q, column in enumerate(columns) if column[i] >= 0] for i in range(len(labels))
    ]


def recurrence(columns, labels, cluster):
    """Mean over clusterings of the largest Jaccard index with one of their clusters, on objects labeled in both."""
    best = []
    for column in columns:
        both = (column >= 0) & (labels >= 0)
        mine = {i for i in np.flatnonzero(both) if labels[i] == cluster}
        if mine:
            theirs = [{i for i in np.flatnonzero(both) if column[i] == label} for label in set(column[both].tolist())]
            best.append(max(len(mine & other) / len(mine | other) for other in theirs))
    return float(np.mean(best)) if best else np.nan


def confused(columns, labels, cluster, k, rank):
    """The other cluster that most votes of a cluster's objects speak for, and their share of its votes."""
    count = np.zeros(k)
    for i, cast in enumerate(votes(columns, labels, k, rank)):
        for _, to in cast if labels[i] == cluster else []:
            count[to] += 1
    total, count[cluster] = count.sum(), 0
    nearest = min(range(k), key=lambda c: (-count[c], rank[c]))
    return (nearest, count.max() / total) if count.any() else (-1, 0.0)


def what_others_say(columns, labels, k, without, rank):
    """The cluster of most votes of the other clusterings; −1 where there is none."""
    found = np.full(len(labels), -1)
    for i, cast in enumerate(votes(columns, labels, k, rank)):
        count = np.bincount([to for q, to in cast if q != without], minlength=k)
        if count.any() and labels[i] >= 0:
            found[i] = min(range(k), key=lambda c, count=count: (-count[c], rank[c]))
    return found


def pairs_together(a, b):
    """Ordered pairs of objects that are together in both."""
    return sum(a[i] == a[j] and b[i] == b[j] for i in range(len(a)) for j in range(len(a)) if i != j)


def adjusted_wallace(a, b):
    """The larger of the two adjusted Wallace coefficients of two vectors without missing labels."""
    pairs = len(a) * (len(a) - 1)
    both, one, other = pairs_together(a, b), pairs_together(a, a), pairs_together(b, b)
    coefficients = [
        (both / own - rest / pairs) / (1 - rest / pairs) for own, rest in ((one, other), (other, one)) if own
    ]
    return float(max(coefficients))


def shuffled_pairs(a, b):
    """Pairs together in both for every order of the second."""
    return np.array([pairs_together(a, np.asarray(order)) for order in permutations(b)])


def weight(columns, number):
    """Mean over a clustering's objects of the weight of their cluster."""
    clusters, weights = clusters_of(columns.T), cluster_weights(columns.T, np.ones(len(columns.T)))
    own = [(one.sum(), weight) for (q, one), weight in zip(clusters, weights, strict=True) if q == number]
    return float(np.average([weight for _, weight in own], weights=[size for size, _ in own]))
