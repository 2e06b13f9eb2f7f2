"""Have the chains arrived, and how much do they tell? Split R-hat and effective sample size of a trace.

R-hat compares the variance between the halves of all chains with that within them: near 1 they tell the same story (A. Gelman and
others; here, as in Stan, every chain is split in two, so that a drift shows too). The effective sample size divides
the number of draws by the autocorrelation time, summed in pairs while these fall (C. J. Geyer's initial monotone sequence).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilience._types import Floats


def r_hat(trace: NDArray[np.float64]) -> float:
    """Split R-hat of (chains, draws); 1 where nothing ever changes, infinite where chains stand still in different places.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.consensus.bayes.convergence import r_hat
    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> bool(r_hat(draws) < 1.02), bool(r_hat(draws + np.arange(4)[:, None]) > 1.5)
    (True, True)
    """
    parts = _split(trace)
    if parts.shape[1] < 2:
        return float("nan")
    within, between = float(parts.var(axis=1, ddof=1).mean()), float(parts.mean(axis=1).var(ddof=1))
    if within <= 1e-20 * max(1.0, float(np.abs(parts).max()) ** 2):
        return 1.0 if between <= within else float("inf")
    n = parts.shape[1]
    return float(np.sqrt((n - 1) / n + between / within))


def effective_sample_size(trace: NDArray[np.float64]) -> float:
    """How many independent draws (chains, draws) are worth; all of them where nothing ever changes, NaN of fewer than eight.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.consensus.bayes.convergence import effective_sample_size
    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> bool(1500 < effective_sample_size(draws) <= 2000), bool(effective_sample_size(np.cumsum(draws, axis=1)) < 30)
    (True, True)
    """
    parts = _split(trace)
    chains, n = parts.shape
    if n < 4:
        return float("nan")
    centered = parts - parts.mean(axis=1, keepdims=True)
    within = float((centered**2).sum() / (chains * (n - 1)))
    if within <= 1e-20 * max(1.0, float(np.abs(parts).max()) ** 2):
        return float(parts.size)
    total = within * (n - 1) / n + float(parts.mean(axis=1).var(ddof=1))
    correlation = 1 - (within - _autocovariance(centered)) / total
    correlation[0] = 1.0
    pairs = correlation[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    pairs = np.minimum.accumulate(pairs[: negative[0]] if len(negative) else pairs)
    return float(parts.size / max(2 * pairs.sum() - 1, 1.0))


def _split(trace: NDArray[np.float64]) -> Floats:
    """Both halves of every chain."""
    trace = np.atleast_2d(np.asarray(trace, float))
    half = trace.shape[1] // 2
    return np.concatenate([trace[:, :half], trace[:, trace.shape[1] - half :]])


def _autocovariance(centered: Floats) -> Floats:
    """Mean over the chains of the autocovariances at all lags, by FFT."""
    n = centered.shape[1]
    spectrum = np.fft.rfft(centered, 2 * n, axis=1)
    products = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n, axis=1)[:, :n]
    return np.asarray(products.mean(axis=0) / n)
