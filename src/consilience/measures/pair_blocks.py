"""All pairs of an ensemble, a band of clusterings at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from consilience import _kernels
from consilience._run.progress import track
from consilience._types import Array, Floats, Labels
from consilience.ensemble import Ensemble
from consilience.measures.counts import TERMS, Sums

BAND = 128  # clusterings compared with all others at a time


def bands(m: int, name: str, progress: bool | None) -> Iterator[tuple[int, int]]:
    """Begin and end of every band of columns, to be compared with all clusterings up to its end."""
    begins = range(0, m, BAND)
    for begin in track(begins, len(begins), name, progress):
        yield begin, min(begin + BAND, m)


def codes_of(labels: Labels) -> tuple[Array, Array]:
    """Labels (objects × clusterings) as the kernels take them, and the number of clusters of each clustering."""
    return _kernels.encode_codes(labels), (labels.max(axis=0, initial=-1) + 1).astype(np.int32)


def bands_of_sums(
    ens: Ensemble, term: str, name: str, threads: int, progress: bool | None
) -> Iterator[tuple[int, int, Sums]]:
    """Every band with its sums, (end, end − begin) pairs."""
    (codes, clusters), missing = codes_of(ens.labels), ens.has_missing
    alone = np.array([TERMS[term](np.bincount(column + 1)[1:]).sum() for column in ens.labels.T])
    for begin, end in bands(ens.n_clusterings, name, progress):
        joint, own, other, known = _kernels.pair_sums(
            codes, clusters, begin, end, term=term, missing=missing, threads=threads
        )
        if missing:
            sums = Sums(known.astype(float), joint.astype(float), own.astype(float), other.astype(float))
        else:
            sums = Sums(np.float64(ens.n_objects), joint.astype(float), alone[:end, None], alone[None, begin:end])
        yield begin, end, sums


def mirror(matrix: Floats, *, is_distance: bool = False) -> Floats:
    """Copy what is above the diagonal below it: symmetric to the last bit, with an exact diagonal, as SciPy's condensed form wants it."""
    diagonal = np.where(np.isnan(np.diag(matrix)), np.nan, 0.0 if is_distance else 1.0)
    for begin in range(0, len(matrix), BAND):
        end = begin + BAND
        block = matrix[begin:end, begin:end]
        block[...] = np.triu(block, 1) + np.triu(block, 1).T
        matrix[begin:end, :begin] = matrix[:begin, begin:end].T
    np.fill_diagonal(matrix, diagonal)
    return matrix
