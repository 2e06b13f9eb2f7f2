"""What marks a cluster: the columns in which it differs most from the rest, by Cohen's d."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience.explorer.edition import Shown
from consilience.explorer.session import Session

Floats = NDArray[np.float64]
TOP = 8  # columns for each cluster
CLUSTERS = 60  # clusters that are described
BLOCK = 2**22  # numbers at a time
SURE = 1.959964  # normal deviate of a 95 % interval


def marks(session: Session, one: Shown) -> list[dict[str, Any]]:
    """For every cluster its columns of the largest |d|, with the means inside and outside and a 95 % interval of d."""
    assert session.data is not None
    codes = np.minimum(one.codes, CLUSTERS)  # the clusters beyond are only part of the rest
    size = np.bincount(codes[codes >= 0], minlength=min(one.clusters, CLUSTERS + 1)).astype(float)
    inside, outside, d, error = effect_sizes(session.data.values, codes, size)
    answer = []
    for cluster in range(min(one.clusters, CLUSTERS)):
        effect = np.abs(np.nan_to_num(d[cluster]))
        order = [i for i in np.argsort(-effect, kind="stable")[:TOP] if effect[i] > 0]
        top = [
            {
                "feature": session.features[i],
                "mean": inside[cluster, i],
                "rest": outside[cluster, i],
                "d": d[cluster, i],
                "low": d[cluster, i] - SURE * error[cluster, i],
                "high": d[cluster, i] + SURE * error[cluster, i],
            }
            for i in order
        ]
        answer.append({"cluster": cluster, "top": top})
    return answer


def effect_sizes(values: Any, codes: NDArray[np.int32], size: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Means in every cluster and in the rest, Cohen's d (pooled deviation) and its standard error: clusters × columns.

    NaN where a cluster or its rest is empty or nothing varies. Cost O(n d).

    Examples
    --------
    >>> values = np.array([[1.0], [2.0], [5.0], [6.0]])
    >>> effect_sizes(values, np.array([0, 0, 1, 1], np.int32), np.array([2.0, 2.0]))[2].round(2).tolist()
    [[-5.66], [5.66]]
    """
    known = np.flatnonzero(codes >= 0)
    k, d = len(size), values.shape[1]
    member = sparse.csr_matrix((np.ones(len(known)), (codes[known], known)), (k, len(codes)))
    sums, squares = np.empty((k, d)), np.empty((k, d))
    centre = np.asarray(values.mean(axis=0)).ravel() if not sparse.issparse(values) else np.zeros(d)
    step = max(1, BLOCK // max(len(codes), 1))
    for begin in range(0, d, step):
        some = slice(begin, begin + step)
        block = values[:, some] - centre[some] if not sparse.issparse(values) else values[:, some]
        square = np.square(block) if not sparse.issparse(values) else block.multiply(block)
        for table, part in ((sums, block), (squares, square)):
            total = member @ part
            table[:, some] = total.toarray() if sparse.issparse(total) else total
    n1, n2 = size[:, None], size.sum() - size[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        inside, outside = sums / n1, (sums.sum(axis=0) - sums) / n2
        within = squares - n1 * np.square(inside) + (squares.sum(axis=0) - squares) - n2 * np.square(outside)
        spread = np.sqrt(np.maximum(within, 0) / (n1 + n2 - 2))
        scale = np.sqrt(squares.sum(axis=0) / size.sum())
        effect = np.where(spread > 1e-9 * scale, (inside - outside) / spread, np.nan)
        error = np.sqrt((n1 + n2) / (n1 * n2) + np.square(effect) / (2 * (n1 + n2)))
    return inside + centre, outside + centre, effect, error
