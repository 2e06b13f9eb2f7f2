"""What users point at (path, folder, frame, array, AnnData, result), opened: the one way in for every verb."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import InputError, check_choice, fingerprint, kind_of, names_objects, nearest, show
from consilience.ensemble import Ensemble
from consilience.results import HEADER, Result, saved_kind
from consilience.store import StoreWarning
from consilience.store.folder import find_manifest
from consilience.tables import Table, find_id_column, match_rows, read_table
from consilience.tables.columns import Doubt
from consilience.tables.files import open_sheet
from consilience.tables.sheet import Options

PARSING = ("header", "sep", "decimal", "encoding")  # how to parse a file, of all that says how to read it
READING = (*PARSING, "id_column", "known", "columns", "missing", "key")  # parameters of read_table that verbs pass on
KINDS = ("auto", "data", "counts", "distances", "labels")
FEW = 100  # different labels of a column that could be a clustering


@dataclass(frozen=True, eq=False)
class Provenance:
    """Where something came from.

    Attributes
    ----------
    name : str
        What people call it: the name of the folder, or of the file without its ending.
    source : str
        Name of the file or folder, or of the type of the object.
    path : Path or None
    run : str
        16 hexadecimal digits that stay the same as long as it is the same run, however it grows.
    code : str
        The Python expression that opens it; empty for an object in memory.
    store : Path or None
        The stored run, to which clusterings can be added.
    manifest : mapping or None
        Of the stored run.
    fingerprint : str or None
        Of the data that the run was made from.
    refused : tuple of str
        Files of the run that were left out, each with the reason.
    """

    name: str
    source: str
    path: Path | None = None
    run: str = ""
    code: str = ""
    store: Path | None = None
    manifest: Mapping[str, Any] | None = None
    fingerprint: str | None = None
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Opened:
    """What a source holds.

    Attributes
    ----------
    result : Ensemble, Result or None
        Clusterings, or what was found of them; None where the source is a table of data.
    provenance : Provenance
    data : Table or None
        Measurements, counts or distances of the objects.
    known : dict of name to label vector
        What is known of the objects: columns set aside, one entry per object.
    kind : str
        What it was taken for: "labels", "data", "counts", "distances", "run", or the name of a result's class.
    notices : tuple of str
        What was noticed while a table was read.
    """

    result: Any
    provenance: Provenance
    data: Table | None = None
    known: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "labels"
    notices: tuple[str, ...] = ()

    @property
    def ensemble(self) -> Ensemble:
        """The clusterings; InputError where there are none."""
        if self.result is None:
            raise InputError(
                f"{self.provenance.source} holds {self.kind}, not clusterings: cluster it with generate first"
            )
        return ensemble_of(self.result)

    @property
    def other_data(self) -> bool:
        """Whether the data is not that from which the run was made."""
        made = self.provenance.fingerprint
        return self.data is not None and made is not None and fingerprint(self.data.values) != made

    def with_data(self, table: Table) -> Opened:
        """The same with the data of its objects, matched by their ids where both have them, and what that knows of them."""
        ensemble = self.ensemble
        table = match_rows(table, ensemble.ids, ensemble.n_objects)
        return replace(self, data=table, known={**labels_by_name(table.labels), **self.known})

    def with_known(self, known: Mapping[str, Any], source: Any = "") -> Opened:
        """The same with more labels that are known; no name may be known already."""
        if twice := sorted(set(known) & set(self.known)):
            where = f"{source}: " if source else ""
            raise InputError(
                f"{where}known labels {twice[0]!r} are also in {self.provenance.source}: rename one of the two"
            )
        return replace(self, known={**self.known, **known})


def open_source(
    source: Any, *, kind: str = "auto", known: Any = None, known_columns: Sequence[str] = (), **reading: Any
) -> Opened:
    """Open whatever a user points at.

    Parameters
    ----------
    source : path, Ensemble, Result, Table, DataFrame (pandas, polars), Arrow table, array, sparse matrix, list of label vectors or AnnData
        A path is that of a table, of a stored run or of a saved result.
    kind : {"auto", "data", "counts", "distances", "labels"}
        What a table holds. "auto" takes it for labels if every column has only whole numbers or names, at most 100 different
        ones and on average at least two objects to each, and for data otherwise.
    known : label vector, Series, DataFrame, mapping of names to label vectors, path, or names of columns of the source, optional
        What is known of the objects. A list of text names columns if the source has them all, and is a label vector otherwise.
    known_columns : sequence of str
        Columns of the source that are known labels, and nothing else.
    **reading
        How to read a table: parameters of :func:`consilience.tables.read_table`. Of clusterings, `columns` chooses by name or pattern.

    Returns
    -------
    Opened

    Examples
    --------
    >>> from consilience.datasets import sample_path
    >>> opened = open_source(sample_path("beads_labels.csv"), id_column="bead", known="shape")
    >>> opened.kind, opened.ensemble.n_clusterings, list(opened.known)
    ('labels', 17, ['shape'])
    """
    check_choice(kind, KINDS, "kind of table")
    reading = _said(reading)
    aside, known = _names_aside(source, known, reading)
    if aside or known_columns:
        reading["known"] = [*aside, *known_columns]
    path = Path(source) if _is_path(source) else None
    if _is_result(source):
        opened = _of_result(source, _in_memory(source), reading)
    elif isinstance(source, Table):
        _refuse_reading(source.source, "was read already", reading)
        opened = _of_table(source, None, {})
    elif path is not None and path.is_dir():
        opened = _of_folder(path, reading)
    elif not reading and _is_labels(source, kind):
        opened = _of_result(Ensemble(source), None, {}, kind="labels")
    else:
        kind = guess(source, reading) if kind == "auto" else kind
        opened = _of_table(read_table(source if path is None else path, kind=kind, **reading), path, reading)
    if known is None:
        return opened
    objects = opened.data if opened.result is None else opened.ensemble
    return opened.with_known(known_labels_of(known, objects, reading))


def as_ensemble(source: Any, **reading: Any) -> Ensemble:
    """The clusterings in whatever a user points at: an ensemble as it is, or one made from what was given.

    Parameters
    ----------
    source : path, folder, Ensemble, Result, Table, DataFrame, array, list of label vectors or AnnData
    **reading
        How to read a table: `columns` (names, or patterns such as ``"leiden_*"``), `id_column` and the other parameters of
        :func:`consilience.tables.read_table`.

    Examples
    --------
    >>> from consilience.datasets import sample_path
    >>> as_ensemble(sample_path("beads_labels.csv"), id_column="bead", columns=["shape", "color"])
    Ensemble: 2 clusterings of 300 objects
      clusters  3 to 4 (median 3)
    """
    if isinstance(source, Ensemble) and not _said(reading):
        return source
    return open_source(source, kind="labels", **reading).ensemble


def as_table(source: Any, kind: str = "data", **reading: Any) -> Table:
    """The table of data, counts, distances or labels that a user points at.

    Examples
    --------
    >>> from consilience.datasets import sample_path
    >>> as_table(sample_path("beads.csv"), id_column="bead", known=["shape", "color"])
    Table('beads.csv', data, 300 objects × 8 columns, dense, with ids, labels shape, color)
    """
    reading = _said(reading)
    if isinstance(source, Table):
        _refuse_reading(source.source, "was read already", reading)
        if source.kind != kind:
            raise InputError(f"{source.source} was read as {source.kind}: read it with kind={kind!r}")
        return source
    if _is_result(source):
        raise InputError(
            f"{kind_of(source)} holds clusterings, and this needs the table of {kind} itself: give that, or its path"
        )
    if _is_path(source) and Path(source).is_dir():
        holds = "a saved result" if (Path(source) / HEADER).exists() else "a folder"
        raise InputError(f"{source} is {holds}, and this needs a table of {kind}: give the path of its file")
    return read_table(source, kind=kind, **reading)


def ensemble_of(result: Any) -> Ensemble:
    """The clusterings that a verb takes from a result."""
    if isinstance(result, Ensemble):
        return result
    found = getattr(result, "ensemble", None)
    if isinstance(found, Ensemble):
        return found
    if hasattr(result, "labels"):
        labels = pd.DataFrame(result.labels).rename(columns=str)
        one = [type(result).__name__.lower()]
        return Ensemble(
            labels if labels.shape[1] > 1 else labels.set_axis(one, axis=1), ids=getattr(result, "ids", None)
        )
    raise InputError(f"{kind_of(result)} holds no clusterings: give those that it is about")


def _is_labels(source: Any, kind: str) -> bool:
    """Whether an object in memory is taken as the labels themselves: asked for as such, or vectors that are not a table."""
    if _is_path(source) or _is_anndata(source):
        return False
    is_table = _is_frame(source) or isinstance(source, np.ndarray) or sparse.issparse(source)
    return kind == "labels" or (kind == "auto" and not is_table)


def _of_result(result: Any, provenance: Provenance | None, reading: dict[str, Any], kind: str = "") -> Opened:
    """A result, or an ensemble of which some clusterings may be chosen."""
    kind = kind or type(result).__name__
    columns = reading.pop("columns", None)
    _refuse_reading(kind if provenance is None else provenance.source, "holds clusterings", reading)
    if columns is not None:
        result = choose(ensemble_of(result), columns)
    return Opened(result, provenance or _in_memory(result), kind=kind)


def choose(ensemble: Ensemble, columns: str | int | Sequence[str | int]) -> Ensemble:
    """Some clusterings of an ensemble, by name, number or pattern.

    Examples
    --------
    >>> from consilience.datasets import load_beads_labels
    >>> choose(load_beads_labels(), ["form2", "c*1"]).names
    ['form2', 'color1']
    """
    chosen: list[int] = []
    for name in [columns] if isinstance(columns, (str, int, np.integer)) else columns:
        places = (
            [int(name)]
            if isinstance(name, (int, np.integer))
            else [i for i, own in enumerate(ensemble.names) if own == name]
        )
        if isinstance(name, str) and not places:
            places = [i for i, own in enumerate(ensemble.names) if fnmatchcase(own, name)]
        if not places:
            near = nearest(name, ensemble.names)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(ensemble.names[:5])} …"
            raise InputError(f"no clustering is called {show(name)}: {hint}")
        chosen += [place for place in places if place not in chosen]
    return ensemble[:, chosen]


def _of_folder(path: Path, reading: dict[str, Any]) -> Opened:
    """A saved result, or a stored run."""
    name, place = path.resolve().name, path.resolve()
    if kind := saved_kind(path):
        run = fingerprint(np.frombuffer((path / HEADER).read_bytes(), np.uint8))[:16]
        code = f"cs.results.Result.load({str(place)!r})"
        return _of_result(Result.load(path), Provenance(name, name, place, run, code), reading, kind)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", StoreWarning)
        manifest = find_manifest(path)[0]
        ensemble = Ensemble.load(path)
    for one in said:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    refused = [
        str(one.message).replace(f"{path}{os.sep}", "") for one in said if issubclass(one.category, StoreWarning)
    ]
    same = {name: manifest[name] for name in ("n_objects", "fingerprint", "plan", "ids")}
    run = fingerprint(np.frombuffer(json.dumps(same, sort_keys=True).encode(), np.uint8))[:16]
    code = f"cs.Ensemble.load({str(place)!r})"
    provenance = Provenance(name, name, place, run, code, place, manifest, manifest["fingerprint"], tuple(refused))
    return _of_result(ensemble, provenance, reading, "run")


def _of_table(table: Table, path: Path | None, reading: Mapping[str, Any]) -> Opened:
    name = table.source if path is None else path.name.split(".")[0]
    place = None if path is None else path.resolve()
    words = "".join(f", {name}={value!r}" for name, value in reading.items())
    known = labels_by_name(table.labels)
    if table.kind != "labels":
        code = "" if path is None else f"cs.tables.read_table({str(place)!r}, kind={table.kind!r}{words})"
        return Opened(None, Provenance(name, table.source, place, code=code), table, known, table.kind, table.notices)
    try:
        ensemble = Ensemble(table)
    except InputError as error:
        prefix = "" if str(error).startswith(table.source) else f"{table.source}: "
        raise InputError(f"{prefix}{error}") from None
    run = fingerprint(ensemble.labels)[:16]
    code = "" if path is None else f"cs.Ensemble({str(place)!r}{words})"
    for doubt in (notice for notice in table.notices if isinstance(notice, Doubt)):
        warnings.warn(doubt, stacklevel=4)
    return Opened(ensemble, Provenance(name, table.source, place, run, code), None, known, "labels", table.notices)


def _in_memory(result: Any) -> Provenance:
    """Of an object that is not on disk."""
    name = type(result).__name__
    labels = getattr(result, "labels", None)
    return Provenance(name, name, run="" if not isinstance(labels, np.ndarray) else fingerprint(labels)[:16])


def guess(source: Any, reading: Mapping[str, Any]) -> str:
    """Whether a table holds labels or data; see :func:`open_source`."""
    if _is_path(source) and Path(source).suffix.lower() in (".npz", ".mtx", ".h5ad"):
        return "data"
    if sparse.issparse(source) or _is_anndata(source):
        return "data"
    try:
        frame = read_table(source, kind="labels", **{"columns": "*", **reading}).values
    except InputError:
        return "data"
    most = min(FEW, len(frame) // 2)
    return "labels" if all(frame[name].nunique() <= most for name in frame) else "data"


def column_names(source: Any, **reading: Any) -> list[str]:
    """Names of the columns that a table has, those beside its matrix included; options that do not say how to parse it are ignored.

    Examples
    --------
    >>> from consilience.datasets import sample_path
    >>> column_names(sample_path("beads.csv"))[:3]
    ['bead', 'width_mm', 'length_mm']
    """
    return open_sheet(source, Options("labels", **_parsing(reading))).column_names()


def _parsing(reading: Mapping[str, Any]) -> dict[str, Any]:
    """How to parse a file, of all that was said of how to read it."""
    return {name: reading[name] for name in PARSING if reading.get(name) is not None}


def labels_by_name(known: Any) -> dict[str, Any]:
    """Known labels as a dict of name to label vector: of a frame its columns, of a mapping its items, of a vector itself.

    Examples
    --------
    >>> labels_by_name(["a", "b"])
    {'known': ['a', 'b']}
    """
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


def known_labels_of(
    known: Any, objects: Ensemble | Table | None, reading: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Known labels by name, matched to the objects by id where both have ids, otherwise in the same order.

    Ids are a column of a file or frame that holds those of the objects, or the index of a Series or frame.
    """
    if objects is None:
        return labels_by_name(known)
    id_column = (reading or {}).get("known_id")
    if _is_frame(known) and objects.ids is not None and not names_objects(getattr(known, "index", None)):
        id_column = find_id_column(known, objects.ids)
    if _is_path(known) or id_column is not None:
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
    """Labels of the objects in another table, by name; objects that it does not name have none.

    Parameters
    ----------
    source : path, DataFrame or AnnData
    objects : Ensemble or Table
        Whose labels they are.
    id_column : str or int, optional
        Of `source`; by default the column that holds the names of all objects, if there is one.
    **reading
        Further parameters of :func:`consilience.tables.read_table`.
    """
    found = id_column
    if id_column is None and objects.ids is not None and not has_own_ids(source):
        found = find_id_column(source, objects.ids, **_parsing(reading))
    table = read_table(source, kind="labels", id_column=found, **{"columns": "*", **_said(reading)})
    if table.ids is not None and objects.ids is None:
        if id_column is not None:
            raise InputError(
                f"{table.source} cannot be matched by id, since the objects have no ids: leave its id column (--id) out"
            )
        table = replace(table, ids=None)
    return labels_by_name(match_rows(table, objects.ids, objects.n_objects, partial=True).values)


def _names_aside(source: Any, known: Any, reading: Mapping[str, Any]) -> tuple[list[str], Any]:
    """Which known labels are columns of the source, set aside when it is read, and those that are not."""
    if isinstance(known, str) and not Path(known).is_file():
        return ([known], None) if _is_table(source) else ([], labels_by_name(known))
    is_names = isinstance(known, (list, tuple)) and bool(known) and all(isinstance(name, str) for name in known)
    if not is_names or not _is_table(source):
        return [], known
    there = column_names(source, **reading)
    return ([], known) if any(name not in there for name in known) else (list(known), None)


def _refuse_reading(source: str, state: str, reading: Mapping[str, Any]) -> None:
    """How to read a table is said of tables."""
    if reading:
        words = ", ".join(f"{name}= (--{'id' if name == 'id_column' else name})" for name in reading)
        raise InputError(f"{source} {state}: {words} say how to read a table, so leave them out, or name that table")


def needs_opening(source: Any) -> bool:
    """Whether labels are in what is given, rather than being it: a path, a result, an AnnData object."""
    return not isinstance(source, Ensemble) and (_is_path(source) or _is_anndata(source) or _is_result(source))


def split_reading(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What says how to read a table, and the other options of a verb."""
    reading = {name: value for name, value in options.items() if name in READING}
    return reading, {name: value for name, value in options.items() if name not in READING}


def check_reading(reading: Mapping[str, Any], verb: str) -> dict[str, Any]:
    """Options that say how to read a table and nothing else."""
    for name in reading:
        check_choice(name, READING, f"option of {verb}")
    return dict(reading)


def _said(reading: Mapping[str, Any]) -> dict[str, Any]:
    """What was said of how to read, without what was left out."""
    for name in reading:
        check_choice(name, (*READING, "triples"), "option of reading")
    said = {name: list(value) if isinstance(value, np.ndarray) else value for name, value in reading.items()}
    return {name: value for name, value in said.items() if value is not None and value != [] and value != ()}


def _is_path(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))


def _is_table(source: Any) -> bool:
    """Whether it is a table that has yet to be read: a file, a frame or an AnnData."""
    return (_is_path(source) and not Path(source).is_dir()) or _is_anndata(source) or _is_frame(source)


def _is_anndata(source: Any) -> bool:
    return hasattr(source, "X") and hasattr(source, "obs_names")


def _is_frame(source: Any) -> bool:
    """Whether it is a frame of pandas, polars or Arrow."""
    return isinstance(source, pd.DataFrame) or hasattr(source, "get_columns") or hasattr(source, "column_names")


def _is_result(source: Any) -> bool:
    return isinstance(source, (Ensemble, Result))


def has_own_ids(source: Any) -> bool:
    """Whether it names its objects by itself, as AnnData does."""
    return _is_anndata(source) or (_is_path(source) and Path(source).suffix.lower() == ".h5ad")
