"""What an ensemble can be made from, as label vectors."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import InputError, count, kind_of, show
from consilience.tables.columns import split_ids
from consilience.tables.in_memory import frame_sheet, plain_source
from consilience.tables.reading import Table


def columns_of(labels: Any) -> tuple[list[Any] | None, list[Any]]:
    """Names, if any, and the label vector of every clustering, all of one length."""
    names: list[Any] | None = None
    vectors: list[Any]
    if isinstance(labels, Table):
        if labels.kind != "labels":
            raise InputError(f"{labels.source}: was read as {labels.kind}: clusterings need kind='labels'")
        labels = labels.values
    elif not isinstance(labels, (pd.Series, Mapping, Sequence)):
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
    """Whether it is a frame of pandas, polars or Arrow."""
    return isinstance(labels, pd.DataFrame) or hasattr(labels, "get_columns") or hasattr(labels, "column_names")


def label_columns(labels: Any) -> tuple[Any, Any]:
    """A frame of clusterings and the names of its objects, where one of its columns holds them."""
    frame = plain_source(labels)
    if not isinstance(frame, pd.DataFrame) or not frame.size or not frame.columns.is_unique:
        return labels, None
    if not all(isinstance(name, str) for name in frame.columns):
        return labels, None  # columns without names of their own are clusterings
    return split_ids(frame_sheet("DataFrame", frame), frame)


def _is_vector(value: Any) -> bool:
    if np.isscalar(value) or not hasattr(value, "__len__") or isinstance(value, (set, frozenset, dict)):
        return False
    return getattr(value, "ndim", 1) > 0 and not sparse.issparse(value)


def _table_columns(labels: Any) -> list[Any]:
    """The columns of an array, or a vector as the only one; anything else is refused."""
    if isinstance(labels, (str, os.PathLike)):
        raise InputError(
            f"labels cannot be {kind_of(labels)}: if {show(labels)} is a file, read it first, as in "
            "Ensemble(read_table(path, kind='labels'))"
        )
    if sparse.issparse(labels) or not hasattr(labels, "__array__"):
        raise InputError(
            f"labels cannot be {kind_of(labels)}: give an array of objects × clusterings, a DataFrame, or a list or "
            "mapping of label vectors"
        )
    table = np.asanyarray(labels)
    if table.ndim not in (1, 2):
        raise InputError(f"labels must be a table of objects × clusterings; got {count(table.ndim, 'dimension')}")
    return [table] if table.ndim == 1 else [table[:, j] for j in range(table.shape[1])]
