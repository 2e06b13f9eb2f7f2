"""Element-centric similarity: how much of an object's cluster stays with it, object by object (Gates et al. 2019).

The definition compares where a walk that returns to its object with probability 1 − α is found: α / |C| on every object of
the cluster C, and 1 − α more on the object itself. The similarity is 1 less half the walks' absolute difference over α.
With the clusters A and B of the object,

    1 − ½ (|A ∩ B| · |1/|A| − 1/|B|| + |A − B| / |A| + |B − A| / |B|)  =  |A ∩ B| / max(|A|, |B|):

α cancels, the object itself included, and no n × n matrix is needed.
"""

from typing import Any

import numpy as np

from consilience import _kernels
from consilience._check import InputError
from consilience._run.parallel import n_threads
from consilience._run.progress import track
from consilience._types import Columns, EnsembleLike, Floats
from consilience.ensemble import Ensemble
from consilience.inputs import as_ensemble
from consilience.measures.counts import bands, check_pair, clusters, codes_of, mirror, ratio

HELD = 2**23  # safeguard: memory; numbers held at a time while scores of objects are added up: 64 MB


def element_centric(a: Any, b: Any, *, per_object: bool = False) -> Any:
    """Element-centric similarity of two clusterings: the mean over objects of |A ∩ B| / max(|A|, |B|), A and B its clusters.

    Above 0, and 1 if equal. Equal to ``element_sim`` of clusim and ClustAssess, whose parameter α cancels where clusters do
    not overlap. It does not adjust for chance.

    Parameters
    ----------
    a, b : (n_objects,) label vectors
        Objects missing in either are left out, also from the sizes of the clusters.
    per_object : bool, default False
        Give the similarity of every object instead of the mean.

    Returns
    -------
    float; or (n_objects,) array with NaN for the objects left out

    Notes
    -----
    Cost O(n), memory O(n).

    Examples
    --------
    >>> from consilience.measures import element_centric
    >>> element_centric([0, 0, 1, 1], [0, 0, 1, 2])
    0.75
    >>> element_centric([0, 0, 1, 1], [0, 0, 1, 2], per_object=True)
    array([1. , 1. , 0.5, 0.5])
    """
    a, b = check_pair(a, b)
    known = (a >= 0) & (b >= 0)
    scores = np.zeros(len(a))
    codes = _kernels.encode_codes(np.column_stack([a, b]))
    _kernels.object_overlaps(codes, np.array([clusters(a), clusters(b)]), 0, 1, scores)
    if per_object:
        return np.where(known, scores, np.nan)
    return float(scores[known].mean()) if known.any() else float("nan")


def element_consistency(
    ensemble: EnsembleLike,
    *,
    columns: Columns = None,
    id_column: str | int | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Floats:
    """Element-centric consistency of every object: its mean :func:`element_centric` similarity over all pairs of clusterings.

    1 for an object whose cluster holds the same objects in every clustering; near 0 for one whose company changes each
    time. The ECC that ClustAssess reports.

    Parameters
    ----------
    ensemble : Ensemble, or what one is made from: path, folder, DataFrame, array, AnnData, result
    columns, id_column, n_jobs, progress
        As for :func:`pairwise`.

    Returns
    -------
    (n_objects,) array
        The mean over the pairs of clusterings that both label the object; NaN if there is none. Without missing labels
        the mean over objects is that of ``stability(ensemble, "element_centric")``.

    Notes
    -----
    Cost O(m² n); memory O(m n) for the labels and 64 MB at most beyond.

    Examples
    --------
    >>> from consilience.measures import element_consistency
    >>> element_consistency([[0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 2]]).round(3)
    array([1.   , 1.   , 0.667, 0.667])
    """
    ens, threads = as_ensemble(ensemble, columns=columns, id_column=id_column), n_threads(n_jobs)
    m, n = ens.n_clusterings, ens.n_objects
    if m < 2:
        raise InputError("consistency needs at least two clusterings")
    codes, sizes = codes_of(ens.labels)
    scores = np.zeros(n)
    step = max(1, min(HELD // max(n, 1), m))
    begins = range(0, m, step)
    for begin in track(begins, len(begins), "element_consistency", progress):
        _kernels.object_overlaps(codes, sizes, begin, min(begin + step, m), scores, threads=threads)
    times = (ens.labels >= 0).sum(axis=1)
    return ratio(scores, times * (times - 1) / 2, np.nan)


def element_centric_all_pairs(ens: Ensemble, threads: int, progress: bool | None) -> Floats:
    m, missing = ens.n_clusterings, ens.has_missing
    # By falling numbers of clusters: the kernel's time grows with those of the second of a pair.
    order = np.argsort(-ens.labels.max(axis=0, initial=-1), kind="stable")
    codes, sizes = codes_of(ens.labels[:, order])
    found, every = np.empty((m, m)), np.full(1, float(ens.n_objects))
    for begin, end in bands(m, "element_centric", progress):
        sums, known = _kernels.overlap_sums(codes, sizes, begin, end, missing=missing, threads=threads)
        found[:end, begin:end] = ratio(sums, known.astype(float) if missing else every, np.nan)
    out = np.empty((m, m))
    out[np.ix_(order, order)] = mirror(found)
    return out
