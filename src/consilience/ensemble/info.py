"""What stands beside the labels: the table of the clusterings, the ids of the objects, names of labels; and how they are chosen by them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice, check_same_index, count, names_objects, show
from consilience._types import Array


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


# Which objects and clusterings a user means: numbers, slices, masks and names as positions.


def _by_name(key: Any, names_of: Callable[[], list[str]]) -> Any:
    """The positions of clusterings chosen by name; any other choice as it is."""
    asked = [key] if isinstance(key, str) else key
    several = isinstance(asked, (list, tuple, np.ndarray, pd.Index)) and len(asked) > 0
    if not several or not all(isinstance(name, str) for name in asked):
        return key
    names = names_of()
    for name in asked:
        if names.count(check_choice(str(name), names, "clustering")) > 1:
            raise InputError(f"more than one clustering is named {name!r}: choose by number")
    return [names.index(name) for name in asked]


def positions(key: Any, size: int, what: str, names_of: Callable[[], list[str]] | None = None) -> Any:
    """Slices stay slices (no copy); numbers, lists and masks, and names where there are any, become arrays of positions."""
    key = key if names_of is None else _by_name(key, names_of)
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
