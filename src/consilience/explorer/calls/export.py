"""Chosen clusterings to take away: a table of labels as CSV, Parquet or the obs of an h5ad file, JSON with names and edits, or Python."""

import io
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv, parquet

from consilience._check import printable
from consilience._names import unique_names
from consilience._types import Array
from consilience.explorer.calls.call import Call
from consilience.explorer.calls.detail import title
from consilience.explorer.checks import ITEMS, NAME, flag, one_of, ref_text, text
from consilience.explorer.replies import RefusedError, Reply, file_reply, json_reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import Ref, Snapshot
from consilience.reports.spreadsheet_formulas import quoted

FORMATS = {  # the file and its type; as consilience.py the Python would import itself
    "csv": ("consilience.csv", "text/csv; charset=utf-8"),
    "parquet": ("consilience.parquet", "application/vnd.apache.parquet"),
    "json": ("consilience.json", "application/json; charset=utf-8"),
    "h5ad": ("consilience.h5ad", "application/x-hdf5"),
    "python": ("consilience_labels.py", "text/x-python"),
}
SUFFIXES = (" confidence", " support")  # columns beside those of a consensus


def _items(value: Any) -> list[tuple[str, str]]:
    if not isinstance(value, list) or not 1 <= len(value) <= ITEMS:
        raise ValueError(f"a list of 1 to {ITEMS} clusterings")
    if not all(isinstance(item, dict) and set(item) <= {"ref", "name"} for item in value):
        raise ValueError("a list of objects with ref and name")
    return [(ref_text(item.get("ref")), text(NAME)(item.get("name", "")).strip()) for item in value]


KEYS = {"format": (one_of(FORMATS), ...), "items": (_items, ...), "assessed": (flag, False), "saved": (flag, False)}


def export(call: Call) -> Reply:
    session, snapshot = call.session, call.snapshot
    asked = call.json(KEYS)
    form, items = asked["format"], asked["items"]
    refs = [snapshot.ref(ref) for ref, _ in items]
    names = [name or title(snapshot, snapshot.displayed(ref)) for ref, (_, name) in zip(refs, items, strict=True)]
    chosen = list(zip(refs, column_names(session, names), strict=True))
    if form == "python":
        return file_reply(*FORMATS[form], snippet(session, snapshot, chosen).encode())
    table = label_table(session, snapshot, chosen, asked["assessed"])
    if asked["saved"]:
        table = with_saved(session, table)
    file = io.BytesIO()
    if form == "csv":
        csv.write_csv(_safe(table), file)
    elif form == "parquet":
        parquet.write_table(table, file, compression="zstd")
    elif form == "json":
        file.write(_json(session, snapshot, chosen, table))
    else:
        file.write(_h5ad(table, session.source.id_name, [f"{name}{end}" for _, name in chosen for end in SUFFIXES]))
    return file_reply(*FORMATS[form], file.getvalue())


def label_table(session: Session, snapshot: Snapshot, chosen: list[tuple[Ref, str]], assessed: bool) -> pa.Table:
    """Ids, the labels of every clustering as they were given, and confidence and support of every consensus if asked for."""
    columns: dict[str, Any] = {session.source.id_name: _ids(session, snapshot.n_objects)}
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
        table = table.append_column(name, _column(saved.labels, saved.codes < 0))
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
    if all(isinstance(i, (int, np.integer)) and not isinstance(i, bool) and -(2**63) <= int(i) < 2**63 for i in ids):
        return pa.array(ids, pa.int64())
    return pa.array([str(one) for one in ids], pa.string())


def column_names(session: Session, names: Iterable[str]) -> list[str]:
    """Names of columns that differ from each other, from the id column and from those of confidence and support."""
    return unique_names(names, taken=[session.source.id_name], suffixes=("", *SUFFIXES))


def _safe(table: pa.Table) -> pa.Table:
    """The same table with a ' before every text that a spreadsheet could run, and True and False as pandas writes them."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_boolean(field.type):
            safe = [None if label is None else quoted(str(label)) for label in table[place].to_pylist()]
            table = table.set_column(place, field.name, pa.array(safe, pa.string()))
    return table.rename_columns([quoted(name) for name in table.column_names])


def _json(session: Session, snapshot: Snapshot, chosen: list[tuple[Ref, str]], table: pa.Table) -> bytes:
    about: dict[str, dict[str, Any]] = {}
    for ref, name in chosen:
        one = snapshot.displayed(ref)
        about[name] = {"clustering": title(snapshot, one), "ref": str(ref)}
        if one.edited is not None:
            about[name] |= {"edited_from": one.edited.origin, "base": one.edited.base, "steps": list(one.edited.steps)}
    content = {"run": session.origin.run, "source": session.origin.source, "clusterings": about}
    return json_reply({**content, "columns": table.to_pydict()}).body


def _h5ad(table: pa.Table, id_name: str, numbers: list[str]) -> bytes:
    """An AnnData of nothing but obs, labels as categories, other columns as numbers."""
    try:
        import anndata
    except ImportError:
        raise RefusedError(400, "h5ad files need anndata: pip install 'consilience[anndata]'") from None
    frame = table.to_pandas().set_index(id_name)
    frame.index = frame.index.astype(str)
    for column in frame.columns.difference(numbers):
        frame[column] = frame[column].map(lambda one: None if pd.isna(one) else _whole(one)).astype("category")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.h5ad"
        anndata.AnnData(obs=frame).write_h5ad(path)
        return path.read_bytes()


def _whole(label: Any) -> str:
    """A label as text; whole numbers of a column with gaps come as 3.0."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


# Python that loads a run and makes the labels of chosen clusterings again; those that were edited by hand it holds itself.

GIVEN = "...  # what you gave to cs.explore"


def snippet(session: Session, snapshot: Snapshot, chosen: list[tuple[Ref, str]]) -> str:
    trees: dict[str, str] = {}
    made = [f"labels[{name!r}] = {_labels(snapshot, ref, trees)}" for ref, name in chosen]
    grown = [f"{name} = {how}" for name, how in sorted(trees.items())]
    before = [*_opening(session, snapshot), *grown, *[""] * bool(trees), "labels = pd.DataFrame(index=ensemble.ids)"]
    ending = ["    print(labels[name].value_counts(), end='\\n\\n')  # objects of every cluster", ""]
    return "\n".join([*before, *made, "", "for name in labels:", *ending])


def _opening(session: Session, snapshot: Snapshot) -> list[str]:
    """The lines that open the run, and make again what was added in memory."""
    grown, source = session.grown, session.source
    lines = ['"""Clusterings chosen in the consilience explorer."""', "", "import pandas as pd", ""]
    lines += ["import consilience as cs"]
    if grown:
        guide = "Guide, " if any("Guide(" in line for line in grown) else ""
        lines += [f"from consilience.generation import {guide}Variations"]
    lines += [""]
    if grown or session.origin.data_code:
        lines += [f"data = {session.origin.data_code or GIVEN}"]
    if source.base is not None:
        lines += [f"base = ...  # {source.base!r}".replace("\n", " ")]
    lines += [f"ensemble = {source.code or GIVEN}"]
    if session.renumbered:
        lines += ["ensemble = cs.Ensemble(ensemble)  # clusters are numbered 0 … k − 1"]
    if grown:
        lines += [f"variations = Variations(data{'' if source.base is None else ', base=base'})", *grown]
    return [*lines, f"ensemble = ensemble[:, :{snapshot.n_clusterings}]", ""]


def _labels(snapshot: Snapshot, ref: Ref, trees: dict[str, str]) -> str:
    """The expression that gives the labels of a clustering; a tree that it needs is entered."""
    one = snapshot.displayed(ref)
    if one.edited is not None:
        return f"{snapshot.named_labels(one).tolist()!r}  # {printable(one.edited.title, keep='')}"
    if one.leaf is not None:
        return f"ensemble.labels[:, {one.leaf}]" if one.names is None else f"ensemble.named_labels({one.leaf})"
    meta, tree = snapshot.meta, f"tree_of_{ref.m}"
    how = f"linkage={meta.linkage!r}, measure={meta.measure!r}, sketch={meta.n_pairs}"
    how += f", random_state={meta.seed}" if meta.n_pairs is not None else ""
    # a branch is a node of the tree that it was chosen in
    trees[tree] = f"cs.organize(ensemble[:, :{ref.m}], {how})"
    number = f", n_clusters={ref.k}" if ref.k else ""
    if snapshot.group(snapshot.members(ref)).is_sampled:
        return f"cs.meta.group_consensus.quick_labels(ensemble[:, {tree}.branch({ref.node})]{number})"
    return f"{tree}.consensus({tree}.branch({ref.node}){number}).labels"
