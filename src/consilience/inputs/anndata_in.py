"""Clusterings that an AnnData object carries: labels in `obsm`, one column per clustering, and what made them in `uns`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError
from consilience.ensemble import Ensemble
from consilience.inputs.guess import FEW, is_anndata, is_path
from consilience.tables import Table, read_table
from consilience.tables.in_memory import answers_in

LOOKED_AT = 5 * 10**7  # values that are read, zeros included
MADE_BY = "consilience.anndata.generate"


def stored_keys(adata: Any) -> list[str]:
    """The keys under which :func:`consilience.anndata.generate` has written clusterings, the last written first."""
    uns, obsm = adata.uns, adata.obsm
    keys = [k for k, v in uns.items() if isinstance(v, Mapping) and v.get("made_by") == MADE_BY and k in obsm]
    return sorted(keys, key=lambda key: str(uns[key].get("written", "")), reverse=True)


def cells_of(source: Any) -> Any:
    """An AnnData, in memory or in an h5ad file, that carries clusterings; None if it is anything else."""
    if is_anndata(source):
        return source if hasattr(source, "uns") and stored_keys(source) else None
    if not is_path(source) or Path(source).suffix.lower() != ".h5ad" or not Path(source).is_file():
        return None
    try:
        from anndata import read_h5ad

        adata = read_h5ad(source, backed="r")  # X stays in the file
    except (ImportError, OSError, TypeError, ValueError, KeyError):
        return None  # reading it as a table says what is wrong with it
    try:
        return adata.to_memory() if stored_keys(adata) else None
    finally:
        adata.file.close()


def cell_table(adata: Any) -> Table | None:
    """The values of the cells: of X where they are few enough to look at, else of its principal components."""
    n, d = adata.shape
    keys = ["X"] if adata.X is not None and n * d <= LOOKED_AT else []
    keys += [key for key in ("X_pca",) if key in adata.obsm]
    return read_table(adata, kind="data", key=keys[0], columns="*") if keys else None


def cell_embeddings(source: Any, ids: Any = None) -> dict[str, Any]:
    """The arrays of numbers in `obsm` of an AnnData, or of an h5ad file, that have two columns or more; {} of anything else.

    With `ids`, the rows are those of these cells, in their order.
    """
    if is_path(source) and Path(source).suffix.lower() == ".h5ad" and Path(source).is_file():
        from anndata import read_h5ad

        adata = read_h5ad(source, backed="r")  # X stays in the file
        try:
            return cell_embeddings(adata, ids)
        finally:
            adata.file.close()
    if not is_anndata(source) or not hasattr(source, "obsm"):
        return {}
    rows: Any = slice(None)
    if ids is not None:
        rows = pd.Index([str(name) for name in source.obs_names]).get_indexer([str(name) for name in ids])
        if (rows < 0).any():
            return {}  # these are other objects
    labels, found = stored_keys(source), {}
    for key, values in source.obsm.items():
        table = values.to_numpy() if hasattr(values, "to_numpy") else values
        if key in labels or getattr(table, "ndim", 0) != 2 or table.shape[1] < 2 or table.dtype.kind not in "iuf":
            continue
        found[str(key)] = np.asarray(table.toarray() if hasattr(table, "toarray") else table)[rows]
    return found


def cell_groupings(adata: Any) -> dict[str, Any]:
    """Columns of `obs` that group the cells: categories, at most 100; not the answers that consilience wrote."""
    obs, own = adata.obs, answers_in(adata)
    kinds = {str(name): obs[name].dtype for name in obs.columns}
    names = [k for k, v in kinds.items() if isinstance(v, pd.CategoricalDtype) and 1 < len(v.categories) <= FEW]
    names = [name for name in names if name not in own]
    return {name: np.asarray(obs[name].astype(object)) for name in names}


def stored_ensemble(adata: Any, key: str) -> Ensemble:
    """The clusterings under a key, with their info."""
    if key not in stored_keys(adata):
        raise InputError(f"the AnnData has no clusterings called {key!r}: consilience.anndata.generate writes them")
    info = pd.DataFrame(adata.uns[key]["info"]).reset_index(drop=True)
    for name in info.columns:
        if isinstance(info[name].dtype, pd.CategoricalDtype):
            info[name] = info[name].astype(object)
    return Ensemble.from_codes(
        np.asarray(adata.obsm[key], np.int32), info=info, ids=np.asarray(adata.obs_names, object)
    )
