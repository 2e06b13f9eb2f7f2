"""Whatever a user points at (path, folder, frame, array, AnnData, result), opened."""

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice, fingerprint, kind_of, listed, nearest
from consilience.ensemble import Ensemble, from_sources
from consilience.ensemble.results import HEADER, saved_kind
from consilience.ensemble.store import StoreWarning
from consilience.ensemble.store.manifest_and_lock import find_manifest
from consilience.inputs.guess import FEW, guess, is_labels, refuse_answers, taken_for
from consilience.inputs.joined_files import columns_there, fitting, joined
from consilience.inputs.known_labels import column_names, known_labels_of, labels_by_name, names_aside
from consilience.inputs.provenance import Opened, Provenance
from consilience.tables import Table, read_table
from consilience.tables.column_roles import Doubt
from consilience.tables.in_memory import answers_in
from consilience.tables.raw_table import given_reading, refuse_reading

LOOKED_AT = 5 * 10**7  # safeguard: of memory, values of an AnnData that are read, zeros included
KINDS = ("auto", "data", "counts", "distances", "labels")


def open_source(
    source: Any, *, kind: str = "auto", known: Any = None, known_columns: Sequence[str] = (), **reading: Any
) -> Opened:
    """Open whatever a user points at.

    Parameters
    ----------
    source : path, Ensemble, Result, Table, DataFrame (pandas, polars), Arrow table, array, sparse matrix, list of label vectors or AnnData
        A path is that of a table, of a stored run or of a saved result. Several paths in a list hold clusterings of the same objects,
        which are joined by id, row by row where no file has ids; an object that a file lacks has no label there.
    kind : {"auto", "data", "counts", "distances", "labels"}
        What a table holds. "auto" takes it for labels if every column has only whole numbers or names, at most 100 different
        ones and on average at least two objects to each, and for data otherwise: also where all columns are words (plan, region),
        none of which two columns share, that are not numbered (c1, 3-0), and no column tells much of another, as clusterings do; or
        where all are constant. Of a table of words a notice says what it was taken for.
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
    reading = given_reading(reading)
    if from_sources.are_paths(source):
        return _of_files(source, kind, known, known_columns, reading)
    aside, known = names_aside(source, known, reading)
    if aside or known_columns:
        reading["known"] = [*aside, *known_columns]
    path = Path(source) if from_sources.is_path(source) else None
    if from_sources.is_result(source):
        opened = _of_result(source, _in_memory(source), reading)
    elif isinstance(source, Table):
        refuse_reading(source.source, "was read already", reading)
        opened = _of_table(source, None, {})
    elif path is not None and path.is_dir() and from_sources.is_one_table(path):
        frame = from_sources.one_table(path)
        if kind in ("auto", "labels"):
            refuse_answers(frame, reading)
        opened = _of_table(_read(frame, kind, reading), path, reading)
    elif path is not None and path.is_dir():
        opened = _of_folder(path, reading)
    elif not reading and is_labels(source, kind):
        opened = _of_result(Ensemble(source), None, {}, kind="labels")
        if isinstance(name := getattr(getattr(source, "index", None), "name", None), str):
            opened = replace(opened, id_name=name)
    elif (held := from_sources.cells_of(source) if kind in ("auto", "labels") and not reading else None) is not None:
        opened = _of_cells(held, path)
    else:
        opened = _of_table(_read(source if path is None else path, kind, reading), path, reading)
    if known is None:
        return opened
    objects = opened.data if opened.result is None else opened.ensemble
    return opened.with_known(known_labels_of(known, objects))


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
    if isinstance(source, Ensemble) and not given_reading(reading):
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
    reading = given_reading(reading)
    if isinstance(source, Table):
        refuse_reading(source.source, "was read already", reading)
        if source.kind != kind:
            raise InputError(f"{source.source} was read as {source.kind}: read it with kind={kind!r}")
        return source
    if from_sources.is_result(source):
        what = f"{kind_of(source)} holds clusterings, and this needs the table of {kind} itself"
        raise InputError(f"{what}: give that, or its path")
    if from_sources.is_path(source) and Path(source).is_dir():
        holds = "a saved result" if (Path(source) / HEADER).exists() else "a folder"
        raise InputError(f"{source} is {holds}, and this needs a table of {kind}: give the path of its file")
    return read_table(source, kind=kind, **reading)


def _of_files(paths: Sequence[Any], kind: str, known: Any, set_aside: Sequence[str], reading: dict[str, Any]) -> Opened:
    if kind not in ("auto", "labels"):
        raise InputError(f"several files are joined if they hold clusterings, and this needs {kind}: give one of them")
    runs = {path: open_source(path, kind="labels") for path in paths if Path(path).is_dir()}
    there = [[] if path in runs else column_names(path, **fitting(path, reading)) for path in paths]
    every = {name for names in there for name in names}
    is_name = isinstance(known, str) and not Path(known).is_file()
    asked = [known] if is_name else known if isinstance(known, (list, tuple)) else []
    named = bool(asked) and all(isinstance(name, str) for name in asked) and (is_name or every.issuperset(asked))
    wanted = [*set_aside, *(asked if named else [])]
    if lost := [name for name in wanted if name not in every]:
        near = nearest(lost[0], sorted(every))
        hint, files = f"did you mean {near[0]!r}?" if near else "check its name", [Path(path).name for path in paths]
        raise InputError(f"known (--known) {lost[0]!r} is not a column of {listed(files)}: {hint}")
    anywhere = every.union(*(run.ensemble.names for run in runs.values()))
    parts = []
    for path, names in zip(paths, there, strict=True):
        run, own = runs.get(path), fitting(path, reading)
        if "columns" in own:
            own["columns"] = columns_there(own["columns"], names if run is None else run.ensemble.names, anywhere)
        if isinstance(own.get("id_column"), str) and own["id_column"] in every - set(names):
            own.pop("id_column")  # that of another file
        if run is None:
            aside = [name for name in wanted if name in names]
            parts.append(open_source(path, kind="labels", known_columns=aside, **own))
        else:
            chosen = own.get("columns")
            parts.append(run if chosen is None else replace(run, result=from_sources.choose(run.ensemble, chosen)))
    said = reading | ({"known_columns": wanted} if wanted else {})
    opened = joined(parts, "".join(f", {name}={value!r}" for name, value in said.items()))
    if known is None or named:
        return opened
    return opened.with_known(known_labels_of(known, opened.ensemble))


def _of_result(result: Any, provenance: Provenance | None, reading: dict[str, Any], kind: str = "") -> Opened:
    """A result, or an ensemble of which some clusterings may be chosen."""
    kind = kind or type(result).__name__
    columns = reading.pop("columns", None)
    refuse_reading(kind if provenance is None else provenance.source, "holds clusterings", reading)
    if columns is not None:
        result = from_sources.choose(from_sources.ensemble_of(result), columns)
    return Opened(result, provenance or _in_memory(result), kind=kind)


def _of_folder(path: Path, reading: dict[str, Any]) -> Opened:
    name, place = path.resolve().name, path.resolve()
    if kind := saved_kind(path):
        run = fingerprint(np.frombuffer((path / HEADER).read_bytes(), np.uint8))[:16]
        code = f"cs.ensemble.Result.load({str(place)!r})"
        return _of_result(from_sources.open_folder(path), Provenance(name, name, place, run, code), reading, kind)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", StoreWarning)
        ensemble = from_sources.open_folder(path)
        manifest = find_manifest(path)[0]
    for one in said:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    lost = [str(one.message) for one in said if issubclass(one.category, StoreWarning)]
    refused = [reason.replace(f"{path}{os.sep}", "") for reason in lost]
    same = {name: manifest[name] for name in ("n_objects", "fingerprint", "plan", "ids")}
    run = fingerprint(np.frombuffer(json.dumps(same, sort_keys=True).encode(), np.uint8))[:16]
    code = f"cs.Ensemble.load({str(place)!r})"
    provenance = Provenance(name, name, place, run, code, place, manifest, manifest["fingerprint"], tuple(refused))
    return replace(_of_result(ensemble, provenance, reading, "run"), id_name=manifest.get("id_name", "id"))


def _read(source: Any, kind: str, reading: Mapping[str, Any]) -> Table:
    """A table of a kind; where that was not said, with a notice of what a table of words was taken for."""
    if kind != "auto":
        return read_table(source, kind=kind, **reading)
    table = read_table(source, kind=guess(source, reading), **reading)
    said = taken_for(table)
    return replace(table, notices=(*table.notices, f"{table.source}: {said}")) if said else table


def _of_cells(adata: Any, path: Path | None) -> Opened:
    """The clusterings that an AnnData carries, with its cells' values and groupings beside them."""
    key = from_sources.stored_keys(adata)[0]
    ensemble, source = from_sources.stored_ensemble(adata, key), "AnnData" if path is None else path.name
    place = None if path is None else path.resolve()
    code = "" if path is None else f"consilience.anndata.ensemble(anndata.read_h5ad({str(place)!r}), {key!r})"
    made = Provenance(source.split(".")[0], source, place, fingerprint(ensemble.labels)[:16], code)
    # The values of the cells: X where they are few enough to look at, else its principal components.
    keys = ["X"] if adata.X is not None and adata.n_obs * adata.n_vars <= LOOKED_AT else []
    keys += [key for key in ("X_pca",) if key in adata.obsm]
    data = read_table(adata, kind="data", key=keys[0], columns="*") if keys else None
    # What groups the cells: categories, at most 100; not the answers that consilience wrote.
    obs, own = adata.obs, answers_in(adata)
    grouped = [name for name in obs.select_dtypes("category") if 1 < len(obs[name].cat.categories) <= FEW]
    known = {str(name): np.asarray(obs[name].astype(object)) for name in grouped if str(name) not in own}
    return Opened(ensemble, made, data, known, "labels")


def _of_table(table: Table, path: Path | None, reading: Mapping[str, Any]) -> Opened:
    name = table.source if path is None else path.name.split(".")[0]
    place = None if path is None else path.resolve()
    words = "".join(f", {name}={value!r}" for name, value in reading.items())
    known = labels_by_name(table.labels)
    if table.kind != "labels":
        given = f"({str(place)!r}, kind={table.kind!r}{words})"
        code = f"cs.inputs.open_source{given}.data" if place and place.is_dir() else f"cs.tables.read_table{given}"
        made = Provenance(name, table.source, place, code=code if place else "")
        return Opened(None, made, table, known, table.kind, table.notices, table.id_heading)
    try:
        ensemble = Ensemble(table)
    except InputError as error:
        prefix = "" if str(error).startswith(table.source) else f"{table.source}: "
        raise InputError(f"{prefix}{error}") from None
    run = fingerprint(ensemble.labels)[:16]
    code = "" if path is None else f"cs.Ensemble({str(place)!r}{words})"
    for doubt in (notice for notice in table.notices if isinstance(notice, Doubt)):
        warnings.warn(doubt, stacklevel=4)
    made = Provenance(name, table.source, place, run, code)
    return Opened(ensemble, made, None, known, "labels", table.notices, table.id_heading)


def _in_memory(result: Any) -> Provenance:
    name = type(result).__name__
    labels = getattr(result, "labels", None)
    return Provenance(name, name, run="" if not isinstance(labels, np.ndarray) else fingerprint(labels)[:16])


def cell_embeddings(source: Any, ids: Any = None) -> dict[str, Any]:
    """The arrays of numbers in `obsm` of an AnnData, or h5ad file, that have two columns or more, of the cells `ids`; else {}."""
    if from_sources.is_path(source) and Path(source).suffix.lower() == ".h5ad" and Path(source).is_file():
        from anndata import read_h5ad

        adata = read_h5ad(source, backed="r")  # X stays in the file
        try:
            return cell_embeddings(adata, ids)
        finally:
            adata.file.close()
    if not from_sources.is_anndata(source) or not hasattr(source, "obsm"):
        return {}
    rows: Any = slice(None)
    if ids is not None:
        rows = pd.Index([str(name) for name in source.obs_names]).get_indexer([str(name) for name in ids])
        if (rows < 0).any():
            return {}  # these are other objects
    labels, found = from_sources.stored_keys(source), {}
    for key, values in source.obsm.items():
        table = values.to_numpy() if hasattr(values, "to_numpy") else values
        if key not in labels and getattr(table, "ndim", 0) == 2 and table.shape[1] > 1 and table.dtype.kind in "iuf":
            found[str(key)] = np.asarray(table.toarray() if hasattr(table, "toarray") else table)[rows]
    return found
