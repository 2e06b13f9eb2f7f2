"""Estimating α and β: a slice sampler for chains, Newton's method for bounds.

Both have a Gamma(1, 1) prior, which says little where there are data and keeps them from running away where there are none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma

from consilience._types import Floats
from consilience.consensus.bayes.model import column_totals, positive, tails

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


def _rising_slopes(start: Any, counts: Floats, none: Floats | None = None, scale: Any = 1.0) -> tuple[float, float]:
    """First and second derivative of Σ E log Γ(start + count) / Γ(start), where the start is `scale` times the value."""
    chance, mean = positive(counts, none)
    first = (scale * chance * (digamma(start + mean) - digamma(start))).sum()
    second = (scale**2 * chance * (polygamma(1, start + mean) - polygamma(1, start))).sum()
    return float(first), float(second)


def estimate_alpha(
    sizes: Floats, alpha: float, prior: str, none: Floats | None = None, none_behind: Floats | None = None
) -> float:
    """The α of largest p(Z | α) p(α), from the sizes of all K clusters; see :func:`~consilience.consensus.bayes.model.log_prior`."""
    k, (here_on, behind) = len(sizes), tails(sizes)

    def sticks(a: float) -> tuple[float, float]:
        up, down = _rising_slopes(a, behind, none_behind), _rising_slopes(1 + a, here_on)
        return up[0] - down[0], up[1] - down[1]

    def symmetric(a: float) -> tuple[float, float]:
        up, down = _rising_slopes(a / k, sizes, none, 1 / k), _rising_slopes(a, np.asarray(sizes.sum()))
        return up[0] - down[0], up[1] - down[1]

    return newton(alpha, sticks if prior == "tsb" else symmetric)


def estimate_beta(
    table: Floats, offsets: NDArray[np.int64], beta: float, none: Floats | None = None, *, power: float = 1.0
) -> float:
    """The β of largest p(Y | Z, β)^power p(β), from the members with each label (labels × clusters)."""
    totals, widths = column_totals(table, offsets), np.diff(offsets).astype(float)[:, None]
    none_at_all = None if none is None else column_totals(none, offsets)

    def slopes(b: float) -> tuple[float, float]:
        up, down = _rising_slopes(b, table, none), _rising_slopes(widths * b, totals, none_at_all, widths)
        return power * (up[0] - down[0]), power * (up[1] - down[1])

    return newton(beta, slopes)
