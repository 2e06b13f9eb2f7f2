"""Chosen clusterings to take away: a table of labels as CSV or Parquet, or Python that makes them again."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from consilience._names import unique_names
from consilience.explorer.codec import Reply
from consilience.explorer.detail import title
from consilience.explorer.session import Session
from consilience.explorer.snapshot import Edition, Ref
from consilience.reports.files import quoted

FORMATS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet", "python": "text/x-python"}
FILES = {
    "csv": "consilience.csv",
    "parquet": "consilience.parquet",
    "python": "consilience_labels.py",  # as consilience.py it would import itself
}


def export_reply(
    session: Session, edition: Edition, form: str, items: list[tuple[Ref, str]], confidence: bool
) -> Reply:
    """A file of the chosen clusterings."""
    names = column_names(name or title(edition, edition.shown(ref)) for ref, name in items)
    chosen = [(ref, name) for (ref, _), name in zip(items, names, strict=True)]
    if form == "python":
        body = snippet(session, edition, chosen).encode()
    else:
        table = label_table(session, edition, chosen, confidence)
        sink = io.BytesIO()
        if form == "csv":
            csv.write_csv(_safe(table), sink)
        else:
            parquet.write_table(table, sink, compression="zstd")
        body = sink.getvalue()
    headers = {"Content-Disposition": f'attachment; filename="{FILES[form]}"', "Cache-Control": "no-store"}
    return Reply(200, FORMATS[form], body, headers)


def label_table(session: Session, edition: Edition, chosen: list[tuple[Ref, str]], confidence: bool) -> pa.Table:
    """Ids, a column of labels for every clustering, and a column of confidence for every consensus if asked for."""
    columns: dict[str, Any] = {"id": _ids(session, edition.n_objects)}
    for ref, name in chosen:
        one = edition.shown(ref)
        columns[name] = pa.array(one.codes, pa.int32(), mask=one.codes < 0)
        if confidence and one.confidence is not None:
            columns[f"{name} confidence"] = pa.array(one.confidence.astype(float).round(4), mask=one.codes < 0)
    return pa.table(columns)


def _ids(session: Session, n_objects: int) -> pa.Array:
    """The objects' ids: whole numbers if all are, otherwise text."""
    ids: list[Any] = list(range(n_objects)) if session.ids is None else session.ids.tolist()
    if all(
        isinstance(one, (int, np.integer)) and not isinstance(one, bool) and -(2**63) <= int(one) < 2**63 for one in ids
    ):
        return pa.array(ids, pa.int64())
    return pa.array([str(one) for one in ids], pa.string())


def column_names(names: Iterable[str]) -> list[str]:
    """Names of columns that differ from each other, from the id column and from the columns of confidence."""
    return unique_names(names, taken=["id"], suffixes=("", " confidence"))


def _safe(table: pa.Table) -> pa.Table:
    """The same table with a ' before every text that a spreadsheet could run."""
    if pa.types.is_string(table.schema.field("id").type):
        ids = [quoted(text) for text in table["id"].to_pylist()]
        table = table.set_column(0, "id", pa.array(ids, pa.string()))
    return table.rename_columns([quoted(name) for name in table.column_names])


def snippet(session: Session, edition: Edition, chosen: list[tuple[Ref, str]]) -> str:
    """Python that loads the run and makes the same labels."""
    grown = session.grown
    lines = [
        '"""Clusterings chosen in the consilience explorer."""',
        "",
        "import pandas as pd",
        "",
        "import consilience as cs",
    ]
    if any("read_table" in line for line in session.origin.code):
        lines += ["from consilience.tables import read_table"]
    if grown:
        lines += ["from consilience.generation import Variations"]
    lines += ["", *session.origin.code]
    if session.renumbered:
        lines += ["ensemble = cs.Ensemble(ensemble)  # clusters are numbered 0 … k − 1"]
    if grown and not any(line.startswith("data = ") for line in session.origin.code):
        lines += ["data = ...  # the data that you gave to cs.explore"]
    if grown and session.base is not None:
        lines += [f"base = ...  # {session.base!r}".replace("\n", " ")]
    if grown:
        lines += [f"variations = Variations(data{'' if session.base is None else ', base=base'})", *grown]
    lines += [f"ensemble = ensemble[:, :{edition.n_clusterings}]", ""]
    joint = [ref for ref, _ in chosen if edition.shown(ref).leaf is None]
    meta = edition.meta
    for m in sorted({ref.m for ref in joint}):  # a branch is a node of the tree that it was chosen in
        how = f"linkage={meta.linkage!r}, measure={meta.measure!r}, sketch={meta.n_pairs}"
        how += f", random_state={meta.seed}" if meta.n_pairs is not None else ""
        lines.append(f"tree_of_{m} = cs.organize(ensemble[:, :{m}], {how})")
    lines += [""] * bool(joint) + ["labels = pd.DataFrame(index=ensemble.ids)"]
    for ref, name in chosen:
        found = f"ensemble.labels[:, {edition.shown(ref).leaf}]"
        if ref in joint:
            found = f"tree_of_{ref.m}.consensus(tree_of_{ref.m}.branch({ref.node})).labels"
        lines.append(f"labels[{name!r}] = {found}")
    return "\n".join([*lines, "", 'print(labels.describe(include="all"))', ""])
