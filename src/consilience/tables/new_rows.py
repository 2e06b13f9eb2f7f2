"""New rows of a table, as the encoder of another one reads them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
from scipy import sparse

from consilience._check import InputError
from consilience.tables.data_columns import encoded_as
from consilience.tables.encoding import Encoder
from consilience.tables.matching import take_rows
from consilience.tables.reading import Table, read_table


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
    >>> from consilience.tables import read_table
    >>> from consilience.tables.new_rows import encode_rows
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
    if X.sheet is None:
        named = X.columns is not None and not sparse.issparse(X.values)
        read = read_table(
            pd.DataFrame(X.values, columns=X.columns) if named else X.values, kind="data", encoder=encoder
        )
    else:
        made, notices = encoded_as(X.sheet, encoder, None if X.sheet.decimal == "." else X.sheet.decimal)
        said = tuple(f"{X.source}: {notice}" for notice in notices)
        read = Table(
            made.values,
            "data",
            None,
            encoder.names,
            None,
            X.source,
            said,
            encoder,
            made.original,
            made.gaps,
            None,
            X.sheet,
        )
        read = read if X.rows is None else take_rows(read, X.rows)
    return replace(read, ids=X.ids, labels=X.labels, source=X.source, from_file=X.from_file)
