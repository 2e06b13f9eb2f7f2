"""Estimating α and β: a slice sampler for chains, Newton's method for bounds.

Both have a Gamma(1, 1) prior, which says little where there are data and keeps them from running away where there are none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma

from consilience.consensus.bayes.model import column_totals
from consilience.consensus.problem import Floats

SHAPE, RATE = 1.0, 1.0  # of the Gamma prior
LIMITS = np.log(1e-6), np.log(1e6)
STEPS = 50


def log_hyperprior(value: float) -> float:
    """log density of α or β under the Gamma prior (the constant is 0 for Gamma(1, 1))."""
    return (SHAPE - 1) * float(np.log(value)) - RATE * value


def slice_step(
    value: float, log_density: Callable[[float], float], rng: np.random.Generator, width: float = 1.0
) -> float:
    """A new value by slice sampling of its logarithm (R. M. Neal, Annals of Statistics 2003: stepping out, then shrinking).

    `log_density` is that of the value itself, prior included.
    """

    def height(x: float) -> float:
        return log_density(float(np.exp(x))) + x if LIMITS[0] < x < LIMITS[1] else -np.inf

    x = float(np.log(value))
    level = height(x) - rng.exponential()
    low = x - width * rng.random()
    high = low + width
    while height(low) > level:
        low -= width
    while height(high) > level:
        high += width
    while True:
        new = low + (high - low) * rng.random()
        if height(new) > level:
            return float(np.exp(new))
        low, high = (new, high) if new < x else (low, new)


def newton(value: float, slopes: Callable[[float], tuple[float, float]]) -> float:
    """The value at which a concave function of its logarithm is largest, prior included.

    `slopes` gives the first and second derivative in the value itself; steps are made in the logarithm, so that it stays
    positive, and are bounded where the function is not concave.
    """
    x = float(np.log(value))
    for _ in range(STEPS):
        value = float(np.exp(x))
        first, second = slopes(value)
        first, second = first + (SHAPE - 1) / value - RATE, second - (SHAPE - 1) / value**2
        slope, bend = first * value, second * value**2 + first * value
        step = float(np.clip(-slope / bend, -1.0, 1.0)) if bend < 0 else float(np.sign(slope))
        x = float(np.clip(x + step, *LIMITS))
        if abs(step) < 1e-10:
            break
    return float(np.exp(x))


def estimate_alpha(sizes: Floats, alpha: float, prior: str) -> float:
    """The α of largest p(Z | α) p(α), from the sizes of all K clusters."""
    k, n = len(sizes), float(sizes.sum())
    here_on = np.maximum(n - np.concatenate([[0.0], np.cumsum(sizes[:-1])]), 0.0)[: k - 1]
    behind = np.maximum(here_on - sizes[: k - 1], 0.0)

    def sticks(a: float) -> tuple[float, float]:
        first = (k - 1) / a + float((digamma(a + behind) - digamma(1 + a + here_on)).sum())
        return first, -(k - 1) / a**2 + float((polygamma(1, a + behind) - polygamma(1, 1 + a + here_on)).sum())

    def symmetric(a: float) -> tuple[float, float]:
        first = digamma(a) - digamma(a + n) + (digamma(a / k + sizes) - digamma(a / k)).sum() / k
        second = (
            polygamma(1, a) - polygamma(1, a + n) + (polygamma(1, a / k + sizes) - polygamma(1, a / k)).sum() / k**2
        )
        return float(first), float(second)

    return newton(alpha, sticks if prior == "tsb" else symmetric)


def estimate_beta(table: Floats, offsets: NDArray[np.int64], beta: float) -> float:
    """The β of largest p(Y | Z, β) p(β), from the members with each label (labels × clusters)."""
    totals, widths = column_totals(table, offsets), np.diff(offsets).astype(float)[:, None]

    def slopes(b: float) -> tuple[float, float]:
        first = (digamma(b + table) - digamma(b)).sum()
        first += (widths * (digamma(widths * b) - digamma(widths * b + totals))).sum()
        second = (polygamma(1, b + table) - polygamma(1, b)).sum()
        second += (widths**2 * (polygamma(1, widths * b) - polygamma(1, widths * b + totals))).sum()
        return float(first), float(second)

    return newton(beta, slopes)
