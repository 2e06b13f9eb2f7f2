"""What users have (files, DataFrames, arrays, sparse matrices, AnnData) into checked arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import InputError, check_choice, count
from consilience.tables.cells import check_present, check_unique, ids_of, labels_of
from consilience.tables.files import Options, open_sheet
from consilience.tables.sheet import Sheet
from consilience.tables.values import counts_of, data_of, distances_of, triples_of

KINDS = ("data", "counts", "distances", "labels")


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A checked table: one row per object.

    Attributes
    ----------
    values : ndarray, csr_matrix or DataFrame
        Shape (n_objects, n_columns). Data: float64, dense or CSR. Counts: CSR, int64 or float64. Distances:
        float64, dense. Labels: a DataFrame, one column per clustering, None where a label is missing.
    kind : {"data", "counts", "distances", "labels"}
        What the values are.
    ids : ndarray or None
        Name of each object, unique.
    columns : list of str or None
        Name of each column of `values`.
    labels : DataFrame or None
        The columns set aside with `known`.
    source : str
        Name of the file, or of the type of the object.

    Examples
    --------
    >>> import numpy as np
    >>> read_table(np.eye(3), kind="data")
    Table('array', data, 3 objects × 3 columns, dense)
    """

    values: Any
    kind: str
    ids: np.ndarray | None
    columns: list[str] | None
    labels: pd.DataFrame | None
    source: str

    @property
    def n_objects(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    def __repr__(self) -> str:
        size = f"{count(self.n_objects, 'object')} × {count(self.values.shape[1], 'column')}"
        parts = [repr(self.source), self.kind, size]
        if self.kind != "labels":
            parts.append("sparse" if sparse.issparse(self.values) else "dense")
        if self.ids is not None:
            parts.append("with ids")
        if self.labels is not None:
            parts.append(f"labels {', '.join(self.labels.columns)}")
        return f"Table({', '.join(parts)})"


def read_table(
    source: str | Path | pd.DataFrame | np.ndarray | Any,
    *,
    kind: str,
    id_column: str | int | None = None,
    known: str | int | Sequence[str | int] = (),
    columns: str | int | Sequence[str | int] | None = None,
    header: bool | None = None,
    sep: str | None = None,
    key: str | None = None,
    triples: bool = False,
) -> Table:
    """Read a table, check it, and say in one sentence what is wrong and where if it cannot be used.

    Parameters
    ----------
    source : path, DataFrame (pandas or polars), Arrow table, ndarray, sparse matrix or AnnData
        Rows are objects. Files: .csv, .tsv, .txt (each also .gz), .parquet, .npy, .npz, .mtx, .mtx.gz, .h5ad.
    kind : {"data", "counts", "distances", "labels"}
        What the values are; it is never guessed.
    id_column : str or int, optional
        Name, or position from 0, of the column with the names of objects. `"index"`, or its own name, is the index
        of a DataFrame or Parquet file; an index that has a name or is not 0 … n − 1, and is unique, is taken unless
        a column is named here. So are the `obs_names` of AnnData.
    known : str, int or sequence of them
        Columns set aside and returned in `Table.labels`, a known class for example. Those of an AnnData are
        in `obs`; those of an npz file are its vectors with one entry per row.
    columns : str, int or sequence of them, optional
        Keep only these, in this order.
    header : bool, optional
        Text files begin with a line of names. By default a first line of numbers is refused; True takes it as
        names, False as data.
    sep : str, optional
        Separator of a text file, or "tab"; by suffix for .csv (comma) and .tsv (tab).
    key : str, optional
        Which array of an npz file, or which layer of an AnnData. Labels in an npz file are all its vectors.
    triples : bool
        For counts: the columns are row, column, count. Pairs not listed are 0, repeated ones add up.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        A `ValueError` whose message names the file, the row, the column, and what to do.

    Notes
    -----
    Time and memory are linear in the size of the table. Arrays in memory are not copied where they already
    have the right type.

    Examples
    --------
    >>> import pandas as pd
    >>> flowers = pd.DataFrame({"name": ["a", "b"], "length": [5.1, 4.9], "species": ["setosa", "virginica"]})
    >>> table = read_table(flowers, kind="data", id_column="name", known=["species"])
    >>> table
    Table('DataFrame', data, 2 objects × 1 column, dense, with ids, labels species)
    >>> table.values
    array([[5.1],
           [4.9]])
    """
    check_choice(kind, KINDS, "kind of table")
    sheet = open_sheet(source, Options(kind, header, sep, key))
    sheet.check_shape()
    aside = [sheet.find(name, "known") for name in _as_list(known)]
    id_position, ids = _ids(sheet, id_column)
    kept = _kept(sheet, columns, [*aside, id_position])
    names = None if sheet.names is None else [sheet.names[position] for position in kept]
    labels = _labels(sheet, aside) if aside else None
    values: Any
    if triples:
        if kind != "counts" or id_column is not None or aside:
            raise InputError(
                f"{sheet.source}: triples=True is for kind='counts', without id_column= and known=: "
                "leave out one or the other"
            )
        values, ids, names = triples_of(sheet, kept)
    elif kind == "labels":
        values = _labels(sheet, kept)
    else:
        values = {"data": data_of, "counts": counts_of, "distances": distances_of}[kind](sheet, kept)
    return Table(values, kind, ids, names, labels, sheet.source)


def _as_list(names: str | int | Sequence[str | int]) -> list[str | int]:
    return [names] if isinstance(names, (str, int)) else list(names)


def _ids(sheet: Sheet, id_column: str | int | None) -> tuple[int | None, np.ndarray | None]:
    """Position of the ids, None for an index, and the ids themselves."""
    asked = id_column in ("index", sheet.index_name) and id_column not in sheet.column_names()
    if sheet.index is not None and (asked or (id_column is None and sheet.index_is_ids)):
        check_present(sheet, sheet.index)
        check_unique(sheet, sheet.index)
        return None, sheet.index
    if id_column is None:
        return None, None
    position = sheet.find(id_column, "id_column")
    ids = ids_of(sheet, position)
    check_unique(sheet, ids, position)
    return position, ids


def _kept(sheet: Sheet, columns: str | int | Sequence[str | int] | None, aside: Sequence[int | None]) -> list[int]:
    """Positions of the columns that are values."""
    chosen = range(sheet.width) if columns is None else [sheet.find(c, "columns") for c in _as_list(columns)]
    away = set(aside)
    kept = [position for position in dict.fromkeys(chosen) if position not in away]
    if not kept:
        raise InputError(
            f"{sheet.source}: no column is left: set fewer aside with known= (--known) and id_column= (--id)"
        )
    if max(kept) >= sheet.width:
        raise InputError(
            f"{sheet.source}: {sheet.column_words(max(kept))} stands beside the matrix and is no part of it: "
            "name it in known= (--known) instead"
        )
    if sheet.names is not None:
        for position in kept:
            if not sheet.names[position]:
                flag = "--id ''" if str(position) in sheet.names else f"--id {position}"  # where 0 is another's name
                raise InputError(
                    f"{sheet.source}: column {position} (the first is 0) has no name: if it holds ids give "
                    f"id_column={position} ({flag}), otherwise name it"
                )
    return kept


def _labels(sheet: Sheet, positions: list[int]) -> pd.DataFrame:
    series = [labels_of(sheet, position) for position in positions]
    frame = pd.concat(series, axis=1)
    names = sheet.column_names()
    frame.columns = pd.Index([names[position] for position in positions])
    return frame


def find_id_column(source: Any, ids: Any, *, header: bool | None = None, sep: str | None = None) -> str | None:
    """The name of the column that holds all these names of objects, each once; None if there is no such column.

    Examples
    --------
    >>> import pandas as pd
    >>> find_id_column(pd.DataFrame({"height": [1.5, 2.5], "cell": ["a", "b"]}), ["b", "a"])
    'cell'
    """
    sheet, wanted = open_sheet(source, Options("labels", header, sep)), {str(i) for i in ids}
    for position, name in enumerate(sheet.column_names() if sheet.names is not None else []):
        cells = [str(cell).strip() for cell in sheet.column(position).to_numpy()]
        if len(set(cells)) == len(cells) and wanted <= set(cells):
            return name
    return None
