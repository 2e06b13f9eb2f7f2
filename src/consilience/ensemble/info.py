"""What stands beside the labels: the table of the clusterings, the ids of the objects, names of labels; and how they are chosen by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice, check_same_index, count, names_objects, show
from consilience._names import unique_names
from consilience._types import Array, Labels


def check_info(info: Any, n_clusterings: int) -> pd.DataFrame:
    if info is None:
        return pd.DataFrame(index=pd.RangeIndex(n_clusterings))
    try:
        frame = pd.DataFrame(info).reset_index(drop=True)
    except (TypeError, ValueError) as error:
        raise InputError(f"info cannot be read as a table with one row per clustering: {error}") from None
    if len(frame) != n_clusterings:
        raise InputError(f"info has {count(len(frame), 'row')} for {count(n_clusterings, 'clustering')}")
    return frame


def join_info(frames: list[pd.DataFrame]) -> pd.DataFrame:
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


def check_ids(ids: Any, n_objects: int) -> Array | None:
    """Names of the objects, all different; a copy that cannot be written to."""
    if ids is None:
        return None
    array = np.array(ids)
    if array.shape != (n_objects,):
        raise InputError(f"{n_objects} objects need as many ids; got shape {array.shape}")
    # Text as objects: names of files need not be Unicode, which the text of pandas 3 must be.
    twice = pd.Index(array, dtype=object if array.dtype.kind in "OU" else None).duplicated()
    if twice.any():
        at = int(np.argmax(twice))
        raise InputError(f"the id {show(array[at])} occurs more than once (object {at})")
    array.flags.writeable = False
    return array


def ids_of_index(index: Any) -> Array | None:
    """The names of objects that a pandas index has, None if it only counts them."""
    if not names_objects(index):
        return None
    if not index.is_unique:
        twice = f"the index names the objects, and {show(index[index.duplicated()][0])} stands in it more than once"
        raise InputError(f"{twice}: make it unique, or drop it with reset_index(drop=True)")
    return np.asarray(index.to_numpy())


def check_same_objects(ensemble: Any, *given: Any) -> None:
    """Refuse pandas objects whose index differs from another's, or from the ids of the ensemble where both name objects."""
    index = check_same_index(*given)
    if ensemble.ids is not None and names_objects(index):
        check_same_index(pd.Series(ensemble.ids, index=ensemble.ids), pd.Series(index, index=index))


# Labels as they were given, beside the codes that stand for them.


def check_label_names(label_names: Sequence[Any] | None, codes: Array) -> list[Array | None]:
    n_clusterings = codes.shape[1]
    if label_names is None:
        return [None] * n_clusterings
    if len(label_names) != n_clusterings:
        raise InputError(f"label_names has {len(label_names)} entries for {count(n_clusterings, 'clustering')}")
    checked = [None if names is None else object_vector(names) for names in label_names]
    for j, names in enumerate(checked):
        if names is not None and (highest := int(codes[:, j].max())) >= len(names):
            raise InputError(f"clustering {j} has the code {highest} and only {count(len(names), 'label name')}")
    return checked


def object_vector(values: Iterable[Any]) -> Array:
    if isinstance(values, np.ndarray):
        return values.astype(object, copy=False)
    return np.fromiter(values, object)


def read_only(array: Any) -> Any:
    """A view of an array that cannot be written to; what is so already, or None, as it is."""
    if array is not None and array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def typed_labels(names: Array | None, codes: Labels) -> Array:
    """Labels by their codes, none of which is missing: numbers and booleans as arrays of their type."""
    if names is None:
        return codes
    is_plain = set(map(type, names)) in ({bool}, {int}, {float})
    labels: Array = (np.array(names.tolist()) if is_plain else names)[codes]
    return labels


def known_codes(known: Mapping[Any, int], labels: Iterable[Any], clustering: str) -> tuple[dict[Any, int], list[int]]:
    """All labels with their codes, those not `known` after them, and the codes of `labels`."""
    is_text, codes = {isinstance(name, str) for name in known}, dict(known)
    for label in labels if is_text else ():
        if isinstance(label, str) not in is_text:
            is_, are = ("is text", "numbers") if isinstance(label, str) else ("is a number", "text")
            said = f"the label {show(label)} {is_}, and those it is matched with are {are}: give both in the same form"
            raise InputError(f"clustering {clustering!r}: {said}")
    return codes, [codes.setdefault(label, len(codes)) for label in labels]


# Which objects and clusterings a user means: numbers, slices, masks and names as positions.


def by_name(key: Any, names_of: Callable[[], list[str]]) -> Any:
    """The positions of clusterings chosen by name; any other choice as it is."""
    asked = [key] if isinstance(key, str) else key
    if not isinstance(asked, (list, tuple, np.ndarray, pd.Index)) or not len(asked):
        return key
    if not all(isinstance(name, str) for name in asked):
        return key
    names = names_of()
    for name in asked:
        if names.count(check_choice(str(name), names, "clustering")) > 1:
            raise InputError(f"more than one clustering is named {name!r}: choose by number")
    return [names.index(name) for name in asked]


def positions(key: Any, size: int, what: str) -> Any:
    """Slices stay slices (no copy); numbers, lists and masks become arrays of positions."""
    if isinstance(key, slice):
        return key
    array = np.atleast_1d(np.asarray(key))
    if array.dtype == bool:
        if array.shape != (size,):
            raise InputError(f"a mask needs {size} entries, one for every {what}; got shape {array.shape}")
        return np.flatnonzero(array)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise InputError(f"choose each {what} by number, slice or mask; got {show(key)}")
    beyond = array[(array < -size) | (array >= size)]
    if beyond.size:
        raise InputError(f"there is no {what} {int(beyond[0])}: {size} in all")
    return array
