"""The store itself: create, resume, open; append, query, read."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from consilience._check import InputError, check_path
from consilience._files import UNFINISHED, sync_folder, write_whole
from consilience.store.folder import (
    MANIFEST,
    OBJECTS,
    check_objects,
    check_same_run,
    encode_objects,
    find_manifest,
    is_blank,
    lock_folder,
    new_manifest,
    parquet_files,
    read_objects,
)
from consilience.store.info import decode_info, encode_info
from consilience.store.part import PART_NAME, check_part, check_rows, encode_part, fill, part_name
from consilience.store.words import RefusedError, brief


class StoreWarning(UserWarning):
    """A file of a store is left out, or had to be done without; the message names it and says why."""


class Store:
    """A folder of clusterings: append parts, resume after a kill, read back.

    Make one with `Store.create` or `Store.resume` (a writer, one at a time per folder) or `Store.open`
    (a reader, which needs no lock and sees the parts that were whole when it was opened).

    Attributes
    ----------
    path : Path
        The folder.
    manifest : dict
        Format, version, n_objects, fingerprint, plan, and the digest of the object ids.
    objects : ndarray of shape (n_objects,) or None
        Ids of the objects: int64, or strings.
    refused : list of (str, str)
        Files that were left out, each with the reason.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "run"
    >>> with Store.create(folder, n_objects=3, plan={"seed": 0}) as store:
    ...     info = pd.DataFrame({"method": ["kmeans", "leiden"]})
    ...     store.append([[0, 0, 1], [0, 1, -1]], info).tolist()
    [0, 1]
    >>> store = Store.open(folder)
    >>> store.labels()
    array([[ 0,  0,  1],
           [ 0,  1, -1]], dtype=int32)
    >>> store.info().loc[1, "method"]
    'leiden'
    """

    def __init__(self, path: Path, manifest: dict[str, Any], lock: BinaryIO | None = None) -> None:
        self.path = path
        self.manifest = manifest
        self.objects: np.ndarray | None = None
        self.refused: list[tuple[str, str]] = []
        self._lock = lock
        self._appending = threading.Lock()
        self._parts: list[str] = []
        self._where: dict[int, tuple[int, int]] = {}  # id -> (part, row)
        self._next_id = 0
        self._next_part = 0

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        n_objects: int,
        fingerprint: str | None = None,
        plan: Any = None,
        ids: Sequence[Any] | np.ndarray | pd.Index | None = None,
    ) -> Store:
        """Start a store in a new or empty folder, open for writing.

        Parameters
        ----------
        path : path
            The folder; made if it is not there.
        n_objects : int
            Length of every clustering.
        fingerprint : str, optional
            Of the data that were clustered.
        plan : JSON value, optional
            What the run was asked to do; `resume` compares it.
        ids : sequence of int or str, optional
            Of the objects; read back as `objects`.
        """
        if not is_blank(check_path(path, "the store")):
            raise InputError(f"{path} is not empty: choose a new folder, or resume the store that is in it")
        return cls.resume(path, n_objects=n_objects, fingerprint=fingerprint, plan=plan, ids=ids)

    @classmethod
    def resume(
        cls,
        path: str | os.PathLike[str],
        *,
        n_objects: int,
        fingerprint: str | None = None,
        plan: Any = None,
        ids: Sequence[Any] | np.ndarray | pd.Index | None = None,
    ) -> Store:
        """Continue a store for writing, or create it; refuses one of other data or another plan.

        The parameters are those of `create`. Left-overs of a killed writer are removed, and a lost
        manifest or list of object ids is written anew.
        """
        folder, objects = check_path(path, "the store"), check_objects(ids, n_objects)
        asked = new_manifest(n_objects, fingerprint, plan, objects)
        if not is_blank(folder):
            find_manifest(folder)  # a folder that is no store is refused before anything is written to it
        folder.mkdir(parents=True, exist_ok=True)
        store = cls(folder, asked, lock_folder(folder))
        try:
            store._take_over(objects)
        except BaseException:
            store.close()
            raise
        return store

    def _take_over(self, objects: np.ndarray | None) -> None:
        """Bring the locked folder into a state to append to."""
        problem: str | None = "new"
        if not is_blank(self.path):
            asked = self.manifest
            self.manifest, problem = find_manifest(self.path)
            check_same_run(self.path, self.manifest, asked)
        for leftover in self.path.glob(f"{UNFINISHED}*"):
            leftover.unlink()
        if problem:
            self._write(MANIFEST, json.dumps(self.manifest, indent=2).encode())
            sync_folder(self.path.parent)
        try:
            self.objects = read_objects(self.path, self.manifest)
        except RefusedError:
            self.objects = objects
            self._write(OBJECTS, encode_objects(objects))
        self._scan()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Open a store for reading: every part's checksum is verified, and bad files are left out by name."""
        folder = check_path(path, "the store")
        manifest, problem = find_manifest(folder)
        store = cls(folder, manifest)
        if problem:
            store._refuse(MANIFEST, f"{problem}; its copy in the parts is used")
        try:
            store.objects = read_objects(folder, manifest)
        except RefusedError as reason:
            store._refuse(OBJECTS, str(reason))
        store._scan()
        return store

    def append(
        self,
        labels: Sequence[Sequence[int]] | np.ndarray,
        info: Any = None,
        *,
        ids: Sequence[int] | np.ndarray | None = None,
    ) -> np.ndarray:
        """Write clusterings as one part; when this returns, they are on disk. Threads may append at the same time.

        Parameters
        ----------
        labels : int array of shape (n_clusterings, n_objects)
            -1 where missing.
        info : DataFrame, dict of columns, or list of n_clusterings dicts, optional
            What made each clustering: any columns; cells may be dicts (with string keys) and lists. A single
            clustering's may be a dict of its own.
        ids : int array of shape (n_clusterings,), optional
            Default: the next free ones.

        Returns
        -------
        ids : int64 array of shape (n_clusterings,)
        """
        if self._lock is None:
            raise InputError(f"store {self.path} is not open for writing: use Store.resume")
        labels = check_rows(labels, self.n_objects)
        columns = encode_info(info, len(labels))
        with self._appending:
            ids = self._check_ids(ids, len(labels))
            if len(labels) == 0:
                return ids
            data = encode_part(self.manifest, ids, labels, columns)
            name = part_name(self._next_part, max(self._next_id, int(ids.max()) + 1), data)
            self._write(name, data)
            self._next_part += 1
            self._index(name, ids)
        return ids

    @property
    def n_objects(self) -> int:
        """Length of every clustering."""
        return int(self.manifest["n_objects"])

    @property
    def n_clusterings(self) -> int:
        """Number of clusterings that can be read."""
        return len(self._where)

    @property
    def finished(self) -> np.ndarray:
        """Ids of the clusterings that can be read, sorted, as int64."""
        return np.sort(np.fromiter(self._where, np.int64, len(self._where)))

    def info(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """What made each clustering, indexed by id, in order; the labels are not read, nor columns other than those asked.

        A column that a part lacks is missing there. Whole numbers with gaps come as pandas `Int64`, so that
        63-bit seeds stay exact.
        """
        tables = []
        for name in self._parts:
            with self._reading(name) as file:
                wanted = file.schema_arrow.names if columns is None else ("id", *columns)
                names = [column for column in file.schema_arrow.names if column != "labels" and column in wanted]
                tables.append(file.read(columns=names, use_threads=False).select(names))
        ids = np.concatenate([table["id"].to_numpy() for table in tables] or [np.empty(0, np.int64)])
        frame = decode_info([table.drop_columns("id") for table in tables], pd.Index(ids, name="id"))
        return frame[~frame.index.duplicated()].sort_index()

    def labels(self, ids: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
        """Labels of all clusterings in the order of their ids, or of those asked, in the order asked.

        Only the row groups needed are read, one at a time, straight into the result.

        Returns
        -------
        labels : int32 array of shape (n_clusterings, n_objects)
        """
        asked = (self.finished if ids is None else np.ravel(ids)).tolist()
        unknown = [i for i in asked if i not in self._where]
        if unknown:
            raise InputError(f"store {self.path} holds no clustering {unknown[0]!r}: `finished` has its ids")
        places = np.array([self._where[i] for i in asked], dtype=np.int64).reshape(-1, 2)
        result = np.empty((len(asked), self.n_objects), dtype=np.int32)
        by_part = np.argsort(places[:, 0], kind="stable")
        parts, starts = np.unique(places[by_part, 0], return_index=True)
        for part, targets in zip(parts, np.split(by_part, starts)[1:], strict=True):
            with self._reading(self._parts[part]) as file:
                fill(result, targets, file, places[targets, 1])
        return result

    def close(self) -> None:
        """Let go of the lock; reading stays possible."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, n_clusterings={self.n_clusterings}, n_objects={self.n_objects})"

    def _scan(self) -> None:
        """Take in every part of the folder that is whole and of this run."""
        for path in parquet_files(self.path):
            if path.name == OBJECTS and self.manifest["objects"] is not None:
                continue
            if match := PART_NAME.fullmatch(path.name):
                self._next_part = max(self._next_part, int(match["number"]) + 1)
                self._next_id = max(self._next_id, int(match["next_id"] or 0))
            try:
                ids = check_part(path, self.manifest)
            except RefusedError as reason:
                self._refuse(path.name, str(reason))
                continue
            repeated = self._index(path.name, ids)
            if repeated is not None:
                message = f"{path} holds clustering {repeated} again: the one in an earlier part is kept"
                warnings.warn(StoreWarning(message), stacklevel=4)

    def _index(self, name: str, ids: np.ndarray) -> int | None:
        """Enter a part; an id that is already known keeps its place, and the first such is returned."""
        part, repeated = len(self._parts), None
        self._parts.append(name)
        for row, i in enumerate(ids.tolist()):
            if self._where.setdefault(i, (part, row)) != (part, row) and repeated is None:
                repeated = i
            self._next_id = max(self._next_id, i + 1)
        return repeated

    def _write(self, name: str, data: Any) -> None:
        write_whole(self.path / name, lambda file: file.write(data))

    def _refuse(self, name: str, reason: str) -> None:
        self.refused.append((name, reason))
        warnings.warn(StoreWarning(f"{self.path / name} is left out: {reason}"), stacklevel=4)

    def _check_ids(self, ids: Sequence[int] | np.ndarray | None, count: int) -> np.ndarray:
        if ids is None:
            return np.arange(self._next_id, self._next_id + count, dtype=np.int64)
        array = np.asarray(ids)
        if array.dtype.kind == "u" and array.size and array.max() >= 2**63:
            raise InputError(f"ids must be below 2**63; got {array.max()}")
        if array.shape != (count,) or (count and array.dtype.kind not in "iu"):
            raise InputError(f"ids must be {count} whole numbers, one per clustering; got {brief(ids)}")
        seen: set[int] = set()
        for i in array.tolist():
            if i in seen or i in self._where:
                raise InputError(f"clustering {i} is already in {self.path}, or given twice: ids must be new")
            seen.add(i)
        return array.astype(np.int64)

    @contextlib.contextmanager
    def _reading(self, name: str) -> Iterator[pq.ParquetFile]:
        try:
            with pq.ParquetFile(self.path / name, page_checksum_verification=True) as file:
                yield file
        except (OSError, pa.ArrowException) as error:
            raise InputError(
                f"{self.path / name} has changed since the store was opened, open it again: {brief(error)}"
            ) from error
