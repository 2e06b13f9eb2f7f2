"""Which objects and clusterings a user means: numbers, slices, masks and names as positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice, show


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
    if array.size and (array.min() < -size or array.max() >= size):
        raise InputError(
            f"there is no {what} {int(array.max() if array.max() >= size else array.min())}: {size} in all"
        )
    return array
