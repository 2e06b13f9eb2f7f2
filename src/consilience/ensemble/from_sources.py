"""Clusterings in what is not the labels themselves: a path, a folder, a result, an AnnData object."""

import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from consilience._check import InputError, kind_of, nearest, show
from consilience._whole_files import open_parquet
from consilience.ensemble.ensemble import Ensemble
from consilience.ensemble.results import HEADER, Result, saved_kind
from consilience.ensemble.store.manifest_and_lock import MANIFEST
from consilience.ensemble.store.part import PART_NAME
from consilience.tables.file_formats import READERS, SOURCE
from consilience.tables.in_memory import frame_of

ONE_TABLE = 50_000_000  # safeguard: of memory, cells of a folder of Parquet files that is read whole
MADE_BY = "consilience.anndata.generate"


def open_folder(path: Path) -> Any:
    if saved_kind(path):
        return Result.load(path)
    refuse_blocks(path, "a stored run, a saved result or one table")
    return Ensemble.load(path)


def is_path(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))


def is_anndata(source: Any) -> bool:
    return hasattr(source, "X") and hasattr(source, "obs_names")


def are_paths(source: Any) -> bool:
    """Whether a list names files, or folders, rather than being a label vector of text."""
    if not isinstance(source, (list, tuple)) or not source or not all(map(is_path, source)):
        return False
    words = [one for one in source if isinstance(one, str)]
    return all(one.lower().endswith(tuple(READERS)) or os.path.isdir(one) for one in words)


def is_result(source: Any) -> bool:
    return isinstance(source, (Ensemble, Result))


def needs_opening(source: Any) -> bool:
    """Whether labels are in what is given, rather than being it: a path or several, a result, an AnnData object."""
    return not isinstance(source, Ensemble) and any(one(source) for one in (is_path, are_paths, is_anndata, is_result))


def is_saved(folder: Path) -> bool:
    """Whether a folder is a stored run, even one that has lost its manifest, or a saved result."""
    there = any((folder / name).exists() for name in (HEADER, MANIFEST))
    return there or any(PART_NAME.fullmatch(file.name) for file in folder.glob("*.parquet"))


def in_blocks(source: Any) -> bool:
    """Whether it is labels in row blocks: those of `consilience.blocks`, a Dask collection, or a folder of Parquet files."""
    if is_path(source):
        folder = Path(source)
        return folder.is_dir() and any(folder.glob("*.parquet")) and not is_saved(folder)
    return type(source).__module__.partition(".")[0] == "dask" or getattr(source, "in_row_blocks", False) is True


def is_one_table(source: Path) -> bool:
    """Whether it is a folder of Parquet files with so few cells that it can be read as one table."""
    if not in_blocks(source):
        return False
    held = [open_parquet(file).metadata for file in _parts(source)]
    return sum(one.num_rows * one.num_columns for one in held) <= ONE_TABLE


def one_table(folder: Path) -> pd.DataFrame:
    tables = [open_parquet(file).read() for file in _parts(folder)]
    for file, table in zip(_parts(folder), tables, strict=True):
        if table.column_names != tables[0].column_names:
            raise InputError(f"{file} has other columns than the first file of {folder}: give all of them the same")
    frame = frame_of(pa.concat_tables(tables, promote_options="permissive"))
    frame.attrs[SOURCE] = folder.resolve().name
    return frame


def _parts(folder: Path) -> list[Path]:
    return sorted(Path(folder).glob("*.parquet"))


def refuse_blocks(source: Path, what: str) -> None:
    """Say of a folder of row blocks who takes it; of anything else nothing."""
    if source.is_dir() and not is_saved(source) and any((*source.glob("*.parquet"), *source.glob("*.npz"))):
        needs = f"{source} is a folder of row blocks, and this needs {what}"
        who = "labels in blocks go to combine, data to generate and counts to agree"
        raise InputError(f"{needs}: {who}; anything else takes them as one file")


def ensemble_of(result: Any) -> Ensemble:
    found = result if isinstance(result, Ensemble) else getattr(result, "ensemble", None)
    if isinstance(found, Ensemble):
        return found
    if hasattr(result, "labels"):
        labels = pd.DataFrame(result.labels).rename(columns=str)
        if labels.shape[1] == 1:
            labels.columns = [type(result).__name__.lower()]
        return Ensemble(labels, ids=getattr(result, "ids", None))
    raise InputError(f"{kind_of(result)} holds no clusterings: give those that it is about")


def choose(ensemble: Ensemble, columns: str | int | Sequence[str | int]) -> Ensemble:
    """Some clusterings of an ensemble, by name, number or pattern."""
    names, chosen = ensemble.names, []
    for one in [columns] if isinstance(columns, (str, int, np.integer)) else columns:
        places = [i for i, own in enumerate(names) if own == one] if isinstance(one, str) else [int(one)]
        places = places or [i for i, own in enumerate(names) if fnmatchcase(own, str(one))]
        if not places:
            near = nearest(one, names)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names[:5])} …"
            raise InputError(f"no clustering is called {show(one)}: {hint}")
        chosen += places
    return ensemble[:, list(dict.fromkeys(chosen))]


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
        try:
            return adata.to_memory() if stored_keys(adata) else None
        finally:
            adata.file.close()
    except Exception:  # whatever libraries raise of a damaged file: reading it as a table says what is wrong with it
        return None


def stored_ensemble(adata: Any, key: str) -> Ensemble:
    if key not in stored_keys(adata):
        raise InputError(f"the AnnData has no clusterings called {key!r}: consilience.anndata.generate writes them")
    info = pd.DataFrame(adata.uns[key]["info"]).reset_index(drop=True)
    info = info.astype(dict.fromkeys(info.select_dtypes("category"), object))
    ids = np.asarray(adata.obs_names, object)
    return Ensemble.from_codes(np.asarray(adata.obsm[key], np.int32), info=info, ids=ids)
