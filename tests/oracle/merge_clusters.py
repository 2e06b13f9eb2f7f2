"""Merging clusters where the least information is lost, by its definition: every pair's loss from scratch."""

import numpy as np

from oracle.sweep import mutual_information


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
