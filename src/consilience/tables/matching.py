"""Rows of a table in the order of objects that are known by name."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, count, show
from consilience._types import Ints
from consilience.tables.reading import Table


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
    >>> from consilience.tables.matching import match_rows
    >>> beads = load_beads()
    >>> match_rows(beads, beads.ids[::-1], 300).values[0].tolist() == beads.values[-1].tolist()
    True
    """
    if table.ids is None or ids is None:
        if table.n_objects != n_objects:
            raise InputError(
                f"{table.source} has {count(table.n_objects, 'row')} for {count(n_objects, 'object')}: give a row for each, in the "
                "same order, or ids to both (--id)"
            )
        return table
    places = pd.Index([str(i) for i in table.ids]).get_indexer([str(i) for i in ids])
    lost = int((places < 0).sum())
    if partial and lost == len(places):
        raise InputError(
            f"{table.source} names none of the objects: is its id column the right one (--id, --known-id)?"
        )
    if partial and lost:
        warnings.warn(f"{table.source}: {count(lost, 'object')} not in it: no known labels", stacklevel=2)
        frame = table.values.astype(object).iloc[places].reset_index(drop=True)
        frame.loc[places < 0] = None
        return replace(table, values=frame, ids=np.asarray(ids))
    if lost:
        first = ids[int(np.argmax(places < 0))]
        raise InputError(
            f"{table.source} has no row for {count(lost, 'object')} of the clusterings, such as {show(first)}: is --id the right column?"
        )
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
    values = table.values[np.ix_(places, places)] if table.kind == "distances" else _rows(table.values, places)
    labels = None if table.labels is None else table.labels.iloc[places].reset_index(drop=True)
    original = None if table.original is None else table.original.iloc[places].reset_index(drop=True)
    gaps = None if table.gaps is None else table.gaps.of_rows(places)
    ids = None if table.ids is None else table.ids[places]
    rows = None if table.sheet is None else places if table.rows is None else table.rows[places]
    return replace(table, values=values, ids=ids, labels=labels, original=original, gaps=gaps, rows=rows)


def _rows(values: Any, places: Any) -> Any:
    return values.iloc[places].reset_index(drop=True) if isinstance(values, pd.DataFrame) else values[places]
