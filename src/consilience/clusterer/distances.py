"""A clusterer of distances: which objects they are between, and where the distances of new objects to these put them."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from consilience._check import InputError, count
from consilience._types import Floats, Ints
from consilience.clusterer.input_rows import FARTHEST, Rows
from consilience.ensemble.results import register
from consilience.generation.guide import BoundGuide, Guide, set_aside
from consilience.generation.methods.mds import closest, place
from consilience.generation.runner import data_table
from consilience.inputs import as_table
from consilience.tables import Table, check_matrix, read_table
from consilience.tables.check_matrix import array_of
from consilience.tables.raw_table import given_reading

METRICS = ("euclidean", "precomputed")
NEW = "new_distances"  # the kind of a table of these


def check_metric(metric: Any) -> bool:
    """Whether the data are distances; refuse what new objects could not be labeled by."""
    if not isinstance(metric, str) or metric not in METRICS:
        graph = ": for a graph, cs.combine(cs.generate(X, metric='graph')) gives clusters" if metric == "graph" else ""
        raise InputError(f"metric must be 'euclidean' or 'precomputed' (X holds distances); got {metric!r}{graph}")
    return bool(metric == "precomputed")


@register
@dataclass(frozen=True, eq=False)
class Places:
    """Objects in the columns that their distances were scaled to, by which new objects are put beside them."""

    columns: Floats  # (n_kept, width)
    near: float  # distance below which pairs weigh no more
    kept: Ints | None  # (n_kept,) which of the objects these are, where not all were clustered

    @classmethod
    def of(cls, columns: Floats, distances: Floats, kept: Ints | None) -> "Places":
        return cls(columns, closest(distances), kept)

    def rows(self, table: Table) -> Rows:
        """New objects, by their distances to all objects of the data, in these columns."""
        far = np.minimum(table.values if self.kept is None else table.values[:, self.kept], FARTHEST)
        return Rows(place(self.columns, far, self.near), table.ids, notices=table.notices)

    @property
    def names(self) -> list[str]:
        return [f"dimension {j + 1}" for j in range(self.columns.shape[1])]


def learn_distances(estimator: Any, X: Any, guide: Guide | None = None) -> tuple[Table, BoundGuide | None]:
    """Square distances to be clustered by, and what a guide says of the objects; the estimator learns their number and names."""
    reading = {} if guide is None else set_aside(X, guide, {})
    if isinstance(X, Table):
        X = replace(X, notices=())  # which whoever read it knows
    elif reading:
        X = as_table(X, "distances", **reading)
    if isinstance(X, (list, tuple)):
        X = array_of(X, "the distances")
    if isinstance(X, np.ndarray):  # by scikit-learn, as other arrays are
        X = check_matrix(X, what="the distances", estimator=estimator, min_objects=2)
    table = data_table(X, "precomputed")
    estimator.n_features_in_ = table.n_objects
    if table.columns is not None:
        estimator.feature_names_in_ = np.array(table.columns, object)
    return table, None if guide is None else guide.of(table)


def read_distances(estimator: Any, source: Any, reading: Any = None) -> Table:
    """Distances of new objects to those of the data: a column for each, by name where they have names, else in their order."""
    names, given = getattr(estimator, "feature_names_in_", None), given_reading(reading or {})
    if isinstance(source, Table):
        table = source
        if table.kind not in (NEW, "distances"):
            raise InputError(f"{table.source} was read as {table.kind}: read it with the model's read, or kind={NEW!r}")
    else:
        if isinstance(source, (list, tuple)):
            source = array_of(source, "the distances")
        if isinstance(source, np.ndarray) and (source.ndim != 2 or source.shape[1] == estimator.n_features_in_):
            with warnings.catch_warnings():
                # They are in the order of the data.
                warnings.filterwarnings("ignore", "X does not have valid feature names")
                source = check_matrix(source, what="the distances", estimator=estimator, reset=False)
        if names is not None and not isinstance(source, np.ndarray) and given.get("header") is not False:
            given["columns"] = list(names)
        table = read_table(source, kind=NEW, **given)
    if (width := table.values.shape[1]) != (n := estimator.n_features_in_):
        name = type(estimator).__name__
        raise InputError(
            f"X has {width} features, but {name} is expecting {n} features as input: "
            f"the distances of every new object to each of the {count(n, 'object')} that the model was fitted on, in their order"
        )
    return table
