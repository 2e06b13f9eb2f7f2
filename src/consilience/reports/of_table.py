"""A table of measurements, for which a report has to cluster it first."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from consilience._check import InputError
from consilience.clusterer import EnsembleClusterer
from consilience.inputs import Opened, guess
from consilience.tables import read_table, take_rows


def is_table_of_data(source: Any, reading: dict[str, Any]) -> bool:
    """Whether a source is the file of a table of measurements, which has to be clustered before there is something to tell."""
    if not isinstance(source, (str, Path)) or not Path(source).is_file():
        return False
    if Path(source).suffix.lower() == ".h5ad" and reading.get("columns") is not None:
        return not _names_labels(source, reading)
    return guess(source, reading) == "data"


def _names_labels(source: str | Path, reading: dict[str, Any]) -> bool:
    """Whether the columns that are named are labels of cells, in `obs`, and not genes."""
    try:
        read_table(source, kind="labels", **reading)
    except InputError:
        return False
    return True


def names_columns(known: Any) -> bool:
    """Whether known labels are named, as columns of a table."""
    if isinstance(known, str):
        return not Path(known).is_file()
    return isinstance(known, (list, tuple)) and bool(known) and all(isinstance(name, str) for name in known)


def cluster_table(
    opened: Opened, n_clusters: Any = None, method: str | None = None, seed: int = 0, n_jobs: int | None = None
) -> Opened:
    """Cluster a table, as :class:`consilience.EnsembleClusterer` does by default; with its clusters, see :func:`opened_clusters`."""
    table, k = opened.data, "auto" if n_clusters is None else n_clusters
    assert table is not None
    model = EnsembleClusterer(k, method=method or "auto", random_state=seed, n_jobs=n_jobs).fit(table)
    return opened_clusters(model, opened)


def opened_clusters(model: EnsembleClusterer, opened: Opened) -> Opened:
    """The clusters of a model, of the objects that were clustered, with their data and what is known of them."""
    table = opened.data
    assert table is not None
    rows = np.arange(table.n_objects) if model.sample_ is None else np.asarray(model.sample_)
    # a copy, since that has no client, which no code line could name
    called = " ".join(repr(copy(model)).split()).replace("guide=Guide(", "guide=cs.generation.Guide(")
    read = opened.provenance.code
    code = f"cs.{called}.fit(data).consensus_" if read else ""
    if read and model.sample_ is not None:  # whose objects alone the consensus has
        code = f"(model := cs.{called}.fit(data)).consensus_\ndata = cs.tables.take_rows(data, model.sample_)"
    known = {name: np.asarray(values, object)[rows] for name, values in opened.known.items()}
    origin = replace(opened.provenance, code=code, data_code=read)
    found = replace(opened, result=model.consensus_, provenance=origin, data=take_rows(table, rows), known=known)
    return replace(found, id_name=table.id_heading)
