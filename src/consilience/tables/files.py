"""Files and objects in memory, each into a sheet: one function per format."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
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
from consilience._types import Array
from consilience.tables.sheet import Sheet
from consilience.tables.text import read_text

_DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    OverflowError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    pa.ArrowException,
)
MAGIC = {
    b"PAR1": ("Parquet", ".parquet"),
    b"PK\x03\x04": ("a zip archive", ".npz, or unpack it if it is not a file of NumPy's"),
    b"\x1f\x8b": ("text packed with gzip", ".csv.gz or .tsv.gz"),
    b"BZh": ("text packed with bzip2", ".csv.bz2 or .tsv.bz2"),
    b"\xfd7zXZ": ("text packed with xz", ".csv.xz or .tsv.xz"),
    b"\x93NUMPY": ("a NumPy array", ".npy"),
    b"\x89HDF": ("HDF5", ".h5ad"),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", ".xls, or save it as .xlsx or CSV"),
}
UNPACK: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
CSR_PARTS = {"data", "indices", "indptr", "shape"}


@dataclass(frozen=True)
class Options:
    """How to read: what the file alone does not say."""

    kind: str
    header: bool | None = None
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    key: str | None = None
    name: str | None = None  # how messages call what is in memory


def open_sheet(source: Any, options: Options) -> Sheet:
    """The sheet in a file or an object in memory."""
    if isinstance(source, (str, os.PathLike)):
        return _open_file(Path(source), options)
    name = options.name or type(source).__name__
    with_key = hasattr(source, "X") and hasattr(source, "obs_names")
    _refuse_unused(name, options, text=False, header=False, key=with_key)
    if with_key:
        return _anndata_sheet(name, source, options)
    source = plain_source(source)
    if isinstance(source, pd.DataFrame):
        return _frame_sheet(name, source)
    if sparse.issparse(source):
        return _sparse_sheet(name, source, options)
    if isinstance(source, np.ndarray):
        return _array_sheet("array" if name == "ndarray" else name, source, options)
    raise InputError(
        f"{options.name or 'a table'} cannot be made of {kind_of(source)}: give a path, a DataFrame (pandas or "
        "polars), an Arrow table, a NumPy array, a SciPy sparse matrix or an AnnData"
    )


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
        return _frame_of(source)
    if hasattr(source, "__array__") and not isinstance(source, np.generic):
        return _plain_array(source)
    return source


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


def _open_file(path: Path, options: Options) -> Sheet:
    if path.is_dir():
        raise InputError(f"{path.name or path}: is a folder: give one of the files in it")
    if not path.exists():
        raise InputError(f"{path.name}: no such file in {path.parent.resolve()}: check the path")
    name = path.name.lower()
    suffix = next((known for known in READERS if name.endswith(known)), None)
    if suffix is None:
        hint = {".xls": "save it as .xlsx or CSV", ".ods": "save it as .xlsx or CSV", ".zip": "unpack it first"}
        raise InputError(
            f"{path.name}: unknown file type {path.suffix!r}: {hint.get(path.suffix.lower(), '')}".rstrip(": ")
            + ": known are .csv, .tsv, .txt (also with .gz, .bz2, .xz), .parquet, .xlsx, .npy, .npz, .mtx, .mtx.gz and .h5ad"
        )
    reader = READERS[suffix]
    _refuse_unused(
        path.name,
        options,
        text=reader is _read_text,
        header=reader in (_read_text, _read_excel),
        key=reader in (_read_npz, _read_h5ad, _read_excel),
    )
    with _refuse_damaged(path.name, suffix):
        if path.stat().st_size == 0:
            raise InputError(f"{path.name}: is empty: write the table to it again")
        return reader(path, options)


def _refuse_unused(source: str, options: Options, *, text: bool, header: bool, key: bool) -> None:
    """An option that would be read and ignored is a misunderstanding."""
    if not text and (options.sep, options.decimal, options.encoding) != (None, None, None):
        what = next(name for name in ("sep", "decimal", "encoding") if getattr(options, name) is not None)
        raise InputError(f"{source}: {what}= (--{what}) is for text files: leave it out")
    if not header and options.header is not None:
        raise InputError(f"{source}: header= (--no-header) is for text files and workbooks: leave it out")
    if not key and options.key is not None:
        raise InputError(f"{source}: key= (--key) is for npz files, workbooks and AnnData: leave it out")


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
    if unpack := UNPACK.get(path.suffix.lower()):
        raw = unpack(raw)
    if not raw.strip():
        raise InputError(f"{path.name}: is empty: write the table to it again")
    return raw


def _read_text(path: Path, options: Options) -> Sheet:
    sep = {"tab": "\t", "\\t": "\t"}.get(options.sep or "", options.sep)
    if sep is not None and (len(sep) != 1 or not sep.isascii() or sep in '"\r\n'):
        raise InputError(f"{path.name}: sep={sep!r} (--sep) cannot separate cells: give one ASCII character, or tab")
    if options.decimal not in (None, ".", ",") or (options.decimal is not None and options.decimal == sep):
        raise InputError(
            f"{path.name}: decimal={options.decimal!r} (--decimal) must be '.' or ',', and not separate cells"
        )
    raw = _read_bytes(path)
    if raw.startswith(b"PK\x03\x04") and b"xl/" in raw:
        raise InputError(f"{path.name}: holds an Excel workbook, not text: give it the ending .xlsx, or save it as CSV")
    for start, (kind, ending) in MAGIC.items():
        if raw.startswith(start):
            raise InputError(f"{path.name}: holds {kind}, not text: give it the ending {ending}")
    name = path.name.lower()
    for packed in UNPACK:
        name = name.removesuffix(packed)
    default = {".csv": ",", ".tsv": "\t"}.get(name[-4:])
    how = {"header": options.header, "decimal": options.decimal, "encoding": options.encoding}
    return read_text(path.name, raw, default=default, sep=sep, **how)  # type: ignore[arg-type]


def _read_excel(path: Path, options: Options) -> Sheet:
    """One sheet of a workbook, as typed as its cells are; the first row holds names unless told otherwise."""
    try:
        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError as error:
        raise ImportError(f"{path.name} needs openpyxl: pip install 'consilience[excel]'") from error
    try:
        book = load_workbook(path, read_only=True, data_only=True)
    except (InvalidFileException, TypeError, AttributeError) as error:
        raise ValueError(str(error)) from error
    try:
        if options.key is not None:
            check_choice(options.key, book.sheetnames, f"key (sheet) of {path.name}")
        page = options.key or book.sheetnames[0]
        cells = pd.DataFrame(list(book[page].values), dtype=object)
    finally:
        book.close()
    cells = cells.dropna(how="all").dropna(how="all", axis=1).reset_index(drop=True)
    if cells.empty:
        raise InputError(f"{path.name}: the sheet {page!r} is empty: name another with key= (--key)")
    names = None
    if options.header is not False:
        names = ["" if pd.isna(name) else str(name).strip() for name in cells.iloc[0]]
        cells = cells[1:].reset_index(drop=True)
    others = [name for name in book.sheetnames if name != page]
    note = f"read the first sheet, {page!r}; the others are {', '.join(map(repr, others))} (key= (--key))"
    notices = (note,) if others and options.key is None else ()
    cells.columns = range(cells.shape[1])
    return Sheet(path.name, cells.infer_objects(), names, notices=notices)


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
            f"{source}: holds pickled Python objects, which are never loaded: save plain numbers or text, such as "
            "names.astype(str)"
        ) from error


def _read_npz(path: Path, options: Options) -> Sheet:
    name = path.name
    if not zipfile.is_zipfile(path):
        raise ValueError("it is not a zip archive")
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
        vectors = [(v, pickled) for v, length, pickled in _vectors(arrays) if v not in used and length == sheet.n_rows]
        beside = {vector: arrays[vector] for vector, pickled in vectors if not pickled}
    lost = tuple(vector for vector, pickled in vectors if pickled)
    return Sheet(name, sheet.body, beside=pd.DataFrame(beside) if beside else None, pickled=lost)


def read_vector(path: Path, name: str) -> Array | None:
    """A vector of an npz file, such as the names of columns; None if there is none of that name."""
    if path.suffix.lower() != ".npz":
        return None
    with _refuse_damaged(path.name, ".npz"), np.load(path, allow_pickle=False) as arrays:
        held = {vector: pickled for vector, _, pickled in _vectors(arrays)}
        if held.get(name):
            Sheet(path.name, np.empty((0, 0)), pickled=(name,)).find(name, "columns")
        return np.asarray(arrays[name]) if name in held else None


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
    """Labels are columns of `obs`; anything else is X, or the layer or `obsm` entry `key`, with `obs` beside it."""
    obs, index = data.obs, np.asarray(data.obs_names, dtype=object)
    rows: dict[str, Any] = {"index": index, "index_name": str(data.obs_names.name or "obs_names"), "index_is_ids": True}
    if options.kind == "labels":
        if options.key is not None:
            raise InputError(f"{source}: labels come from obs, so key= (--key) has no use: leave it out")
        return Sheet(source, obs, [str(name) for name in obs.columns], **rows)
    if getattr(data, "isbacked", False):
        data = data.to_memory()
    layers = {"X": data.X} if options.key in (None, "X") else {**data.layers, **data.obsm}
    if options.key is not None:
        held = ["X", *(str(name) for name in (*data.layers, *data.obsm) if name is not None)]
        check_choice(options.key, held, f"key (layer or obsm) of {source}")
    matrix = layers[options.key or "X"]
    if matrix is None:
        raise InputError(f"{source}: has no X: name a layer or an entry of obsm with key= (--key)")
    names = [str(name) for name in data.var_names]
    if options.key in data.obsm and options.key not in data.layers:
        names = [f"{options.key} {i + 1}" for i in range(matrix.shape[1])]
        if isinstance(matrix, pd.DataFrame):
            names, matrix = [str(name) for name in matrix.columns], matrix.to_numpy()
    make = _sparse_sheet if sparse.issparse(matrix) else _array_sheet
    return Sheet(source, make(source, matrix, options).body, names, obs, **rows)


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
    **{f".{text}{packed}": _read_text for text in ("csv", "tsv", "txt") for packed in ("", *UNPACK)},
    ".xlsx": _read_excel,
    ".xlsm": _read_excel,
    ".parquet": _read_parquet,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".mtx": _read_mtx,
    ".mtx.gz": _read_mtx,
    ".h5ad": _read_h5ad,
}
