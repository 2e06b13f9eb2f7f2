"""Perplexity: how surprised a model of labels is by labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience._check import InputError


def perplexity(log_probabilities: Any) -> float:
    """exp of minus the mean log probability of the known labels (Wang, Domeniconi and Laskey 2010, Eq. 12, per label).

    Parameters
    ----------
    log_probabilities : array of any shape
        Natural log of the probability a model gave to each observed label; NaN where the label is missing.

    Returns
    -------
    float
        At least 1, which is certainty; a uniform guess among J labels scores J. A value below 1 is impossible for
        labels, and log probabilities above 0 are refused.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.measures import perplexity
    >>> perplexity(np.log([[0.25, 0.25], [0.25, np.nan]]))
    4.0
    """
    try:
        logs = np.asarray(log_probabilities, float)
    except (TypeError, ValueError) as error:
        raise InputError(f"log probabilities must be numbers: {error}") from None
    known = logs[~np.isnan(logs)]
    if not known.size:
        raise InputError("perplexity needs at least one known label")
    if known.max() > 1e-12:
        raise InputError(f"a log probability of {known.max():.6g} is above 0, so its probability would be above 1")
    with np.errstate(over="ignore"):  # beyond the doubles it is infinite
        return float(np.exp(max(0.0, -known.mean())))
