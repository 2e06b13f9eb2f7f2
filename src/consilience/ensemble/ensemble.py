"""The ensemble: many clusterings of the same objects, and what made each of them."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience import _kernels
from consilience._check import InputError, check_same_index, count, encode_labels, kind_of, names_objects, show
from consilience._hooks import hook
from consilience._names import unique_names
from consilience._types import Array, ArrayLike, EnsembleLike, Floats, Ints, Labels, PathLike
from consilience._whole_files import check_folder, write_folder
from consilience.ensemble.info import check_ids, check_info, check_label_names, object_vector, positions, read_only
from consilience.tables import Table
from consilience.tables.in_memory import columns_of, is_frame, label_columns
from consilience.tables.raw_table import given_reading


class Ensemble:
    """Many clusterings of the same objects.

    Parameters
    ----------
    labels : array (n_objects, n_clusterings), list of label vectors, mapping of names to label vectors, DataFrame, path, \
result or AnnData
        In an array or DataFrame (pandas or polars) a **column** is a clustering; in a list or mapping every **item** is one. A flat vector
        is a single clustering. A :class:`~consilience.tables.Table` of labels gives its columns and ids. Labels are any hashable values;
        the number −1, NaN, None, NaT and pandas NA are missing, and strings are names as they stand, "NA" and "-1" too. Every clustering's
        labels become codes 0 … k − 1 in their sorted order, and are kept as `label_names`. pandas objects must share one index. A path is
        that of a table of labels, of a stored run or of a saved result; several in a list are joined by the names of their objects.
    info : DataFrame or mapping of columns, optional
        One row per clustering: method, parameters, seed, scores and whatever else is known of it.
    ids : sequence, optional
        The objects' names, all different. Without them, a pandas index that is named or is not 0 … n − 1.
    **reading
        How to read a table: `columns`, `id_column` and the other parameters of :func:`consilience.tables.read_table`.

    Attributes
    ----------
    labels : (n_objects, n_clusterings) int32 array
        Codes of the labels; −1 is missing. Read-only.
    label_names : list of (object array or None), one per clustering
        The labels as they were given, by code; None where the codes themselves were given. A selection of objects keeps
        all of them, also those that no longer occur, so that its codes stay comparable; ``Ensemble(ens)`` drops those.
    info : DataFrame
    ids : array or None
    n_objects, n_clusterings : int
        ``len(ens)``, iteration and ``ens[i]`` go by objects.
    n_clusters : (n_clusterings,) int array
    coverage : (n_clusterings,) float array

    Examples
    --------
    >>> import consilience as cs
    >>> ens = cs.Ensemble([["T cell", "T cell", "B cell", "B cell"], [1, 1, 2, None], [0, 0, 0, 1]])
    >>> ens
    Ensemble: 3 clusterings of 4 objects
      clusters  2
      missing   8.33 % of the labels, in 1 clustering
    >>> ens.labels
    array([[ 1,  0,  0],
           [ 1,  0,  0],
           [ 0,  1,  0],
           [ 0, -1,  1]], dtype=int32)
    >>> ens.to_frame()
            0     1  2
    0  T cell     1  0
    1  T cell     1  0
    2  B cell     2  0
    3  B cell  None  1
    """

    labels: Labels
    label_names: list[Array | None]
    info: pd.DataFrame
    ids: Array | None

    def __init__(self, labels: EnsembleLike, *, info: Any = None, ids: Any = None, **reading: Any) -> None:
        from consilience.ensemble.from_sources import needs_opening  # which makes ensembles itself

        reading = given_reading(reading)
        given = hook("as_ensemble")(labels, **reading) if reading or needs_opening(labels) else labels
        if is_frame(given):
            given, named = label_columns(given)
            ids = named if ids is None else ids
        labels = given
        if isinstance(given, (Ensemble, Table)):
            ids = given.ids if ids is None else ids
        if isinstance(given, Table):
            if given.kind != "labels":
                raise InputError(f"{given.source}: was read as {given.kind}: clusterings need kind='labels'")
            labels = given.values
        if isinstance(given, Ensemble):
            info, labels = given.info if info is None else info, given.labels
        names, vectors = columns_of(labels)
        index = check_same_index(labels, *vectors)
        table, label_names = np.empty((len(vectors[0]), len(vectors)), np.int32), []
        for j, (name, vector) in enumerate(zip(names or range(len(vectors)), vectors, strict=True)):
            table[:, j], found = encode_labels(vector, f"clustering {name!r}")
            if isinstance(given, Ensemble) and (old := given.label_names[j]) is not None:
                found = old[: table[:, j].max() + 1] if found is None else old[found.astype(np.intp)]
            label_names.append(found)
        if info is None and names is not None:
            info = {"name": names}
        if len(vectors) > len(table) > 2 and _looks_transposed(given):
            much = f"{len(vectors):,} clusterings of {count(len(table), 'object')}, since a column is a clustering"
            warnings.warn(f"{much}: if every row is one, transpose the table, or give a list of its rows", stacklevel=2)
        self._set(table, label_names, info, _ids_of_index(index) if ids is None else ids)

    def _set(self, labels: Labels, label_names: list[Array | None], info: Any, ids: Any) -> None:
        self.labels, self.label_names = read_only(labels), [read_only(names) for names in label_names]
        self.info, self.ids = check_info(info, self.n_clusterings), check_ids(ids, self.n_objects)

    @classmethod
    def from_codes(
        cls, codes: ArrayLike, *, label_names: Sequence[Array | None] | None = None, info: Any = None, ids: Any = None
    ) -> "Ensemble":
        """An ensemble of labels that are codes already: they keep their numbers and, where they can, their memory.

        Parameters
        ----------
        codes : int array (n_objects, n_clusterings)
            −1 is missing. An int32 array in C order is not copied. Memory grows with the largest code: where it is far above the number of
            clusters, ``Ensemble(codes)`` is the better way.
        label_names : sequence of (1-D array or None), one per clustering, optional
            What each code stands for.
        info, ids : as for :class:`Ensemble`

        Examples
        --------
        >>> import numpy as np
        >>> import consilience as cs
        >>> ens = cs.Ensemble.from_codes(np.array([[0], [2], [-1]]), label_names=[["red", "green", "blue"]])
        >>> ens.named_labels(0)
        array(['red', 'blue', None], dtype=object)
        """
        codes = np.asarray(codes)
        if codes.ndim != 2 or codes.dtype.kind not in "iu" or not codes.size:
            got = f"got {codes.dtype} of shape {codes.shape}: Ensemble(labels) takes labels of any kind"
            raise InputError(f"codes must be whole numbers, objects × clusterings; {got}")
        if codes.min() < -1 or codes.max() >= 2**31:
            raise InputError(f"codes must be −1 (missing) or 0 … 2³¹ − 1; got {codes.min()} … {codes.max()}")
        self = cls.__new__(cls)
        self._set(np.ascontiguousarray(codes, np.int32), check_label_names(label_names, codes), info, ids)
        return self

    @property
    def n_objects(self) -> int:
        return int(self.labels.shape[0])

    @property
    def n_clusterings(self) -> int:
        return int(self.labels.shape[1])

    @cached_property
    def n_clusters(self) -> Ints:
        """Number of clusters that occur in each clustering; 0 where every label is missing."""
        found = [np.count_nonzero(np.bincount(codes + 1)[1:]) for codes in self.labels.T]
        return read_only(np.array(found, np.int64))

    @property
    def names(self) -> list[str]:
        """What to call each clustering: ``info["name"]`` where it is known, otherwise its position."""
        given = self.info.get("name", [None] * self.n_clusterings)
        return [str(i) if pd.isna(name) else str(name) for i, name in enumerate(given)]

    @property
    def coverage(self) -> Floats:
        return (self.labels >= 0).mean(axis=0)

    @cached_property
    def has_missing(self) -> bool:
        return bool(self.labels.min() < 0)

    def categories(self, clustering: int | str) -> Array:
        """The labels that a clustering knows, by code, whether or not they occur."""
        j = self._column(clustering)
        names = self.label_names[j]
        return np.arange(self.labels[:, j].max() + 1).astype(object) if names is None else names

    def named_labels(self, clustering: int | str) -> Array:
        """The labels of one clustering as they were given, None where missing.

        Examples
        --------
        >>> import consilience as cs
        >>> cs.Ensemble({"type": ["T cell", None, "B cell"]}).named_labels("type")
        array(['T cell', None, 'B cell'], dtype=object)
        """
        j = self._column(clustering)
        return np.append(self.categories(j), np.array([None], object))[self.labels[:, j]]

    def to_frame(self) -> pd.DataFrame:
        """The labels as they were given: a column per clustering, by its name; the index has the ids."""
        columns = {}
        for j, (codes, names) in enumerate(zip(self.labels.T, self.label_names, strict=True)):
            columns[j] = _typed_labels(names, codes) if codes.min() >= 0 else self.named_labels(j)
        index = None if self.ids is None else pd.Index(self.ids, name="id")
        return pd.DataFrame(columns, index=index).set_axis(self.names, axis=1)

    def align(self, other: EnsembleLike) -> "Ensemble":
        """Another ensemble's labels, of any objects, in the codes of this one: equal labels get equal codes.

        Labels that a clustering here does not know get codes from ``len(self.categories(j))`` on. The clusterings are
        matched by position.

        Examples
        --------
        >>> import consilience as cs
        >>> ens = cs.Ensemble({"type": ["T cell", "B cell", "T cell"]})
        >>> ens.align({"type": ["T cell", "macrophage", None]}).labels.ravel().tolist()
        [1, 2, -1]
        """
        other = other if isinstance(other, Ensemble) else Ensemble(other)
        if other.n_clusterings != self.n_clusterings:
            here, there = count(self.n_clusterings, "clustering"), count(other.n_clusterings, "clustering")
            raise InputError(f"{here} cannot be matched with {there}: give as many, in the same order")
        names = self.names
        for here, there in zip(names, other.names, strict=True):
            if here != there and there in names and "name" in self.info and "name" in other.info:
                raise InputError(f"clustering {there!r} is given in the place of {here!r}: keep their order")
        codes, label_names = other.labels.copy(), list(self.label_names)
        for j, (mine, theirs) in enumerate(zip(self.label_names, other.label_names, strict=True)):
            if mine is not theirs:
                known = {name: code for code, name in enumerate(self.categories(j))}
                known, new = _known_codes(known, other.categories(j), names[j])
                codes[:, j] = np.array([*new, -1], np.int32)[codes[:, j]]
                label_names[j] = object_vector(known)
        return Ensemble.from_codes(codes, label_names=label_names, info=other.info, ids=other.ids)

    def _column(self, clustering: int | str) -> int:
        found = positions(clustering, self.n_clusterings, "clustering", lambda: self.names)
        if isinstance(found, slice) or len(found) != 1:
            raise InputError(f"choose one clustering by number or name; got {show(clustering)}")
        return int(found[0]) % self.n_clusterings

    def signatures(self) -> "Signatures":
        """Collapse equal rows to weighted distinct rows. Cost O(n m); the answer is kept.

        Examples
        --------
        >>> import consilience as cs
        >>> s = cs.Ensemble([[0, 0, 1, 1], [0, 0, 1, 1]]).signatures()
        >>> s.labels.tolist(), s.inverse.tolist(), s.counts.tolist()
        ([[0, 0], [1, 1]], [0, 0, 1, 1], [2, 2])
        """
        return self._signatures

    @cached_property
    def _signatures(self) -> "Signatures":
        first, inverse, counts = _kernels.signatures(self.labels)
        return Signatures(*map(read_only, (self.labels[first], inverse, counts, first)))

    def __getitem__(self, key: Any) -> "Ensemble":
        """``ens[objects, clusterings]`` or ``ens[objects]``; labels keep their codes and names.

        Numbers, slices and masks choose either; clusterings also go by their names, as in ``ens[:, ["a", "b"]]``.
        """
        if isinstance(key, tuple) and len(key) != 2:
            raise InputError(f"choose by [objects] or [objects, clusterings]; got {len(key)} selections")
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        rows = positions(rows, self.n_objects, "object")
        columns = positions(columns, self.n_clusterings, "clustering", lambda: self.names)
        labels = self.labels[rows][:, columns]
        if 0 in labels.shape:
            m, n = count(labels.shape[1], "clustering"), count(labels.shape[0], "object")
            raise InputError(f"this selection leaves {m} of {n}")
        names = [self.label_names[j] for j in np.arange(self.n_clusterings)[columns]]
        ids = None if self.ids is None else self.ids[rows]
        return Ensemble.from_codes(labels, label_names=names, info=self.info.iloc[columns], ids=ids)

    @staticmethod
    def concat(ensembles: "Iterable[Ensemble]") -> "Ensemble":
        """The clusterings of several ensembles of the same objects, side by side; a name that comes again gets a number.

        Examples
        --------
        >>> import consilience as cs
        >>> one = cs.Ensemble([[0, 0, 1]])
        >>> cs.Ensemble.concat([one, one]).n_clusterings
        2
        """
        parts = list(ensembles) if isinstance(ensembles, Iterable) and not isinstance(ensembles, Ensemble) else []
        if not parts:
            raise InputError(f"concat needs at least one ensemble, in a list; got {kind_of(ensembles)}")
        for i, part in enumerate(parts):
            if not isinstance(part, Ensemble):
                raise InputError(f"concat takes ensembles, and number {i} is {kind_of(part)}: make it one first")
            if part.n_objects != parts[0].n_objects:
                sizes = f"ensemble {i} has {part.n_objects} objects, the first {parts[0].n_objects}"
                raise InputError(f"{sizes}: only clusterings of the same objects can be put side by side")
        named = [part.ids for part in parts if part.ids is not None]
        for ids in named:
            if not np.array_equal(ids, named[0]):
                at = int(np.flatnonzero(ids != named[0])[0])
                where = f"object {at} is {show(named[0][at])} in one and {show(ids[at])} in another"
                raise InputError(f"the ensembles name their objects differently: {where}; put them in the same order")
        info = _join_info([part.info for part in parts])
        names = [known for part in parts for known in part.label_names]
        codes = np.hstack([part.labels for part in parts])
        return Ensemble.from_codes(codes, label_names=names, info=info, ids=named[0] if named else None)

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write a store: a new folder of Parquet parts, one row per clustering (see :mod:`consilience.ensemble.store`).

        The folder appears whole or not at all. With `overwrite` it takes the place of a store that is there, but never
        of another kind of folder or of a file. A column `number` of whole numbers in `info` numbers the clusterings.
        """
        from consilience.ensemble.store import Store
        from consilience.ensemble.store.manifest_and_lock import check_replaceable

        folder = check_folder(path)
        check_replaceable(folder, overwrite=overwrite)
        numbers, info = self.info.get("number"), self.info.drop(columns="number", errors="ignore")
        if numbers is not None and (numbers.dtype.kind not in "iu" or numbers.isna().any() or not numbers.is_unique):
            raise InputError("the column 'number' of info must hold whole numbers, all different: rename it")
        step = max(1, 2**24 // self.n_objects)  # 64 MB of labels a part

        def write(unfinished: Path) -> None:
            with Store.create(unfinished, n_objects=self.n_objects, ids=self.ids) as store:
                for begin in range(0, self.n_clusterings, step):
                    part = slice(begin, begin + step)
                    called = None if numbers is None else numbers.iloc[part].to_numpy(np.int64)
                    names = self.label_names[part]
                    store.append(self.labels[:, part], info.iloc[part], label_names=names, numbers=called)

        write_folder(folder, write)

    @staticmethod
    def load(path: PathLike) -> "Ensemble":
        """Read a store; damaged or foreign files are named in a warning and the rest is read.

        Numbers of the clusterings that are not 0 … m − 1 are kept in the column `number` of `info`.
        """
        from consilience.ensemble.store import Store

        store = Store.open(path)
        if not store.n_clusterings:
            raise InputError(f"{path}: the store holds no finished clustering yet")
        labels, names, info = store.labels(), store.label_names(), store.info()
        for j, highest in enumerate(labels.max(axis=0)):
            if names[j] is None and highest >= store.n_objects:  # codes are counted, so they must be small
                labels[:, j], names[j] = encode_labels(labels[:, j])
        if not np.array_equal(info.index, np.arange(len(info))):
            info.insert(0, "number", info.index)
        try:
            return Ensemble.from_codes(labels, label_names=names, info=info, ids=store.ids)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    def __len__(self) -> int:
        return self.n_objects

    def __iter__(self) -> "Iterator[Ensemble]":
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        lines = [f"Ensemble: {count(self.n_clusterings, 'clustering')} of {count(self.n_objects, 'object')}"]
        low, mid, high = (int(f(self.n_clusters)) for f in (np.min, np.median, np.max))
        lines.append(f"clusters  {low}" if low == high else f"clusters  {low} to {high} (median {mid})")
        holes = np.count_nonzero(self.labels < 0, axis=0)
        if holes.any():
            share = f"{100 * holes.sum() / self.labels.size:.3g} %"
            lines.append(f"missing   {share} of the labels, in {count(int(np.count_nonzero(holes)), 'clustering')}")
        if "method" in self.info:
            made = self.info["method"].value_counts()
            lines.append("made by   " + ", ".join(f"{name} {count}" for name, count in made.head(6).items()))
        return "\n  ".join(lines)


def _ids_of_index(index: Any) -> Array | None:
    """The names of objects that a pandas index has, None if it only counts them."""
    if not names_objects(index):
        return None
    if not index.is_unique:
        twice = f"the index names the objects, and {show(index[index.duplicated()][0])} stands in it more than once"
        raise InputError(f"{twice}: make it unique, or drop it with reset_index(drop=True)")
    return np.asarray(index.to_numpy())


def _looks_transposed(labels: Any) -> bool:
    """Whether every row of a table has all numbers from the first to its largest, as clusterings have, and not every column."""
    values = np.asarray(labels) if isinstance(labels, (np.ndarray, pd.DataFrame)) else np.empty(0)
    if values.dtype.kind not in "iu" or values.ndim != 2 or (first := values.min()) < 0:
        return False
    rows, columns = (all(len(np.unique(one)) == one.max() + 1 - first for one in side) for side in (values, values.T))
    return rows and not columns


def _typed_labels(names: Array | None, codes: Labels) -> Array:
    """Labels by their codes, none of which is missing: numbers and booleans as arrays of their type."""
    if names is None:
        return codes
    typed = np.array(names.tolist()) if set(map(type, names)) in ({bool}, {int}, {float}) else names
    exact = typed.dtype != float or isinstance(names[0], float)  # NumPy makes 7 and 2⁶³ floats
    labels: Array = (typed if exact else names)[codes]
    return labels


def _known_codes(known: Mapping[Any, int], labels: Iterable[Any], clustering: str) -> tuple[dict[Any, int], list[int]]:
    """All labels with their codes, those not `known` after them, and the codes of `labels`."""
    is_text, codes = {isinstance(name, str) for name in known}, dict(known)
    for label in labels if is_text else ():
        if isinstance(label, str) not in is_text:
            is_, are = ("is text", "numbers") if isinstance(label, str) else ("is a number", "text")
            said = f"the label {show(label)} {is_}, and those it is matched with are {are}: give both in the same form"
            raise InputError(f"clustering {clustering!r}: {said}")
    return codes, [codes.setdefault(label, len(codes)) for label in labels]


def _join_info(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """One table of all rows: whole numbers stay exact beside missing ones, and names stay, a repeated one with a number."""
    columns = list(dict.fromkeys(column for frame in frames for column in frame))
    # Columns that are all missing in a part say nothing about the type of the others.
    known = [frame.dropna(axis=1, how="all") for frame in frames]
    partial = [column for column in columns if not all(column in frame for frame in known)]
    exact = {"i": "Int64", "u": "UInt64"}
    for i, frame in enumerate(known):
        kinds = {c: exact[frame[c].dtype.kind] for c in partial if c in frame and frame[c].dtype.kind in exact}
        known[i] = frame.astype(kinds)
    info = pd.concat(known, ignore_index=True).reindex(columns=columns)
    if "name" in info:
        info["name"] = unique_names(info["name"])
    return info


# Objects that no clustering tells apart, collapsed to one row.


@dataclass(frozen=True)
class Signatures:
    """The distinct rows of labels of an ensemble, with their weights: objects with the same row are one to whoever sees only labels.

    Attributes
    ----------
    labels : (n_signatures, n_clusterings) int32 array
        The distinct rows, in the order of their first object.
    inverse : (n_objects,) int64 array
        The signature of every object: ``labels[inverse]`` is the ensemble's table again.
    counts : (n_signatures,) int64 array
        How many objects have each signature.
    first : (n_signatures,) int64 array
        The first object with each signature.
    """

    labels: Labels
    inverse: Ints
    counts: Ints
    first: Ints

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        share = 100 * len(self) / max(1, len(self.inverse))
        return f"Signatures: {len(self):,} distinct rows of {len(self.inverse):,} ({share:.3g} %)"
