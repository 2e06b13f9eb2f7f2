"""How often every label meets every cluster, by its definition."""

import numpy as np


def label_tables(columns, offsets, clusters, n_clusters, weights=None):
    table = np.zeros((offsets[-1], n_clusters))
    for q, column in enumerate(columns):
        for i, label in enumerate(column):
            if label >= 0 and clusters[i] >= 0:
                table[offsets[q] + label, clusters[i]] += 1 if weights is None else weights[i]
    return table
