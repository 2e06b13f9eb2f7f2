"""Files and objects in memory, each into a sheet: one function per format."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import io as scipy_io
from scipy import sparse

from consilience._check import InputError, check_choice, count, kind_of, names_objects, show
from consilience.tables.sheet import Sheet
from consilience.tables.text import read_text

_DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    OverflowError,
    zlib.error,
    zipfile.BadZipFile,
    pa.ArrowException,
)
MAGIC = {
    b"PAR1": ("Parquet", ".parquet"),
    b"PK\x03\x04": ("a zip archive", ".npz, or unpack it if it is no file of NumPy's"),
    b"\x1f\x8b": ("text packed with gzip", ".csv.gz or .tsv.gz"),
    b"\x93NUMPY": ("a NumPy array", ".npy"),
    b"\x89HDF": ("HDF5", ".h5ad"),
}
CSR_PARTS = {"data", "indices", "indptr", "shape"}


@dataclass(frozen=True)
class Options:
    """How to read: what the file alone does not say."""

    kind: str
    header: bool | None = None
    sep: str | None = None
    key: str | None = None
    name: str | None = None  # how messages call what is in memory


def open_sheet(source: Any, options: Options) -> Sheet:
    """The sheet in a file or an object in memory."""
    if isinstance(source, (str, os.PathLike)):
        return _open_file(Path(source), options)
    name = options.name or type(source).__name__
    with_key = hasattr(source, "X") and hasattr(source, "obs_names")
    _refuse_unused(name, options, text=False, key=with_key)
    if with_key:
        return _anndata_sheet(name, source, options)
    if hasattr(source, "to_arrow"):  # polars
        arrow = source.to_arrow()
        source = arrow if isinstance(arrow, pa.Table) else pa.table({source.name or "0": arrow})
    if isinstance(source, pa.Table):
        source = _frame_of(source)
    if isinstance(source, pd.Series):
        source = source.to_frame()
    if isinstance(source, pd.DataFrame):
        return _frame_sheet(name, source)
    if sparse.issparse(source):
        return _sparse_sheet(name, source, options)
    if isinstance(source, np.ndarray):
        return _array_sheet("array" if name == "ndarray" else name, source, options)
    raise InputError(
        f"{options.name or 'a table'} cannot be made of {kind_of(source)}: give a path, a DataFrame, a NumPy array, a SciPy sparse matrix "
        "or an AnnData"
    )


def _open_file(path: Path, options: Options) -> Sheet:
    if path.is_dir():
        raise InputError(f"{path.name or path}: is a folder: give one of the files in it")
    if not path.exists():
        raise InputError(f"{path.name}: no such file in {path.parent.resolve()}: check the path")
    name = path.name.lower()
    suffix = next((known for known in READERS if name.endswith(known)), None)
    if suffix is None:
        raise InputError(
            f"{path.name}: unknown file type {path.suffix!r}: known are .csv, .tsv, .txt (also with .gz), "
            ".parquet, .npy, .npz, .mtx, .mtx.gz and .h5ad"
        )
    _refuse_unused(
        path.name, options, text=READERS[suffix] is _read_text, key=READERS[suffix] in (_read_npz, _read_h5ad)
    )
    with _refuse_damaged(path.name, suffix):
        if path.stat().st_size == 0:
            raise InputError(f"{path.name}: is empty: write the table to it again")
        return READERS[suffix](path, options)


def _refuse_unused(source: str, options: Options, *, text: bool, key: bool) -> None:
    """An option that would be read and ignored is a misunderstanding."""
    if not text and (options.sep is not None or options.header is not None):
        raise InputError(f"{source}: sep= (--sep) and header= (--no-header) are for text files: leave them out")
    if not key and options.key is not None:
        raise InputError(f"{source}: key= (--key) is for npz files and AnnData: leave it out")


@contextmanager
def _refuse_damaged(source: str, suffix: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except PermissionError as error:
        raise InputError(f"{source}: may not be read by this user: change its permissions") from error
    except _DAMAGE as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{source}: damaged, or not a {suffix} file ({reason[:150]}): write it again") from error


def _read_bytes(path: Path) -> bytes:
    raw = path.read_bytes()
    if path.name.lower().endswith(".gz"):
        raw = gzip.decompress(raw)
    if not raw.strip():
        raise InputError(f"{path.name}: is empty: write the table to it again")
    return raw


def _read_text(path: Path, options: Options) -> Sheet:
    suffix = path.name.lower().removesuffix(".gz")[-4:]
    sep = options.sep if options.sep is not None else {".csv": ",", ".tsv": "\t"}.get(suffix)
    if sep is None:
        raise InputError(
            f"{path.name}: what separates the cells of a .txt file? give sep=',' (--sep ,) or sep='\\t' (--sep tab), say"
        )
    sep = {"tab": "\t", "\\t": "\t"}.get(sep, sep)
    if len(sep) != 1 or not sep.isascii() or sep in '"\r\n':
        raise InputError(f"{path.name}: sep={sep!r} (--sep) cannot separate cells: give one ASCII character, or tab")
    raw = _read_bytes(path)
    for start, (kind, ending) in MAGIC.items():
        if raw.startswith(start):
            raise InputError(f"{path.name}: holds {kind}, not text: give it the ending {ending}")
    return read_text(
        path.name,
        raw,
        sep=sep,
        sep_given=options.sep is not None,
        header=options.header,
    )


def _read_parquet(path: Path, options: Options) -> Sheet:
    from pyarrow import parquet

    return _frame_sheet(path.name, _frame_of(parquet.read_table(path)))


def _frame_of(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas(integer_object_nulls=True)  # an integer with a missing neighbor must not become a float


def _read_npy(path: Path, options: Options) -> Sheet:
    with path.open("rb") as file, _refuse_pickles(path.name):
        if file.peek(1)[:1] != b"\x93":
            raise ValueError("it does not start as .npy files do")
        return _array_sheet(path.name, np.load(file, allow_pickle=False), options)


@contextmanager
def _refuse_pickles(source: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise InputError(
            f"{source}: holds pickled Python objects, which are never loaded: save plain numbers or text"
        ) from error


def _read_npz(path: Path, options: Options) -> Sheet:
    name = path.name
    if not zipfile.is_zipfile(path):
        raise ValueError("it is no zip archive")
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays, _refuse_pickles(name):
        files = list(arrays.files)
        if options.key is not None:
            check_choice(options.key, files, f"key of {name}")
            used = {options.key}
            sheet = _array_sheet(name, arrays[options.key], options)
        elif "format" in files and {"data", "shape"} <= set(files):
            return _sparse_sheet(name, sparse.load_npz(path), options)
        elif set(files) >= CSR_PARTS:
            used = CSR_PARTS
            parts = tuple(arrays[part] for part in ("data", "indices", "indptr"))
            sheet = _sparse_sheet(name, sparse.csr_matrix(parts, tuple(map(int, arrays["shape"]))), options)
        elif len(files) == 1:
            return _array_sheet(name, arrays[files[0]], options)
        elif options.kind == "labels" and len({length for _, length, _ in _vectors(arrays)}) == 1:
            return _frame_sheet(name, pd.DataFrame({vector: arrays[vector] for vector, *_ in _vectors(arrays)}))
        else:
            held = f"{count(len(files), 'array')} ({', '.join(files)})"
            raise InputError(f"{name}: holds {held}: name one with key= (--key)")
        beside = {
            vector: arrays[vector]
            for vector, length, pickled in _vectors(arrays)
            if vector not in used and length == sheet.n_rows and not pickled
        }
    return Sheet(name, sheet.body, beside=pd.DataFrame(beside) if beside else None)


def _vectors(arrays: Any) -> list[tuple[str, int, bool]]:
    """Name, length and whether it is pickled, of every array of one dimension; the headers tell, nothing is loaded."""
    found = []
    for name in arrays.files:
        with arrays.zip.open(f"{name}.npy") as member:
            version = np.lib.format.read_magic(member)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(member)
        if len(shape) == 1:
            found.append((name, shape[0], dtype.hasobject))
    return found


def _read_mtx(path: Path, options: Options) -> Sheet:
    matrix = scipy_io.mmread(io.BytesIO(_read_bytes(path)), spmatrix=True)
    if sparse.issparse(matrix):
        return _sparse_sheet(path.name, matrix, options)
    return _array_sheet(path.name, matrix, options)


def _read_h5ad(path: Path, options: Options) -> Sheet:
    try:
        from anndata import read_h5ad
    except ImportError as error:
        raise ImportError(f"{path.name} needs AnnData: pip install 'consilience[anndata]'") from error
    try:
        data = read_h5ad(path)
    except TypeError as error:
        # The constructor of AnnData meets an element of the file that it does not know.
        raise ValueError(str(error)) from error
    return _anndata_sheet(path.name, data, options)


def _anndata_sheet(source: str, data: Any, options: Options) -> Sheet:
    """Labels are columns of `obs`; anything else is X, or the layer `key`, with `obs` beside it."""
    obs, index = data.obs, np.asarray(data.obs_names, dtype=object)
    if options.kind == "labels":
        if options.key is not None:
            raise InputError(f"{source}: labels come from obs, so key= (--key) has no use: leave it out")
        return Sheet(source, obs, [str(name) for name in obs.columns], index=index, index_is_ids=True)
    if getattr(data, "isbacked", False):
        data = data.to_memory()
    if options.key is not None:
        check_choice(options.key, [str(name) for name in data.layers if name is not None], f"key (layer) of {source}")
    matrix = data.X if options.key is None else data.layers[options.key]
    if matrix is None:
        raise InputError(f"{source}: has no X: name a layer with key= (--key)")
    make = _sparse_sheet if sparse.issparse(matrix) else _array_sheet
    body = make(source, matrix, options).body
    return Sheet(source, body, [str(name) for name in data.var_names], obs, index, index_is_ids=True)


def _frame_sheet(source: str, frame: pd.DataFrame) -> Sheet:
    index_name = "index" if frame.index.name is None else str(frame.index.name)
    named = (
        names_objects(frame.index) and frame.index.nlevels == 1 and frame.index.is_unique and not frame.index.hasnans
    )
    columns = [str(name) for name in frame.columns]
    return Sheet(source, frame, columns, index=frame.index.to_numpy(), index_name=index_name, index_is_ids=named)


def _sparse_sheet(source: str, matrix: Any, options: Options) -> Sheet:
    if options.kind == "labels":
        raise InputError(f"{source}: labels cannot be a sparse matrix: give a full table, one column per clustering")
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{source}: holds values of type {matrix.dtype}, not numbers: convert them first")
    csr = sparse.csr_matrix(matrix)
    try:
        csr.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"{source}: not a sound sparse matrix ({error}): build it again") from error
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return Sheet(source, csr)


def _array_sheet(source: str, array: Any, options: Options) -> Sheet:
    if isinstance(array, np.ma.MaskedArray):
        cells = array.data.astype(object)
        cells[np.ma.getmaskarray(array)] = None
        array = cells
    array = np.asarray(array)
    if array.ndim == 1 and options.kind == "labels":
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(
            f"{source}: has {count(array.ndim, 'dimension')} (shape {show(array.shape)}), not 2: give objects × columns"
        )
    return Sheet(source, array if array.dtype.kind in "biuf" else pd.DataFrame(array))


READERS: dict[str, Callable[[Path, Options], Sheet]] = {
    **dict.fromkeys((".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz"), _read_text),
    ".parquet": _read_parquet,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".mtx": _read_mtx,
    ".mtx.gz": _read_mtx,
    ".h5ad": _read_h5ad,
}
