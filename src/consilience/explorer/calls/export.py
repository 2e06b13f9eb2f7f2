"""Chosen clusterings to take away: a table of labels as CSV, Parquet or the obs of an h5ad file, JSON with names and edits, or Python."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv, parquet

from consilience._names import unique_names
from consilience._types import Array
from consilience.explorer.calls.call import Call
from consilience.explorer.calls.detail import title
from consilience.explorer.calls.export_code import snippet
from consilience.explorer.codec import RefusedError, Reply, json_reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import Ref, Snapshot
from consilience.explorer.validation import FORMATS, export_body
from consilience.reports.files import quoted

FILES = {
    "csv": "consilience.csv",
    "parquet": "consilience.parquet",
    "json": "consilience.json",
    "h5ad": "consilience.h5ad",
    "python": "consilience_labels.py",  # as consilience.py it would import itself
}
SUFFIXES = (" confidence", " support")  # columns beside those of a consensus


def answer(call: Call) -> Reply:
    """A file of the chosen clusterings."""
    session, snapshot = call.session, call.snapshot
    asked = export_body(call.body)
    form, items = asked["format"], asked["items"]
    refs = [snapshot.ref(ref) for ref, _ in items]
    names = [name or title(snapshot, snapshot.displayed(ref)) for ref, (_, name) in zip(refs, items, strict=True)]
    chosen = list(zip(refs, column_names(session, names), strict=True))
    if form == "python":
        body = snippet(session, snapshot, chosen).encode()
    else:
        table = label_table(session, snapshot, chosen, asked["assessed"])
        if asked["saved"]:
            table = with_saved(session, table)
        body = WRITERS[form](session, snapshot, chosen, table)
    headers = {"Content-Disposition": f'attachment; filename="{FILES[form]}"', "Cache-Control": "no-store"}
    return Reply(200, FORMATS[form], body, headers)


def label_table(session: Session, snapshot: Snapshot, chosen: list[tuple[Ref, str]], assessed: bool) -> pa.Table:
    """Ids, the labels of every clustering as they were given, and confidence and support of every consensus if asked for."""
    columns: dict[str, Any] = {session.id_name: _ids(session, snapshot.n_objects)}
    for ref, name in chosen:
        one = snapshot.displayed(ref)
        missing = one.codes < 0
        columns[name] = _column(snapshot.named_labels(one), missing)
        if assessed and one.support is not None:
            for suffix, values in zip(SUFFIXES, (one.confidence, one.support), strict=True):
                columns[f"{name}{suffix}"] = pa.array(values, mask=missing)
    return pa.table(columns)


def with_saved(session: Session, table: pa.Table) -> pa.Table:
    """The same with the labels that people saved, under names that no other column has."""
    names = unique_names(session.saved, taken=table.column_names)
    for name, saved in zip(names, session.saved.values(), strict=True):
        table = table.append_column(
            name, _column(np.array([*saved.classes, None], object)[saved.codes], saved.codes < 0)
        )
    return table


def _column(labels: Array, missing: Array) -> pa.Array:
    """Labels as one type: their own, or text where they have several."""
    if labels.dtype != object:
        return pa.array(labels, pa.int32(), mask=missing)
    try:
        return pa.array(labels, mask=missing, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if gone else str(label) for label, gone in zip(labels, missing, strict=True)])


def _ids(session: Session, n_objects: int) -> pa.Array:
    """The objects' ids: whole numbers if all are, otherwise text."""
    ids: list[Any] = list(range(n_objects)) if session.ids is None else session.ids.tolist()
    if all(
        isinstance(one, (int, np.integer)) and not isinstance(one, bool) and -(2**63) <= int(one) < 2**63 for one in ids
    ):
        return pa.array(ids, pa.int64())
    return pa.array([str(one) for one in ids], pa.string())


def column_names(session: Session, names: Iterable[str]) -> list[str]:
    """Names of columns that differ from each other, from the id column and from those of confidence and support."""
    return unique_names(names, taken=[session.id_name], suffixes=("", *SUFFIXES))


def _safe(table: pa.Table) -> pa.Table:
    """The same table with a ' before every text that a spreadsheet could run, and True and False as pandas writes them."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_boolean(field.type):
            safe = [None if label is None else quoted(str(label)) for label in table[place].to_pylist()]
            table = table.set_column(place, field.name, pa.array(safe, pa.string()))
    return table.rename_columns([quoted(name) for name in table.column_names])


def _csv(session: Session, snapshot: Snapshot, chosen: list[tuple[Ref, str]], table: pa.Table) -> bytes:
    sink = io.BytesIO()
    csv.write_csv(_safe(table), sink)
    return sink.getvalue()


def _parquet(session: Session, snapshot: Snapshot, chosen: list[tuple[Ref, str]], table: pa.Table) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _json(session: Session, snapshot: Snapshot, chosen: list[tuple[Ref, str]], table: pa.Table) -> bytes:
    """The columns, and of every clustering where it comes from and how it was edited."""
    about: dict[str, dict[str, Any]] = {}
    for ref, name in chosen:
        one = snapshot.displayed(ref)
        about[name] = {"clustering": title(snapshot, one), "ref": str(ref)}
        if one.edited is not None:
            about[name] |= {"edited_from": one.edited.origin, "base": one.edited.base, "steps": list(one.edited.steps)}
    content = {"run": session.origin.run, "source": session.origin.source, "clusterings": about}
    return json_reply({**content, "columns": table.to_pydict()}).body


def _h5ad(session: Session, snapshot: Snapshot, chosen: list[tuple[Ref, str]], table: pa.Table) -> bytes:
    """An AnnData of nothing but obs, labels as categories."""
    try:
        import anndata
    except ImportError:
        raise RefusedError(400, "h5ad files need anndata: pip install 'consilience[anndata]'") from None
    frame = table.to_pandas().set_index(session.id_name)
    frame.index = frame.index.astype(str)
    for column in frame.columns.difference([f"{name}{suffix}" for _, name in chosen for suffix in SUFFIXES]):
        frame[column] = frame[column].map(lambda one: None if pd.isna(one) else _whole(one)).astype("category")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILES["h5ad"]
        anndata.AnnData(obs=frame).write_h5ad(path)
        return path.read_bytes()


def _whole(label: Any) -> str:
    """A label as text; whole numbers of a column with gaps come as 3.0."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


WRITERS = {"csv": _csv, "parquet": _parquet, "json": _json, "h5ad": _h5ad}
