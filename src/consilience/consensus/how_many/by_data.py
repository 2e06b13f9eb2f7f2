"""How many clusters where the data are there too: what the clusterings say, and gaps in the data where these leave it open.

1. Take the stable number, as :func:`consilience.combine` finds it; of several numbers more stable than chance and as stable as any (within
   0.02), the finest.
2. If none is more stable than chance, or the data have at most two columns, where a cloud is cut as surely as clusters are found: take the
   largest number up to ten whose clusters are all separated by gaps, unless a finer number is far more stable.
3. Prefer a finer number, up to ten, that is nearly as stable (within 0.1) if gaps separate all of its clusters, or if it is farther beyond
   chance.

Without them the mean adjusted Rand index on fourteen small sets of a benchmark suite falls by .04, all of it on one set.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import binom

from consilience._check import count
from consilience._types import Floats, Ints
from consilience.consensus.combine import combine, combined_labels
from consilience.consensus.how_many.significance import beyond_chance
from consilience.consensus.result import Consensus
from consilience.ensemble import Ensemble
from consilience.measures import adjusted_rand

AS_STABLE = 0.02  # difference of stabilities that does not count
NEARLY_AS_STABLE = 0.1  # difference of stabilities that fewer clusters alone can make
UNLUCKY_ERRORS = 3  # standard errors of a stability that unlucky halves can make it lack,
WIDEST = 0.2  # though no more than this, however badly it was measured
MOST_CLUSTERS = 10  # clusters looked for by gaps in the data, or by how far beyond chance they are
NARROW = 2  # columns; there, clusterings of a single cloud agree nearly as well as those of clusters


def combine_with_data(
    ensemble: Ensemble, X: Floats, n_clusters: int | str | None, method: str, *, seed: int, n_jobs: int | None
) -> Consensus:
    """What :func:`combine` gives; where it is to look for the number of clusters, the data `X` have a say in that."""
    if n_clusters == 1:
        return _one_cluster(ensemble, method)
    how: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs}
    found = combine(ensemble, n_clusters, method, **how, progress=False)
    if found.scales is None:
        return found
    most = min(MOST_CLUSTERS, int(ensemble.n_clusters.max()))
    if X.shape[1] <= NARROW or not found.scales["real"].any():
        apart = _apart(_agreed_on(found, range(most, 1, -1)), found, ensemble, X, method, how)
        if apart is not None:
            return apart
    one = _finest(found, ensemble, method, how)
    finer = range(one.n_clusters + 1, most + 1)
    apart = _apart(_nearly_as_stable(found, finer, UNLUCKY_ERRORS), found, ensemble, X, method, how)
    return apart or _farther(_nearly_as_stable(found, finer), one, ensemble, method, how) or one


def _one_cluster(ensemble: Ensemble, method: str) -> Consensus:
    known = (ensemble.labels >= 0).any(axis=1)
    full = known.astype(float)
    return Consensus(
        labels=np.where(known, 0, -1),
        confidence=full,
        support=full,
        membership=full[:, None],
        n_clusters=1,
        method=method,
        anmi=0.0,
    )


def _finest(found: Consensus, ensemble: Ensemble, method: str, how: dict[str, Any]) -> Consensus:
    """The answer at the finest of the numbers of clusters that are more than chance and as stable as any; else as it is."""
    scales = found.scales
    assert scales is not None
    real, stability = scales["real"].to_numpy(bool), scales["stability"].to_numpy()
    as_good = real & (stability >= _highest(scales) - AS_STABLE)
    best = int(scales["n_clusters"].to_numpy()[as_good].max()) if real[0] else found.n_clusters
    one = found if best == found.n_clusters else combine(ensemble, best, method, **how)
    for k in _as_good(found, best):
        if _differs(ensemble, k, method, how, one):
            again = combine(ensemble, k, method, **how)
            return _with_own_scale(_with_scales(again, found, _why_finest(again)))
    return one if one is found else _with_scales(one, found, _why_finest(one))


def _highest(scales: pd.DataFrame) -> float:
    """The stability of the most stable of the scales that are more than chance, which come first.

    The first of them stands on the highest peak of the smoothed curve, which favors broad ones; a number of clusters that the data
    hold can be more stable without the numbers beside it. Two counts only where it is first, since it is stable on nearly any data.
    """
    counts = scales["real"].astype(bool) & ((scales["n_clusters"] > 2) | (scales.index == scales.index[0]))
    return float(scales["stability"][counts].max())


def _differs(ensemble: Ensemble, k: int, method: str, how: dict[str, Any], one: Consensus) -> bool:
    """Whether k clusters can be had that move more objects than stabilities differ by."""
    labels = combined_labels(ensemble, k, method, **how)
    return bool(labels.max() + 1 == k and adjusted_rand(labels, one.labels) < 1 - 2 * AS_STABLE)


def _as_good(found: Consensus, best: int) -> list[int]:
    """Finer numbers in one span with a scale that is real, the finest first, themselves more than chance and as stable as any.

    A scale stands for neighboring numbers about as stable as itself. One of these that only sets a few objects apart is as stable
    whatever becomes of these; one that moves more objects than the stabilities differ by has to be agreed on to be as stable.
    """
    scales, curve = found.scales, found.curve
    if scales is None or curve is None or not scales["real"].iloc[0]:
        return []
    k, stability = curve["n_clusters"].to_numpy(), curve["stability"].to_numpy()
    good = (stability >= _highest(scales) - AS_STABLE) & (stability > curve["null_high"].to_numpy()) & (k > best)
    spans = scales.loc[scales["real"].astype(bool), ["from_k", "to_k"]].to_numpy()
    inside = [bool(((spans[:, 0] <= one) & (one <= spans[:, 1])).any()) for one in k]
    return sorted((int(one) for one in k[good & np.array(inside)]), reverse=True)


def _why_finest(one: Consensus) -> str:
    why = "the finest of the numbers that are more stable than chance, and as stable as any"
    return f"{count(one.n_clusters, 'cluster')}, {why}; {one.note}"


def _agreed_on(found: Consensus, numbers: Iterable[int]) -> list[int]:
    """Those of the numbers beside which no finer one, up to the largest of them, is far more stable.

    Clusters with gaps between them have gaps too where two of them are taken for one. Fewer clusters are the more stable by chance: if they
    are not, halves of the clusterings do not agree on which two, some fully and some not at all, so that errors are no excuse.
    """
    numbers = list(numbers)
    if found.curve is None:
        return numbers
    table = found.curve[found.curve["n_clusters"] <= max(numbers, default=0)].set_index("n_clusters")
    finer = table["stability"][::-1].cummax()[::-1]
    lacks = finer - table["stability"] > NEARLY_AS_STABLE
    return [k for k in numbers if not lacks.get(k, False)]


def _nearly_as_stable(found: Consensus, numbers: Iterable[int], errors: float = 0) -> list[int]:
    """Those of the numbers, the largest first, that halves of the clusterings agree on nearly as well as on any.

    Within so many standard errors too, where some are given.
    """
    if found.curve is None:
        return []
    stability, sem = found.curve["stability"].to_numpy(), found.curve["sem"].to_numpy()
    near = stability >= stability.max() - np.clip(errors * sem, NEARLY_AS_STABLE, WIDEST)
    return sorted(set(numbers).intersection(found.curve["n_clusters"].to_numpy()[near].tolist()), reverse=True)


def _farther(
    numbers: Iterable[int], one: Consensus, ensemble: Ensemble, method: str, how: dict[str, Any]
) -> Consensus | None:
    """The answer at the most stable of the numbers that are farther beyond chance than an answer that is so itself, or None.

    Fewer clusters are more stable by chance, so that stabilities alone favor them. Beside an answer that only its nesting tells from
    chance, a number must lead it in both.
    """
    scales, curve = one.scales, one.curve
    if scales is None or curve is None or not scales["real"].iloc[0] or one.n_clusters not in set(curve["n_clusters"]):
        return None
    table = curve.set_index("n_clusters")
    beyond = beyond_chance(table)
    here = beyond.loc[one.n_clusters]
    farther = [k for k in numbers if beyond["stability"][k] > max(here["stability"], 0.0)]
    if here["stability"] <= 0:
        farther = [k for k in farther if beyond["nesting"][k] > here["nesting"]]
    for k in sorted(farther, key=lambda k: -table["stability"][k]):
        if _differs(ensemble, k, method, how, one):
            again = combine(ensemble, k, method, **how)
            why = f"farther beyond chance than {one.n_clusters}, and nearly as stable"
            return _with_own_scale(_with_scales(again, one, f"{count(k, 'cluster')}, {why}; {again.note}"))
    return None


def _apart(
    numbers: Iterable[int], found: Consensus, ensemble: Ensemble, X: Floats, method: str, how: dict[str, Any]
) -> Consensus | None:
    """The answer at the first of the numbers whose clusters all have gaps between them, or None."""
    for k in numbers:
        labels = combined_labels(ensemble, k, method, **how)
        if labels.max() + 1 == k and has_gaps(X, labels):
            again = combine(ensemble, k, method, **how)
            why = "since there are gaps in the data between all of them, which the clusterings alone cannot tell"
            note = f"{count(k, 'cluster')}, {why}; {again.note}"
            return _with_own_scale(_with_scales(again, found, note))
    return None


def _with_own_scale(one: Consensus) -> Consensus:
    """The answer's number of clusters is the first scale, and real: it was found by gaps or beyond chance."""
    scales, k = one.scales, one.n_clusters
    assert scales is not None
    numbers = scales["n_clusters"].to_numpy()
    labels, sure = one.scale_labels, one.scale_confidence
    if k in numbers:
        own = scales[numbers == k]
    else:
        assert labels is not None
        assert sure is not None
        own = pd.DataFrame({"n_clusters": [k], "from_k": [k], "to_k": [k], "confidence": [one.confidence.mean()]})
        if one.curve is not None:  # what was measured there
            own = own.merge(one.curve[["n_clusters", *one.curve.columns.difference(own.columns)]], "left", "n_clusters")
        at = int((np.sort(numbers) < k).sum())  # whose columns go by the number of clusters
        labels, sure = np.insert(labels, at, one.labels, axis=1), np.insert(sure, at, one.confidence, axis=1)
    table = pd.concat([own.assign(real=True), scales[numbers != k]], ignore_index=True)[scales.columns]
    return replace(one, scales=table, scale_labels=labels, scale_confidence=sure)


def _with_scales(again: Consensus, found: Consensus, note: str) -> Consensus:
    kept = ("curve", "scales", "scale_labels", "scale_confidence", "splits")
    return replace(again, **{name: getattr(found, name) for name in kept}, note=note)


# Whether the data are sparse between clusters: a sign that labels alone do not carry.
#
# Two halves of one long cloud are found as surely by every clustering as two clusters far apart are; only the data tell them
# apart. Between the centers of two clusters a cloud that was cut in two is densest where it was cut, and separated clusters
# leave a gap there.

WINDOW_WIDTH = 0.3  # of a window, as a share of the way between two centers
SPARSE_SHARE = 0.5  # of the sparser cluster's density: a gap has less
LEVEL = 0.01
FEWEST_OBJECTS = 5  # objects of a cluster that can be judged
ROWS_PER_COLUMN = 5  # with fewer, centers lie far apart by chance alone


def has_gaps(X: Floats, labels: Ints) -> bool:
    """Whether every cluster is apart from each cluster that is next to it.

    Two clusters are next to each other where no third center is nearer to the middle between theirs. The objects of both are
    projected onto the line through their centers; in the window around the middle there must be significantly fewer of them
    than half as many as around the center of either (binomial test, level .01, corrected for the number of pairs).

    Parameters
    ----------
    X : (n_objects, n_columns) array
    labels : (n_objects,) int array
        −1 for objects without a cluster.

    Returns
    -------
    bool
        False also where it cannot be judged: a sparse table, one with fewer than 5 rows for every column, clusters of less than 5 objects.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(200, 1))
    >>> has_gaps(x, (x[:, 0] > 0).astype(int))
    False
    >>> group = np.arange(200) % 2
    >>> has_gaps(x + 8 * group[:, None], group)
    True
    """
    if sparse.issparse(X) or len(X) < ROWS_PER_COLUMN * X.shape[1]:
        return False
    sizes = np.bincount(labels[labels >= 0])
    if len(sizes) < 2 or sizes.min() < FEWEST_OBJECTS:
        return False
    centers = np.stack([X[labels == c].mean(axis=0) for c in range(len(sizes))])
    pairs = _neighbors(centers)
    return all(_is_gap_between(X, labels, centers, a, b, LEVEL / len(pairs)) for a, b in pairs)


def _neighbors(centers: Floats) -> list[tuple[int, int]]:
    pairs = []
    for a in range(len(centers)):
        for b in range(a + 1, len(centers)):
            away = ((centers - (centers[a] + centers[b]) / 2) ** 2).sum(axis=1)
            if away.argsort(kind="stable")[:2].tolist() in ([a, b], [b, a]):
                pairs.append((a, b))
    return pairs


def _is_gap_between(X: Floats, labels: Ints, centers: Floats, a: int, b: int, level: float) -> bool:
    way = centers[b] - centers[a]
    length = way @ way
    if length == 0:
        return False
    at = (X[(labels == a) | (labels == b)] - centers[a]) @ way / length
    first, middle, second = (int((np.abs(at - place) < WINDOW_WIDTH / 2).sum()) for place in (0.0, 0.5, 1.0))
    dense = min(first, second)
    return bool(binom.cdf(middle, middle + dense, SPARSE_SHARE / (1 + SPARSE_SHARE)) < level)
