"""How far apart the clusterings are: exactly, or from a sketch where that would take long."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from consilience._check import InputError, check_choice, check_count, count
from consilience._types import Floats
from consilience.ensemble import Ensemble
from consilience.measures import MEASURES, pairwise
from consilience.meta.sketch import MOST, sketch_differences

SYMMETRIC = [name for name, how in MEASURES.items() if how.symmetric]
SKETCHED = ("cluster_difference", "rand")
PAIRS = 2**15  # pairs of objects in a sketch made without asking: a standard error of about 0.002
COSTLY = 3 * 10**10  # objects × pairs of clusterings: ten seconds of one core for the exact kernel
LARGE = PAIRS  # objects from which such a sketch is ten times as fast


def sketch_size(ensemble: Ensemble, measure: str, sketch: Any) -> int | None:
    """Pairs of objects to draw, or None for exact distances."""
    if sketch is None:
        return None
    if isinstance(sketch, str):
        check_choice(sketch, ("auto",), "sketch")
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
        if not MEASURES[measure].distance:
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
