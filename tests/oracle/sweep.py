"""The information engine by its definitions: a pass tries every cluster for every row, merging every pair; all from scratch."""

import numpy as np


def tables(rows, view_of, labels, n_clusters):
    """For every view the cluster × column sums, from a dense (objects × columns) array."""
    found = []
    for view in range(view_of.max() + 1):
        columns = rows[:, view_of == view]
        found.append(np.array([columns[labels == c].sum(axis=0) for c in range(n_clusters)]))
    return found


def mutual_information(table):
    joint = table / table.sum()
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / outer[some])).sum())


def entropy(counts):
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())


def quadratic_information(table):
    """Σ_c p(c) Σ_y p(y | c)² − Σ_y p(y)²."""
    joint = table / table.sum()
    clusters = joint.sum(axis=1)
    some = clusters > 0
    return float((joint[some] ** 2 / clusters[some, None]).sum() - (joint.sum(axis=0) ** 2).sum())


def normalized_information(table):
    own, other = entropy(table.sum(axis=1)), entropy(table.sum(axis=0))
    if own < 1e-9 or other < 1e-9:
        return float(own < 1e-9 and other < 1e-9)
    return max(mutual_information(table), 0.0) / np.sqrt(own * other)


KINDS = {"shannon": mutual_information, "quadratic": quadratic_information, "normalized": normalized_information}


def objective_of(rows, view_of, weights, labels, n_clusters, objective):
    """Σ_v w_v · (what the partition keeps of view v); a view without counts says nothing."""
    found = tables(rows, view_of, labels, n_clusters)
    return sum(w * KINDS[objective](table) for w, table in zip(weights, found, strict=True) if table.sum() > 0)


def sweep(
    rows, view_of, weights, labels, order, *, n_clusters, objective, sizes=None, capacity=np.inf, keep_clusters=True
):
    """Move each row, in order, to the best cluster with room; ties and the last row of a cluster stay. Returns the moves."""
    sizes = np.ones(len(rows)) if sizes is None else sizes
    moves = 0
    for i in order:
        old = labels[i]
        if (keep_clusters and np.count_nonzero(labels == old) == 1) or not rows[i].any():
            continue
        best, best_value = old, objective_of(rows, view_of, weights, labels, n_clusters, objective)
        for c in range(n_clusters):
            if c == old or sizes[labels == c].sum() + sizes[i] > capacity:
                continue
            trial = labels.copy()
            trial[i] = c
            value = objective_of(rows, view_of, weights, trial, n_clusters, objective)
            if value > best_value + 1e-11:
                best, best_value = c, value
        moves += best != old
        labels[i] = best
    return moves


# Merging clusters where the least information is lost.


def joined(table, a, b):
    """The table with cluster b's counts in cluster a's place; b keeps a row of zeros."""
    new = table.copy()
    new[a] += new[b]
    new[b] = 0
    return new


def loss(table, a, b):
    return mutual_information(table) - mutual_information(joined(table, a, b))


def numbered(home):
    """Clusters numbered 0 … in the order of their first member."""
    home = [root(home, c) for c in range(len(home))]
    names = {c: i for i, c in enumerate(dict.fromkeys(home))}
    return np.array([names[c] for c in home])


def root(home, c):
    while home[c] != c:
        c = home[c]
    return c


def merge_clusters(table, merges, *, order=None):
    table, k = np.asarray(table, float), len(table)
    home, free, alive = list(range(k)), set(range(k)), set(range(k))
    if order is None:
        for _ in range(merges):
            a, b = min(((a, b) for a in alive for b in alive if a < b), key=lambda pair: loss(table, *pair))
            table = joined(table, a, b)
            home[b] = a
            alive.remove(b)
        return numbered(home), len(alive)
    for a in order:
        if merges == 0 or a not in free or len(free) < 2:
            continue
        free.remove(a)
        b = min(free, key=lambda b: loss(table, a, b))
        free.remove(b)
        home[b] = a
        alive.remove(b)
        merges -= 1
    return numbered(home), len(alive)
