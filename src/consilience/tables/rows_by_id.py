"""Rows of a table: in the order of objects that are known by name, some of them, and new ones as an encoder reads them."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import InputError, count, show
from consilience._types import Ints
from consilience.tables.data_columns_and_new_rows import encoded_as
from consilience.tables.encoder import Encoder
from consilience.tables.read_table import Table, read_table


def match_rows(table: Table, ids: Any, n_objects: int, *, partial: bool = False) -> Table:
    """The table with a row for every object, in their order: by id where both have ids, otherwise as it is.

    Parameters
    ----------
    table : Table
    ids : (n_objects,) array or None
        Of the objects.
    n_objects : int
    partial : bool
        A table of labels may lack objects, which then have none; at least one must be there.

    Examples
    --------
    >>> from consilience.datasets import load_beads
    >>> from consilience.tables.rows_by_id import match_rows
    >>> beads = load_beads()
    >>> match_rows(beads, beads.ids[::-1], 300).values[0].tolist() == beads.values[-1].tolist()
    True
    """
    if table.ids is None or ids is None:
        if table.n_objects != n_objects:
            what = f"{table.source} has {count(table.n_objects, 'row')} for {count(n_objects, 'object')}"
            raise InputError(f"{what}: give a row for each, in the same order, or ids to both (--id)")
        return table
    places = pd.Index([str(i) for i in table.ids]).get_indexer([str(i) for i in ids])
    lost = int((places < 0).sum())
    if partial and lost == len(places):
        remedy = "is its id column the right one (--id, --known-id)?"
        raise InputError(f"{table.source} names none of the objects: {remedy}")
    if partial and lost:
        warnings.warn(f"{table.source}: {count(lost, 'object')} not in it: no known labels", stacklevel=2)
        frame = table.values.astype(object).iloc[places].reset_index(drop=True)
        frame.loc[places < 0] = None
        return replace(table, values=frame, ids=np.asarray(ids))
    if lost:
        first = ids[int(np.argmax(places < 0))]
        what = f"{table.source} has no row for {count(lost, 'object')} of the clusterings, such as {show(first)}"
        raise InputError(f"{what}: is --id the right column?")
    if np.array_equal(places, np.arange(table.n_objects)):
        return table
    return replace(take_rows(table, places), ids=np.asarray(ids))


def take_rows(table: Table, places: Ints) -> Table:
    """Some rows of a table, by their numbers.

    Examples
    --------
    >>> from consilience.datasets import load_beads
    >>> from consilience.tables import take_rows
    >>> take_rows(load_beads(), [0, 2]).ids.tolist()
    ['b001', 'b003']
    """
    if isinstance(table.values, pd.DataFrame):
        values = table.values.iloc[places].reset_index(drop=True)
    else:
        values = table.values[np.ix_(places, places) if table.kind == "distances" else places]
    labels = None if table.labels is None else table.labels.iloc[places].reset_index(drop=True)
    ids = None if table.ids is None else table.ids[places]
    return replace(table, values=values, ids=ids, labels=labels, reading=table.reading.of_rows(np.asarray(places)))


def encode_rows(X: Any, encoder: Encoder) -> Table:
    """New rows as an encoder reads them, with the names of the objects.

    Parameters
    ----------
    X : Table, or what :func:`read_table` takes
        A table that was read without the encoder is read again from its cells: what it set aside, or took for another kind of column
        by its own rows alone, does not matter.
    encoder : Encoder

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience.tables import encode_rows, read_table
    >>> old = read_table(pd.DataFrame({"age": [31.0, 25, 54], "plan": ["free", "pro", "pro"]}), kind="data")
    >>> new = read_table(pd.DataFrame({"age": [31.0, 40], "plan": ["free", "free"]}, index=["x", "y"]), kind="data")
    >>> new.columns
    ['age']
    >>> found = encode_rows(new, old.encoder)
    >>> found.columns, found.values.tolist(), found.ids.tolist()
    (['age', 'plan=free'], [[31.0, 1.0], [40.0, 1.0]], ['x', 'y'])
    """
    if not isinstance(X, Table):
        return read_table(X, kind="data", encoder=encoder)
    if X.encoder is encoder:
        return X
    if X.kind != "data":
        raise InputError(f"{X.source} was read as {X.kind}: read it with kind='data'")
    raw = X.reading.raw
    if raw is None:
        named = X.columns is not None and not sparse.issparse(X.values)
        frame = pd.DataFrame(X.values, columns=X.columns) if named else X.values
        read = read_table(frame, kind="data", encoder=encoder)
    else:
        made = encoded_as(raw, encoder, None if raw.decimal == "." else raw.decimal)
        said = tuple(f"{X.source}: {notice}" for notice in made.said)
        reading = replace(made.reading, raw=raw)
        read = Table(made.values, "data", None, encoder.names, None, X.source, said, reading=reading)
        read = read if X.reading.rows is None else take_rows(read, X.reading.rows)
    return replace(read, ids=X.ids, labels=X.labels, source=X.source, from_file=X.from_file)
