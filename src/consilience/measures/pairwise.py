"""All pairs of an ensemble, and its stability."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience import _kernels
from consilience._check import InputError, check_choice, count
from consilience._parallel import n_threads
from consilience._progress import track
from consilience._types import Floats
from consilience.ensemble import Ensemble, as_ensemble
from consilience.measures import information, matching, pairs
from consilience.measures.counts import TERMS, Sums, cells, clusters, tables

BAND = 128  # clusterings compared with all others at a time
STACK = 2**18  # cells of the tables, or labels counted, at a time: what the cache holds
DENSE = 4  # cells per object up to which a dense table is counted faster than cells are sorted


@dataclass(frozen=True)
class Measure:
    """How a measure is computed: from sums of a term, or (term None) from the cells of the contingency table.

    `stacked` is the formula for many dense tables at once, and `largest` the largest value, if there is one.
    """

    name: str
    term: str | None
    formula: Callable[..., Any]
    symmetric: bool = True
    distance: bool = False
    stacked: Callable[..., Any] | None = None
    largest: float | None = 1.0


MEASURES = {
    m.name: m
    for m in (
        Measure("rand", "square", pairs.rand_from),
        Measure("adjusted_rand", "square", pairs.adjusted_rand_from),
        Measure("jaccard", "square", pairs.jaccard_from),
        Measure("cluster_difference", "square", pairs.cluster_difference_from, distance=True),
        Measure("nmi", "xlogx", information.nmi_from),
        Measure(
            "variation_of_information", "xlogx", information.variation_of_information_from, distance=True, largest=None
        ),
        Measure("information_ratio", "xlogx", information.information_ratio_from, symmetric=False),
        Measure("accuracy", None, matching.accuracy_from, symmetric=False, stacked=matching.accuracy_of),
        Measure("matched_accuracy", None, matching.matched_accuracy_from, stacked=matching.matched_accuracy_of),
        Measure("f1", None, matching.f1_from, symmetric=False, stacked=matching.f1_of),
    )
}


def pairwise(
    ensemble: Any,
    measure: str = "cluster_difference",
    *,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Floats:
    """Compare every two clusterings of an ensemble.

    Parameters
    ----------
    ensemble : Ensemble, or what one is made from
    measure : str
        "rand", "adjusted_rand", "jaccard", "cluster_difference", "nmi", "variation_of_information",
        "information_ratio", "accuracy", "matched_accuracy" or "f1". The first seven are made in bulk by a native
        kernel; the last three need the tables themselves and take 10 to 100 times as long.
    n_jobs : int, optional
        Threads of the kernel; the values do not depend on them.
    progress : bool, optional
        Show a bar; by default only on a terminal, for work of more than half a second.

    Returns
    -------
    (n_clusterings, n_clusterings) array
        Entry (i, j) is ``measure(i, j)``; where the measure is not symmetric, i is the truth. NaN where two
        clusterings share no labeled object.

    Notes
    -----
    Cost O(m² n k / 64) for few clusters and O(m² n) for many; memory O(m² + m n) bytes beyond the ensemble.

    Examples
    --------
    >>> import consilience as cs
    >>> cs.pairwise([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]], "jaccard")
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    check_choice(measure, MEASURES, "measure")
    ens, how = as_ensemble(ensemble), MEASURES[measure]
    threads = n_threads(n_jobs)
    return _by_table(ens, how, progress) if how.term is None else _in_bulk(ens, how, threads, progress)


def _in_bulk(ens: Ensemble, how: Measure, threads: int, progress: bool | None) -> Floats:
    """Bands of columns; each band is compared with all clusterings up to its end, and mirrored."""
    assert how.term is not None
    m = ens.n_clusterings
    codes, missing = _kernels.encode_codes(ens.labels), ens.has_missing
    sizes = [np.bincount(column + 1)[1:] for column in ens.labels.T]
    clusters = np.array([len(size) for size in sizes], np.int32)
    alone = np.array([TERMS[how.term](size).sum() for size in sizes])
    out = np.empty((m, m))
    begins = range(0, m, BAND)
    for begin in track(begins, len(begins), how.name, progress):
        end = min(begin + BAND, m)
        joint, own, other, known = _kernels.pair_sums(
            codes, clusters, begin, end, term=how.term, missing=missing, threads=threads
        )
        if missing:
            sums = Sums(known.astype(float), joint.astype(float), own.astype(float), other.astype(float))
        else:
            sums = Sums(np.float64(ens.n_objects), joint.astype(float), alone[:end, None], alone[None, begin:end])
        out[:end, begin:end] = how.formula(sums)
        out[begin:end, :end] = (out[:end, begin:end] if how.symmetric else how.formula(sums.swapped())).T
    return _mirror(out, how) if how.symmetric else out


def _mirror(matrix: Floats, how: Measure) -> Floats:
    """Symmetric to the last bit, with an exact diagonal, as SciPy's condensed form wants it."""
    diagonal = np.where(np.isnan(np.diag(matrix)), np.nan, 0.0 if how.distance else 1.0)
    for begin in range(0, len(matrix), BAND):
        block = matrix[begin : begin + BAND, begin : begin + BAND]
        block[...] = np.triu(block, 1) + np.triu(block, 1).T
    np.fill_diagonal(matrix, diagonal)
    return matrix


def _by_table(ens: Ensemble, how: Measure, progress: bool | None) -> Floats:
    m, columns = ens.n_clusterings, np.ascontiguousarray(ens.labels.T)
    widths = np.array([clusters(column) for column in columns])
    out = np.empty((m, m))
    for i in track(range(m), m, how.name, progress):
        for some in _blocks(widths[: i + 1] * widths[i], ens.n_objects):
            a, others = columns[i], columns[some]
            if how.stacked is not None and len(others) > 1:
                stack = tables(a, others)
                out[i, some] = how.stacked(stack)
                out[some, i] = out[i, some] if how.symmetric else how.stacked(stack.swapaxes(1, 2))
                continue
            for j, b in enumerate(others, some.start):
                rows, other, counts = cells(a, b)
                out[i, j] = how.formula((rows, other, counts))
                out[j, i] = out[i, j] if how.symmetric else how.formula((other, rows, counts))
    return out


def _blocks(sizes: NDArray[Any], n: int) -> Iterator[slice]:
    """Runs of tables that are dense enough to stack (cells for each, not many more than objects); others alone."""
    begin = 0
    while begin < len(sizes):
        end = begin + 1
        widest = max(int(sizes[begin]), 1)
        while end < len(sizes) and max(widest, sizes[end]) <= DENSE * n and (end - begin) * max(widest, n) < STACK:
            widest = max(widest, int(sizes[end]))
            end += 1
        yield slice(begin, end)
        begin = end


@dataclass(frozen=True)
class Stability:
    """How much the clusterings of an ensemble agree, over all pairs.

    Attributes
    ----------
    mean : float
    sem : float
        Standard deviation of the pairs' values over √(number of pairs), as papers report it. Pairs share
        clusterings, so it is too small to compare two ensembles by.
    sem_jackknife : float
        Standard error that allows for that, by leaving out one clustering at a time; NaN below three clusterings.
    measure : str
    n_pairs : int
        Pairs that share labeled objects; if there are none, the rest is NaN.
    """

    mean: float
    sem: float
    sem_jackknife: float
    measure: str
    n_pairs: int

    def __repr__(self) -> str:
        return f"Stability: {self.measure} {self.words(4)} over {count(self.n_pairs, 'pair')}"

    def words(self, digits: int) -> str:
        """The mean with its standard error, if there is one."""
        error = "" if np.isnan(self.sem) else f" ± {self.sem:.{digits}f}"
        return f"{self.mean:.{digits}f}{error}"


def stability(
    ensemble: Any, measure: str = "jaccard", *, n_jobs: int | None = None, progress: bool | None = None
) -> Stability:
    """Mean agreement over all pairs of clusterings, with its standard error (Bekkerman et al. 2009, section 5.2).

    Parameters are those of :func:`pairwise`. Pairs that share no labeled object are left out; a measure that is not
    symmetric is averaged over both directions.

    Examples
    --------
    >>> import consilience as cs
    >>> cs.stability([[0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 2]])
    Stability: jaccard 0.6667 ± 0.1667 over 3 pairs
    """
    return stability_of(pairwise(ensemble, measure, n_jobs=n_jobs, progress=progress), measure)


def stability_of(matrix: NDArray[Any], measure: str) -> Stability:
    """The stability that a matrix from :func:`pairwise` shows."""
    if np.ndim(matrix) != 2 or len(set(np.shape(matrix))) != 1:
        raise InputError(f"stability needs the square matrix that pairwise gives; got shape {np.shape(matrix)}")
    m = len(matrix)
    if m < 2:
        raise InputError("stability needs at least two clusterings")
    values = (matrix + matrix.T) / 2
    known = ~np.isnan(values) & ~np.eye(m, dtype=bool)
    upper = values[np.triu(known)]
    if not upper.size:
        return Stability(float("nan"), float("nan"), float("nan"), measure, 0)
    sem = float(upper.std(ddof=1) / np.sqrt(upper.size)) if upper.size > 1 else float("nan")
    return Stability(float(upper.mean()), sem, _jackknife(values, known), measure, int(upper.size))


def _jackknife(values: Floats, known: NDArray[np.bool_]) -> float:
    """Standard error of the mean over pairs by leaving out one clustering at a time."""
    m = len(values)
    totals, counts = np.where(known, values, 0).sum(axis=1), known.sum(axis=1)
    left = counts.sum() / 2 - counts
    if m < 3 or (left == 0).any():
        return float("nan")
    means = (totals.sum() / 2 - totals) / left
    return float(np.sqrt((m - 1) / m * np.square(means - means.mean()).sum()))
