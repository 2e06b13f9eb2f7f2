"""All pairs of an ensemble, and its stability."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from consilience._check import InputError, check_choice, count
from consilience._run.parallel import n_threads
from consilience._run.progress import track
from consilience._run.random import stream
from consilience._types import Array, Columns, EnsembleLike, Floats, Ints, Labels
from consilience.ensemble import Ensemble
from consilience.ensemble.results import Result
from consilience.inputs import as_ensemble
from consilience.measures.counts import bands_of_sums, cells, clusters, mirror, sums_with_each, tables
from consilience.measures.registry import MEASURES, Measure

STACK = 2**18  # safeguard: memory; cells of the tables, or labels counted, at a time: what the cache holds
MOST_PAIRS = 10**9  # safeguard: time and memory; 45,000 clusterings, whose matrix takes 16 GB
DENSE = 4  # safeguard: time, not the result; cells per object up to which a dense table is counted faster than cells are sorted


def pairwise(
    ensemble: EnsembleLike,
    measure: str = "cluster_difference",
    *,
    columns: Columns = None,
    id_column: str | int | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Floats:
    """Compare every two clusterings of an ensemble.

    Parameters
    ----------
    ensemble : Ensemble, or what one is made from: path, folder, DataFrame, array, AnnData, result
    measure : str
        A name in :data:`MEASURES`: "rand", "adjusted_rand", "jaccard", "cluster_difference", "nmi", "adjusted_mutual_information",
        "shared_information" (the same over the smaller entropy), "variation_of_information", "information_ratio", "element_centric",
        "accuracy", "matched_accuracy", "f1", or one of your own. The first ten are computed in bulk by a native kernel; the next three
        need the tables themselves and take 10 to 100 times as long.
    columns : str, int or sequence of them, optional
        Of a table or a run: the clusterings to take, by name, position or pattern (``"leiden_*"``).
    id_column : str or int, optional
        Of a table: the column that names the objects.
    n_jobs : int, optional
        Threads of the kernel; the values do not depend on them.
    progress : bool, optional
        Show a bar; by default only on a terminal, for work of more than half a second.

    Returns
    -------
    (n_clusterings, n_clusterings) array
        Entry (i, j) is ``measure(i, j)``; where the measure is not symmetric, i has the known labels. NaN where two
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
    ens, how = as_ensemble(ensemble, columns=columns, id_column=id_column), MEASURES[measure]
    threads, n_pairs = n_threads(n_jobs), ens.n_clusterings * (ens.n_clusterings - 1) // 2
    if n_pairs > MOST_PAIRS:
        many = f"{count(ens.n_clusterings, 'clustering')} are {count(n_pairs, 'pair')}, and at most {MOST_PAIRS:,} are compared"
        raise InputError(f"{many}: draw some of the clusterings, and name them with columns= (--columns)")
    if how.all_pairs is not None:
        return how.all_pairs(ens, threads, progress)
    if how.formula is None:
        return _one_by_one(ens, how, measure, progress)
    if how.term is None:
        return _by_table(ens, how, how.formula, measure, progress)
    out = np.empty((ens.n_clusterings, ens.n_clusterings))
    for begin, end, sums in bands_of_sums(ens, how.term, measure, threads, progress):
        out[:end, begin:end] = how.formula(sums)
        if not how.symmetric:
            out[begin:end, :end] = how.formula(sums.swapped()).T
    return mirror(out, is_distance=how.is_distance) if how.symmetric else out


def with_each(measure: str, known: Labels, ens: Ensemble) -> Floats:
    """A measure of one clustering, as codes, with every clustering of an ensemble."""
    how = MEASURES[measure]
    if how.formula is None:
        return np.array([_of_shared(how, known, column) for column in ens.labels.T])
    if how.term is None:
        return np.array([how.formula(cells(known, column)) for column in ens.labels.T])
    return np.asarray(how.formula(sums_with_each(known, ens.labels, how.term)))


def _of_shared(how: Measure, a: Labels, b: Labels) -> float:
    """A measure without a formula, of the objects that both label; NaN if there are none."""
    both = (a >= 0) & (b >= 0)
    return float(how.function(a[both], b[both])) if both.any() else float("nan")


def _one_by_one(ens: Ensemble, how: Measure, name: str, progress: bool | None) -> Floats:
    m, columns = ens.n_clusterings, np.ascontiguousarray(ens.labels.T)
    out = np.empty((m, m))
    for i in track(range(m), m, name, progress):
        for j in range(i if how.symmetric else 0, m):
            out[i, j] = _of_shared(how, columns[i], columns[j])
            if how.symmetric:
                out[j, i] = out[i, j]
    return out


def _by_table(ens: Ensemble, how: Measure, formula: Callable[..., Any], name: str, progress: bool | None) -> Floats:
    m, columns = ens.n_clusterings, np.ascontiguousarray(ens.labels.T)
    widths = np.array([clusters(column) for column in columns])
    out = np.empty((m, m))
    for i in track(range(m), m, name, progress):
        for some in _blocks(widths[: i + 1] * widths[i], ens.n_objects):
            a, others = columns[i], columns[some]
            if how.stacked is not None and len(others) > 1:
                stack = tables(a, others)
                out[i, some] = how.stacked(stack)
                out[some, i] = out[i, some] if how.symmetric else how.stacked(stack.swapaxes(1, 2))
                continue
            for j, b in enumerate(others, some.start):
                rows, other, counts = cells(a, b)
                out[i, j] = formula((rows, other, counts))
                out[j, i] = out[i, j] if how.symmetric else formula((other, rows, counts))
    return out


def _blocks(sizes: Array, n: int) -> Iterator[slice]:
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


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Result):
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

    Examples
    --------
    >>> import consilience as cs
    >>> found = cs.stability([[0, 0, 1], [0, 0, 1], [0, 1, 1]], "rand")
    >>> round(found.mean, 3), found.n_pairs
    (0.556, 3)
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
    ensemble: EnsembleLike,
    measure: str = "jaccard",
    *,
    columns: Columns = None,
    id_column: str | int | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
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
    ens = as_ensemble(ensemble, columns=columns, id_column=id_column)
    return stability_of(pairwise(ens, measure, n_jobs=n_jobs, progress=progress), measure)


def stability_of(matrix: Array, measure: str) -> Stability:
    """The stability that a matrix from :func:`pairwise` shows."""
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


def _jackknife(values: Floats, known: Array) -> float:
    """Standard error of the mean over pairs by leaving out one clustering at a time."""
    m = len(values)
    totals, counts = np.where(known, values, 0).sum(axis=1), known.sum(axis=1)
    left = counts.sum() / 2 - counts
    if m < 3 or (left == 0).any():
        return float("nan")
    means = (totals.sum() / 2 - totals) / left
    return float(np.sqrt((m - 1) / m * np.square(means - means.mean()).sum()))


# The one sample of objects on which scores of large data are computed, so that two places never show two numbers.

WHOLE, SAMPLED = 5000, 2000  # safeguard: time; objects up to which all are looked at; beyond, how many are


def sample_objects(n_objects: int, most: int | None = None) -> Ints:
    """Numbers of the objects that scores are computed on, in order: all up to 5,000, and beyond the same 2,000 for everyone."""
    size = n_objects if n_objects <= WHOLE else SAMPLED
    size = size if most is None else min(size, most)  # fewer are the first of the same random order
    if size == n_objects:
        return np.arange(n_objects)
    return np.sort(stream(0, "measures.sample").permutation(n_objects)[:size])
