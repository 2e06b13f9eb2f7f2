"""What a clusterer is given, as rows of numbers: by scikit-learn's rules where it is numbers, and else encoded."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import InputError, names_objects, show
from consilience._types import Array, ArrayLike, Floats, Ints
from consilience.ensemble.from_sources import is_anndata, is_path
from consilience.ensemble.results import register
from consilience.generation.guide import BoundGuide, Guide, set_aside
from consilience.inputs import as_table
from consilience.tables import Encoder, Table, check_matrix, encode_rows, read_table
from consilience.tables.check_matrix import array_of, check_rows
from consilience.tables.encoder import EncodedColumn
from consilience.tables.filling import NEIGHBORS, Gaps
from consilience.tables.in_memory import is_frame, needs_encoding, plain_source
from consilience.tables.raw_table import given_reading

FARTHEST = 1e100  # safeguard: of new numbers; the squares of much larger ones overflow
WIDEST = 5000  # safeguard: for memory, columns of a table of numbers, some of whose rows are kept to fill gaps of new ones from

register(Encoder)
register(EncodedColumn)


@dataclass(frozen=True, eq=False)
class Rows:
    values: ArrayLike  # (n_new, n_columns) array or CSR matrix, encoded as those of the data
    ids: Array | None = None
    unseen: dict[str, int] = field(default_factory=dict)  # cells with a category that the data does not have, by column
    missing: dict[str, int] = field(default_factory=dict)  # cells missing, or no number or date where the data has some
    gaps: Gaps | None = None  # the cells that were missing and are filled in `values`
    n_columns: int = 0  # original ones, that a gap may be in
    notices: tuple[str, ...] = ()  # what was done to read them

    @cached_property
    def n_missing(self) -> Ints:
        """(n_new,) missing cells of every row."""
        rows = [gap.rows for gap in self.gaps.gaps] if self.gaps is not None else []
        return np.bincount(np.concatenate([*rows, np.empty(0, np.int64)]), minlength=self.values.shape[0])

    @property
    def are_empty(self) -> Array:
        """(n_new,) bool: which rows have no cell at all."""
        return (self.n_missing > 0) & (self.n_missing == self.n_columns)

    def filled(self, some: Ints) -> Iterator[Floats]:
        """Some rows with their missing cells taken from each of the similar rows in turn, whatever other rows there are."""
        assert self.gaps is not None
        gaps = self.gaps.of_rows(some)
        for number in range(NEIGHBORS):
            values = self.values[some].copy()
            for gap in gaps.gaps:
                giving = gap.donors[:, number % gap.donors.shape[1]]
                values[np.ix_(gap.rows, gap.columns)] = gaps.donors[np.ix_(giving, gap.columns)]
            yield values


def check_options(options: Any, *, is_distances: bool = False) -> dict[str, Any]:
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        wanted = "options must map options of methods to values, such as {'n_landmarks': 500}"
        raise InputError(f"{wanted}; got {show(options)}")
    for name in options:
        if name in ("methods", "n_clusters", "base", "standardize", "guide", "metric"):
            raise InputError(f"options has {name!r}, which is no option of a method: give it to EnsembleClusterer")
        if name == "n_dimensions" and not is_distances:
            raise InputError("options has 'n_dimensions', of distances: leave it out, or give metric='precomputed'")
    return dict(options)


def learn_rows(estimator: Any, X: Any, guide: Guide | None = None) -> tuple[Table, BoundGuide | None]:
    # The estimator learns the number and names of its columns. Frames with named columns are read as files are, so that both are
    # clustered alike. What the reader noticed is kept as notices, unless it was read before.
    reading = {} if guide is None else set_aside(X, guide, {})
    if isinstance(X, Table):
        X = replace(X, notices=())  # which whoever read it knows
    elif is_path(X) or is_anndata(X) or reading:
        X = as_table(X, **reading)
    elif is_frame(X):
        X = plain_source(X)
    elif isinstance(X, (list, tuple)):
        X = array_of(X)
    if has_names(X) or needs_encoding(X):
        X = read_table(X, kind="data")
    if isinstance(X, Table) and X.encoder is not None:
        check_rows(X.n_objects, X.source)
        _set_names(estimator, [column.name for column in X.encoder.columns])
        return X, None if guide is None else guide.of(X)
    what = X.source if isinstance(X, Table) else "the data"
    values = check_matrix(_named(X), what=what, estimator=estimator, min_objects=2)
    names = getattr(estimator, "feature_names_in_", None)
    if not isinstance(X, Table):
        columns = None if names is None else [str(name) for name in names]
        made = Table(values, "data", ids_of(X), columns, None, "the data")
    else:
        made = replace(X, values=values, kind="data")
        if names is None and X.columns is not None:
            _set_names(estimator, X.columns)
    return replace(made, labels=None), None if guide is None else guide.of(made)


def reader_of(table: Table) -> Encoder | None:
    """What reads new objects as the table was read; None for a sparse or very wide table of numbers, whose gaps cannot be filled."""
    if table.encoder is not None:
        return table.encoder
    if sparse.issparse(table.values) or table.values.shape[1] > WIDEST:
        return None
    names = [str(j) for j in range(table.values.shape[1])] if table.columns is None else table.columns
    return Encoder.of_numbers(table.values, names, decimal=table.reading.decimal, id_name=table.id_name)


def read_new(estimator: Any, source: Any, reading: Mapping[str, Any], reader: Encoder | None) -> Table:
    given = given_reading(reading)
    names = getattr(estimator, "feature_names_in_", None)
    if reader is not None and (names is not None or estimator.encoder_ is not None):
        return read_table(source, kind="data", encoder=reader, **given)
    if names is not None:
        given.setdefault("columns", [str(name) for name in names])
    return read_table(source, kind="data", **given)


def has_names(X: Any) -> bool:
    return isinstance(X, pd.DataFrame) and X.shape[1] > 0 and all(isinstance(name, str) for name in X.columns)


def new_rows(estimator: Any, X: Any, encoder: Encoder | None, reader: Encoder | None = None) -> Rows:
    # `encoder` is that of the data, None where that was numbers; `reader` reads new objects in both cases, where there is one.
    if encoder is not None:
        return _encoded(X, encoder)
    names = getattr(estimator, "feature_names_in_", None)
    X = plain_source(X) if is_frame(X) else array_of(X) if isinstance(X, (list, tuple)) else X
    has_more = names is not None and has_names(X) and set(X.columns) > set(names)  # names of objects, for one
    if is_anndata(X) and (names is None or list(X.var_names) == list(names)):
        X = as_table(X)
    elif is_path(X) or is_anndata(X) or has_more:
        X = read_new(estimator, X, {}, reader)
    is_odd = isinstance(X, Table) and (X.encoder is not None or bool(X.aside))
    if is_odd or needs_encoding(X):
        if reader is None:
            what = X.source if isinstance(X, Table) else "the new objects"
            raise InputError(f"{what}: has cells that are missing or no numbers and cannot be filled: drop their rows")
        if isinstance(X, np.ndarray) and X.shape[1] != estimator.n_features_in_:  # a frame is read by its names
            of = f"{type(estimator).__name__} is expecting {estimator.n_features_in_} features as input"
            raise InputError(f"X has {X.shape[1]} features, but {of}")
        return _encoded(X, reader)
    with warnings.catch_warnings():
        if isinstance(X, Table) and X.columns is not None:  # of a sparse matrix, whose names scikit-learn does not see
            warnings.filterwarnings("ignore", "X does not have valid feature names")
        values = check_matrix(_named(X), estimator=estimator, reset=False)
    return Rows(_bounded(values), ids_of(X))


def _encoded(X: Any, encoder: Encoder) -> Rows:
    X = encode_rows(X, encoder)
    rows = replace(rows_of(replace(X, values=_bounded(X.values))), notices=X.notices)
    if X.original is None:
        return rows
    unseen = {c.name: sum(c.encode(X.original[c.name])[1].values()) for c in encoder.columns}
    missing = {c.name: int(X.original[c.name].isna().sum()) for c in encoder.columns}
    unseen, missing = ({name: n for name, n in cells.items() if n} for cells in (unseen, missing))
    return replace(rows, unseen=unseen, missing=missing)


def rows_of(table: Table) -> Rows:
    """The rows of a table, and which of their cells were missing."""
    n_columns = 0 if table.encoder is None else len(table.encoder.columns)
    return Rows(table.values, table.ids, gaps=table.gaps, n_columns=n_columns)


def ids_of(X: Any) -> Array | None:
    if isinstance(X, Table):
        return X.ids
    if isinstance(X, pd.DataFrame) and names_objects(X.index) and X.index.nlevels == 1 and X.index.is_unique:
        return np.asarray(X.index)
    return None


def _named(X: Any) -> Any:
    if not isinstance(X, Table):
        return X
    if X.columns is None or sparse.issparse(X.values):
        return X.values
    return pd.DataFrame(X.values, columns=X.columns, copy=False)


def _bounded(values: Any) -> Any:
    """Finite numbers, those that no distance can be computed of brought nearer: they stay farther away than anything that was seen."""
    found = values.data if sparse.issparse(values) else values
    if not (found.size and max(found.max(), -found.min()) > FARTHEST):
        return values
    if not sparse.issparse(values):
        return np.clip(values, -FARTHEST, FARTHEST)
    return sparse.csr_matrix((np.clip(found, -FARTHEST, FARTHEST), values.indices, values.indptr), values.shape)


def _set_names(estimator: Any, names: list[str]) -> None:
    estimator.n_features_in_, estimator.feature_names_in_ = len(names), np.array(names, object)
