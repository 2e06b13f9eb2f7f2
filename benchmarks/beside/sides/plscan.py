"""PLSCAN (Bot and others 2025), as it comes."""

import numpy as np
from fast_plscan import PLSCAN


def layer(inputs):
    """The most persistent layer of density of every table."""
    return lambda seed: np.concatenate([PLSCAN(min_samples=5, num_threads=1).fit_predict(X) for X in inputs.values()])
