"""What tells a cluster from the rest: the columns on which its objects differ most, with effect sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from consilience._check import InputError, check_count, check_labels, check_same_index, count
from consilience._types import ArrayLike, Floats, LabelsLike
from consilience.ensemble.results import Result
from consilience.tables import Table, check_matrix, read_table
from consilience.tables.in_memory import needs_encoding, plain_source
from consilience.tables.vectors import is_frame

BLOCK = 2**24  # values looked at at a time
NOTHING = 1e-7  # of a column's size, below which a difference of squares is rounding
FEATURES = ["cluster", "feature", "effect", "low", "high", "mean", "mean_elsewhere"]
Z = 1.959964  # 95 % of a normal distribution lie within so many standard errors


def distinguishing_features(
    X: ArrayLike, labels: LabelsLike, *, names: Sequence[Any] | None = None, top: int = 5
) -> pd.DataFrame:
    """List for every cluster the columns of the data on which it differs most from all other objects.

    Parameters
    ----------
    X : (n_objects, n_columns) array, sparse matrix, Table or data frame
    labels : (n_objects,) labels, or a result with labels, such as a Consensus
        Objects without one are left out.
    names : sequence, optional
        Of the columns; by default those of the data frame or Table, else their numbers.
    top : int, default 5
        Columns listed for each cluster.

    Returns
    -------
    DataFrame
        `cluster`, `feature`, `effect` (Cohen's d: the difference of the means over the pooled standard deviation inside cluster
        and rest), `low` and `high` (its 95 % interval), `mean` in the cluster and `mean_elsewhere`; the largest |d| first.
        Columns that are constant tell nothing and are left out. Of a table with columns of several kinds, the features are the columns
        as they came, the means of a category are the shares of the level that differs most, and `words` says it:
        "plan: 71 % pro against 22 %".

    Notes
    -----
    The interval, ± 1.96 √(1/n₁ + 1/n₂ + d² / 2(n₁ + n₂)), says how exactly d is known for groups that were given. Clusters made
    from these very columns were made to differ: large effects do not test whether the clusters are real.

    Examples
    --------
    >>> from consilience.measures import distinguishing_features
    >>> X = [[0.0, 5.0], [1.0, 6.0], [9.0, 5.0], [10.0, 6.0]]
    >>> distinguishing_features(X, ["a", "a", "b", "b"], names=["size", "age"], top=1)[["cluster", "feature", "effect"]]
       cluster feature     effect
    0        0    size -12.727922
    1        1    size  12.727922
    """
    codes = check_labels(getattr(labels, "labels", None) if isinstance(labels, Result) else labels)
    X = mixed_table(X, names)
    names = getattr(X, "columns", None) if names is None else names
    data = check_matrix(X)
    if len(codes) != data.shape[0]:
        raise InputError(f"{count(len(codes), 'label')} for data of shape {data.shape}: give one for each row")
    check_same_index(X, labels)
    data = data.tocsc() if sparse.issparse(data) else data
    check_count("top", top)
    if isinstance(X, Table) and X.in_words:
        return _of_columns(X, codes, top)
    called = np.arange(data.shape[1]) if names is None else np.asarray(list(names), object)
    inside, outside, effect, error = effect_sizes(data, codes)
    table = []
    for cluster, effects in enumerate(effect):
        strength = np.where(np.isnan(effects), -1.0, np.abs(effects))
        for column in np.argsort(-strength, kind="stable")[:top]:
            if strength[column] >= 0:
                d, half = effects[column], Z * error[cluster, column]
                means = inside[cluster, column], outside[cluster, column]
                table.append((cluster, called[column], d, d - half, d + half, *means))
    return pd.DataFrame(table, columns=FEATURES)


def mixed_table(X: Any, names: Sequence[Any] | None = None) -> Any:
    """Columns that are not numbers, or with missing cells, as a table with an encoder, by these names; anything else as it is."""
    plain = plain_source(X) if is_frame(X) else X
    if not needs_encoding(plain):
        return X
    if names is not None:
        if len(names) != plain.shape[1]:
            raise InputError(f"{count(len(names), 'name')} for data of shape {plain.shape}: give one for each column")
        X = pd.DataFrame(plain).set_axis(list(names), axis=1)
    return read_table(X, kind="data")


def _of_columns(table: Table, codes: NDArray[np.int32], top: int) -> pd.DataFrame:
    """The features of a table with an encoder, in the columns as they came."""
    from consilience.measures.column_effects import ColumnEffects

    found, rows = ColumnEffects.of(table, codes), []
    for cluster, effects in enumerate(found.effect):
        strength = np.where(np.isnan(effects), -1.0, np.abs(effects))
        for column in np.argsort(-strength, kind="stable")[:top].tolist():
            if strength[column] >= 0:
                d, half = effects[column], Z * found.error[cluster, column]
                sides = found.values(cluster, column)
                rows.append((cluster, found.name(column), d, d - half, d + half, *sides, found.words(cluster, column)))
    return pd.DataFrame(rows, columns=[*FEATURES, "words"])


def effect_sizes(X: Any, codes: NDArray[np.int32]) -> tuple[Floats, Floats, Floats, Floats]:
    """Means in every cluster and elsewhere, Cohen's d and its standard error, each clusters × columns. Cost O(n d).

    d is NaN where a column is constant or nothing lies elsewhere, and infinite where only the means differ.

    Examples
    --------
    >>> import numpy as np
    >>> effect_sizes(np.array([[1.0], [2.0], [5.0], [6.0]]), np.array([0, 0, 1, 1]))[2].round(2).tolist()
    [[-5.66], [5.66]]
    """
    known = np.flatnonzero(codes >= 0)
    k, n = int(codes.max()) + 1, len(known)
    member = sparse.csr_matrix((np.ones(n), (codes[known], np.arange(n))), (k, n))
    step = max(1, BLOCK // max(1, n))
    blocks = [_sums(member, X[:, at : at + step][known]) for at in range(0, X.shape[1], step)]
    center, first, second = (np.concatenate(parts, axis=-1) for parts in zip(*blocks, strict=True))
    size = np.bincount(codes[known], minlength=k).astype(float)[:, None]
    rest = n - size
    with np.errstate(divide="ignore", invalid="ignore"):
        inside, outside = first / size, (first.sum(axis=0) - first) / rest
        within = second - size * inside**2 + second.sum(axis=0) - second - rest * outside**2
        pooled = np.sqrt(np.maximum(within, 0) / np.maximum(n - 2, 1))
        rounding = NOTHING * np.sqrt(second.sum(axis=0) / n)
        apart = np.where(np.abs(inside - outside) > rounding, inside - outside, 0)
        effect = apart / np.where(pooled > rounding, pooled, 0)
        error = np.sqrt(1 / size + 1 / rest + np.where(np.isinf(effect), 0, effect) ** 2 / (2 * n))
    inside, outside = (
        np.where(np.abs(side + center) < 1e-12 * np.abs(center), 0, side + center) for side in (inside, outside)
    )
    return inside, outside, effect, error


def _sums(member: Any, block: Any) -> tuple[Floats, Floats, Floats]:
    """A center of some columns, and for every cluster the sums of their deviations from it and of the squares of these.

    The center is the mean; of sparse columns, which centering would fill, it is zero.
    """
    if sparse.issparse(block):
        return np.zeros(block.shape[1]), (member @ block).toarray(), (member @ block.multiply(block)).toarray()
    center = block.mean(axis=0)
    values = block - center
    return center, member @ values, member @ values**2
