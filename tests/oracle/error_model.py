"""The model of independent errors by definition: one object, clustering, label and cluster at a time."""

from itertools import permutations

import numpy as np


def one_iteration(labels, weights, soft, prior):
    """Probabilities of the clusters given each object after one iteration of EM, and the reliabilities. As many labels as clusters."""
    n, k = soft.shape
    scores = np.array([[np.log((weights @ soft[:, c] + 1) / (weights.sum() + k)) for c in range(k)] for _ in range(n)])
    reliability = []
    for column in labels.T:
        table = np.array([[(weights * soft[:, c])[column == label].sum() for c in range(k)] for label in range(k)])
        mass = np.array([weights[column == label].sum() for label in range(k)])
        best = max(permutations(range(k)), key=lambda order: sum(table[label, order[label]] for label in range(k)))
        stands = {best[label]: label for label in range(k)}
        right = (sum(table[stands[c], c] for c in range(k)) + 1) / (table.sum() + 2)
        reliability.append(right)
        for c in range(k):
            others = sum(mass[label] for label in range(k) if label != stands[c])
            for i in range(n):
                if column[i] >= 0:
                    expected = right if column[i] == stands[c] else (1 - right) * mass[column[i]] / others
                    scores[i, c] += np.log((table[column[i], c] + prior * expected) / (table[:, c].sum() + prior))
    chance = np.exp(scores - scores.max(axis=1, keepdims=True))
    return chance / chance.sum(axis=1, keepdims=True), np.array(reliability)
