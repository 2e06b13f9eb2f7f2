"""What a clusterer is given, as rows of numbers: by scikit-learn's rules where it is numbers, and else encoded."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import InputError, count, names_objects
from consilience._types import Array, ArrayLike, Floats, Ints
from consilience.opening import as_table
from consilience.opening.kinds import is_anndata, is_path
from consilience.results import register
from consilience.tables import Encoder, Table, check_matrix, encode_rows, read_table
from consilience.tables.encoding import EncodedColumn
from consilience.tables.filling import NEIGHBORS, Gaps
from consilience.tables.in_memory import needs_encoding, plain_source
from consilience.tables.vectors import is_frame

FARTHEST = 1e100  # of new numbers; the squares of much larger ones overflow

register(Encoder)
register(EncodedColumn)


@dataclass(frozen=True, eq=False)
class Rows:
    """New objects.

    Attributes
    ----------
    values : (n_new, n_columns) array or CSR matrix
        Encoded as those of the data.
    ids : array or None
    unseen : dict of str to int
        Cells with a category that the data does not have, by column.
    missing : dict of str to int
        Cells that are missing, or no number or date where the data has some, by column.
    gaps : Gaps or None
        The cells that were missing and are filled in `values`.
    n_columns : int
        Original ones, that a gap may be in.
    """

    values: ArrayLike
    ids: Array | None = None
    unseen: dict[str, int] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    gaps: Gaps | None = None
    n_columns: int = 0

    @cached_property
    def n_missing(self) -> Ints:
        """(n_new,) missing cells of every row."""
        rows = [gap.rows for gap in self.gaps.gaps] if self.gaps is not None else []
        return np.bincount(np.concatenate([*rows, np.empty(0, np.int64)]), minlength=self.values.shape[0])

    @property
    def are_empty(self) -> Array:
        """(n_new,) bool: which rows have no cell at all."""
        return (self.n_missing > 0) & (self.n_missing == self.n_columns)

    def filled(self, some: Ints) -> Iterator[Floats]:
        """Some rows with their missing cells taken from each of the similar rows in turn, whatever other rows there are."""
        assert self.gaps is not None
        gaps = self.gaps.of_rows(some)
        for number in range(NEIGHBORS):
            values = self.values[some].copy()
            for gap in gaps.gaps:
                giving = gap.donors[:, number % gap.donors.shape[1]]
                values[np.ix_(gap.rows, gap.columns)] = gaps.donors[np.ix_(giving, gap.columns)]
            yield values


def learn_rows(estimator: Any, X: Any) -> Table:
    """The data to be clustered; the estimator learns the number and names of its columns.

    Frames with named columns are read as files are, so that both are clustered alike. What the reader noticed is kept as notices,
    unless it was read before.
    """
    if isinstance(X, Table):
        X = replace(X, notices=())  # which whoever read it knows
    elif is_path(X) or is_anndata(X):
        X = as_table(X)
    elif is_frame(X):
        X = plain_source(X)
    if has_names(X) or needs_encoding(X):
        X = read_table(X, kind="data")
    if isinstance(X, Table) and X.encoder is not None:
        if X.n_objects < 2:
            raise InputError(f"{X.source}: there is nothing to cluster in {count(X.n_objects, 'object')}")
        _set_names(estimator, [column.name for column in X.encoder.columns])
        return X
    values = check_matrix(_named(X), estimator=estimator, min_objects=2)
    names = getattr(estimator, "feature_names_in_", None)
    if isinstance(X, Table):
        if names is None and X.columns is not None:
            _set_names(estimator, X.columns)
        return replace(X, values=values, kind="data", labels=None)
    return Table(values, "data", ids_of(X), None if names is None else [str(name) for name in names], None, "the data")


def has_names(X: Any) -> bool:
    """Whether it is a frame whose columns have names."""
    return isinstance(X, pd.DataFrame) and X.shape[1] > 0 and all(isinstance(name, str) for name in X.columns)


def new_rows(estimator: Any, X: Any, encoder: Encoder | None) -> Rows:
    """New objects as rows of the columns that the estimator knows."""
    if encoder is None:
        names = getattr(estimator, "feature_names_in_", None)
        X = plain_source(X) if is_frame(X) else X
        has_more = names is not None and has_names(X) and set(X.columns) > set(names)  # names of objects, for one
        if is_anndata(X) and (names is None or list(X.var_names) == list(names)):
            X = as_table(X)
        elif is_path(X) or is_anndata(X) or has_more:
            X = as_table(X, columns=None if names is None else [str(name) for name in names])
        if isinstance(X, Table) and X.encoder is not None:
            raise InputError(
                f"{X.source}: has cells that are missing or no numbers, and the clustered data had none: fill them, or drop their rows"
            )
        with warnings.catch_warnings():
            if (
                isinstance(X, Table) and X.columns is not None
            ):  # of a sparse matrix, whose names scikit-learn does not see
                warnings.filterwarnings("ignore", "X does not have valid feature names")
            values = check_matrix(_named(X), estimator=estimator, reset=False)
        return Rows(_bounded(values), ids_of(X))
    X = encode_rows(X, encoder)
    rows = rows_of(replace(X, values=_bounded(X.values)))
    if X.original is None:
        return rows
    unseen = {c.name: sum(c.encode(X.original[c.name])[1].values()) for c in encoder.columns}
    missing = {c.name: int(X.original[c.name].isna().sum()) for c in encoder.columns}
    return replace(rows, unseen=_some(unseen), missing=_some(missing))


def rows_of(table: Table) -> Rows:
    """The rows of a table, and which of their cells were missing."""
    n_columns = 0 if table.encoder is None else len(table.encoder.columns)
    return Rows(table.values, table.ids, gaps=table.gaps, n_columns=n_columns)


def _some(cells: dict[str, int]) -> dict[str, int]:
    """Without the columns that have none."""
    return {name: n for name, n in cells.items() if n}


def ids_of(X: Any) -> Array | None:
    """What the objects are called, where they have names."""
    if isinstance(X, Table):
        return X.ids
    if isinstance(X, pd.DataFrame) and names_objects(X.index) and X.index.nlevels == 1 and X.index.is_unique:
        return np.asarray(X.index)
    return None


def _named(X: Any) -> Any:
    """A table as a frame, so that its columns have names."""
    if not isinstance(X, Table):
        return X
    if X.columns is None or sparse.issparse(X.values):
        return X.values
    return pd.DataFrame(X.values, columns=X.columns, copy=False)


def _bounded(values: Any) -> Any:
    """Finite numbers, those that no distance can be computed of brought nearer: they stay farther away than anything that was seen."""
    found = values.data if sparse.issparse(values) else values
    if not (found.size and max(found.max(), -found.min()) > FARTHEST):
        return values
    if not sparse.issparse(values):
        return np.clip(values, -FARTHEST, FARTHEST)
    return sparse.csr_matrix((np.clip(found, -FARTHEST, FARTHEST), values.indices, values.indptr), values.shape)


def _set_names(estimator: Any, names: list[str]) -> None:
    estimator.n_features_in_, estimator.feature_names_in_ = len(names), np.array(names, object)
