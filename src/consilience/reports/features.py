"""What tells a cluster from the rest: the columns on which its objects differ most, with effect sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from consilience._check import InputError, check_count, check_labels, count

BLOCK = 2**24  # values looked at at a time
Z = 1.959964  # 95 % of a normal distribution lie within so many standard errors


def distinguishing_features(X: Any, labels: Any, *, names: Sequence[Any] | None = None, top: int = 5) -> pd.DataFrame:
    """List for every cluster the columns of the data on which it differs most from all other objects.

    Parameters
    ----------
    X : (n_objects, n_columns) array or sparse matrix
    labels : (n_objects,) labels
        Objects without one are left out.
    names : sequence, optional
        Of the columns; their numbers by default.
    top : int, default 5
        Columns listed for each cluster.

    Returns
    -------
    DataFrame
        `cluster`, `feature`, `effect` (Cohen's d: the difference of the means over the pooled standard deviation inside cluster
        and rest), `low` and `high` (its 95 % interval), `mean` in the cluster and `mean_elsewhere`; the largest |d| first.
        Columns that are constant tell nothing and are left out.

    Notes
    -----
    The interval, ± 1.96 √(1/n₁ + 1/n₂ + d² / 2(n₁ + n₂)), says how exactly d is known for groups that were given. Clusters made
    from these very columns were made to differ: large effects are no test of whether the clusters are real.

    Examples
    --------
    >>> from consilience.reports.features import distinguishing_features
    >>> X = [[0.0, 5.0], [1.0, 6.0], [9.0, 5.0], [10.0, 6.0]]
    >>> distinguishing_features(X, ["a", "a", "b", "b"], names=["size", "age"], top=1)[["cluster", "feature", "effect"]]
       cluster feature     effect
    0        0    size -12.727922
    1        1    size  12.727922
    """
    data, codes = (X.tocsc() if sparse.issparse(X) else np.asarray(X, float)), check_labels(labels)
    if data.ndim != 2 or len(codes) != data.shape[0]:
        raise InputError(f"{count(len(codes), 'label')} for data of shape {data.shape}: give one for each row")
    known = np.flatnonzero(codes >= 0)
    k, called = int(codes.max()) + 1, np.arange(data.shape[1]) if names is None else np.asarray(names, object)
    check_count("top", top)
    sizes = np.bincount(codes[known], minlength=k).astype(float)
    member = sparse.csr_matrix((np.ones(len(known)), (codes[known], np.arange(len(known)))), (k, len(known)))
    step = max(1, BLOCK // max(1, len(known)))
    blocks = [_sums(member, data[:, at : at + step][known]) for at in range(0, data.shape[1], step)]
    shift, first, second = (np.concatenate(parts, axis=-1) for parts in zip(*blocks, strict=True))
    mean, elsewhere, effect = _effects(sizes, first, second)
    others = np.maximum(len(known) - sizes, 1)
    variance = (1 / sizes + 1 / others)[:, None] + np.where(np.isinf(effect), 0, effect) ** 2 / (2 * len(known))
    table = []
    for cluster in range(k):
        strength = np.where(np.isnan(effect[cluster]), -1.0, np.abs(effect[cluster]))
        for column in np.argsort(-strength, kind="stable")[:top]:
            if strength[column] >= 0:
                d, half = effect[cluster, column], Z * np.sqrt(variance[cluster, column])
                means = (side[cluster, column] + shift[column] for side in (mean, elsewhere))
                exact = (0.0 if abs(x) < 1e-12 * abs(shift[column]) else x for x in means)  # what rounding left of zero
                table.append((cluster, called[column], d, d - half, d + half, *exact))
    return pd.DataFrame(table, columns=["cluster", "feature", "effect", "low", "high", "mean", "mean_elsewhere"])


def _sums(member: Any, block: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Mean of some columns, and for every cluster the sums of their deviations from it and of the squares of these."""
    shift = np.asarray(block.mean(axis=0)).ravel()
    values = (block.toarray() if sparse.issparse(block) else block) - shift
    return shift, member @ values, member @ values**2


def _effects(sizes: NDArray[Any], first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Means in every cluster and outside it, and Cohen's d; NaN where a column is constant or nothing is outside."""
    n, others = sizes[:, None], sizes.sum() - sizes[:, None]
    rest, rest_squares = first.sum(axis=0) - first, second.sum(axis=0) - second
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, elsewhere = first / n, rest / others
        within = second - n * mean**2 + rest_squares - others * elsewhere**2
        pooled = np.sqrt(np.maximum(within, 0) / np.maximum(sizes.sum() - 2, 1))
        effect = (mean - elsewhere) / np.where(pooled > 1e-12 * np.sqrt(second.sum(axis=0) + 1e-300), pooled, 0)
    return mean, elsewhere, effect
