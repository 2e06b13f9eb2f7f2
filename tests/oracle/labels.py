"""Rows of labels: collapsed, colored, counted against clusters, scored, voted on, by their definitions."""

import numpy as np


def signatures(labels):
    """First object of each distinct row, every object's row, and the counts; rows in the order they appear."""
    _, first, inverse, count = np.unique(labels, axis=0, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)  # from sorted rows to rows as they appear
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse.ravel()], count[order]


def distinct_rows(labels):
    """First object of each distinct row and the counts."""
    first, _, count = signatures(labels)
    return first, count


def find_rows(rows, wanted):
    """The number of each wanted row among distinct rows, −1 where it is none of them."""
    same = (wanted[:, None] == rows).all(axis=2)
    return np.where(same.any(axis=1), same.argmax(axis=1), -1)


def mix(color):
    """The finalizer of splitmix64."""
    color = (color ^ (color >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    color = (color ^ (color >> 27)) * 0x94D049BB133111EB % 2**64
    return color ^ (color >> 31)


def color_rows(labels, offsets, colors, own):
    """Each row's color from its own and those of its labels; for every label, the sum over its rows."""
    rows, sums = [], [0] * len(colors)
    for row, color in zip(labels, own.tolist(), strict=True):
        numbers = (offsets[:-1] + row)[row >= 0]
        rows.append(mix((color + sum(colors[numbers].tolist())) % 2**64))
        for number in numbers:
            sums[number] = (sums[number] + rows[-1]) % 2**64
    return np.array(rows, np.uint64), np.array(sums, np.uint64)


def row_scores(labels, offsets, table, scores):
    for (i, q), label in np.ndenumerate(labels):
        if label >= 0:
            scores[i] += table[offsets[q] + label]


def label_tables(columns, offsets, clusters, n_clusters, weights=None):
    weights = np.ones(columns.shape[1], np.int64) if weights is None else weights
    table = np.zeros((offsets[-1], n_clusters), weights.dtype)
    for q, column in enumerate(columns):
        for i in np.flatnonzero((column >= 0) & (clusters >= 0)):
            table[offsets[q] + column[i], clusters[i]] += weights[i]
    return table


def label_votes(columns, offsets, owner, n_clusters):
    votes = np.zeros((columns.shape[1], n_clusters), int)
    for q, column in enumerate(columns):
        for i in np.flatnonzero(column >= 0):
            votes[i, owner[offsets[q] + column[i]]] += 1
    return votes
