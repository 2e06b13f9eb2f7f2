"""Tables and values in forms that an h5ad file keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice, kind_of
from consilience._types import Ints


def check_adata(adata: Any) -> Any:
    """An AnnData object, or one sentence."""
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
            made[str(name)] = np.array(["" if _missing(cell) else str(cell) for cell in column], object)
    return pd.DataFrame(made, index=[str(i) for i in range(len(frame))])


def _missing(cell: Any) -> bool:
    return bool(np.ndim(cell) == 0 and pd.isna(cell))


def small_codes(labels: Any) -> Ints:
    """Codes in the smallest type that holds them."""
    most = int(np.max(labels, initial=0))
    return np.ascontiguousarray(labels, np.int8 if most < 2**7 else np.int16 if most < 2**15 else np.int32)


def makers(adata: Any) -> dict[str, str]:
    """Which function of this package wrote each of its keys."""
    named = {str(k): str(v.get("made_by")) for k, v in adata.uns.items() if isinstance(v, Mapping)}
    return {key: made_by for key, made_by in named.items() if made_by.startswith("consilience.anndata.")}


def check_key(adata: Any, key: str, made_by: str) -> str:
    """A key to write to: not one under which another function of this package has written."""
    other = makers(adata).get(key, made_by)
    if other != made_by:
        raise InputError(f"key_added={key!r} holds what {other} wrote, which would be lost: choose another key")
    return key


def written(adata: Any, key: str, made_by: str) -> Mapping[str, Any]:
    """What a function of this package has written to `uns` under a key."""
    found = adata.uns.get(key)
    if isinstance(found, Mapping) and found.get("made_by") == made_by:
        return found
    others = [name for name, other in makers(adata).items() if other == made_by]
    if others:
        check_choice(key, others, f"key that {made_by} wrote")
    raise InputError(f"the AnnData has nothing called {key!r} that {made_by} wrote: call it first")
