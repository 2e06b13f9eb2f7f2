"""Models of rows of labels by their definitions: loops over rows, labels and clusters, sums over every hidden assignment."""

from itertools import product

import numpy as np
from scipy.special import digamma, gammaln


def mixture_joint(row, weights, shares):
    """p(row, cluster) of a mixture; `shares` is one (k, J_q) array per clustering."""
    joint = np.array(weights, float)
    for q, label in enumerate(row):
        if label >= 0:
            joint = joint * shares[q][:, label]
    return joint


def em_step(rows, counts, weights, shares, smoothing):
    """New weights and shares of a mixture, from rows that stand for so many objects each."""
    soft = np.array([mixture_joint(row, weights, shares) for row in rows])
    soft /= soft.sum(axis=1, keepdims=True)
    new_weights = np.array(counts) @ soft / np.sum(counts)
    tables = [np.full(share.shape, float(smoothing)) for share in shares]
    for row, count, p in zip(rows, counts, soft, strict=True):
        for q, label in enumerate(row):
            if label >= 0:
                tables[q][:, label] += count * p
    return new_weights, [table / table.sum(axis=1, keepdims=True) for table in tables]


def membership_row(row, alpha, shares):
    """p(row) under mixed membership: the sum over the clusters of all its labels, θ integrated out."""
    known = [(q, label) for q, label in enumerate(row) if label >= 0]
    total, k = 0.0, len(alpha)
    for clusters in product(range(k), repeat=len(known)):
        n = np.bincount(np.array(clusters, int), minlength=k)
        log = gammaln(alpha.sum()) - gammaln(alpha.sum() + len(known)) + (gammaln(alpha + n) - gammaln(alpha)).sum()
        total += np.exp(log) * np.prod([shares[q][c, label] for c, (q, label) in zip(clusters, known, strict=True)])
    return total


def membership_phi(row, gamma, shares):
    """How each known label of a row is shared among the clusters: a list of (k,) arrays."""
    e = digamma(gamma) - digamma(gamma.sum())
    parts = [shares[q][:, label] * np.exp(e) for q, label in enumerate(row) if label >= 0]
    return [part / part.sum() for part in parts]


def membership_bound(row, alpha, shares, gamma):
    """E_q log p(row, z, θ) − E_q log q(z, θ), term by term."""
    e = digamma(gamma) - digamma(gamma.sum())
    bound = gammaln(alpha.sum()) - gammaln(alpha).sum() + ((alpha - 1) * e).sum()
    bound -= gammaln(gamma.sum()) - gammaln(gamma).sum() + ((gamma - 1) * e).sum()
    known = [(q, label) for q, label in enumerate(row) if label >= 0]
    for (q, label), phi in zip(known, membership_phi(row, gamma, shares), strict=True):
        bound += (phi * (e + np.log(shares[q][:, label]) - np.log(phi))).sum()
    return bound
