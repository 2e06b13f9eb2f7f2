"""Result records: what they share, and how they are kept on disk and opened again."""

import dataclasses
import json
import re
import zlib
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from zipfile import BadZipFile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from consilience._check import InputError, check_path, kind_of, nearest
from consilience._types import PathLike
from consilience._whole_files import check_folder, write_folder, write_whole
from consilience.ensemble import Ensemble
from consilience.ensemble.store.columns import decode_info, encode_info

# safeguard: the version of the format (2: what Consensus.members calls better_without was drop); earlier ones are read too.
FORMAT, VERSION = "consilience-result", 2
HEADER, ARRAYS = "result.json", "arrays.npz"
# Kinds of the package, by the module that registers them: imported when a saved one is opened.
_OWNED = {
    "agreement": ("Agreement",),
    "agreement.result": ("Sides",),
    "alternatives": ("Alternatives", "Contrast"),
    "alternatives.diagnostics": ("Diagnostics",),
    "blocks": ("WrittenConsensus",),
    "clusterer": ("Assignment",),
    "clusterer.drift": ("Drift",),
    "clusterer.saving": ("ClustererModel",),
    "consensus": ("Consensus",),
    "consensus.samples.summarize": ("CertainCore", "CredibleBall", "Summary"),
    "measures": ("Comparison", "Stability"),
    "measures.compare_labelings": ("LabelingComparison",),
    "meta": ("Map", "MetaClustering", "Null"),
}
OWNERS = {kind: f"consilience.{module}" for module, kinds in _OWNED.items() for kind in kinds}
KINDS: dict[str, type] = {}  # classes that have registered, by name
C = TypeVar("C", bound=type)
R = TypeVar("R", bound="Result")


def register(cls: C) -> C:
    """Make a dataclass known by its name, so that saved results that hold one can be opened again; results are by themselves."""
    # A name of another class is refused: what was saved of one would be opened as the other. The same class may be defined anew.
    name, taken = cls.__name__, KINDS.get(cls.__name__, cls)
    owner = OWNERS.get(name, cls.__module__)  # which may not have been imported yet
    if (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
        owner = f"{taken.__module__}.{taken.__qualname__}"
    elif f"{cls.__module__}.".startswith(f"{owner}."):
        KINDS[name] = cls
        return cls
    raise InputError(f"{name} is the name of a record of {owner}: give the class of {cls.__module__} another name")


def written_call(function: Callable[..., Any], source: Any, /, **given: Any) -> str:
    """A call of a verb as Python, without defaults: files and plain values as they are, all else by the name of its parameter."""
    parameters = signature(function).parameters
    words = [repr(str(source)) if isinstance(source, (str, Path)) else next(iter(parameters))]
    for name, value in given.items():
        value = value.item() if isinstance(value, np.generic) else value
        named = isinstance(value, (list, tuple)) and all(isinstance(part, (str, int)) for part in value)
        plain = value is None or isinstance(value, (str, bool, int, float)) or (named and name == "columns")
        if not plain or name not in parameters or value != parameters[name].default:
            words.append(f"{name}={value!r}" if plain else f"{name}={name}")
    return f"cs.{function.__name__}({', '.join(words)})"


class _Late:
    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, record: Any, owner: type | None = None) -> Any:
        if record is None:
            return None  # the default of the field
        value = record.__dict__[self.name]
        if callable(value):
            value = record.__dict__[self.name] = value()
        return value

    def __set__(self, record: Any, value: Any) -> None:
        record.__dict__[self.name] = value


def late() -> Any:
    """The default of a field, None, which may also be given as a function that makes the value when the field is first read."""
    return _Late()


class Result:
    """Base class of result records: frozen dataclasses, equal only to themselves, that save and open again.

    A subclass is a dataclass with ``frozen=True, eq=False``. It gets :meth:`save` and :meth:`load` for fields of plain values,
    lists, tuples, dicts, arrays, sparse matrices, DataFrames, ensembles and registered records. Conventions, where they make sense:
    a field ``ids`` names the objects, ``ensemble`` (field or property) holds the clusterings that verbs take from it,
    and :meth:`to_frame` gives its one natural table. Fields named in ``_unsaved`` are left out and get their defaults when loaded.

    Examples
    --------
    >>> import tempfile
    >>> from dataclasses import dataclass
    >>> from pathlib import Path
    >>> import numpy as np
    >>> @dataclass(frozen=True, eq=False)
    ... class Silhouettes(Result):
    ...     values: np.ndarray
    ...     ids: np.ndarray | None = None
    >>> path = Path(tempfile.mkdtemp()) / "found"
    >>> Silhouettes(np.array([0.5, 0.25]), np.array(["a", "b"], object)).save(path)
    >>> Result.load(path)
    Silhouettes(values=array([0.5 , 0.25]), ids=array(['a', 'b'], dtype=object))
    """

    _unsaved: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        register(cls)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied: fields that are made when read are made now, since what makes them may be large."""
        return {name: getattr(self, name) for name in self.__dict__}

    def to_frame(self) -> pd.DataFrame:
        """The result as one table."""
        raise InputError(f"{kind_of(self)} is not one table: take the tables that it holds")

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write a new folder, which appears whole or not at all; :meth:`load`, verbs and the command line open it again.

        With `overwrite` it takes the place of a saved result that is there, but never of anything else.
        """
        folder = check_new_folder(path, overwrite=overwrite)

        def write(unfinished: Path) -> None:
            unfinished.mkdir(parents=True)
            head = {"format": FORMAT, "version": VERSION, "kind": type(self).__name__}
            text = json.dumps({**head, **self._write(unfinished)}, indent=2)
            write_whole(unfinished / HEADER, lambda file: file.write(text.encode()))

        write_folder(folder, write)

    @classmethod
    def load(cls: type[R], path: PathLike) -> R:
        """Read what :meth:`save` wrote; ``Result.load`` reads any kind. What is damaged is refused by its name."""
        folder = check_path(path, "the saved result")
        header = read_header(folder)
        kind = _kind(header["kind"], folder)
        if not issubclass(kind, cls):
            raise InputError(f"{folder} holds a saved {kind.__name__}, not a {cls.__name__}: check the path")
        try:
            found: R = kind._read(folder, header)
        except InputError:
            raise
        except (KeyError, TypeError, ValueError, OSError, EOFError, BadZipFile, zlib.error, pa.ArrowException) as error:
            reason = " ".join(str(error).split())[:100]
            raise InputError(f"{folder} is damaged, or written by another version ({reason}): save it again") from error
        return found

    def _write(self, folder: Path) -> dict[str, Any]:
        """Write into a new folder; returns what goes into the header. Override both this and `_read` for a format of your own."""
        parts = _Parts(folder)
        encoded = parts.fields(self, unsaved=self._unsaved)
        parts.finish()
        return {"fields": encoded}

    @classmethod
    def _read(cls: type[R], folder: Path, header: Mapping[str, Any]) -> R:
        return _Parts(folder, header["version"]).record(cls, header["fields"])

    @classmethod
    def _upgrade(cls, fields: dict[str, Any], version: int) -> dict[str, Any]:
        """The fields that an earlier format holds, as they are today. Override where something has another name since."""
        return fields


def check_new_folder(path: PathLike, *, overwrite: bool = False) -> Path:
    folder = check_folder(path)
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return folder
    if not overwrite:
        raise InputError(f"{folder} exists already: choose a new folder")
    if saved_kind(folder) is None:
        raise InputError(f"{folder} is not a saved result, so it is not overwritten: choose a new folder")
    return folder


def saved_kind(path: PathLike) -> str | None:
    """The kind of result that a folder holds; None if it is not a saved result.

    Examples
    --------
    >>> saved_kind("nowhere") is None
    True
    """
    folder = Path(path)
    return str(read_header(folder)["kind"]) if (folder / HEADER).is_file() else None


def read_header(folder: Path) -> dict[str, Any]:
    try:
        header = json.loads((folder / HEADER).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        beside = [file.parent.name for file in folder.parent.glob(f"*/{HEADER}")]
        near = nearest(folder.name, beside, short_for=False)
        hint = f"did you mean {str(folder.with_name(near[0]))!r}?" if near else "check the path"
        lacks = f"{folder} holds no saved result: {HEADER} is not in it"
        raise InputError(f"{lacks if folder.exists() else f'there is no folder {folder}'}: {hint}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{folder / HEADER} is damaged: it is not JSON; save the result again") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT or not isinstance(header.get("kind"), str):
        raise InputError(f"{folder / HEADER} is not that of a saved result; check the path")
    if header.get("version") not in range(1, VERSION + 1):
        what = f"{folder} was saved in format {header.get('version')}"
        raise InputError(f"{what}, and this consilience knows formats up to {VERSION}: upgrade consilience")
    return header


def _kind(name: str, folder: Path) -> Any:
    if name not in KINDS and name in OWNERS:
        getattr(import_module(OWNERS[name]), name)  # a package may import its names when they are asked for
    if name not in KINDS:
        raise InputError(f"{folder} holds a saved {name}, which is not known here: import the package that defines it")
    return KINDS[name]


class _Parts:
    """The fields of a record: JSON for what is plain, files beside the header for the rest."""

    def __init__(self, folder: Path, version: int = VERSION) -> None:
        self.folder, self.version = folder, version
        self.arrays: dict[str, np.ndarray] = {}
        self.read: Mapping[str, np.ndarray] | None = None

    def encode(self, value: Any, name: str) -> Any:
        """What stands for a value in the header; a tag says where the rest is."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (str, bool, int, float)):
            return value
        if isinstance(value, np.ndarray) and value.dtype != object:
            self.arrays[name] = value
            return {"$": "array", "name": name}
        if isinstance(value, np.ndarray) and value.ndim == 1:
            return {**self.encode(pd.DataFrame({0: value}), name), "$": "objects"}
        if isinstance(value, pd.DataFrame):
            return self._encode_frame(value, name)
        if isinstance(value, Ensemble):
            value.save(self.folder / _file_name(name))
            return {"$": "ensemble", "file": _file_name(name)}
        if sparse.issparse(value):
            csr = sparse.csr_matrix(value)
            parts = {f"{name}.{part}": getattr(csr, part) for part in ("data", "indices", "indptr")}
            self.arrays.update(parts)
            return {"$": "sparse", "names": list(parts), "shape": list(csr.shape)}
        if isinstance(value, (list, tuple)):
            items = [self.encode(item, f"{name}.{i}") for i, item in enumerate(value)]
            return items if isinstance(value, list) else {"$": "tuple", "items": items}
        if isinstance(value, Mapping):
            pairs = enumerate(value.items())
            items = [[self.encode(key, f"{name}.key"), self.encode(v, f"{name}.{i}")] for i, (key, v) in pairs]
            return {"$": "dict", "items": items}
        kind = type(value).__name__
        if dataclasses.is_dataclass(value) and KINDS.get(kind) is type(value):
            return {"$": "record", "kind": kind, "fields": self.fields(value, f"{name}.")}
        raise InputError(f"{name} is {kind_of(value)}, which a saved result cannot hold: leave it out")

    def fields(self, record: Any, prefix: str = "", unsaved: tuple[str, ...] = ()) -> dict[str, Any]:
        names = [field.name for field in dataclasses.fields(record) if field.name not in unsaved]
        return {name: self.encode(getattr(record, name), f"{prefix}{name}") for name in names}

    def _encode_frame(self, frame: pd.DataFrame, name: str) -> dict[str, Any]:
        file = f"{_file_name(name)}.parquet"
        named = frame.set_axis([str(i) for i in range(frame.shape[1])], axis=1).reset_index(drop=True)
        columns = encode_info(named, len(frame))
        fields = [pa.field(column, array.type, metadata=mark) for column, (array, mark) in columns.items()]
        table = pa.table([array for array, _ in columns.values()], schema=pa.schema(fields))
        pq.write_table(table, self.folder / file, compression="zstd")
        index = None
        if not (isinstance(frame.index, pd.RangeIndex) and frame.index.equals(pd.RangeIndex(len(frame)))):
            index = {"values": self.encode(np.asarray(frame.index), f"{name}.index"), "name": frame.index.name}
        names = [self.encode(column, "column") for column in frame.columns]
        return {"$": "frame", "file": file, "columns": names, "index": index, "rows": len(frame)}

    def finish(self) -> None:
        if self.arrays:
            with (self.folder / ARRAYS).open("wb") as file:
                np.savez_compressed(file, **self.arrays)  # type: ignore[arg-type]

    def decode(self, value: Any) -> Any:
        """The value that something in a header stands for."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        tag = value["$"]
        match tag:
            case "array":
                return self._array(value["name"])
            case "sparse":
                return sparse.csr_matrix(tuple(map(self._array, value["names"])), shape=tuple(value["shape"]))
            case "frame":
                return self._frame(value)
            case "objects":
                return self._frame(value)[0].to_numpy(object)
            case "ensemble":
                return Ensemble.load(self._place(value["file"]))
            case "tuple":
                return tuple(self.decode(value["items"]))
            case "dict":
                return {self.decode(key): self.decode(item) for key, item in value["items"]}
            case "record":
                return self.record(_kind(value["kind"], self.folder), value["fields"])
        raise ValueError(f"unknown kind of field {tag!r}")

    def record(self, kind: Any, fields: Mapping[str, Any]) -> Any:
        """A record of its encoded fields, whatever format they were saved in."""
        decoded = {name: self.decode(item) for name, item in fields.items()}
        upgrade = getattr(kind, "_upgrade", None)  # records inside results may have one too
        return kind(**(decoded if upgrade is None else upgrade(decoded, self.version)))

    def _array(self, name: str) -> np.ndarray:
        if self.read is None:
            with (self.folder / ARRAYS).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                self.read = {key: arrays[key] for key in arrays.files}
        return self.read[name]

    def _frame(self, value: Mapping[str, Any]) -> pd.DataFrame:
        table = pq.read_table(self._place(value["file"]), partitioning=None)
        frame = decode_info([table], pd.RangeIndex(value["rows"]))
        frame.columns = pd.Index(value["columns"])
        if value["index"] is not None:
            frame.index = pd.Index(self.decode(value["index"]["values"]), name=value["index"]["name"])
        return frame

    def _place(self, name: str) -> Path:
        """A file of this folder; names of a header never lead out of it."""
        if Path(name).name != name:
            raise ValueError(f"{name!r} is not a file of the folder")
        return self.folder / name


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)
