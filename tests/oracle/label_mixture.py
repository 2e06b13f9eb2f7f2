"""The Dirichlet-process mixture of label rows by its definition: every assignment of the objects, one by one."""

from itertools import product

import numpy as np
from scipy.special import betaln

from oracle.random import stream


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


def posterior(labels, widths, n_clusters, prior, alpha, beta):
    """p(Y, Z) of every assignment, by assignment."""
    return {
        z: np.exp(log_prior(np.array(z), n_clusters, prior, alpha) + log_labels(labels, widths, z, beta))
        for z in product(range(n_clusters), repeat=len(labels))
    }


def conditionals(joint, z, n_clusters):
    """p(z_i = k | the others) for every object, from the joint of all assignments."""
    found = np.array([[joint[(*z[:i], k, *z[i + 1 :])] for k in range(n_clusters)] for i in range(len(z))])
    return found / found.sum(axis=1, keepdims=True)


def uniform(bits):
    return (next(bits) >> 11) / 2**53


def gibbs_sweep(labels, widths, z, *, n_clusters, prior, alpha, beta, seed, unit):
    """Every object drawn from its conditional, by the stream (seed, unit); then, with sticks, swaps of neighbors."""
    joint = posterior(labels, widths, n_clusters, prior, alpha, beta)
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
    if prior == "tsb":
        z = _swaps(z, n_clusters, alpha, bits)
    return z


def _swaps(z, n_clusters, alpha, bits):
    top = max(z) + 1
    for k in reversed(range(min(top, n_clusters - 1))):
        trial = [{k: k + 1, k + 1: k}.get(x, x) for x in z]
        odds = np.exp(
            log_prior(np.array(trial), n_clusters, "tsb", alpha) - log_prior(np.array(z), n_clusters, "tsb", alpha)
        )
        if uniform(bits) < odds:
            z = trial
    return z


def partition(z):
    """An assignment without the names of its clusters."""
    names = {}
    return tuple(names.setdefault(k, len(names)) for k in z)
