"""What the columns of a table are called, where that is told beside it: a vector of its npz file, a text file, or a list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from consilience._check import InputError, count
from consilience.tables import Table
from consilience.tables.files import read_vector


def read_names(path: Path | None, names: str | Path | Sequence[Any], table: Table) -> list[str]:
    """The names of the columns.

    Parameters
    ----------
    path : Path or None
        The table's file.
    names : str, path or sequence
        A vector of the npz file, a text file with one a line, or the names themselves.
    table : Table

    Examples
    --------
    >>> from consilience.tables import read_table
    >>> read_names(None, ["cat", "dog"], read_table(np.eye(2), kind="data"))
    ['cat', 'dog']
    """
    width, of = table.values.shape[1], table.source
    said = f" {names}" if isinstance(names, (str, Path)) else ""
    if isinstance(names, (str, Path)):
        found = None if path is None else read_vector(path, str(names))
        if found is None:
            if not Path(names).is_file():
                raise InputError(f"--names {names}: neither a vector of {of} nor a text file: check the name")
            found = np.array(Path(names).read_text(encoding="utf-8").splitlines(), dtype=object)
    else:
        found = np.asarray(list(names), object)
    if len(found) != width:
        raise InputError(f"--names{said}: {len(found):,} names for {count(width, 'column')} of {of}: give one for each")
    return [str(name) for name in found]
