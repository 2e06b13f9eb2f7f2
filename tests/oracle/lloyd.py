"""K-means runs by Lloyd's algorithm, in float64 throughout."""

import numpy as np

from oracle.random import below, stream, uniform


def lloyd(X, clusters, units, *, weights=None, starts=None, init="random", max_iter=300, seed=0):
    """Labels (runs × objects), inertia and steps of every run."""
    found = []
    for r, (k, unit) in enumerate(zip(clusters, units, strict=True)):
        Z = X if weights is None else X * weights[r]
        bits = stream(seed, int(unit))
        if starts is not None:
            chosen = list(starts[r][:k])
        else:
            chosen = far_apart(Z, k, bits) if init == "k-means++" else at_random(len(Z), k, bits)
        found.append(one_run(Z, Z[chosen], max_iter))
    labels, inertia, steps = zip(*found, strict=True)
    return np.array(labels, np.int32), np.array(inertia), np.array(steps, np.int32)


def at_random(n, k, bits):
    """The first k of a shuffle from the front."""
    items = list(range(n))
    for c in range(k):
        other = c + below(bits, n - c)
        items[c], items[other] = items[other], items[c]
    return items[:k]


def far_apart(Z, k, bits):
    """k-means++; where every object is at a center, the first not chosen."""
    chosen = [below(bits, len(Z))]
    while len(chosen) < k:
        squares = squared_distances(Z, Z[chosen]).min(axis=1)
        squares[chosen] = 0
        target = uniform(bits) * squares.sum()
        rest = [i for i in range(len(Z)) if i not in chosen]
        places = np.flatnonzero(squares > 0)
        chosen.append(int(places[np.argmax(np.cumsum(squares[places]) > target)]) if len(places) else rest[0])
    return chosen


def squared_distances(Z, centers):
    return np.stack([((Z - center) ** 2).sum(axis=1) for center in centers], axis=1)


def one_run(Z, centers, max_iter):
    labels, steps = np.full(len(Z), -1), 0
    while steps < max_iter:
        steps += 1
        new = nearest(Z, centers)
        if (new == labels).all():
            return labels, inertia_of(Z, labels, centers), steps
        labels = fill_empty(Z, new, centers, len(centers))
        centers = means_of(Z, labels, len(centers))
    labels = fill_empty(Z, nearest(Z, centers), centers, len(centers))
    return labels, inertia_of(Z, labels, means_of(Z, labels, len(centers))), steps


def nearest(Z, centers):
    """The nearest center of every object, the first of equals; a center that is nowhere (NaN) is no one's."""
    squares = squared_distances(Z, centers)
    return np.where(np.isnan(squares), np.inf, squares).argmin(axis=1)


def means_of(Z, labels, k):
    nowhere = np.full(Z.shape[1], np.nan)
    return np.array([Z[labels == c].mean(axis=0) if (labels == c).any() else nowhere for c in range(k)])


def fill_empty(Z, labels, centers, k):
    """Every empty cluster takes the object farthest from its center, out of a cluster that has others."""
    labels = labels.copy()
    squares = ((Z - centers[labels]) ** 2).sum(axis=1)
    squares[squares <= 1e-24 * ((Z**2).sum(axis=1) + (centers[labels] ** 2).sum(axis=1))] = 0
    for c in range(k):
        if (labels == c).any():
            continue
        can = np.where(np.bincount(labels, minlength=k)[labels] > 1, squares, 0)
        if can.max() == 0:
            break
        far = int(can.argmax())
        labels[far], squares[far] = c, 0
    return labels


def inertia_of(Z, labels, centers):
    return float(((Z - centers[labels]) ** 2).sum())
