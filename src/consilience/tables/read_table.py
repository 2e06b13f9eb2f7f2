"""What users have (files, DataFrames, arrays, sparse matrices, AnnData) into checked arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import InputError, check_choice, count, listed
from consilience._types import Ints
from consilience.tables.column_roles import choose, find_ids, find_row_names, label_frame, total_of, transposed
from consilience.tables.data_columns_and_new_rows import Reading, data_columns
from consilience.tables.encoder import Encoder, describe_aside, named_kind
from consilience.tables.file_formats import SOURCE, open_raw
from consilience.tables.filling import Gaps
from consilience.tables.raw_table import Names, Options, RawTable
from consilience.tables.scaling_and_counts import CountScaling, Standardizer, looks_like_counts
from consilience.tables.table_kinds import counts_of, distances_of, ids_of, new_distances_of, triples_of

KINDS = ("data", "counts", "distances", "new_distances", "labels")


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A checked table: one row per object.

    Attributes
    ----------
    values : ndarray, csr_matrix or DataFrame
        Shape (n_objects, n_columns). Data: float64, dense or CSR. Counts: CSR, int64 or float64. Distances: float64, dense. Labels: a
        DataFrame, one column per clustering, of integers or of the labels as they are, None where one is missing.
    kind : {"data", "counts", "distances", "new_distances", "labels"}
        What the values are.
    ids : ndarray or None
        Name of each object, unique.
    columns : list of str or None
        Name of each column of `values`.
    labels : DataFrame or None
        The columns set aside with `known`.
    source : str
        Name of the file, or of the type of the object.
    notices : tuple of str
        What was found out about the source and not said, a line each.
    id_name : str or None
        Name of the column, or index, that `ids` were.
    from_file : bool
        Whether `source` is the name of a file, or of a folder of them.
    reading : Reading
        How columns of data became numbers: its `encoder` (None where they were numbers, none of them missing), the columns as they came
        (`original`), the `gaps` that are filled, and which columns are set `aside` and why; the table has these as properties too.

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
    notices: tuple[str, ...] = ()
    id_name: str | None = None
    from_file: bool = False
    reading: Reading = field(default_factory=Reading)

    @property
    def encoder(self) -> Encoder | None:
        return self.reading.encoder

    @property
    def original(self) -> pd.DataFrame | None:
        return self.reading.original

    @property
    def gaps(self) -> Gaps | None:
        return self.reading.gaps

    @property
    def aside(self) -> Mapping[str, str]:
        return self.reading.aside

    @cached_property
    def is_counts(self) -> bool:
        """Whether data holds counts, as was said or by its numbers: wide, whole, none negative, nine in ten of them 0."""
        if self.kind != "data" or self.encoder is not None:
            return False
        return looks_like_counts(self.values) if self.reading.counts is None else self.reading.counts

    @property
    def in_words(self) -> bool:
        """Whether `original` has columns that clusters can be described by."""
        return self.encoder is not None

    @property
    def has_words(self) -> bool:
        """Whether some columns of data are words."""
        return self.encoder is not None and any(column.has_words for column in self.encoder.columns)

    def scaling(self) -> Standardizer | CountScaling:
        """How data is brought to one scale: counts by tf-idf, all else column by column, a category counting as one."""
        if self.is_counts:
            return CountScaling.of(self.values)
        units = None if self.encoder is None else self.encoder.units
        return Standardizer.of(self.values, self.groups, units)

    @property
    def treatment(self) -> str:
        """What was done to columns of data, in one line; empty where they stay as they came."""
        if self.encoder is not None:
            return self.encoder.describe()
        return f"{named_kind('number', self.columns or [])}; {describe_aside(self.aside)}" if self.aside else ""

    @property
    def groups(self) -> Ints | None:
        """For each column of `values` the number of the original column it stands for; None where each stands for itself."""
        return None if self.encoder is None else self.encoder.groups

    @property
    def id_heading(self) -> str:
        """What files call the ids: the name that their column has, "id" where it has none of its own."""
        name = self.id_name or ""
        return "id" if name in ("", "index", "obs_names") or name.isdigit() else name

    def filled(self, filling: int) -> Any:
        """The values with every missing cell taken from one of the similar rows, drawn by the number of the filling."""
        if self.gaps is None:
            return self.values
        values = self.values.copy()
        self.gaps.fill(values, filling)
        return values

    @property
    def n_objects(self) -> int:
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
    source: Any,
    *,
    kind: str,
    id_column: str | int | None = None,
    known: Names = (),
    columns: Names | None = None,
    header: bool | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    missing: str | Sequence[str] = (),
    key: str | None = None,
    triples: bool = False,
    types: Mapping[str | int, str | Sequence[str]] | str | None = None,
    encoder: Encoder | None = None,
    transpose: bool = False,
) -> Table:
    """Read a table, check it, and say in one sentence what is wrong and where if it cannot be used.

    Parameters
    ----------
    source : path, data frame (pandas, polars, anything that speaks Arrow), array, tensor, sparse matrix or AnnData
        Rows are objects. Files: .csv, .tsv, .txt (each also .gz, .bz2, .xz), .parquet, .xlsx, .npy, .npz, .mtx, .mtx.gz, .h5ad.
    kind : {"data", "counts", "distances", "new_distances", "labels"}
        What the values are; it is never guessed.
    id_column : str or int, optional
        Name, or position from 0, of the column with the names of objects; `"index"`, or its own name, is the index. By default an index
        that names objects, `obs_names`, or a first column without a name, or one named like an id (id, name, …_id), whose values differ.
    known : str, int or sequence of them
        Columns set aside and returned in `Table.labels`; also patterns. Those of an AnnData are in `obs`, those of an npz file its vectors
        with one entry per row.
    columns : str, int or sequence of them, optional
        Keep only these, in this order. Patterns are allowed (`"leiden_*"`), and a leading - or ! leaves out (`"-age"`).
        Columns of labels that do not look like clusterings are kept only if they are named here.
    header : bool, optional
        Whether a text file or workbook begins with a line of names. By default a first line of numbers is refused.
    sep, decimal, encoding : str, optional
        Separator (or "tab"), decimal sign and encoding of a text file; found by default.
    missing : str or sequence of str
        Words that count as missing beside the empty cell, NA, NaN, nan, null and None.
    key : str, optional
        Which array of an npz file, sheet of a workbook, layer or `obsm` entry of an AnnData. Labels in an npz file are all its vectors.
    triples : bool
        For counts: the columns are row, column, count. Pairs not listed are 0, repeated ones add up.
    types : mapping of column to type, or one type for all, optional
        Of data: what columns are where it is not what their cells say: "number", "log" (a number whose logarithm is taken),
        "category", "ordered" (ranges of numbers), a list of words from the lowest (or `"low<medium<high"`), "date" or "ignore". Keys
        are names, positions or patterns. One type for all may also be "counts" (words of documents, molecules of cells).
    encoder : Encoder, optional
        Of data: that of another table, whose columns are looked up by name and become numbers as they did there.
    transpose : bool
        Of data and counts: the columns are the objects, as in genes × samples. `id_column` is then the column that names the rows; all
        other options are of the table once it is turned.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        A `ValueError` whose message names the file, the row, the column, and what to do.

    Notes
    -----
    Time and memory are linear in the size of the table; arrays of the right type are not copied.

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
    if kind != "data" and (types or encoder is not None):
        what = "types= (--type)" if types else "encoder="
        raise InputError(f"{what} says how columns of data become numbers, and this is read as {kind}: leave it out")
    if encoder is not None and columns is not None:
        raise InputError("columns= (--columns) chooses columns, and the model knows its own: leave it out")
    raw = open_raw(source, Options(kind, header, sep, decimal, encoding, key))
    raw = replace(raw, missing=(missing,) if isinstance(missing, str) else tuple(missing))
    if not isinstance(transpose, (bool, np.bool_)) and transpose is not None:
        raise InputError(f"transpose must be True or False, not {transpose!r}")
    if transpose:
        if kind not in ("data", "counts") or triples:
            what = "triples" if triples else kind
            raise InputError(f"transpose= (--transpose) turns tables of data, and this is read as {what}: leave it out")
        raw, id_column = transposed(raw, id_column), None
    if kind == "data" and isinstance(source, (str, PathLike)):  # frames can be mended by whoever made them
        raw = raw.with_own_names()
    raw.check_shape()
    from_file = isinstance(source, (str, PathLike)) or SOURCE in getattr(source, "attrs", {})
    aside = raw.find_all(known, "known")
    said_of = [columns] if isinstance(columns, (str, int)) else columns or []
    # whether columns are named, and not only left out
    asked = not all(isinstance(name, str) and name[:1] in ("-", "!") for name in said_of)
    if triples:
        made_of = _triples(raw, kind, columns, has_more=bool(aside) or id_column is not None)
        return replace(made_of, from_file=from_file)
    named = raw.named(() if columns is None else columns)
    taken = [*aside, *named]
    id_position, ids, notices = find_ids(raw, id_column, taken, likely=None if encoder is None else encoder.id_name)
    if kind in ("distances", "new_distances") and ids is None:
        id_position, ids, notices = find_row_names(raw, taken)
    kept = choose(raw, columns, [*aside, id_position])
    if raw.answers and columns is None:
        what = f"left out {listed(list(raw.answers))}, which consilience wrote"
        notices = [*notices, f"{what}; columns= (--columns) takes what it names"]
    names = None if raw.names is None else [raw.names[position] for position in kept]
    labels, more = label_frame(raw, aside) if aside else (None, [])
    values: Any
    reading = Reading(decimal=raw.decimal)
    if kind == "labels":
        values, doubts = label_frame(raw, kept, asked=asked, has_ids=ids is not None)
    elif kind == "data":
        made = data_columns(raw, kept, types, encoder=encoder, named=named, decimal=decimal, has_ids=ids is not None)
        values, reading, doubts = made.values, replace(made.reading, decimal=raw.decimal), list(made.said)
        if reading.encoder is not None:
            names = reading.encoder.names
        elif names is not None:
            names = [raw.column_names[position] for position in made.positions]
        if made.names_objects is not None:
            id_position, ids = made.names_objects, ids_of(raw, made.names_objects)
        if reading.encoder is None and (reading.counts or (reading.counts is None and looks_like_counts(values))):
            otherwise = "" if reading.counts else "; types='number' (--type number) says otherwise"
            doubts.append(f"{CountScaling.of(values).describe()}{otherwise}")
    else:
        readers = {"counts": counts_of, "distances": distances_of, "new_distances": new_distances_of}
        values, doubts = readers[kind](raw, kept), []
    id_name = None if ids is None else raw.index_name if id_position is None else raw.column_names[id_position]
    if encoder is None and reading.encoder is not None:
        reading = replace(reading, encoder=replace(reading.encoder, id_name=id_name))
    if kind == "data" and (word := total_of(raw)):
        doubts.append(f"the last row begins with {word!r} and is read as an object: if it holds totals, delete it")
    if reading.encoder is not None or reading.aside:
        reading = replace(reading, raw=replace(raw, line=None))
    said = tuple(type(notice)(f"{raw.source}: {notice}") for notice in (*raw.notices, *notices, *more, *doubts))
    return Table(values, kind, ids, names, labels, raw.source, said, id_name, from_file, reading)


def _triples(raw: RawTable, kind: str, columns: Names | None, *, has_more: bool) -> Table:
    if kind != "counts" or has_more:
        raise raw.error("triples=True is for kind='counts', without id_column= and known=: leave out one or the other")
    values, ids, names = triples_of(raw, choose(raw, columns, []))
    return Table(values, kind, ids, names, None, raw.source, tuple(f"{raw.source}: {n}" for n in raw.notices))


def find_id_column(source: Any, ids: Any, **parsing: Any) -> str | None:
    """The name of the column that holds all these names of objects, each once; None if there is no such column."""
    raw, wanted = open_raw(source, Options("labels", **parsing)), {str(i) for i in ids}
    for position, name in enumerate(raw.column_names if raw.names is not None else []):
        cells = [str(cell).strip() for cell in raw.column(position).to_numpy()]
        if len(set(cells)) == len(cells) and wanted <= set(cells):
            return name
    return None
