"""Scores of rows of labels, by their definition."""

import numpy as np


def row_scores(labels, offsets, table, scores):
    for i, row in enumerate(labels):
        for q, label in enumerate(row):
            if label >= 0:
                scores[i] += np.asarray(table)[offsets[q] + label]
