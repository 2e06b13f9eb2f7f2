"""Cluster Difference from a sample: the share of random pairs of objects on which two clusterings differ."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from consilience._check import InputError
from consilience._progress import track
from consilience._random import stream
from consilience._types import Floats
from consilience.ensemble import Ensemble

BLOCK = 2048  # pairs of objects at a time
MOST = 2**24  # pairs in all: single precision counts exactly up to here


def sketch_differences(
    ensemble: Ensemble, n_pairs: int, *, seed: int, progress: bool | None = None
) -> tuple[Floats, float]:
    """Estimate the Cluster Difference of all pairs of clusterings from `n_pairs` random pairs of objects.

    Parameters
    ----------
    ensemble : Ensemble
    n_pairs : int
        Drawn with replacement, the same ones for all clusterings.
    seed : int
    progress : bool, optional

    Returns
    -------
    distances : condensed array
        With missing labels, over the pairs of objects that both clusterings label; NaN where there is none.
    standard_error : float
        Root mean square over pairs of clusterings of √(d (1 − d) / pairs of objects known in both).

    Notes
    -----
    With b = 1 for together, −1 for apart and 0 where an object has no label, Σ b b′ counts agreements less disagreements and
    Σ |b| |b′| the pairs known in both: two matrix products. Cost O(m² · n_pairs), whatever the number of objects;
    memory O(m²).
    """
    n, m = ensemble.labels.shape
    if n < 2:
        raise InputError("a sketch draws pairs of objects, and there is only one object; use sketch=None")
    rng, missing = stream(seed, "meta.pairs"), ensemble.has_missing
    agreed = np.zeros((m, m), np.float32)
    known = np.zeros((m, m), np.float32) if missing else None
    begins = range(0, n_pairs, BLOCK)
    for begin in track(begins, len(begins), "sketch", progress):
        size = min(BLOCK, n_pairs - begin)
        one = rng.integers(0, n, size)
        other = (one + rng.integers(1, n, size)) % n  # any object but the same
        left, right = ensemble.labels[one], ensemble.labels[other]
        signs = np.where(left == right, np.float32(1), np.float32(-1))
        if known is not None:
            there = ((left >= 0) & (right >= 0)).astype(np.float32)
            signs *= there
            known += there.T @ there
        agreed += signs.T @ signs
    return _estimate(agreed, np.float64(n_pairs) if known is None else squareform(known, checks=False).astype(float))


def _estimate(agreed: NDArray[np.float32], counts: Any) -> tuple[Floats, float]:
    distances = squareform(agreed, checks=False).astype(float)
    with np.errstate(invalid="ignore"):  # 0 / 0 where nothing is known in both
        distances = (1 - distances / counts) / 2
        variance = distances * (1 - distances) / counts
    some = variance[np.isfinite(variance)]
    return distances, float(np.sqrt(some.mean())) if some.size else float("nan")
