"""How many clusters where the data are there too: gaps in the data decide where the clusterings leave it open.

Where no number of clusters is more stable than chance, or the data have at most two columns, where a cloud is cut as surely as clusters
are found, the answer is the largest number up to ten whose clusters are all separated by gaps, unless a finer number is far more stable.
Where no number has gaps between all clusters, the answer is that of :func:`consilience.combine`. On 30 sets of a benchmark suite this
changed no answer; it finds two clusters of 50 numbers each, in one column, which the clusterings alone cannot tell from chance.
"""

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
from consilience.consensus.result import Consensus
from consilience.ensemble import Ensemble

FAR_MORE_STABLE = 0.1  # difference of stabilities that fewer clusters alone do not make
MOST_CLUSTERS = 10  # clusters looked for by gaps in the data
NARROW = 2  # columns; there, clusterings of a single cloud agree nearly as well as those of clusters


def combine_with_data(
    ensemble: Ensemble, X: Floats, n_clusters: int | str | None, method: str, *, seed: int, n_jobs: int | None
) -> Consensus:
    """What :func:`combine` gives; where it is to look for the number of clusters, gaps in the data `X` have a say in that."""
    how: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs}
    consensus = combine(ensemble, n_clusters, method, progress=False, **how)
    if consensus.scales is None or (X.shape[1] > NARROW and consensus.scales["real"].any()):
        return consensus
    most = min(MOST_CLUSTERS, int(ensemble.n_clusters.max()))
    return _apart(_agreed_on(consensus, range(most, 1, -1)), consensus, ensemble, X, method, how) or consensus


def _agreed_on(found: Consensus, numbers: Iterable[int]) -> list[int]:
    """Those of the numbers beside which no finer one, up to the largest of them, is far more stable."""
    # Clusters with gaps between them have gaps too where two of them are taken for one. Fewer clusters are the more stable by chance: if
    # they are not, halves of the clusterings do not agree on which two, some fully and some not at all, so that errors are no excuse.
    numbers = list(numbers)
    if found.curve is None:
        return numbers
    table = found.curve[found.curve["n_clusters"] <= max(numbers, default=0)].set_index("n_clusters")
    finer = table["stability"][::-1].cummax()[::-1]
    lacks = finer - table["stability"] > FAR_MORE_STABLE
    return [k for k in numbers if not lacks.get(k, False)]


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
    """The answer's number of clusters is the first scale, and real: it was found by gaps."""
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
# Two halves of one long cloud are found as surely by every clustering as two clusters far apart are; only the data tell them apart. Between
# the centers of two clusters a cloud that was cut in two is densest where it was cut, and separated clusters leave a gap there.

WINDOW_WIDTH = 0.3  # of a window, as a share of the way between two centers
SPARSE_SHARE = 0.5  # of the sparser cluster's density: a gap has less
LEVEL = 0.01  # of the test for a gap, for all pairs of clusters together
FEWEST_OBJECTS = 5  # objects of a cluster that can be judged
ROWS_PER_COLUMN = 5  # with fewer, centers lie far apart by chance alone


def has_gaps(X: Floats, labels: Ints) -> bool:
    """Whether every cluster is apart from each cluster that is next to it; not where it cannot be judged."""
    # Two clusters are next to each other where no third center is nearer to the middle between theirs. The objects of both are projected
    # onto the line through their centers; in the window around the middle there must be significantly fewer of them than half as many as
    # around the center of either (binomial test, level .01, corrected for the number of pairs).
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
