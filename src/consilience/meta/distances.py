"""Distances between clusterings: exact, or estimated from a sketch where that would take long.

All pairs of m clusterings are SciPy's condensed vector, m (m − 1) / 2 numbers. A sketch estimates the Cluster Difference by the share of
random pairs of objects on which two clusterings differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import num_obs_y, squareform

from consilience._check import InputError, check_count, check_word, count
from consilience._run.progress import track
from consilience._run.random import stream
from consilience._types import Floats, Ints
from consilience.ensemble import Ensemble
from consilience.measures import MEASURES, pairwise

SKETCHED = ("cluster_difference", "rand")
PAIRS = 2**15  # pairs of objects in a sketch made without asking: a standard error of about 0.002
COSTLY = 3 * 10**10  # objects × pairs of clusterings: ten seconds of one core for the exact kernel
LARGE = PAIRS  # objects from which such a sketch is ten times as fast
BLOCK = 2048  # pairs of objects drawn at a time
MOST = 2**24  # pairs in all: single precision counts exactly up to here


def sketch_size(ensemble: Ensemble, measure: str, sketch: Any) -> int | None:
    """Pairs of objects to draw, or None for exact distances."""
    if sketch is None:
        return None
    if isinstance(sketch, str):
        check_word("sketch", sketch)
        n, m = ensemble.labels.shape
        costly = measure in SKETCHED and n >= LARGE and n * m * (m - 1) // 2 > COSTLY
        return PAIRS if costly else None
    if measure not in SKETCHED:
        raise InputError(f"a sketch estimates {' or '.join(SKETCHED)}, not {measure}; use sketch=None")
    if check_count("sketch", sketch) > MOST:
        raise InputError(f"a sketch has at most {MOST:,} pairs of objects; got {sketch:,}: use fewer, or sketch=None")
    return int(sketch)


def distances_between(
    ensemble: Ensemble, measure: str, n_pairs: int | None, *, seed: int, n_jobs: int | None, progress: bool | None
) -> tuple[Floats, float]:
    """Condensed distances of all pairs of clusterings, and their standard error (0 if exact)."""
    if n_pairs is not None:
        distances, error = sketch_differences(ensemble, n_pairs, seed=seed, progress=progress)
    else:
        matrix, error = pairwise(ensemble, measure, n_jobs=n_jobs, progress=progress), 0.0
        distances = squareform(matrix, checks=False)
        if not MEASURES[measure].is_distance:
            np.subtract(1, distances, out=distances)
    np.maximum(distances, 0, out=distances)  # rounding must not make a distance negative; NaN stays
    _check_known(ensemble, distances, n_pairs)
    return distances, error


def _check_known(ensemble: Ensemble, distances: Floats, n_pairs: int | None) -> None:
    """Refuse clusterings that cannot be compared: a tree has a place for every distance, and none for a missing one."""
    unknown = np.flatnonzero(np.isnan(distances))
    if not unknown.size:
        return
    for i in np.flatnonzero(ensemble.n_clusters == 0)[:1]:
        raise InputError(f"clustering {ensemble.names[i]!r} has no label at all: leave it out")
    rows, columns = np.triu_indices(ensemble.n_clusterings, 1)
    one, other = (ensemble.names[side[unknown[0]]] for side in (rows, columns))
    more = f" ({count(len(unknown), 'such pair')} in all)" if len(unknown) > 1 else ""
    if n_pairs is None:
        raise InputError(
            f"clusterings {one!r} and {other!r} share no labeled object, so nothing says how far apart they are{more}: "
            "leave out those that overlap too little"
        )
    raise InputError(
        f"none of {n_pairs:,} random pairs of objects is labeled in both clusterings {one!r} and {other!r}{more}: "
        "use a larger sketch, or sketch=None"
    )


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


def distances_from(condensed: Floats, item: int, others: Ints) -> Floats:
    """Distances of one item to others (itself at 0)."""
    m = num_obs_y(condensed)
    low, high = np.minimum(item, others), np.maximum(item, others)
    places = low * (2 * m - low - 3) // 2 + high - 1
    return np.where(low == high, 0.0, condensed[np.where(low == high, 0, places)])


def totals(condensed: Floats, items: Ints, others: Ints) -> Floats:
    """For every item the sum of its distances to the others."""
    return np.array([distances_from(condensed, item, others).sum() for item in items])


def medoid_of(condensed: Floats, items: Ints, among: Ints | None = None) -> int:
    """The item with the least mean distance to the items; of `among` if given. Cost O(items²)."""
    among = items if among is None else among
    return int(among[totals(condensed, among, items).argmin()])


def square(condensed: Floats, dtype: Any = np.float32) -> NDArray[Any]:
    """The m × m matrix, in single precision by default: half of what the doubles would need."""
    m = num_obs_y(condensed)
    matrix = np.zeros((m, m), dtype)
    end = 0
    for i in range(m - 1):
        begin, end = end, end + m - 1 - i
        matrix[i, i + 1 :] = matrix[i + 1 :, i] = condensed[begin:end]
    return matrix
