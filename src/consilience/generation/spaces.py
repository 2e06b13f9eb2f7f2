"""The forms of the data that clusterings are made on: its columns, and their principal components."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from consilience._check import InputError, count
from consilience._types import Floats
from consilience.generation.kmeans import Prepared, prepare
from consilience.generation.mds import embed
from consilience.generation.plan import WEIGHTED, Settings

MOST = 5000  # columns, or objects if they are fewer, whose components can be had: they need that number squared


class GenerationWarning(UserWarning):
    """Something of the data or the clusterings had to be left out; the message says what."""


class Spaces:
    """The data of a run.

    Attributes
    ----------
    columns : (n, d) array or CSR matrix
        The table without its constant columns, each standardized if the settings say so (a sparse table is only
        scaled, since moving its zeros would fill it); for distances, their scaling to `n_dimensions` columns.
    kept : (d,) int array
        Which of the given columns these are.
    given_width : int
        Number of the given columns, constant ones included.
    stress : float or None
        Of the scaling.
    """

    def __init__(self, values: Any, settings: Settings) -> None:
        self.settings = settings
        self.stress: float | None = None
        self.distances: Floats | None = None
        if settings.metric == "precomputed":
            self.distances = np.asarray(values, float)
            if not self.distances.any():
                raise InputError("every distance is 0: there is nothing to cluster")
            width = min(settings.n_dimensions, len(self.distances) - 1)
            with threadpool_limits(1):  # the same numbers whatever the number of threads
                self.columns, self.stress = embed(self.distances, width)
            self.kept, self.given_width = np.arange(width), width
            return
        self.given_width = values.shape[1]
        self.columns, self.kept = _standardized(values, settings.standardize)
        if constant := self.given_width - len(self.kept):
            message = f"{constant:,} of {count(self.given_width, 'column')} left out, being constant"
            warnings.warn(GenerationWarning(message), stacklevel=5)
        weighted = [name for name, _ in settings.methods if name in WEIGHTED]
        if weighted and len(self.kept) < 2:
            raise InputError(
                f"{weighted[0]} weighs columns against each other, and only one is not constant: "
                "give more columns, or use methods='minima'"
            )

    @property
    def n_objects(self) -> int:
        """Number of rows."""
        return int(self.columns.shape[0])

    @cached_property
    def components(self) -> Floats:
        """The first principal components that hold `pca_share` of the variability (Caruana et al. 2006, Eq. 1)."""
        with threadpool_limits(1):
            return _components(self.columns, self.settings.pca_share, self.settings.pca_rule)

    def table(self, space: str) -> Any:
        """The rows and columns of a space."""
        return self.columns if space == "columns" else self.components

    def width(self, space: str) -> int:
        """Number of columns of a space."""
        return int(self.table(space).shape[1])

    def prepared(self, space: str) -> Prepared:
        """A space as k-means wants it; made once."""
        return self._prepared_columns if space == "columns" else self._prepared_components

    @cached_property
    def _prepared_columns(self) -> Prepared:
        return prepare(self.columns)

    @cached_property
    def _prepared_components(self) -> Prepared:
        return prepare(self.components)


def _standardized(values: Any, standardize: bool) -> tuple[Any, NDArray[np.int64]]:
    """The columns that are not constant, with mean 0 and standard deviation 1 if asked, and their places."""
    is_sparse = sparse.issparse(values)
    if is_sparse:
        mean = np.asarray(values.mean(axis=0)).ravel()
        square = np.asarray(values.multiply(values).mean(axis=0)).ravel()
        low, high = (np.asarray(f(axis=0).todense()).ravel() for f in (values.min, values.max))
        spread = np.sqrt(np.maximum(square - np.square(mean), 0))
    else:
        mean, spread, low, high = values.mean(axis=0), values.std(axis=0), values.min(axis=0), values.max(axis=0)
    kept = np.flatnonzero((low < high) & (spread > 0))
    if not kept.size:
        raise InputError(
            f"all {count(values.shape[1], 'column')} of the table are constant: there is nothing to cluster"
        )
    table = values[:, kept] if len(kept) < values.shape[1] else values
    if not standardize:
        return table, kept
    if is_sparse:
        return sparse.csr_matrix(table @ sparse.diags(1 / spread[kept])), kept
    return (table - mean[kept]) / spread[kept], kept


def _components(table: Any, share: float, rule: str) -> Floats:
    """Scores on the principal axes, from the covariance of the columns or, if they are fewer, the products of the rows."""
    n, d = table.shape
    if min(n, d) > MOST:
        raise InputError(
            f"principal components of {n:,} × {d:,} numbers need a matrix of {min(n, d):,} squared: reduce the table first "
            "(scikit-learn's TruncatedSVD), or leave 'pca' out of methods"
        )
    mean = np.asarray(table.mean(axis=0)).ravel()
    product = table @ table.T if n < d else table.T @ table
    product = product.toarray() if sparse.issparse(product) else product
    if n < d:
        along = np.asarray(table @ mean).ravel()
        values, vectors = _largest_first(product - along - along[:, None] + mean @ mean)
    else:
        values, vectors = _largest_first(product - n * np.outer(mean, mean))
    size = values if rule == "variance" else np.sqrt(values)
    enough = int(np.searchsorted(np.cumsum(size), share * size.sum() * (1 - 1e-12))) + 1
    axes = vectors[:, : min(max(enough, 2), len(values))]
    scores = axes * np.sqrt(values[: axes.shape[1]]) if n < d else np.asarray(table @ axes - mean @ axes)
    return scores * np.where(scores[np.abs(scores).argmax(axis=0), range(axes.shape[1])] < 0, -1.0, 1.0)  # one sign


def _largest_first(matrix: Floats) -> tuple[Floats, Floats]:
    values, vectors = np.linalg.eigh(matrix)
    return np.maximum(values[::-1], 0), vectors[:, ::-1]
