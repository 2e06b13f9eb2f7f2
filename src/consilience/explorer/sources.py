"""What users point the explorer at (runs, agreement runs, tables, results in memory), made ready to be shown."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import InputError, check_choice, fingerprint
from consilience.agreement import Agreement
from consilience.ensemble import Ensemble
from consilience.explorer.session import Origin, Session, memory
from consilience.generation import generate
from consilience.meta import MetaClustering
from consilience.opening import as_ensemble
from consilience.results import HEADER
from consilience.store import StoreWarning
from consilience.store.folder import find_manifest
from consilience.tables import Table, match_rows, read_table

KINDS = ("auto", "data", "distances", "labels")
FEW = 100  # different labels of a column that could be a clustering


@dataclass(frozen=True)
class Material:
    """What a session is made from; `session` makes it."""

    clusterings: Ensemble | MetaClustering
    origin: Origin
    data: Table | None = None
    known: Mapping[str, Any] = field(default_factory=dict)
    agreement: Agreement | None = None

    @property
    def ensemble(self) -> Ensemble:
        """The clusterings."""
        return self.clusterings if isinstance(self.clusterings, Ensemble) else self.clusterings.ensemble

    @property
    def taken_for(self) -> str:
        """What a table was taken for."""
        return "labels" if self.data is None else "data"

    def with_data(self, table: Table) -> Material:
        """The same with the data of its objects, matched by their ids where both have them, and what is known of them."""
        table = match_rows(table, self.ensemble.ids, self.ensemble.n_objects)
        origin, made = self.origin, self.origin.fingerprint
        if made is not None and fingerprint(table.values) != made:
            warnings.warn(
                f"{table.source} is not the data that {origin.source} was made from, or not the same columns of it: it is shown, "
                "but no clusterings can be added",
                stacklevel=3,
            )
            origin = replace(origin, other_data=True)
        called = Path(table.source).stem
        if origin.store is not None and called != origin.name:  # a folder called "run" says little
            origin = replace(origin, name=f"{called} · {origin.name}")
        return replace(self, data=table, origin=origin, known={**self.known, **labels_aside(table)})

    def session(self, *, known: Mapping[str, Any] | None = None, **options: Any) -> Session:
        """The session; options as in :class:`Session`, and known labels beside those that the tables have."""
        labels = {**self.known, **(known or {})}
        return Session(
            self.clusterings, origin=self.origin, data=self.data, known=labels, agreement=self.agreement, **options
        )


@dataclass(frozen=True)
class Making:
    """How a table of data is clustered before it is explored; the words are those of :func:`consilience.generate`."""

    n_clusterings: int = 1000
    n_clusters: Any = 15
    methods: Any = "zipf+pca"
    base: Any = None
    random_state: int = 0
    store: Path | None = None
    n_jobs: int | None = None
    progress: bool | None = None


def material(
    source: Any, *, kind: str = "auto", reading: Mapping[str, Any] | None = None, making: Making | None = None
) -> Material:
    """Read what is to be explored.

    Parameters
    ----------
    source : path, Ensemble, MetaClustering, Agreement, Table, DataFrame or array
        A path is that of a stored run, of a saved agreement, or of a table.
    kind : {"auto", "data", "distances", "labels"}
        What a table holds. "auto" takes it for labels if every column has only whole numbers or names, at most 100 different
        ones and on average at least two objects to each, and for data otherwise.
    reading : mapping, optional
        How to read a table: the parameters of :func:`consilience.tables.read_table`.
    making : Making, optional
        How to cluster data.

    Examples
    --------
    >>> from consilience.datasets import sample_path
    >>> material(sample_path("beads_labels.csv"), reading={"id_column": "bead"}).ensemble.n_clusterings
    18
    """
    check_choice(kind, KINDS, "kind of table")
    how, making = dict(reading or {}), making or Making()
    if isinstance(source, Agreement):
        return _of_agreement(source, memory(source.after.rows))
    if isinstance(source, MetaClustering):
        return Material(source, memory(source.ensemble))
    if isinstance(source, Ensemble):
        return Material(source, memory(source))
    if isinstance(source, Table):
        return _of_table(source, making) if source.kind != "labels" else _of_labels(source, None, {})
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        return _of_folder(path, how) if path.is_dir() else _of_file(path, kind, how, making)
    if not isinstance(source, (pd.DataFrame, np.ndarray)) and not sparse.issparse(source) and kind == "auto":
        return Material(ensemble := as_ensemble(source), memory(ensemble))
    return _of_file(source, kind, how, making)


def _of_folder(path: Path, how: dict[str, Any]) -> Material:
    if any(value is not None and value != [] for value in how.values()):
        raise InputError(f"{path} is a stored run: how to read a table is said of the table of --data")
    if (path / HEADER).exists():
        code = [f"ensemble = cs.agreement.Agreement.load({str(path.resolve())!r}).after.rows"]
        found = Agreement.load(path)
        run = fingerprint(np.frombuffer((path / HEADER).read_bytes(), np.uint8))[:16]
        return _of_agreement(found, Origin(path.name or str(path), path.name, run, code))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", StoreWarning)
        manifest = find_manifest(path)[0]
        ensemble = Ensemble.load(path)
    for one in said:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    same = {name: manifest[name] for name in ("n_objects", "fingerprint", "plan", "ids")}
    run = fingerprint(np.frombuffer(json.dumps(same, sort_keys=True).encode(), np.uint8))[:16]
    code = [f"ensemble = cs.Ensemble.load({str(path.resolve())!r})"]
    refused = [_brief(str(one.message), path) for one in said if issubclass(one.category, StoreWarning)]
    name = path.resolve().name
    origin = Origin(name, name, run, code, path.resolve(), refused, manifest["fingerprint"])
    return Material(ensemble, origin)


def _brief(message: str, path: Path) -> str:
    """A warning without the path of the folder."""
    return message.replace(f"{path}{os.sep}", "")


def _of_agreement(found: Agreement, origin: Origin) -> Material:
    return Material(found.after.rows, origin, agreement=found)


def _of_file(source: Any, kind: str, how: dict[str, Any], making: Making) -> Material:
    kind = guess(source, how) if kind == "auto" else kind
    table = read_table(source, kind=kind, **how)
    path = Path(source).resolve() if isinstance(source, (str, os.PathLike)) else None
    if kind == "labels":
        return _of_labels(table, path, how)
    return _of_table(table, making, path, how)


def guess(source: Any, how: Mapping[str, Any]) -> str:
    """Whether a table holds labels or data; see :func:`material`."""
    if isinstance(source, (str, os.PathLike)) and Path(source).suffix.lower() in (".npz", ".mtx", ".h5ad"):
        return "data"
    if sparse.issparse(source):
        return "data"
    try:
        frame = read_table(source, kind="labels", **how).values
    except InputError:
        return "data"
    most = min(FEW, len(frame) // 2)
    return "labels" if all(frame[name].nunique() <= most for name in frame) else "data"


def _of_labels(table: Table, path: Path | None, how: Mapping[str, Any]) -> Material:
    ensemble = Ensemble(table)
    run = fingerprint(ensemble.labels)[:16]
    code = ["ensemble = ...  # the labels that you gave to cs.explore"]
    if path is not None:
        code = [f"ensemble = cs.Ensemble({_reading(path, 'labels', how)})"]
    name = path.stem if path else table.source
    return Material(ensemble, Origin(name, table.source, run, code), known=labels_aside(table))


def _of_table(table: Table, making: Making, path: Path | None = None, how: Mapping[str, Any] | None = None) -> Material:
    """Cluster the table, and show what comes out."""
    ensemble = generate(
        table,
        making.n_clusterings,
        making.n_clusters,
        making.methods,
        base=making.base,
        metric="precomputed" if table.kind == "distances" else "euclidean",
        random_state=making.random_state,
        store=making.store,
        n_jobs=making.n_jobs,
        progress=making.progress,
    )
    if making.store is not None:  # the run may hold more than was asked for now
        made = _of_folder(Path(making.store), {})
        named = replace(made.origin, name=path.stem if path else table.source)
        return replace(made, origin=named).with_data(table)
    values = (making.n_clusterings, making.n_clusters, making.methods)
    code = ["data = ...  # the data that you gave to cs.explore"]
    if path is not None:
        code = [f"data = {_reading(path, table.kind, how or {})}"]
    more = ", metric='precomputed'" if table.kind == "distances" else ""
    if making.base is not None:
        more += ", base=base"
        code.append(f"base = ...  # {making.base!r}".replace("\n", " "))
    arguments = f"{', '.join(map(repr, values))}{more}, random_state={making.random_state}"
    code.append(f"ensemble = cs.generate(data, {arguments})")
    run = fingerprint(ensemble.labels)[:16]
    name = path.stem if path else table.source
    origin = Origin(name, table.source, run, code)
    return Material(ensemble, origin, table, labels_aside(table))


def _reading(path: Path, kind: str, how: Mapping[str, Any]) -> str:
    """Python that reads a table."""
    given = {name: value for name, value in how.items() if value is not None and value != []}
    words = "".join(f", {name}={value!r}" for name, value in given.items())
    return f"read_table({str(path)!r}, kind={kind!r}{words})"


def labels_aside(table: Table) -> dict[str, Any]:
    """The known labels that were set aside when a table was read."""
    return {} if table.labels is None else {str(name): table.labels[name].to_numpy() for name in table.labels}
