"""CPU-seconds of a call, and labels to work on."""

import time

import numpy as np


def cpu(call):
    """(CPU-seconds, result) of one call."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def random_labels(n, m, k, seed=0):
    """Objects × clusterings, unrelated: the worst case for caches and for collapsing rows."""
    return np.random.default_rng(seed).integers(0, k, (n, m), dtype=np.int32)


def noisy_labels(n, m, k, noise, seed=0):
    """Copies of one clustering in which a share of the labels is replaced by random ones."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(rng.integers(0, k, (n, 1), dtype=np.int32), m, axis=1)
    for column in labels.T:
        drawn = rng.random(n) < noise
        column[drawn] = rng.integers(0, k, np.count_nonzero(drawn))
    return labels
