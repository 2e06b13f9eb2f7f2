"""Variational inference for the mixture of label rows, one object and one component at a time."""

import numpy as np
from scipy.special import digamma


def update(labels, widths, soft, *, kind, prior, alpha, beta, power=1.0):
    """The right-hand side of the fixed-point equations: γ of every object from the γ of all, each object counted once."""
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
