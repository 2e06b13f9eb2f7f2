"""Files, each into a raw table: one function per format."""

import io
import os
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import io as scipy_io
from scipy import sparse

from consilience._check import InputError, check_choice, count, kind_of, nearest
from consilience._types import Array
from consilience._whole_files import reason_of
from consilience.tables.in_memory import frame_of, plain_source, raw_anndata, raw_array, raw_frame, raw_sparse
from consilience.tables.raw_table import Options, RawTable
from consilience.tables.text_files import UNPACK, is_stream, read_bytes, read_text

NAMES = "_names"  # of the vector that holds the names of the classes of another
CSR_PARTS = {"data", "indices", "indptr", "shape"}
SOURCE = "consilience.source"  # in `attrs` of a DataFrame: how messages call what it was made from


def open_raw(source: Any, options: Options) -> RawTable:
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        suffix = _suffix_of(path)
        reader = READERS[suffix]
        text, header, key = reader is read_text, (read_text, _read_excel), (_read_npz, _read_h5ad, _read_excel)
        _refuse_unused(path.name, options, text=text, header=reader in header, key=reader in key)
        with _refuse_damaged(path.name, suffix):
            if not is_stream(path) and path.stat().st_size == 0:
                raise InputError(f"{path.name}: is empty: write the table to it again")
            return reader(path, options)
    name = options.name or getattr(source, "attrs", {}).get(SOURCE) or type(source).__name__
    with_key = hasattr(source, "X") and hasattr(source, "obs_names")
    _refuse_unused(name, options, text=False, header=False, key=with_key)
    if with_key:
        return raw_anndata(name, source, options.kind, options.key)
    source = plain_source(source)
    if isinstance(source, pd.DataFrame):
        return raw_frame(name, source)
    if sparse.issparse(source):
        return raw_sparse(name, source, options.kind)
    if isinstance(source, np.ndarray):
        return raw_array("array" if name == "ndarray" else name, source, options.kind)
    those = "a path, a DataFrame (pandas or polars), an Arrow table, a NumPy array, a SciPy sparse matrix or an AnnData"
    raise InputError(f"{options.name or 'a table'} cannot be made of {kind_of(source)}: give {those}")


def _suffix_of(path: Path) -> str:
    if is_stream(path):
        return ".csv"
    if path.is_dir():
        raise InputError(f"{path.name or path}: is a folder: give one of the files in it")
    if path.is_symlink() and not path.exists():
        raise InputError(f"{path.name}: is a link that leads nowhere, or to itself: mend it, or give the file itself")
    if not path.exists():
        there = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
        near = nearest(path.name, sorted(there), short_for=False)
        advice = f"did you mean {str(path.with_name(near[0]))!r}?" if near else "check the path"
        raise InputError(f"{path.name}: no such file in {path.parent.resolve()}: {advice}")
    suffix = next((known for known in READERS if path.name.lower().endswith(known)), None)
    if suffix is None:
        hint = {".xls": "save it as .xlsx or CSV", ".ods": "save it as .xlsx or CSV", ".zip": "unpack it first"}
        what = f"unknown file type {path.suffix!r}: {hint.get(path.suffix.lower(), '')}".rstrip(": ")
        known = ".csv, .tsv, .txt (also with .gz, .bz2, .xz), .parquet, .xlsx, .npy, .npz, .mtx, .mtx.gz and .h5ad"
        raise InputError(f"{path.name}: {what}: known are {known}")
    return suffix


def _refuse_unused(source: str, options: Options, *, text: bool, header: bool, key: bool) -> None:
    """An option that would be read and ignored is a misunderstanding."""
    unused = {} if text else dict.fromkeys(("sep", "decimal", "encoding"), "text files")
    unused |= {} if header else {"header": "text files and workbooks"}
    unused |= {} if key else {"key": "npz files, workbooks and AnnData"}
    for name, those in unused.items():
        if getattr(options, name) is not None:
            raise InputError(f"{source}: {name}= (--{name}) is for {those}: leave it out")


@contextmanager
def _refuse_damaged(source: str, suffix: str) -> Iterator[None]:
    try:
        yield
    except (InputError, ImportError):  # of an extra that is missing
        raise
    except PermissionError as error:
        raise InputError(f"{source}: may not be read by this user: change its permissions") from error
    except (MemoryError, pa.ArrowMemoryError) as error:
        what = f"memory is too small for it ({reason_of(error)})"
        raise InputError(f"{source}: {what}: read fewer columns or rows") from error
    except Exception as error:  # whatever a library raises while it reads a file is the file's fault
        if "allow_pickle" in str(error):
            what = "holds pickled Python objects, which are never loaded"
            raise InputError(f"{source}: {what}: save plain numbers or text, such as names.astype(str)") from error
        raise InputError(f"{source}: damaged, or not a {suffix} file ({reason_of(error)}): write it again") from error


def _read_excel(path: Path, options: Options) -> RawTable:
    """One sheet of a workbook, as typed as its cells are; the first row holds names unless told otherwise."""
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise ImportError(f"{path.name} needs openpyxl: pip install 'consilience[excel]'") from error
    book = load_workbook(path, read_only=True, data_only=True)
    try:
        if options.key is not None:
            check_choice(options.key, book.sheetnames, f"key (sheet) of {path.name}")
        page = options.key or book.sheetnames[0]
        cells = pd.DataFrame(list(getattr(book[page], "values", [])), dtype=object)  # a chart has none
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
    cells.columns = range(cells.shape[1])
    return RawTable(path.name, cells.infer_objects(), names, notices=(note,) if others and options.key is None else ())


def _read_parquet(path: Path, options: Options) -> RawTable:
    from pyarrow import parquet

    return raw_frame(path.name, frame_of(parquet.read_table(path)))


def _read_npy(path: Path, options: Options) -> RawTable:
    with path.open("rb") as file:
        if file.peek(1)[:1] != b"\x93":
            raise ValueError("it does not start as .npy files do")
        return raw_array(path.name, np.load(file, allow_pickle=False), options.kind)


def _read_npz(path: Path, options: Options) -> RawTable:
    name = path.name
    if not zipfile.is_zipfile(path):
        raise ValueError("it is not a zip archive")
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        files = list(arrays.files)
        if options.key is not None:
            check_choice(options.key, files, f"key of {name}")
            used = {options.key}
            raw = raw_array(name, arrays[options.key], options.kind)
        elif "format" in files and {"data", "shape"} <= set(files):
            return raw_sparse(name, sparse.load_npz(path), options.kind)
        elif set(files) >= CSR_PARTS:
            used = CSR_PARTS
            parts = tuple(arrays[part] for part in ("data", "indices", "indptr"))
            raw = raw_sparse(name, sparse.csr_matrix(parts, tuple(map(int, arrays["shape"]))), options.kind)
        elif len(files) == 1:
            return raw_array(name, arrays[files[0]], options.kind)
        elif options.kind == "labels" and len({length for _, length, _ in _vectors(arrays)}) == 1:
            return raw_frame(name, pd.DataFrame({vector: arrays[vector] for vector, *_ in _vectors(arrays)}))
        else:
            held = f"{count(len(files), 'array')} ({', '.join(files)})"
            raise InputError(f"{name}: holds {held}: name one with key= (--key)")
        every = _vectors(arrays)
        vectors = [(v, pickled) for v, length, pickled in every if v not in used and length == raw.n_rows]
        names = {v.removesuffix(NAMES): arrays[v] for v, _, pickled in every if v.endswith(NAMES) and not pickled}
        beside = {v: _named(arrays[v], names.get(v)) for v, pickled in vectors if not pickled}
    lost = tuple(vector for vector, pickled in vectors if pickled)
    return RawTable(name, raw.body, beside=pd.DataFrame(beside) if beside else None, pickled=lost)


def _named(codes: Array, names: Array | None) -> Array:
    """Labels by the names of their classes, where these stand beside them (``y_names`` of ``y``); −1 is missing."""
    if names is None or codes.dtype.kind not in "iu" or names.dtype.kind != "U" or not len(codes):
        return codes
    if codes.min() < -1 or codes.max() >= len(names) or not np.any(codes == 0):
        return codes  # numbered otherwise; without a 0, perhaps from 1
    return np.array([*names, None], object)[codes]


def read_vector(path: Path, name: str) -> Array | None:
    """A vector of an npz file, such as the names of columns; None if there is none of that name."""
    if path.suffix.lower() != ".npz":
        return None
    with _refuse_damaged(path.name, ".npz"), np.load(path, allow_pickle=False) as arrays:
        held = {vector: pickled for vector, _, pickled in _vectors(arrays)}
        if held.get(name):
            RawTable(path.name, np.empty((0, 0)), pickled=(name,)).find(name, "columns")
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


def _read_mtx(path: Path, options: Options) -> RawTable:
    content = read_bytes(path)
    _check_mtx(content)
    matrix = scipy_io.mmread(io.BytesIO(content), spmatrix=True)
    return (raw_sparse if sparse.issparse(matrix) else raw_array)(path.name, matrix, options.kind)


def _check_mtx(content: bytes) -> None:
    # SciPy's reader ends the process, without an error, where a number is none, is missing, or names no cell.
    _, _, form, field, symmetry, *_ = content[: content.index(b"\n")].lower().split()
    at = 0
    while content[at : at + 1] in (b"%", b"\n", b"\r"):
        at = content.index(b"\n", at) + 1
    end = content.index(b"\n", at)
    sizes = [int(word) for word in content[at:end].split()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of what is no number
        numbers = np.fromstring(body, sep=" ") if (body := content[end:].strip()) else np.empty(0)
    width = {b"pattern": 0, b"complex": 2}.get(field, 1)
    if form == b"coordinate":
        cells = numbers.reshape(sizes[2], 2 + width)[:, :2]
        if (cells < 1).any() or (cells > sizes[:2]).any():
            raise ValueError("a cell lies outside the matrix")
    elif symmetry == b"general" and len(numbers) != sizes[0] * sizes[1] * width:
        raise ValueError(f"{len(numbers):,} numbers instead of {sizes[0]:,} × {sizes[1]:,}")


def _read_h5ad(path: Path, options: Options) -> RawTable:
    try:
        from anndata import read_h5ad
    except ImportError as error:
        raise ImportError(f"{path.name} needs AnnData: pip install 'consilience[anndata]'") from error
    return raw_anndata(path.name, read_h5ad(path), options.kind, options.key)


READERS: dict[str, Callable[[Path, Options], RawTable]] = {
    **{f".{text}{packed}": read_text for text in ("csv", "tsv", "txt") for packed in ("", *UNPACK)},
    ".xlsx": _read_excel,
    ".xlsm": _read_excel,
    ".parquet": _read_parquet,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".mtx": _read_mtx,
    ".mtx.gz": _read_mtx,
    ".h5ad": _read_h5ad,
}
