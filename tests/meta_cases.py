"""Ensembles with known kinds of clusterings in them."""

from __future__ import annotations

import numpy as np

import consilience as cs


def three_kinds(n_objects=120, sizes=(9, 6, 4), noise=0.1, seed=0, missing=0.0):
    """Noisy copies of three unrelated clusterings of 4 clusters, shuffled; also the kind of each, and the three."""
    rng = np.random.default_rng(seed)
    truths = rng.integers(0, 4, (3, n_objects))
    kinds = rng.permutation(np.repeat(np.arange(3), sizes))
    labels = truths[kinds].T
    drawn = rng.random(labels.shape)
    labels = np.where(drawn < noise, rng.integers(0, 4, labels.shape), labels)
    return cs.Ensemble(np.where(drawn > 1 - missing, -1, labels)), kinds, truths


def same_partition(a, b):
    """Whether two vectors of group numbers say the same."""
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    return len(pairs) == len({x for x, _ in pairs}) == len({y for _, y in pairs})
