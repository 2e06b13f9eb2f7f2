"""Models of rows of labels by their definitions: loops over rows, labels and clusters, sums over every hidden assignment."""

from itertools import permutations, product

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


def one_iteration(labels, weights, soft, prior):
    """The model of independent errors, with as many labels as clusters: probabilities of the clusters given each object after
    one iteration of EM, and the reliabilities."""
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


def update(labels, widths, soft, *, kind, prior, alpha, beta, power=1.0):
    """Variational inference for the Dirichlet-process mixture of label rows: the right-hand side of the fixed-point equations, γ of
    every object from the γ of all, each object counted once."""
    n, k = soft.shape
    found = np.empty((n, k))
    for i in range(n):
        others = np.arange(n) if kind == "vb" else np.delete(np.arange(n), i)
        for c in range(k):
            found[i, c] = _log_size(soft[others], c, kind, prior, alpha)
            for m, width in enumerate(widths):
                if labels[i, m] >= 0:
                    having = others[labels[others, m] >= 0]
                    same = others[labels[others, m] == labels[i, m]]
                    one = mean_log(beta, soft[same, c], kind) - mean_log(width * beta, soft[having, c], kind)
                    found[i, c] += power * one
    found = np.exp(found - found.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def mean_log(start, chances, kind):
    """E log(start + a count of objects that count with these chances), in the sense of the method."""
    mean = start + chances.sum()
    if kind == "vb":
        return digamma(mean)
    return np.log(mean) - (np.sum(chances * (1 - chances)) / (2 * mean**2) if kind == "cvb2" else 0.0)


def _log_size(soft, c, kind, prior, alpha):
    k = soft.shape[1]
    if prior == "fsd":
        return mean_log(alpha / k, soft[:, c], kind)
    total = 0.0
    for h in range(c + 1):
        if h == k - 1:
            break
        whole = mean_log(1 + alpha, soft[:, h:].sum(axis=1), kind)
        part = mean_log(1.0, soft[:, h], kind) if h == c else mean_log(alpha, soft[:, h + 1 :].sum(axis=1), kind)
        total += part - whole
    return total
