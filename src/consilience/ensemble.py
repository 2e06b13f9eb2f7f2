"""The ensemble: many clusterings of the same objects, and what made each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience import _kernels
from consilience._check import InputError, check_labels


@dataclass(frozen=True)
class Signatures:
    """The distinct rows of labels of an ensemble, with their weights.

    Objects with the same row are interchangeable for every method that sees only labels.

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

    labels: NDArray[np.int32]
    inverse: NDArray[np.int64]
    counts: NDArray[np.int64]
    first: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        share = 100 * len(self) / max(1, len(self.inverse))
        return f"Signatures: {len(self):,} distinct rows of {len(self.inverse):,} ({share:.3g} %)"


class Ensemble:
    """Many clusterings of the same objects.

    Parameters
    ----------
    labels : array (n_objects, n_clusterings), list of label vectors, mapping of names to label vectors, or DataFrame
        In an array or DataFrame a **column** is a clustering; in a list or mapping every **item** is one. A flat
        vector is a single clustering. Labels are any hashable values; −1, NaN, None and pandas NA are missing.
        Every clustering's labels become codes 0 … k − 1 in their sorted order.
    info : DataFrame or mapping of columns, optional
        One row per clustering: method, parameters, seed, scores and whatever else is known of it.
    ids : sequence, optional
        The objects' names, all different.

    Attributes
    ----------
    labels : (n_objects, n_clusterings) int32 array
        −1 is missing. Read-only.
    info : DataFrame
    ids : array or None
    n_objects, n_clusterings : int
    n_clusters : (n_clusterings,) int array
    coverage : (n_clusterings,) float array

    Examples
    --------
    >>> import consilience as cs
    >>> ens = cs.Ensemble([["a", "a", "b", "b"], [1, 1, 2, None], [0, 0, 0, 1]])
    >>> ens
    Ensemble: 3 clusterings of 4 objects
      clusters  2
      missing   8.33 % of the labels, in 1 clustering
    >>> ens.labels
    array([[ 0,  0,  0],
           [ 0,  0,  0],
           [ 1,  1,  0],
           [ 1, -1,  1]], dtype=int32)
    """

    def __init__(self, labels: Any, *, info: Any = None, ids: Any = None) -> None:
        if isinstance(labels, Ensemble):
            info, ids = labels.info if info is None else info, labels.ids if ids is None else ids
            labels = labels.labels
        names, columns = _columns(labels)
        table = np.empty((len(columns[0]), len(columns)), np.int32)
        for j, column in enumerate(columns):
            table[:, j] = column
        if info is None and names is not None:
            info = {"name": names}
        self._set(table, _check_info(info, len(columns)), _check_ids(ids, len(table)))

    def _set(self, labels: NDArray[np.int32], info: pd.DataFrame, ids: NDArray[Any] | None) -> None:
        labels.flags.writeable = False
        self.labels, self.info, self.ids = labels, info, ids
        self._signatures: Signatures | None = None
        self._n_clusters: NDArray[np.int64] | None = None

    @classmethod
    def _made(cls, labels: NDArray[np.int32], info: pd.DataFrame, ids: NDArray[Any] | None) -> Ensemble:
        """From labels that are codes already."""
        self = cls.__new__(cls)
        self._set(np.ascontiguousarray(labels, np.int32), info.reset_index(drop=True), ids)
        return self

    @property
    def n_objects(self) -> int:
        """Number of objects (rows)."""
        return int(self.labels.shape[0])

    @property
    def n_clusterings(self) -> int:
        """Number of clusterings (columns)."""
        return int(self.labels.shape[1])

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """Number of clusters that occur in each clustering; 0 where every label is missing."""
        if self._n_clusters is None:
            self._n_clusters = np.array([np.count_nonzero(np.bincount(c + 1)[1:]) for c in self.labels.T], np.int64)
            self._n_clusters.flags.writeable = False
        return self._n_clusters

    @property
    def coverage(self) -> NDArray[np.float64]:
        """Share of the objects that each clustering labels."""
        return (self.labels >= 0).mean(axis=0)

    @property
    def has_missing(self) -> bool:
        """Whether any label is missing."""
        return bool(self.labels.min() < 0)

    def signatures(self) -> Signatures:
        """Collapse equal rows to weighted distinct rows. Cost O(n m); the answer is kept.

        Examples
        --------
        >>> import consilience as cs
        >>> s = cs.Ensemble([[0, 0, 1, 1], [0, 0, 1, 1]]).signatures()
        >>> s.labels.tolist(), s.inverse.tolist(), s.counts.tolist()
        ([[0, 0], [1, 1]], [0, 0, 1, 1], [2, 2])
        """
        if self._signatures is None:
            first, inverse, counts = _kernels.signatures(self.labels)
            found = Signatures(self.labels[first], inverse, counts, first)
            for array in (found.labels, found.inverse, found.counts, found.first):
                array.flags.writeable = False
            self._signatures = found
        return self._signatures

    def __getitem__(self, key: Any) -> Ensemble:
        """``ens[objects, clusterings]`` or ``ens[objects]``; labels keep their numbers."""
        if isinstance(key, tuple) and len(key) != 2:
            raise InputError(f"choose by [objects] or [objects, clusterings]; got {len(key)} selections")
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        rows, columns = (
            _selection(rows, self.n_objects, "object"),
            _selection(columns, self.n_clusterings, "clustering"),
        )
        ids = None if self.ids is None else _check_ids(self.ids[rows], len(self.ids[rows]))
        labels = self.labels[rows][:, columns]
        if 0 in labels.shape:
            raise InputError(f"this selection leaves {labels.shape[1]} clusterings of {labels.shape[0]} objects")
        return Ensemble._made(labels, self.info.iloc[columns], ids)

    @staticmethod
    def concat(ensembles: Iterable[Ensemble]) -> Ensemble:
        """The clusterings of several ensembles of the same objects, side by side.

        Examples
        --------
        >>> import consilience as cs
        >>> one = cs.Ensemble([[0, 0, 1]])
        >>> cs.Ensemble.concat([one, one]).n_clusterings
        2
        """
        parts = list(ensembles)
        if not parts:
            raise InputError("concat needs at least one ensemble")
        for i, part in enumerate(parts):
            if part.n_objects != parts[0].n_objects:
                raise InputError(
                    f"ensemble {i} has {part.n_objects} objects, the first {parts[0].n_objects}: "
                    "only clusterings of the same objects can be put side by side"
                )
        named = [part.ids for part in parts if part.ids is not None]
        for ids in named:
            if not np.array_equal(ids, named[0]):
                at = int(np.flatnonzero(ids != named[0])[0])
                raise InputError(
                    f"the ensembles name their objects differently: object {at} is {named[0].tolist()[at]!r} in one and "
                    f"{ids.tolist()[at]!r} in another; put them in the same order first"
                )
        # Columns that are all missing in a part say nothing about the type of the others.
        known = [part.info.dropna(axis=1, how="all") for part in parts]
        info = pd.concat(known, ignore_index=True).reindex(
            columns=list(dict.fromkeys(c for p in parts for c in p.info))
        )
        return Ensemble._made(np.hstack([p.labels for p in parts]), info, named[0] if named else None)

    def save(self, path: str | Path) -> None:
        """Write a store: a new folder of Parquet parts, one row per clustering (see :mod:`consilience.store`)."""
        from consilience.store import Store, check_info

        check_info(self.info, self.n_clusterings)  # before anything is written
        step = max(1, 2**24 // self.n_objects)  # 64 MB of labels a part
        with Store.create(path, n_objects=self.n_objects, ids=self.ids) as store:
            for begin in range(0, self.n_clusterings, step):
                end = begin + step
                store.append(self.labels[:, begin:end].T, info=self.info.iloc[begin:end])

    @staticmethod
    def load(path: str | Path) -> Ensemble:
        """Read a store; damaged or foreign files are named in a warning and the rest is read."""
        from consilience.store import Store

        store = Store.open(path)
        if not store.n_clusterings:
            raise InputError(f"{path}: the store holds no finished clustering yet")
        return Ensemble._made(store.labels().T, store.info(), store.objects)

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        """The label vectors of the clusterings, one after the other."""
        return iter(self.labels.T)

    def __len__(self) -> int:
        """Number of clusterings."""
        return self.n_clusterings

    def __repr__(self) -> str:
        lines = [f"Ensemble: {_count(self.n_clusterings, 'clustering')} of {_count(self.n_objects, 'object')}"]
        low, mid, high = (int(f(self.n_clusters)) for f in (np.min, np.median, np.max))
        lines.append(f"clusters  {low}" if low == high else f"clusters  {low} to {high} (median {mid})")
        holes = np.count_nonzero(self.labels < 0, axis=0)
        if holes.any():
            share = f"{100 * holes.sum() / self.labels.size:.3g} %"
            lines.append(f"missing   {share} of the labels, in {_count(int(np.count_nonzero(holes)), 'clustering')}")
        if "method" in self.info:
            made = self.info["method"].value_counts()
            lines.append("made by   " + ", ".join(f"{name} {count}" for name, count in made.head(6).items()))
        return "\n  ".join(lines)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _columns(labels: Any) -> tuple[list[Any] | None, list[NDArray[np.int32]]]:
    """Names, if any, and the checked label vector of every clustering."""
    names: list[Any] | None = None
    vectors: list[Any]
    if isinstance(labels, pd.DataFrame):
        names, vectors = list(labels.columns), [labels.iloc[:, j] for j in range(labels.shape[1])]
    elif isinstance(labels, Mapping):
        names, vectors = list(labels), list(labels.values())
        for name, vector in labels.items():
            if np.isscalar(vector) or not hasattr(vector, "__len__"):
                raise InputError(f"clustering {name!r} is a single value, not a vector of labels")
    elif isinstance(labels, pd.Series):
        names, vectors = [labels.name], [labels]
    elif isinstance(labels, (list, tuple)):
        nested = [not np.isscalar(v) and hasattr(v, "__len__") for v in labels]
        if any(nested) and not all(nested):
            raise InputError(f"clustering {nested.index(False)} is a single value, not a vector of labels")
        vectors = list(labels) if any(nested) or not labels else [labels]
    else:
        table = np.asanyarray(labels)
        if table.ndim not in (1, 2):
            raise InputError(f"labels must be a table of objects × clusterings; got {table.ndim} dimensions")
        vectors = [table] if table.ndim == 1 else [table[:, j] for j in range(table.shape[1])]
    if not vectors or not len(vectors[0]):
        raise InputError("there are no labels: give at least one clustering of at least one object")
    shown = names or range(len(vectors))
    for name, vector in zip(shown, vectors, strict=True):
        if len(vector) != len(vectors[0]):
            raise InputError(f"clustering {name!r} has {len(vector)} labels, the first has {len(vectors[0])}")
    return names, [check_labels(v, f"clustering {name!r}") for name, v in zip(shown, vectors, strict=True)]


def _check_info(info: Any, n_clusterings: int) -> pd.DataFrame:
    if info is None:
        return pd.DataFrame(index=pd.RangeIndex(n_clusterings))
    try:
        frame = pd.DataFrame(info).reset_index(drop=True)
    except ValueError as error:
        raise InputError(f"info cannot be read as a table with one row per clustering: {error}") from None
    if len(frame) != n_clusterings:
        raise InputError(f"info has {len(frame)} rows for {n_clusterings} clusterings")
    return frame


def _check_ids(ids: Any, n_objects: int) -> NDArray[Any] | None:
    if ids is None:
        return None
    array = np.asarray(ids)
    if array.shape != (n_objects,):
        raise InputError(f"{n_objects} objects need as many ids; got shape {array.shape}")
    twice = pd.Index(array).duplicated()
    if twice.any():
        at = int(np.argmax(twice))
        raise InputError(f"the id {array.tolist()[at]!r} occurs more than once (object {at})")
    array = array.copy()
    array.flags.writeable = False
    return array


def _selection(key: Any, size: int, what: str) -> Any:
    """Slices stay slices (no copy); numbers, lists and masks become arrays of positions."""
    if isinstance(key, slice):
        return key
    array = np.atleast_1d(np.asarray(key))
    if array.dtype == bool:
        if array.shape != (size,):
            raise InputError(f"a mask needs {size} entries, one for every {what}; got shape {array.shape}")
        return np.flatnonzero(array)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise InputError(f"choose each {what} by number, slice or mask; got {key!r}")
    if array.size and (array.min() < -size or array.max() >= size):
        raise InputError(
            f"there is no {what} {int(array.max() if array.max() >= size else array.min())}: {size} in all"
        )
    return array
