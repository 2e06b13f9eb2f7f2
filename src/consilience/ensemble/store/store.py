"""The store itself: create, resume, open; append, query, read."""

import json
import os
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
import pandas as pd

from consilience._check import InputError, check_path
from consilience._types import Array, ArrayLike, Ints, Labels, PathLike
from consilience._whole_files import FULL, UNFINISHED, sync_folder, write_whole
from consilience.ensemble.store import columns as infos
from consilience.ensemble.store import manifest_and_lock as folders
from consilience.ensemble.store import part as parts
from consilience.ensemble.store.columns import NAMES, RefusedError, brief
from consilience.ensemble.store.part import Part


class StoreWarning(UserWarning):
    """A file of a store is left out, or had to be done without; the message names it and says why."""


class Store:
    """A folder of clusterings: append parts, resume after a kill, read back.

    Make one with `Store.create` or `Store.resume` (a writer, one at a time per folder) or `Store.open` (a reader, which needs no lock and
    sees the parts that were whole when it was opened).

    Attributes
    ----------
    path : Path
        The folder.
    manifest : dict
        Format, version, n_objects, fingerprint, plan, the digest of the ids and what their column was called.
    ids : ndarray of shape (n_objects,) or None
        Names of the objects: text or numbers. Clusterings have numbers instead.
    refused : list of (str, str)
        Files that were left out, each with the reason.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "run"
    >>> with Store.create(folder, n_objects=3, plan={"seed": 0}) as store:
    ...     info = pd.DataFrame({"method": ["kmeans", "leiden"]})
    ...     store.append([[0, 0], [0, 1], [1, -1]], info).tolist()
    [0, 1]
    >>> store = Store.open(folder)
    >>> store.labels()
    array([[ 0,  0],
           [ 0,  1],
           [ 1, -1]], dtype=int32)
    >>> store.info().loc[1, "method"]
    'leiden'
    """

    def __init__(self, path: Path, manifest: dict[str, Any], lock: BinaryIO | None = None) -> None:
        self.path, self.manifest = path, manifest
        self.ids: Array | None = None
        self.refused: list[tuple[str, str]] = []
        self._lock, self._process, self._appending = lock, os.getpid(), threading.Lock()
        self._parts: list[Part] = []  # in the order they were entered
        self._where: dict[int, tuple[Part, int]] = {}  # part and row of each clustering that can be read, by its number
        self._next_number = self._next_part = 0  # that are free

    @classmethod
    def create(
        cls,
        path: PathLike,
        *,
        n_objects: int,
        fingerprint: str | None = None,
        plan: Any = None,
        ids: ArrayLike = None,
        id_name: str = "id",
    ) -> Self:
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
        ids : sequence of text or of numbers, optional
            Names of the objects.
        id_name : str
            What the column of the ids was called, for files that are written of them.
        """
        if not folders.is_blank(check_path(path, "the store")):
            raise InputError(f"{path} is not empty: choose a new folder, or resume the store that is in it")
        return cls.resume(path, n_objects=n_objects, fingerprint=fingerprint, plan=plan, ids=ids, id_name=id_name)

    @classmethod
    def resume(
        cls,
        path: PathLike,
        *,
        n_objects: int,
        fingerprint: str | None = None,
        plan: Any = None,
        ids: ArrayLike = None,
        id_name: str = "id",
    ) -> Self:
        """Continue a store for writing, or create it; refuses one of other data or another plan.

        The parameters are those of `create`. Left-overs of a killed writer are removed, and a lost manifest or list of ids is written anew.
        """
        folder, ids = check_path(path, "the store"), infos.check_ids(ids, n_objects)
        asked = folders.new_manifest(n_objects, fingerprint, plan, ids, id_name)
        if not folders.is_blank(folder):
            folders.find_manifest(folder)  # a folder that is not a store is refused before anything is written to it
        folder.mkdir(parents=True, exist_ok=True)
        store = cls(folder, asked, folders.lock_folder(folder))
        try:
            store._take_over(ids)
        except BaseException:
            store.close()
            raise
        return store

    def _take_over(self, ids: Array | None) -> None:
        """Bring the locked folder into a state to append to."""
        problem: str | None = "new"
        if not folders.is_blank(self.path):
            asked = self.manifest
            self.manifest, problem = folders.find_manifest(self.path)
            folders.check_same_run(self.path, self.manifest, asked)
        for leftover in self.path.glob(f"{UNFINISHED}*"):
            leftover.unlink()
        if problem:
            self._write(folders.MANIFEST, json.dumps(self.manifest, indent=2).encode())
            sync_folder(self.path.parent)
        try:
            self.ids = folders.read_ids(self.path, self.manifest)
        except RefusedError:
            self.ids = ids
            self._write(folders.IDS, folders.encode_ids(ids))
        self._scan()

    @classmethod
    def open(cls, path: PathLike) -> Self:
        """Open a store for reading: every part's checksum is verified, and bad files are left out by name."""
        folder = check_path(path, "the store")
        manifest, problem = folders.find_manifest(folder)
        store = cls(folder, manifest)
        if problem:
            store._refuse(folders.MANIFEST, f"{problem}; its copy in the parts is used")
        try:
            store.ids = folders.read_ids(folder, manifest)
        except RefusedError as reason:
            store._refuse(folders.IDS, str(reason))
        store._scan()
        return store

    def append(
        self,
        labels: ArrayLike,
        info: Any = None,
        *,
        label_names: Sequence[Array | None] | None = None,
        numbers: ArrayLike = None,
        failed: ArrayLike = None,
    ) -> Ints:
        """Write clusterings as one part; when this returns, they are on disk. Threads may append at the same time.

        Parameters
        ----------
        labels : int array of shape (n_objects, n_clusterings)
            Codes of labels, −1 where missing.
        info : DataFrame, dict of columns, or list of n_clusterings dicts, optional
            What made each clustering: any columns; cells may be dicts (with string keys) and lists. A single
            clustering's may be a dict of its own.
        label_names : sequence of (vector or None), one per clustering, optional
            What each code stands for, as in ``Ensemble.label_names``.
        numbers : int array of shape (n_clusterings,), optional
            What to call the clusterings. Default: the next free ones.
        failed : (n_clusterings,) array of bool, optional
            Which of them could not be made: they have no labels, and only `failures` tells of them.

        Returns
        -------
        numbers : int64 array of shape (n_clusterings,)
        """
        self._check_writer()
        rows = parts.check_rows(labels, self.n_objects)
        columns = infos.encode_info(info, len(rows)) | infos.encode_names(label_names, len(rows))
        lost = parts.add_failures(columns, failed, rows)
        with self._appending:
            numbers = self._new_numbers(numbers, len(rows))
            if len(rows) == 0:
                return numbers
            data = parts.encode_part(self.manifest, numbers, rows, columns)
            name = parts.part_name(self._next_part, max(self._next_number, int(numbers.max()) + 1), data)
            try:
                self._write(name, data)
            except OSError as error:
                if error.errno not in FULL:
                    raise
                safe = f"the {self.n_clusterings:,} clusterings before are safe, and the same command goes on once there is room"
                raise OSError(error.errno, f"{error.strerror}; {safe}", str(self.path)) from error
            self._next_part += 1
            self._enter(Part(self.path / name, NAMES in columns, lost), numbers)
        return numbers

    def drop(self, numbers: ArrayLike) -> None:
        """Take clusterings out of the store that were appended on their own: their parts go whole, the last one first.

        If this is interrupted, the store holds some of them still, and is as sound as before.

        Examples
        --------
        >>> import tempfile
        >>> with Store.create(Path(tempfile.mkdtemp()) / "run", n_objects=2) as store:
        ...     made = [store.append([[0, 0], [0, 1]]), store.append([[0], [1]])]
        ...     store.drop(made[1])
        ...     store.numbers.tolist()
        [0, 1]
        """
        self._check_writer()
        with self._appending:
            going, asked = {part for part, _ in self._places(numbers)}, set(np.ravel(numbers).tolist())
            kept = sorted(number for number, (part, _) in self._where.items() if part in going and number not in asked)
            if kept:
                raise InputError(f"clustering {kept[0]} was appended together with some of these: drop it too, or none")
            try:
                for part in [part for part in reversed(self._parts) if part in going]:
                    self._drop(part)
            finally:
                sync_folder(self.path)

    def _drop(self, part: Part) -> None:
        """A part goes, and what is known of it with it, whatever ends this."""
        try:
            part.path.unlink()
        finally:
            if not part.path.exists():
                self._parts.remove(part)
                self._where = {number: place for number, place in self._where.items() if place[0] is not part}

    @property
    def n_objects(self) -> int:
        return int(self.manifest["n_objects"])

    @property
    def n_clusterings(self) -> int:
        return len(self._where)

    @property
    def numbers(self) -> Ints:
        """Numbers of the clusterings that can be read, sorted, as int64."""
        return np.sort(np.fromiter(self._where, np.int64, len(self._where)))

    def info(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """What made each clustering, by number, in order; the labels are not read, nor columns other than those asked.

        A column that a part lacks is missing there. Whole numbers with gaps come as pandas `Int64`, so that 63-bit seeds stay exact.
        """
        return parts.read_info(self._parts, columns, failed=False)

    def failures(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """The same of the clusterings that could not be made, and have not been since; `note` says why where a run wrote them.

        What a run makes is known by its seed, unit and center, and may have another number when it is made; all else by its number.
        """
        return parts.read_failures(self._parts, columns)

    def labels(self, numbers: ArrayLike = None) -> Labels:
        """Codes of all clusterings in the order of their numbers, or of those asked, in the order asked.

        Only the row groups needed are read, one at a time, straight into the result.

        Returns
        -------
        labels : int32 array of shape (n_objects, n_clusterings)
            In Fortran order: a clustering is one piece of memory.
        """
        places = self._places(numbers)
        result = np.empty((len(places), self.n_objects), dtype=np.int32)
        wanted: dict[Part, list[tuple[int, int]]] = {}
        for target, (part, row) in enumerate(places):
            wanted.setdefault(part, []).append((target, row))
        for part, pairs in wanted.items():
            targets, rows = np.array(pairs).T
            with parts.opened(part.path) as file:
                parts.fill(result, targets, file, rows)
        return result.T

    def label_names(self, numbers: ArrayLike = None) -> list[Array | None]:
        """What the codes stand for, as in ``Ensemble.label_names``, of all clusterings or of those asked."""
        places = self._places(numbers)
        found: dict[Part, list[Array | None]] = {}
        for part in {part for part, _ in places if part.has_names}:
            with parts.opened(part.path) as file:
                found[part] = infos.decode_names(file)
        return [found[part][row] if part.has_names else None for part, row in places]

    def close(self) -> None:
        """Let go of the lock; reading stays possible."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, n_clusterings={self.n_clusterings}, n_objects={self.n_objects})"

    def _scan(self) -> None:
        for path in folders.parquet_files(self.path):
            if path.name == folders.IDS and self.manifest["ids"] is not None:
                continue
            if match := parts.PART_NAME.fullmatch(path.name):
                self._next_part = max(self._next_part, int(match["number"]) + 1)
                self._next_number = max(self._next_number, int(match["next_number"] or 0))
            try:
                numbers, has_names, failed = parts.check_part(path, self.manifest)
            except RefusedError as reason:
                self._refuse(path.name, str(reason))
                continue
            repeated = self._enter(Part(path, has_names, failed), numbers)
            if repeated is not None:
                message = f"{path} holds clustering {repeated} again: the one in an earlier part is kept"
                warnings.warn(StoreWarning(message), stacklevel=4)

    def _enter(self, part: Part, numbers: Ints) -> int | None:
        """Enter a part; a number that is already known keeps its place, and the first such is returned."""
        repeated = None
        self._parts.append(part)
        for row, number in enumerate(numbers.tolist()):
            self._next_number = max(self._next_number, number + 1)
            if part.failed is not None and part.failed[row]:
                continue
            if self._where.setdefault(number, (part, row)) != (part, row) and repeated is None:
                repeated = number
        return repeated

    def _places(self, numbers: ArrayLike) -> list[tuple[Part, int]]:
        asked = (self.numbers if numbers is None else np.ravel(numbers)).tolist()
        if unknown := [number for number in asked if number not in self._where]:
            raise InputError(f"store {self.path} has no clustering {unknown[0]!r}: `numbers` lists those it has")
        return [self._where[number] for number in asked]

    def _new_numbers(self, numbers: ArrayLike, count: int) -> Ints:
        """What so many new clusterings are to be called: as asked, or the next free ones."""
        if numbers is None:
            if self._next_number + count > 2**63:
                raise InputError(f"store {self.path} has a clustering {self._next_number - 1}: give numbers yourself")
            return np.arange(count, dtype=np.int64) + self._next_number if count else np.empty(0, np.int64)
        array = np.asarray(numbers)
        if array.dtype.kind == "u" and array.size and array.max() >= 2**63:
            raise InputError(f"numbers must be below 2**63; got {array.max()}")
        if array.shape != (count,) or (count and array.dtype.kind not in "iu"):
            raise InputError(f"numbers must be {count} whole numbers, one per clustering; got {brief(numbers)}")
        taken = [number for number in array.tolist() if number in self._where]
        if taken := taken or array[pd.Series(array).duplicated()].tolist():
            raise InputError(f"clustering {taken[0]} is already in {self.path}, or given twice: give new numbers")
        return array.astype(np.int64)

    def _check_writer(self) -> None:
        if self._lock is None:
            raise InputError(f"store {self.path} is not open for writing: use Store.resume")
        if self._process != os.getpid():
            raise InputError(f"store {self.path} was opened by another process, before a fork: write to it from there")

    def _write(self, name: str, data: Any) -> None:
        write_whole(self.path / name, lambda file: file.write(data))

    def _refuse(self, name: str, reason: str) -> None:
        self.refused.append((name, reason))
        warnings.warn(StoreWarning(f"{self.path / name} is left out: {reason}"), stacklevel=4)
