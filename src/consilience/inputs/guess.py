"""What a source is."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._check import InputError
from consilience.ensemble.from_sources import are_paths, is_anndata, is_path
from consilience.tables import Table, read_table
from consilience.tables.column_types import YES
from consilience.tables.file_formats import open_raw
from consilience.tables.in_memory import is_frame
from consilience.tables.raw_table import Options, parsing

_NUMBERED = re.compile(r"\D*\d+")  # c1, Cluster 12
_DIGITS = re.compile(r"\d+")
FEW = 100  # different labels of a column that could be a clustering


def is_table(source: Any) -> bool:
    return (is_path(source) and not Path(source).is_dir()) or is_anndata(source) or is_frame(source)


def is_labels(source: Any, kind: str) -> bool:
    """Whether an object in memory is taken as the labels themselves: asked for as such, or vectors that are not a table."""
    if is_path(source) or are_paths(source) or is_anndata(source):
        return False
    tabular = is_frame(source) or isinstance(source, np.ndarray) or sparse.issparse(source)
    return kind == "labels" or (kind == "auto" and not tabular)


def has_own_ids(source: Any) -> bool:
    """Whether it names its objects by itself, as AnnData does."""
    return is_anndata(source) or (is_path(source) and Path(source).suffix.lower() == ".h5ad")


def refuse_answers(source: Any, reading: Mapping[str, Any]) -> None:
    """Say of a table of clusters with their confidence, as we write it, what to give instead."""
    if "columns" in reading or not is_table(source):
        return
    raw = open_raw(source, Options("labels", **parsing(reading)))
    if {"cluster", "confidence", "support"}.issubset(raw.column_names):
        what = f"{raw.source} holds clusters with their confidence and support, as combine and cluster write them"
        remedy = "give what they were made from, or the folder that --save wrote"
        one = "columns='cluster' (--columns cluster) takes the clusters for one clustering"
        raise InputError(f"{what}: {remedy}; {one}")


def guess(source: Any, reading: Mapping[str, Any]) -> str:
    """Whether a table holds labels or data; see :func:`open_source`."""
    if is_path(source) and Path(source).suffix.lower() in (".npz", ".mtx", ".h5ad"):
        return "data"
    if sparse.issparse(source) or is_anndata(source):
        return "data"
    try:
        frame = read_table(source, kind="labels", **{"columns": "*", **reading}).values
    except InputError:
        refuse_answers(source, reading)
        return "data"
    most = min(FEW, len(frame) // 2)
    few = all(frame[name].nunique() <= most for name in frame)
    return "labels" if few and not _are_categories(frame) else "data"


def _are_categories(frame: pd.DataFrame) -> bool:
    """Whether columns are words of their own (plan, region), which no two share and which are not numbered (c1, 3-0), or constants."""
    # Labels of clusterings are shared by several clusterings, or numbered; yes and no may be shared by categories too.
    words = [set(frame[name].dropna().unique()) for name in frame]
    if all(len(some) <= 1 for some in words):
        return True
    named = [some for some in words if not {str(word).casefold() for word in some} <= set(YES)]
    if len(words) < 2 or not named or not all(isinstance(word, str) for some in named for word in some):
        return False
    return not all(map(_are_numbered, named)) and len(set().union(*named)) == sum(map(len, named))


def _are_numbered(words: set[Any]) -> bool:
    """Whether labels are numbers after whatever text, or differ in nothing but their numbers."""
    if not all(isinstance(word, str) for word in words):
        return True
    patterns = {_DIGITS.sub("0", word) for word in words}
    return all(map(_NUMBERED.fullmatch, words)) or (len(patterns) == 1 and "0" in patterns.pop())


def taken_for(table: Table) -> str:
    """What a table of nothing but words was taken for, and how to say otherwise; empty where there is no doubt."""
    if table.kind == "data" and table.encoder is not None and all(one.has_words for one in table.encoder.columns):
        otherwise = "kind='labels' (--kind labels) takes them for clusterings"
        return f"columns of words were taken for categories of a table, not for clusterings: {otherwise}"
    words = [set(table.values[name].dropna().unique()) for name in table.values] if table.kind == "labels" else []
    own = len(words) > 1 and len(set().union(*words)) == sum(map(len, words))
    if own and not any(map(_are_numbered, words)):
        return "columns of words were taken for clusterings: kind='data' (--kind data) takes them for categories of a table"
    return ""
