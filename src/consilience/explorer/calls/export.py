"""Chosen clusterings to take away: a table of labels as CSV or Parquet, or Python that makes the same."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from consilience._names import unique_names
from consilience._types import Array
from consilience.explorer.calls.call import Call
from consilience.explorer.calls.detail import title
from consilience.explorer.codec import Reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import Ref, Snapshot
from consilience.explorer.validation import FORMATS, export_body
from consilience.reports.files import quoted

FILES = {
    "csv": "consilience.csv",
    "parquet": "consilience.parquet",
    "python": "consilience_labels.py",  # as consilience.py it would import itself
}


GIVEN = "...  # what you gave to cs.explore"
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
        sink = io.BytesIO()
        if form == "csv":
            csv.write_csv(_safe(table), sink)
        else:
            parquet.write_table(table, sink, compression="zstd")
        body = sink.getvalue()
    headers = {"Content-Disposition": f'attachment; filename="{FILES[form]}"', "Cache-Control": "no-store"}
    return Reply(200, FORMATS[form], body, headers)


def label_table(session: Session, snapshot: Snapshot, chosen: list[tuple[Ref, str]], assessed: bool) -> pa.Table:
    """Ids, the labels of every clustering as they were given, and confidence and support of every consensus if asked for."""
    columns: dict[str, Any] = {session.id_name: _ids(session, snapshot.n_objects)}
    for ref, name in chosen:
        one = snapshot.displayed(ref)
        missing = one.codes < 0
        columns[name] = _column(snapshot.named_labels(one), missing)
        if assessed and one.leaf is None:
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


def snippet(session: Session, snapshot: Snapshot, chosen: list[tuple[Ref, str]]) -> str:
    """Python that loads the run and makes the same labels."""
    grown = session.grown
    lines = [
        '"""Clusterings chosen in the consilience explorer."""',
        "",
        "import pandas as pd",
        "",
        "import consilience as cs",
    ]
    if grown:
        guide = "Guide, " if any("Guide(" in line for line in grown) else ""
        lines += [f"from consilience.generation import {guide}Variations"]
    lines += [""]
    if grown or session.data_code:
        lines += [f"data = {session.data_code or GIVEN}"]
    if session.base is not None:
        lines += [f"base = ...  # {session.base!r}".replace("\n", " ")]
    lines += [f"ensemble = {session.code or GIVEN}"]
    if session.renumbered:
        lines += ["ensemble = cs.Ensemble(ensemble)  # clusters are numbered 0 … k − 1"]
    if grown:
        lines += [f"variations = Variations(data{'' if session.base is None else ', base=base'})", *grown]
    lines += [f"ensemble = ensemble[:, :{snapshot.n_clusterings}]", ""]
    joint = [ref for ref, _ in chosen if snapshot.displayed(ref).leaf is None]
    meta = snapshot.meta
    for m in sorted({ref.m for ref in joint}):  # a branch is a node of the tree that it was chosen in
        how = f"linkage={meta.linkage!r}, measure={meta.measure!r}, sketch={meta.n_pairs}"
        how += f", random_state={meta.seed}" if meta.n_pairs is not None else ""
        lines.append(f"tree_of_{m} = cs.organize(ensemble[:, :{m}], {how})")
    lines += [""] * bool(joint) + ["labels = pd.DataFrame(index=ensemble.ids)"]
    for ref, name in chosen:
        one = snapshot.displayed(ref)
        found = f"ensemble.labels[:, {one.leaf}]" if one.names is None else f"ensemble.named_labels({one.leaf})"
        if ref in joint:
            number = f", n_clusters={ref.k}" if ref.k else ""
            found = f"tree_of_{ref.m}.consensus(tree_of_{ref.m}.branch({ref.node}){number}).labels"
        lines.append(f"labels[{name!r}] = {found}")
    return "\n".join([*lines, "", 'print(labels.describe(include="all"))', ""])
