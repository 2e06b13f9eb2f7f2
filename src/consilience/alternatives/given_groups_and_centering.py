"""Data and given groupings, checked once; and data seen from a group where its means are taken out."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from consilience._check import InputError, count, show
from consilience._types import Array, EnsembleLike, Floats, Labels
from consilience.ensemble import Ensemble, check_same_objects
from consilience.inputs import as_ensemble, as_table
from consilience.inputs.known_labels import labels_from
from consilience.tables import Table, check_matrix
from consilience.tables.scaling_and_counts import Standardizer

BLOCK = 2**22  # safeguard: memory; numbers of a sparse table made dense at once, to look at: 32 MB
DENSE = 2**27  # safeguard: memory; and to cluster: 1 GB


@dataclass(frozen=True, eq=False)
class Data:
    X: Any  # array or CSR matrix of finite float64 numbers, scaled
    given: Ensemble | None
    ids: Array | None
    scaling: str  # what was done to the columns, in one line


def check_data(X: Any, given: EnsembleLike | None, *, counts: bool, standardize: bool, **reading: Any) -> Data:
    """The data and the given groupings, opened and checked; columns are scaled unless they are counts."""
    source, table = X, None
    is_file = isinstance(given, (str, os.PathLike)) and os.path.isfile(given)
    if reading or not (isinstance(X, (np.ndarray, list, tuple)) or sparse.issparse(X)):
        names = [] if is_file else _columns_named(X, given)
        if names and not isinstance(X, Table):
            reading = reading | {"known": names}
        table = as_table(X, "counts" if counts else "data", **reading) if reading or not isinstance(X, Table) else X
        if names and table.labels is not None:
            given, source = table.labels[names], None
    if is_file:
        objects = as_table(X, "counts" if counts else "data") if table is None else table
        given, source = pd.DataFrame(labels_from(given, objects)), None
    values = check_matrix(X if table is None else table, min_objects=2)
    ens = None if given is None else check_given(given, values.shape[0], source)
    ids = table.ids if table is not None and table.ids is not None else None if ens is None else ens.ids
    if counts or not standardize:
        return Data(values, ens, ids, "counts as they are" if counts else "columns as they are")
    units = None if table is None or table.encoder is None else table.encoder.units
    scaler = Standardizer.of(values, None if table is None else table.groups, units)
    return Data(scaler.apply(values), ens, ids, scaler.describe())


def _columns_named(X: Any, given: Any) -> list[str]:
    """The columns that `given` names: one, or a list of them; a list that does not name columns is a label vector."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        return []
    frame = X.labels if isinstance(X, Table) else getattr(X, "obs", X)
    columns = getattr(frame, "columns", None)
    return given if isinstance(X, (str, os.PathLike)) or (columns is not None and set(given) <= set(columns)) else []


def check_counts(X: Any, what: str) -> None:
    """Refuse what a model of counts cannot use: negative numbers, and rows without any count."""
    values = X.data if sparse.issparse(X) else X
    if values.size and values.min() < 0:
        row, column = (int(places[0]) for places in (X < 0).nonzero())
        raise InputError(
            f"Negative values in data passed to {what} (row {row}, column {column}), which takes counts: give counts, "
            "or choose a method for measured data"
        )
    empty = np.flatnonzero(np.asarray(X.sum(axis=1)).ravel() == 0)
    if len(empty):
        raise InputError(
            f"{count(len(empty), 'row')} of the data {'is' if len(empty) == 1 else 'are'} all zero (the first is row "
            f"{empty[0]}), and say nothing about where the object belongs: drop them for {what}"
        )


def group_sums(X: Any, codes: NDArray[Any], n_groups: int) -> Floats:
    """(n_groups, n_features) sums of the objects of each group; code −1 belongs to none."""
    known = np.flatnonzero(codes >= 0)
    member = sparse.csr_matrix((np.ones(len(known)), (codes[known], known)), shape=(n_groups, X.shape[0]))
    sums = member @ X
    return np.asarray(sums.todense() if sparse.issparse(sums) else sums)


def group_means(X: Any, codes: NDArray[Any], n_groups: int) -> Floats:
    """(n_groups, n_features) means of the objects of each group."""
    return group_sums(X, codes, n_groups) / np.maximum(np.bincount(codes[codes >= 0], minlength=n_groups), 1)[:, None]


@dataclass(frozen=True)
class Centering:
    """Takes the objects' own group means out of the data and puts one mean, `home`, in their place."""

    # What a model learned in one group then meets objects of other groups as if they stood there too.
    cells: NDArray[np.int64]  # group of every object; the last one for objects whose group is not known
    means: Floats  # of the groups; the last row is the mean of all objects
    home: Floats

    @classmethod
    def of(cls, X: Any, cells: NDArray[Any]) -> Self:
        n_cells = int(cells.max()) + 1
        means = np.vstack([group_means(X, cells, n_cells), group_means(X, np.zeros(X.shape[0], int), 1)])
        return cls(np.where(cells >= 0, cells, n_cells).astype(np.int64), means, means[-1])

    def at(self, X: Any, rows: NDArray[Any]) -> Self:
        """The same, with the mean of some rows as home."""
        cells = np.unique(self.cells[rows])
        home = self.means[cells[0]] if len(cells) == 1 else group_means(X[rows], np.zeros(len(rows), int), 1)[0]
        return replace(self, home=home)

    def blocks(self, X: Any, rows: NDArray[Any]) -> Iterator[tuple[NDArray[Any], Floats]]:
        """Some of the rows after another, dense, with their means moved home."""
        step = max(1, BLOCK // max(1, X.shape[1]))
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            part = X[some].toarray() if sparse.issparse(X) else X[some]
            yield some, part - self.means[self.cells[some]] + self.home

    def seen(self, X: Any, rows: NDArray[Any]) -> Any:
        """The rows with their means moved home; dense, unless they are at home already."""
        if (self.means[np.unique(self.cells[rows])] == self.home).all():
            return X[rows]
        if sparse.issparse(X) and len(rows) * X.shape[1] > DENSE:
            raise InputError(
                f"taking means out of {len(rows):,} sparse rows of {X.shape[1]:,} columns would fill more than "
                f"{8 * DENSE >> 30} GB: reduce the columns first, say by TruncatedSVD"
            )
        return np.vstack([part for _, part in self.blocks(X, rows)])


# What the user knows already: one or more groupings of the objects, and the groups they make.

MULTIPLE_GIVEN = ("joint", "each")


class TooSmallError(InputError):
    """There are too few objects, or too few that differ, for the clusters asked for."""


class NoSplitError(InputError):
    """The base clusterer left every group whole."""


@dataclass(frozen=True)
class Group:
    """Objects to split: those of one group, which grouping it is of, its number there, and what to call it."""

    rows: NDArray[np.int64]
    given: int
    code: int
    name: str


def check_given(given: EnsembleLike, n_objects: int, X: Any = None) -> Ensemble:
    """The known groupings: of the same objects as the data, each with at least two groups."""
    ens = as_ensemble(given)
    if ens.n_objects != n_objects:
        raise InputError(
            f"the given labels are of {count(ens.n_objects, 'object')}, the data of {n_objects:,}: give one label per row"
        )
    check_same_objects(ens, X, given)
    for name, groups in zip(ens.names, ens.n_clusters, strict=True):
        which = "the given grouping" if ens.n_clusterings == 1 else f"the given grouping {show(name)}"
        if groups == 0:
            raise InputError(f"{which} has no label at all: leave it out")
        if groups == 1:
            raise InputError(f"{which} has one group only, so anything would be new to it: give at least two groups")
    return ens


def checked(X: Any, given: EnsembleLike | None, model: Any, estimator: Any = None) -> tuple[Any, Ensemble | None]:
    """Data and known groupings ready for a model, whose options are checked too; an estimator learns the columns."""
    values = check_matrix(X, estimator=estimator, min_objects=2)
    model._check(values)
    return values, None if given is None else check_given(given, values.shape[0], X)


def group_names(given: Ensemble) -> list[list[str]]:
    return [[_text(label) for label in given.categories(j)] for j in range(given.n_clusterings)]


def _text(label: Any) -> str:
    """Whole numbers without the point that a missing one beside them brought."""
    return str(int(label)) if isinstance(label, (float, np.floating)) and float(label).is_integer() else str(label)


def joint(labels: NDArray[Any]) -> Labels:
    """The groups that several groupings (n_objects, m) make together, numbered through; −1 where any label is missing."""
    known = (labels >= 0).all(axis=1)
    out = np.full(len(labels), -1, np.int32)
    if known.any():
        out[known] = np.unique(labels[known], axis=0, return_inverse=True)[1].ravel()
    return out


def group_table(groups: list[Group], outcomes: list[str]) -> pd.DataFrame:
    rows = [(g.given, g.code, g.name, len(g.rows), outcome) for g, outcome in zip(groups, outcomes, strict=True)]
    return pd.DataFrame(rows, columns=["given", "group", "name", "size", "outcome"])


def groups_of(given: Ensemble | None, n_objects: int, multiple_given: str) -> list[Group]:
    """The groups to split: the cells of all groupings together ("joint"), the groups of each ("each"), or without any all objects."""
    if given is None:
        return [Group(np.arange(n_objects), 0, 0, "all objects")]
    names = group_names(given)
    if multiple_given == "each" or given.n_clusterings == 1:
        return [
            Group(rows, j, code, name)
            for j, codes in enumerate(given.labels.T)
            for code, name in enumerate(names[j])
            if len(rows := np.flatnonzero(codes == code))
        ]
    cells = joint(given.labels)
    groups = []
    for code in range(int(cells.max()) + 1):
        rows = np.flatnonzero(cells == code)
        parts = [own[label] for own, label in zip(names, given.labels[rows[0]], strict=True)]
        groups.append(Group(rows, 0, code, " × ".join(parts)))
    return groups
