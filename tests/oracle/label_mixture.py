"""The Dirichlet-process mixture of label rows by its definition: every assignment of the objects, one by one."""

from functools import partial
from itertools import product

import numpy as np
from scipy.special import betaln

from oracle.random import below, shuffled, stream, uniform


def log_prior(z, n_clusters, prior, alpha):
    """log p(Z): integrals over the sticks, or over the symmetric Dirichlet, one Beta at a time."""
    sizes = np.bincount(z, minlength=n_clusters)
    total = 0.0
    for k in range(n_clusters - 1):
        behind = sizes[k + 1 :].sum()
        if prior == "tsb":
            a, b = 1.0, alpha
        else:  # a symmetric Dirichlet is a chain of sticks too
            a, b = alpha / n_clusters, alpha * (n_clusters - 1 - k) / n_clusters
        total += betaln(a + sizes[k], b + behind) - betaln(a, b)
    return total


def log_labels(labels, widths, z, beta):
    """log p(Y | Z): every label in turn, given those before it in its cluster and clustering."""
    total = 0.0
    for m, width in enumerate(widths):
        seen = {}
        for y, k in zip(labels[:, m], z, strict=True):
            if y < 0:
                continue
            before = seen.setdefault(k, [])
            total += np.log((beta + before.count(y)) / (width * beta + len(before)))
            before.append(y)
    return total


def posterior(labels, widths, n_clusters, prior, alpha, beta, power=1.0):
    """p(Z) p(Y | Z)^power of every assignment, by assignment."""
    return {
        z: np.exp(log_prior(np.array(z), n_clusters, prior, alpha) + power * log_labels(labels, widths, z, beta))
        for z in product(range(n_clusters), repeat=len(labels))
    }


def conditionals(joint, z, n_clusters):
    """p(z_i = k | the others) for every object, from the joint of all assignments."""
    found = np.array([[joint[(*z[:i], k, *z[i + 1 :])] for k in range(n_clusters)] for i in range(len(z))])
    return found / found.sum(axis=1, keepdims=True)


def gibbs_sweep(labels, widths, z, *, n_clusters, prior, alpha, beta, seed, unit, power=1.0, moves=0):
    """Every object drawn from its conditional, by the stream (seed, unit); then moves and, with sticks, swaps of neighbors."""
    joint = posterior(labels, widths, n_clusters, prior, alpha, beta, power)
    bits = stream(seed, unit)
    z = list(z)
    for i in range(len(z)):
        weights = conditionals(joint, tuple(z), n_clusters)[i]
        top = max(z) + 1
        left = uniform(bits)
        for k in range(top):
            if left < weights[k]:
                break
            left -= weights[k]
        else:
            k = top
            while prior == "tsb" and uniform(bits) >= (1 / (1 + alpha) if k < n_clusters - 1 else 1):
                k += 1
        z[i] = k
    log_one = partial(_log_one, labels, widths, beta, power)
    for _ in range(moves):
        z = _split_or_merge(z, joint, n_clusters, prior, bits, log_one)
    if prior == "tsb":
        z = _swaps(z, n_clusters, alpha, bits)
    return z


def _log_one(labels, widths, beta, power, i, side):
    """log of a cluster's size times the tempered likelihood of the labels of one more object."""
    both = log_labels(labels[[*side, i]], widths, [0] * (len(side) + 1), beta)
    return np.log(len(side)) + power * (both - log_labels(labels[side], widths, [0] * len(side), beta))


def _split_or_merge(z, joint, n_clusters, prior, bits, log_one):
    """Jain and Neal's move: two seeds, the others dealt out in random order, redrawn once, and redrawn for the proposal."""
    n, i = len(z), below(bits, len(z))
    if uniform(bits) < 0.5:
        others, empty = [h for h in range(n) if z[h] == z[i] and h != i], _empty(z, n_clusters, prior)
        if not others or not empty:
            return z
        j = others.pop(below(bits, len(others)))
        to = empty[below(bits, len(empty)) if prior == "tsb" else 0]
        sides = _launch(i, j, others, bits, log_one)
        chance = _redraw(sides, others, bits, log_one)
        new = [to if h in sides[0] else k for h, k in enumerate(z)]
        pairs = (len(others) + 1) / (n - len(sides[0]))
        return new if uniform(bits) < joint[tuple(new)] / joint[tuple(z)] * pairs * len(empty) / chance else z
    if z.count(z[i]) == n:
        return z
    while z[j := below(bits, n)] == z[i]:
        pass
    new = [z[j] if k == z[i] else k for k in z]
    empty = _empty(new, n_clusters, prior)
    if z[i] not in empty:
        return z
    pairs = (n - z.count(z[i])) / (new.count(z[j]) - 1)
    odds = joint[tuple(new)] / joint[tuple(z)] * pairs / len(empty) / uniform(bits)
    if odds <= 1:
        return z
    others = [h for h in range(n) if z[h] in (z[i], z[j]) and h not in (i, j)]
    sides = _launch(i, j, others, bits, log_one)
    return new if odds * _redraw(sides, others, bits, log_one, [int(z[h] == z[j]) for h in others]) > 1 else z


def _empty(z, n_clusters, prior):
    """Where a split may go: any empty cluster, or with sticks one up to the first behind all that are occupied."""
    return [k for k in range(n_clusters) if k not in z and (prior == "fsd" or k <= max(z) + 1)]


def _first(h, sides, log_one):
    """The chance of the first of two clusters, for an object that is in neither."""
    return 1 / (1 + np.exp(log_one(h, sides[1]) - log_one(h, sides[0])))


def _launch(i, j, others, bits, log_one):
    sides = [[i], [j]]
    for h in shuffled(bits, len(others)):
        sides[0 if uniform(bits) < _first(others[h], sides, log_one) else 1].append(others[h])
    _redraw(sides, others, bits, log_one)
    return sides


def _redraw(sides, others, bits, log_one, forced=None):
    """Every object once more; the probability of what came of it."""
    chance = 1.0
    for x, h in enumerate(others):
        sides[int(h in sides[1])].remove(h)
        first = _first(h, sides, log_one)
        side = forced[x] if forced else int(uniform(bits) >= first)
        chance *= 1 - first if side else first
        sides[side].append(h)
    return chance


def _swaps(z, n_clusters, alpha, bits):
    top = max(z) + 1
    for k in reversed(range(min(top, n_clusters - 1))):
        trial = [{k: k + 1, k + 1: k}.get(x, x) for x in z]
        before, after = (log_prior(np.array(x), n_clusters, "tsb", alpha) for x in (z, trial))
        z = trial if uniform(bits) < np.exp(after - before) else z
    return z


def partition(z):
    """An assignment without the names of its clusters."""
    names = {}
    return tuple(names.setdefault(k, len(names)) for k in z)
