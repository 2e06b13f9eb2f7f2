"""Labels that are known of the objects: by name, in the order of the objects."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, count, kind_of, names_objects, show
from consilience.ensemble import Ensemble
from consilience.ensemble.from_sources import is_path
from consilience.inputs.guess import has_own_ids, is_table
from consilience.tables import Table, match_rows, read_table
from consilience.tables.column_roles import transposed
from consilience.tables.file_formats import open_raw, read_vector
from consilience.tables.in_memory import is_frame
from consilience.tables.raw_table import Options, given_reading, parsing
from consilience.tables.read_table import find_id_column


def column_names(source: Any, **reading: Any) -> list[str]:
    """Names of the columns that a table has, those beside its matrix included; options that do not say how to parse it are ignored."""
    turned = bool(reading.get("transpose"))
    may_be_sparse = turned or (is_path(source) and Path(source).suffix.lower() in (".npz", ".mtx"))
    options = Options("data" if may_be_sparse else "labels", **parsing(reading), key=reading.get("key"))
    raw = open_raw(source, options)
    return (transposed(raw, reading.get("id_column")) if turned else raw).column_names


def labels_by_name(known: Any) -> dict[str, Any]:
    """Known labels as a dict of name to label vector: of a frame its columns, of a mapping its items, of a vector itself."""
    if known is None:
        return {}
    if isinstance(known, pd.DataFrame):
        return {str(name): known.iloc[:, j] for j, name in enumerate(known.columns)}
    if hasattr(known, "get_columns"):  # polars
        return dict(zip(known.columns, known.get_columns(), strict=True))
    if hasattr(known, "column_names"):  # Arrow
        return {name: known[name] for name in known.column_names}
    if isinstance(known, Mapping):
        return {str(name): labels for name, labels in known.items()}
    if isinstance(known, (str, bytes)):
        raise InputError(f"known= takes known labels, not their name; got {kind_of(known)}, {show(known)}")
    return {str(getattr(known, "name", None) or "known"): known}


def known_labels_of(known: Any, objects: Ensemble | Table | None) -> dict[str, Any]:
    """Known labels by name, matched to the objects by id where both have ids, otherwise in the same order.

    Ids are a column of a file or frame that holds those of the objects, or the index of a Series or frame.
    """
    if objects is None:
        return labels_by_name(known)
    id_column = None
    if is_frame(known) and objects.ids is not None and not names_objects(getattr(known, "index", None)):
        id_column = find_id_column(known, objects.ids)
    if is_path(known) or id_column is not None:
        return labels_from(known, objects, id_column=id_column)
    return {name: _in_order(labels, name, objects) for name, labels in labels_by_name(known).items()}


def _in_order(labels: Any, name: str, objects: Ensemble | Table) -> Any:
    """Known labels in the order of the objects where their index names these; None for objects that it lacks."""
    if not isinstance(labels, pd.Series) or not names_objects(labels.index):
        return labels
    ids = objects.ids
    if ids is None:
        if not labels.index.is_unique or set(labels.index) != set(range(objects.n_objects)):
            return labels  # other names than the numbers of the objects: by position, as arrays are
        ids = np.arange(objects.n_objects)
    table = Table(labels.to_frame(name), "labels", labels.index.to_numpy(), [name], None, f"the known labels {name!r}")
    if not labels.index.is_unique:
        twice = show(labels.index[labels.index.duplicated()][0])
        raise InputError(f"the known labels {name!r} name {twice} more than once: make their index unique")
    return match_rows(table, ids, objects.n_objects, partial=True).values[name].to_numpy()


def labels_from(
    source: Any, objects: Ensemble | Table, *, id_column: str | int | None = None, **reading: Any
) -> dict[str, Any]:
    """Labels of the objects in another table, by name; objects that it does not name have none."""
    found = id_column
    if id_column is None and objects.ids is not None and not has_own_ids(source):
        found = find_id_column(source, objects.ids, **parsing(reading))  # one that holds the names of all objects
    table = read_table(source, kind="labels", id_column=found, **{"columns": "*", **given_reading(reading)})
    if table.ids is not None and objects.ids is None:
        if id_column is not None:
            what = f"{table.source} cannot be matched by id, since the objects have no ids"
            raise InputError(f"{what}: leave its id column (--id) out")
        table = replace(table, ids=None)
    return labels_by_name(match_rows(table, objects.ids, objects.n_objects, partial=True).values)


def names_aside(source: Any, known: Any, reading: Mapping[str, Any]) -> tuple[list[str], Any]:
    """Which known labels are columns of the source, set aside when it is read, and those that are not."""
    if isinstance(known, str) and not Path(known).is_file():
        return ([known], None) if is_table(source) else ([], labels_by_name(known))
    is_names = isinstance(known, (list, tuple)) and bool(known) and all(isinstance(name, str) for name in known)
    if not is_names or not is_table(source):
        return [], known
    there = column_names(source, **reading)
    return ([], known) if any(name not in there for name in known) else (list(known), None)


# What the columns of a table are called, where that is told beside it: a vector of its npz file, a text file, or a list.


def read_names(path: Path | None, names: str | Path | Sequence[Any], table: Table) -> list[str]:
    """The names of the columns: a vector of the table's npz file, a text file with one a line, or those that are given."""
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
