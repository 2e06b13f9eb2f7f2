"""Votes of the clusterings for clusters, by their definition."""

import numpy as np


def label_votes(columns, offsets, owner, n_clusters):
    votes = np.zeros((columns.shape[1], n_clusters), int)
    for q, column in enumerate(columns):
        for i in np.flatnonzero(column >= 0):
            votes[i, owner[offsets[q] + column[i]]] += 1
    return votes
