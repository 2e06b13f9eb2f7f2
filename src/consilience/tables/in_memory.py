"""Objects in memory (data frames, arrays, tensors, sparse matrices, AnnData), each into a raw table or into label vectors."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse

from consilience._check import InputError, check_choice, count, kind_of, names_objects, show
from consilience.tables.column_roles import split_ids
from consilience.tables.raw_table import RawTable


def plain_source(source: Any) -> Any:
    """Frames of any library as a DataFrame, tensors as a NumPy array; anything else as it is."""
    if isinstance(source, pd.Series):
        return source.to_frame()
    if isinstance(source, (pd.DataFrame, np.ndarray)) or sparse.issparse(source):
        return source
    if type(source).__name__ == "LazyFrame" and hasattr(source, "collect"):
        source = source.collect()
    if hasattr(source, "to_arrow"):  # polars
        arrow = source.to_arrow()
        source = arrow if isinstance(arrow, pa.Table) else pa.table({source.name or "0": arrow})
    elif isinstance(source, (pa.Array, pa.ChunkedArray)):
        source = pa.table({"0": source})
    elif hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        source = pa.table(source)
    if isinstance(source, pa.Table):
        return frame_of(source)
    if hasattr(source, "__array__") and not isinstance(source, np.generic):
        return _plain_array(source)
    return source


def needs_encoding(source: Any) -> bool:
    if isinstance(source, pd.DataFrame):
        numbers = all(getattr(kind, "kind", "O") in "biuf" for kind in source.dtypes)
        return source.shape[1] > 0 and (not numbers or bool(source.isna().to_numpy().any()))
    if not isinstance(source, np.ndarray) or source.ndim != 2:
        return False
    if np.ma.is_masked(source):
        return True
    if source.dtype.kind == "f":
        return bool(np.isnan(source).any())
    return source.dtype.kind == "U" or (source.dtype.kind == "O" and any(isinstance(x, str) for x in source.ravel()))


def _plain_array(tensor: Any) -> np.ndarray:
    """The numbers of a tensor: off its graph and its device, and widened where NumPy lacks the type."""
    for step in ("detach", "cpu"):  # torch
        tensor = getattr(tensor, step)() if hasattr(tensor, step) else tensor
    try:
        return np.asarray(tensor)
    except TypeError as error:
        if not hasattr(tensor, "double"):
            raise InputError(f"{kind_of(tensor)} cannot be made a NumPy array: {error}") from None
        return np.asarray(tensor.double())


def frame_of(table: pa.Table) -> pd.DataFrame:
    make, wide = pa.DictionaryArray.from_arrays, pa.int64()
    for at, field in enumerate(table.schema):
        kind = field.type
        # Polars has categories under unsigned codes, of which PyArrow 15 makes no frame.
        if pa.types.is_dictionary(kind) and pa.types.is_unsigned_integer(kind.index_type):
            chunks = table.column(at).chunks
            parts = [make(part.indices.cast(wide), part.dictionary, ordered=kind.ordered) for part in chunks]
            signed = pa.chunked_array(parts, pa.dictionary(wide, kind.value_type, kind.ordered))
            table = table.set_column(at, field.name, signed)
    return table.to_pandas(integer_object_nulls=True)  # an integer with a missing neighbor must not become a float


def answers_in(data: Any) -> list[str]:
    """Columns of `obs` of an AnnData that consilience wrote itself: a consensus, and what it says of every cell."""
    written = makers(data)
    own = {key for key, made_by in written.items() if made_by == "consilience.anndata.combine"}
    own |= {f"{key}_{what}" for key in written for what in ("confidence", "support", "consistency")}
    return [str(name) for name in data.obs.columns if str(name) in own]


def makers(data: Any) -> dict[str, str]:
    """Which function of `consilience.anndata` wrote each of its keys of `uns`."""
    records = {str(k): str(v.get("made_by")) for k, v in getattr(data, "uns", {}).items() if isinstance(v, Mapping)}
    return {key: made_by for key, made_by in records.items() if made_by.startswith("consilience.anndata.")}


def raw_anndata(source: str, data: Any, kind: str, key: str | None) -> RawTable:
    """Labels are columns of `obs`; anything else is X, or the layer, `obsm` or `obsp` entry `key`, with `obs` beside it."""
    obs, index = data.obs, np.asarray(data.obs_names, dtype=object)
    rows: dict[str, Any] = {"index": index, "index_name": str(data.obs_names.name or "obs_names"), "index_is_ids": True}
    if kind == "labels":
        if key is not None:
            raise InputError(f"{source}: labels come from obs, so key= (--key) is not needed: leave it out")
        return RawTable(source, obs, [str(name) for name in obs.columns], answers=tuple(answers_in(data)), **rows)
    if getattr(data, "isbacked", False):
        data = data.to_memory()
    layers = {"X": data.X} if key in (None, "X") else {**data.obsp, **data.layers, **data.obsm}
    if key is not None:
        held = ["X", *(str(name) for name in (*data.layers, *data.obsm, *data.obsp) if name is not None)]
        check_choice(key, held, f"key (layer, obsm or obsp) of {source}")
    matrix = layers[key or "X"]
    if matrix is None:
        raise InputError(f"{source}: has no X: name a layer or an entry of obsm with key= (--key)")
    is_graph = key in data.obsp and key not in (*data.layers, *data.obsm)
    names = [str(name) for name in (data.obs_names if is_graph else data.var_names)]
    if key in data.obsm and key not in data.layers:
        names = [f"{key} {i + 1}" for i in range(matrix.shape[1])]
        if isinstance(matrix, pd.DataFrame):
            names, matrix = [str(name) for name in matrix.columns], matrix.to_numpy()
    make = raw_sparse if sparse.issparse(matrix) else raw_array
    return RawTable(source, make(source, matrix, kind).body, names, obs, **rows)


def raw_frame(source: str, frame: pd.DataFrame) -> RawTable:
    index, columns = frame.index, [str(name) for name in frame.columns]
    called = "index" if index.name is None else str(index.name)
    named = names_objects(index) and index.nlevels == 1 and index.is_unique and not index.hasnans
    return RawTable(source, frame, columns, index=index.to_numpy(), index_name=called, index_is_ids=named)


def raw_sparse(source: str, matrix: Any, kind: str) -> RawTable:
    if kind == "labels":
        raise InputError(f"{source}: labels cannot be a sparse matrix: give a full table, one column per clustering")
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{source}: holds values of type {matrix.dtype}, not numbers: convert them first")
    # Before duplicates are added up: in a narrow type their sum would wrap around.
    wide = np.float64 if matrix.dtype.kind == "f" else matrix.dtype if matrix.dtype == np.uint64 else np.int64
    csr = sparse.csr_matrix(matrix.astype(wide, copy=False))
    try:
        csr.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"{source}: not a sound sparse matrix ({error}): build it again") from error
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return RawTable(source, csr)


def raw_array(source: str, array: Any, kind: str) -> RawTable:
    """A matrix of numbers as it is, any other array as a DataFrame; masked cells are missing."""
    if isinstance(array, np.ma.MaskedArray):
        cells = array.data.astype(object)
        cells[np.ma.getmaskarray(array)] = None
        array = cells
    array = np.asarray(array)
    if array.ndim == 1 and kind == "labels":
        array = array[:, None]
    if array.ndim != 2:
        what = f"{count(array.ndim, 'dimension')} (shape {show(array.shape)})"
        raise InputError(f"{source}: has {what}, not 2: give objects × columns")
    return RawTable(source, array if array.dtype.kind in "biuf" else pd.DataFrame(array))


def columns_of(labels: Any) -> tuple[list[Any] | None, list[Any]]:
    """Names, if any, and the label vector of every clustering, all of one length."""
    names: list[Any] | None = None
    vectors: list[Any]
    if not isinstance(labels, (pd.Series, Mapping, Sequence)):
        labels = plain_source(labels)  # frames of polars and Arrow, tensors
    if isinstance(labels, pd.DataFrame):
        names, vectors = list(labels.columns), [labels.iloc[:, j] for j in range(labels.shape[1])]
    elif isinstance(labels, Mapping):
        names, vectors = list(labels), list(labels.values())
        for name, vector in labels.items():
            if not _is_vector(vector):
                raise InputError(f"clustering {show(name)} is {kind_of(vector)}, not a vector of labels")
    elif isinstance(labels, pd.Series):
        names, vectors = None if labels.name is None else [labels.name], [labels]
    elif isinstance(labels, Sequence) and not isinstance(labels, (str, bytes)):
        nested = [_is_vector(v) for v in labels]
        if (any(nested) and not all(nested)) or any(sparse.issparse(v) for v in labels):
            at = nested.index(False)
            raise InputError(f"clustering {at} is {kind_of(labels[at])}, not a vector of labels")
        vectors = list(labels) if any(nested) or not labels else [labels]
    else:
        vectors = _table_columns(labels)
    if not vectors or not len(vectors[0]):
        raise InputError("there are no labels: give at least one clustering of at least one object")
    for name, vector in zip(names or range(len(vectors)), vectors, strict=True):
        if len(vector) != len(vectors[0]):
            raise InputError(f"clustering {show(name)} has {len(vector)} labels, the first has {len(vectors[0])}")
    return names, vectors


def is_frame(labels: Any) -> bool:
    return isinstance(labels, pd.DataFrame) or hasattr(labels, "get_columns") or hasattr(labels, "column_names")


def label_columns(labels: Any) -> tuple[Any, Any]:
    """A frame of clusterings and the names of its objects, where one of its columns holds them."""
    frame = plain_source(labels)
    if not isinstance(frame, pd.DataFrame) or not frame.size or not frame.columns.is_unique:
        return labels, None
    if not all(isinstance(name, str) for name in frame.columns):
        return labels, None  # columns without names of their own are clusterings
    return split_ids(raw_frame("DataFrame", frame), frame)


def _is_vector(value: Any) -> bool:
    if np.isscalar(value) or not hasattr(value, "__len__") or isinstance(value, (set, frozenset, dict)):
        return False
    return getattr(value, "ndim", 1) > 0 and not sparse.issparse(value)


def _table_columns(labels: Any) -> list[Any]:
    """The columns of an array, or a vector as the only one; anything else is refused."""
    if isinstance(labels, (str, os.PathLike)):
        remedy = f"if {show(labels)} is a file, read it first, as in Ensemble(read_table(path, kind='labels'))"
        raise InputError(f"labels cannot be {kind_of(labels)}: {remedy}")
    if sparse.issparse(labels) or not hasattr(labels, "__array__"):
        remedy = "give an array of objects × clusterings, a DataFrame, or a list or mapping of label vectors"
        raise InputError(f"labels cannot be {kind_of(labels)}: {remedy}")
    table = np.asanyarray(labels)
    if table.ndim not in (1, 2):
        raise InputError(f"labels must be a table of objects × clusterings; got {count(table.ndim, 'dimension')}")
    return [table] if table.ndim == 1 else [table[:, j] for j in range(table.shape[1])]
