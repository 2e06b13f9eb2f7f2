"""What the information engine looks at: objects' rows over the columns of one or more views."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._check import InputError
from consilience._types import Floats


@dataclass(frozen=True)
class Views:
    """Objects' rows over the columns of all views, as one sparse table."""

    table: Any  # (n_objects, n_columns) Counts, times the object's weight. Columns of a view stand together.
    view_of: NDArray[np.int32]  # (n_columns,) View of every column
    weights: Floats  # (n_views,) w_v
    object_weights: Floats  # (n_objects,) What an object weighs in `capacity`, and in a label view
    one_hot: bool = False  # Whether every entry is its object's weight, as in label views
    # (n_views, columns of the table) Which column view v sees for a column of the table, −1 for none: rows are summed
    # by groups as they are read, so that the table of view v is never made
    groups: NDArray[np.int32] | None = None
    mean_entry: float | None = None  # Of the table that these rows are sums of; by default of this one
    # (columns of the table,) The sums of the table's columns, where they were taken before
    known_totals: Floats | None = None

    def rows(self, chosen: Any) -> "Views":
        return replace(self, table=self.table[chosen], object_weights=self.object_weights[chosen], known_totals=None)

    @property
    def n_objects(self) -> int:
        return int(self.table.shape[0])

    @property
    def n_views(self) -> int:
        return len(self.weights)

    @cached_property
    def totals(self) -> Floats:
        """N_v, the sum of every view."""
        return by_view(self.column_totals, self)

    @cached_property
    def column_totals(self) -> Floats:
        if self.groups is None:
            return self.table_totals
        seen = self.groups >= 0
        stored = np.broadcast_to(self.table_totals, self.groups.shape)
        return np.bincount(self.groups[seen], stored[seen], minlength=len(self.view_of)).astype(float)

    @cached_property
    def table_totals(self) -> Floats:
        if self.known_totals is not None:
            return self.known_totals
        return np.bincount(self.table.indices, self.table.data, minlength=self.table.shape[1]).astype(float)

    @cached_property
    def mass(self) -> Any:
        """(n_objects, n_views) CSR: the sum of every row in every view."""
        if self.groups is not None:
            return sparse.csr_matrix(self.table @ sparse.csr_matrix((self.groups >= 0).T.astype(float)))
        n = len(self.view_of)
        in_view = sparse.csr_matrix((np.ones(n), (np.arange(n), self.view_of)), shape=(n, self.n_views))
        return sparse.csr_matrix(self.table @ in_view)

    @property
    def whole(self) -> bool:
        counts = self.object_weights if self.one_hot else self.table.data
        return bool((counts % 1 == 0).all() and (self.object_weights % 1 == 0).all())


def _check_weights(weights: Any, size: int, what: str) -> Floats:
    if weights is None:
        return np.ones(size)
    array = np.asarray(weights, float)
    if array.shape != (size,) or not np.isfinite(array).all() or (array < 0).any():
        raise InputError(f"{size} {what} weights are needed, finite and not negative; got shape {array.shape}")
    return array


def label_views(labels: Any, *, weights: Any = None, object_weights: Any = None) -> Views:
    """Views of label codes (n_objects, n_views): one-hot rows, nothing where the label is missing (−1)."""
    codes = np.asarray(labels)
    if codes.ndim != 2 or codes.dtype.kind not in "iu":
        raise InputError("label views are made of whole-number codes, one column per view")
    n, r = codes.shape
    sizes = codes.max(axis=0, initial=-1).astype(np.int64) + 1
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    mass = _check_weights(object_weights, n, "object")
    columns = codes.astype(np.int32, copy=False) + offsets[:-1].astype(np.int32)
    known = codes >= 0
    full = bool(known.all())
    start = np.arange(0, n * r + 1, r) if full else np.concatenate([[0], np.cumsum(known.sum(axis=1))])
    columns = columns.ravel() if full else columns[known]
    data = np.repeat(mass, np.diff(start))
    table = sparse.csr_matrix((data, columns, start), shape=(n, int(offsets[-1])))
    view_of = np.repeat(np.arange(r, dtype=np.int32), sizes)
    return Views(table, view_of, _check_weights(weights, r, "view"), mass, one_hot=True)


def count_views(tables: Sequence[Any], *, weights: Any = None, object_weights: Any = None) -> Views:
    """Views of count tables (n_objects, columns), dense or sparse; an empty row says nothing in that view."""
    if sparse.issparse(tables) or (isinstance(tables, np.ndarray) and tables.ndim == 2):
        raise InputError("count views are a list of tables, one per view; put your table in a list")
    parts = [sparse.csr_matrix(t) for t in tables]
    if not parts or any(p.shape[0] != parts[0].shape[0] for p in parts):
        raise InputError("count views need at least one table, all with the same objects")
    for v, part in enumerate(parts):
        if part.nnz and not (np.isfinite(part.data).all() and part.data.min() >= 0):
            raise InputError(f"view {v} holds a count that is negative or not finite")
    mass = _check_weights(object_weights, parts[0].shape[0], "object")
    weighted = parts if object_weights is None else [sparse.diags(mass) @ p for p in parts]
    table = (weighted[0].copy() if len(parts) == 1 else sparse.hstack(weighted, format="csr")).astype(float, copy=False)
    table.sum_duplicates()
    table.eliminate_zeros()
    table.sort_indices()
    view_of = np.repeat(np.arange(len(parts), dtype=np.int32), [p.shape[1] for p in parts])
    return Views(table, view_of, _check_weights(weights, len(parts), "view"), mass)


def grouped_views(table: Any, clusterings: Sequence[Any], *, weights: Any = None, object_weights: Any = None) -> Views:
    """Views of one count table: view v sums the columns by clustering v of them (codes, −1 leaves a column out)."""
    return regrouped(count_views([table], object_weights=object_weights), clusterings, weights=weights)


def regrouped(views: Views, clusterings: Any, *, weights: Any = None) -> Views:
    """The same rows, seen by clusterings of the table's columns; the table is shared."""
    codes = np.asarray(clusterings, np.int32).reshape(len(clusterings), -1)
    if codes.shape[1] != views.table.shape[1] or not len(codes):
        raise InputError(f"{views.table.shape[1]} columns are clustered; got clusterings of shape {codes.shape}")
    sizes = codes.max(axis=1, initial=-1).astype(np.int64) + 1
    offsets = np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int32)
    groups = np.where(codes < 0, np.int32(-1), codes + offsets[:, None])
    view_of = np.repeat(np.arange(len(codes), dtype=np.int32), sizes)
    weights = _check_weights(weights, len(codes), "view")
    return replace(views, view_of=view_of, weights=weights, groups=groups, known_totals=views.table_totals)


def summed(views: Views) -> Views:
    """The same views with their rows summed by groups: a table of the views' own columns. Cost O(entries · views)."""
    if views.groups is None:
        return views
    view, column = np.nonzero(views.groups >= 0)
    shape = views.table.shape[1], len(views.view_of)
    members = sparse.csr_matrix((np.ones(len(column)), (column, views.groups[view, column])), shape=shape)
    return replace(views, table=sparse.csr_matrix(views.table @ members), groups=None, known_totals=None)


def cluster_tables(views: Views, labels: Any, n_clusters: int) -> tuple[Floats, Floats]:
    """T (clusters × columns) and the clusters' totals in every view (clusters × views)."""
    rows, width = views.table, len(views.view_of)
    line = np.repeat(np.asarray(labels, np.int64) * width, np.diff(rows.indptr))
    cells = np.zeros(n_clusters * width)
    for group in (None,) if views.groups is None else views.groups:
        column = rows.indices if group is None else group[rows.indices]
        seen = column >= 0
        cells += np.bincount((line + column)[seen], rows.data[seen], minlength=n_clusters * width)
    table = cells.reshape(n_clusters, width)
    totals = np.zeros((n_clusters, views.n_views))
    np.add.at(totals.T, views.view_of, table.T)
    return table, totals


def by_view(values: Floats, views: Views) -> Floats:
    return np.bincount(views.view_of, values, minlength=views.n_views).astype(float)
