"""Tables and values in forms that an h5ad file keeps."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice, kind_of
from consilience._types import Ints
from consilience.consensus import Consensus
from consilience.tables.in_memory import makers


def check_adata(adata: Any) -> Any:
    if not all(hasattr(adata, name) for name in ("obs", "obsm", "obsp", "uns", "var_names")):
        raise InputError(f"adata must be an AnnData object; got {kind_of(adata)}")
    return adata


def safe_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A table of plain numbers, truth values and text: whole numbers with gaps as floats, other missing cells as ""."""
    made = {}
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_bool_dtype(column) and not column.isna().any():
            made[str(name)] = column.to_numpy(bool)
        elif pd.api.types.is_numeric_dtype(column):
            made[str(name)] = column.to_numpy(float, na_value=np.nan) if column.isna().any() else column.to_numpy()
        else:
            gone = [bool(np.ndim(cell) == 0 and pd.isna(cell)) for cell in column]
            made[str(name)] = np.array(["" if no else str(cell) for cell, no in zip(column, gone, strict=True)], object)
    return pd.DataFrame(made, index=[str(i) for i in range(len(frame))])


def small_codes(labels: Any) -> Ints:
    most = int(np.max(labels, initial=0))
    return np.ascontiguousarray(labels, np.int8 if most < 2**7 else np.int16 if most < 2**15 else np.int32)


def check_key(adata: Any, key: str, made_by: str) -> None:
    """Refuse a key under which another function of this package has written."""
    other = makers(adata).get(key, made_by)
    if other != made_by:
        raise InputError(f"key_added={key!r} holds what {other} wrote, which would be lost: choose another key")


def written(adata: Any, key: str, made_by: str) -> Mapping[str, Any]:
    """What a function of this package has written to `uns` under a key."""
    found = adata.uns.get(key)
    if isinstance(found, Mapping) and found.get("made_by") == made_by:
        return found
    others = [name for name, other in makers(adata).items() if other == made_by]
    if others:
        check_choice(key, others, f"key that {made_by} wrote")
    raise InputError(f"the AnnData has nothing called {key!r} that {made_by} wrote: call it first")


# Clusters of a handful of cells: they are reported, but do not decide the number of clusters.
#
# Adjusted Rand indices hardly see them: six clusters, of which one has three cells, are as stable as the five that are left without it.

HANDFUL = 5  # cells of a cluster, at least, that counts


def without_crumbs(found: Consensus) -> Consensus:
    """The answer with `real` of its scales judged by clusters of at least five cells."""
    # A scale is real if it was, and has more of them than every coarser scale. Scales that differ from coarser ones by crumbs alone
    # come last.
    if found.scales is None or found.scale_labels is None:
        return found
    numbers, most, solid = sorted(found.scales["n_clusters"]), 1, {}
    columns = dict(zip(numbers, found.scale_labels.T, strict=True))
    for k in numbers:
        counted = int(np.count_nonzero(sizes_of(columns[k]) >= HANDFUL))
        solid[k], most = counted > most, max(most, counted)
    kept = found.scales["n_clusters"].map(solid).to_numpy(bool)
    table = found.scales.assign(real=found.scales["real"].to_numpy(bool) & kept)
    table = table.iloc[np.argsort(~kept, kind="stable")].reset_index(drop=True)
    return replace(found, scales=table)


def sizes_of(labels: Ints) -> Ints:
    """Cells of every cluster; those without one do not count."""
    return np.bincount(labels[labels >= 0])
