"""ClusterWalk by definition: every object and every copy of a clustering by itself, a column once more for every copy."""

import numpy as np


def clusters_of(labels):
    """The clustering and the objects of every cluster, clustering by clustering."""
    return [(q, column == label) for q, column in enumerate(labels.T) for label in np.unique(column[column >= 0])]


def cluster_weights(labels, weights, theta=0.4):
    """exp(−H / θ): H the mean entropy, in bits, of the labels of a cluster, over the clusterings that label any of it."""
    found = []
    for _, members in clusters_of(labels):
        bits = []
        for column in labels.T:
            inside = members & (column >= 0)
            if inside.any():
                share = np.bincount(column[inside], weights[inside]) / weights[inside].sum()
                bits.append(-sum(p * np.log2(p) for p in share if p > 0))
        found.append(np.exp(-np.mean(bits) / theta))
    return np.array(found)


def jaccard(labels, weights):
    """Of all pairs of clusters, on the objects that both clusterings label."""
    clusters = clusters_of(labels)
    found = np.zeros((len(clusters), len(clusters)))
    for i, (q, one) in enumerate(clusters):
        for j, (p, two) in enumerate(clusters):
            known = (labels[:, q] >= 0) & (labels[:, p] >= 0)
            union = weights[(one | two) & known].sum()
            found[i, j] = weights[one & two].sum() / union if union else 0.0
    return found


def likeness(labels, weights, theta=0.4, steps=2):
    """Of all pairs of clusters: the cosine of where walks end, times the root of the product of the weights."""
    weight = cluster_weights(labels, weights, theta)
    step = jaccard(labels, weights) * weight
    step /= step.sum(axis=1, keepdims=True)
    ends = np.linalg.matrix_power(step, steps)
    ends /= np.linalg.norm(ends, axis=1, keepdims=True)
    return (ends @ ends.T) * np.sqrt(np.outer(weight, weight))


def shared_similarity(labels, weights, theta=0.4, steps=2):
    """Of all pairs of objects: the sum over the clusterings that label both of the likeness of their clusters, and their number."""
    clusters, alike = clusters_of(labels), likeness(labels, weights, theta, steps)
    total, both = np.zeros((len(labels),) * 2), np.zeros((len(labels),) * 2)
    for i, (q, one) in enumerate(clusters):
        for j, (p, two) in enumerate(clusters):
            if q == p:
                total[np.ix_(one, two)] += alike[i, j]
                both[np.ix_(one, two)] += 1
    return total, both


def shrunk(total, both, weights, r):
    """Mean likeness of all pairs, one clustering more with the mean of all pairs counted where labels are missing."""
    if np.allclose(both, r):
        return total / both
    pairs = np.outer(weights, weights)
    return (total + (pairs * total).sum() / (pairs * both).sum()) / (both + 1)


def group_similarity(total, both, groups, others, weights):
    """Of groups of objects with other groups: the mean of the likeness over all objects and clusterings that label both; else 0."""
    mine = weights * (groups == np.arange(groups.max() + 1)[:, None])
    theirs = weights * (others == np.arange(others.max() + 1)[:, None])
    shared = mine @ both @ theirs.T
    return np.divide(mine @ total @ theirs.T, shared, out=np.zeros_like(shared), where=shared > 1e-12)


def average_linkage(alike, mass, k):
    """Merge the two groups with the greatest mean similarity until k are left; and by how much the choice was ever clear."""
    groups = [[i] for i in range(len(alike))]
    clear = np.inf
    while len(groups) > k:
        means = {}
        for a in range(len(groups)):
            for b in range(a):
                one, two = groups[a], groups[b]
                pairs = np.outer(mass[one], mass[two])
                means[a, b] = (alike[np.ix_(one, two)] * pairs).sum() / pairs.sum()
        first, *rest = sorted(means, key=means.__getitem__, reverse=True)
        if rest:
            clear = min(clear, means[first] - means[rest[0]])
        groups[first[1]] += groups.pop(first[0])
    labels = np.zeros(len(alike), np.int64)
    for c, group in enumerate(groups):
        labels[group] = c
    return labels, clear


def cluster_walk(labels, weights, k, theta=0.4, steps=2, rounds=10):
    """Clusters of the objects, their mean similarity with every cluster, and by how much every choice was clear.

    Objects alike in all labels are never parted: the tree is of the distinct rows, as heavy as their objects are.
    """
    _, first, rows = np.unique(labels, axis=0, return_index=True, return_inverse=True)
    rows = rows.reshape(-1)
    total, both = shared_similarity(labels, weights, theta, steps)
    alike = shrunk(total, both, weights, labels.shape[1])[np.ix_(first, first)]
    tree, clear = average_linkage(alike, np.bincount(rows, weights), k)
    found, everyone = tree[rows], np.arange(len(labels))
    scores = group_similarity(total, both, everyone, found, weights)
    for _ in range(rounds):
        top = np.sort(scores, axis=1)
        clear = min(clear, float((top[:, -1] - top[:, -2]).min()))
        best = scores.argmax(axis=1)
        if len(np.unique(best)) < k or (best == found).all():
            break
        found = best
        scores = group_similarity(total, both, everyone, found, weights)
    return found, scores, clear
