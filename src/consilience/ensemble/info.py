"""What is known beside the labels: the table of the clusterings, the ids of the objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_same_index, count, names_objects, show
from consilience._names import unique_names
from consilience._types import Array


def check_info(info: Any, n_clusterings: int) -> pd.DataFrame:
    """A table with a row for every clustering."""
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
    array = np.asarray(ids)
    if array.shape != (n_objects,):
        raise InputError(f"{n_objects} objects need as many ids; got shape {array.shape}")
    # Text as objects: names of files need not be Unicode, which the text of pandas 3 must be.
    text = array.dtype.kind in "OU"
    twice = pd.Index(array, dtype=object if text else None).duplicated()
    if twice.any():
        at = int(np.argmax(twice))
        raise InputError(f"the id {show(array[at])} occurs more than once (object {at})")
    array = array.copy()
    array.flags.writeable = False
    return array


def ids_of_index(index: Any) -> Array | None:
    """The names of objects that a pandas index has, None if it only counts them."""
    if not names_objects(index):
        return None
    if not index.is_unique:
        raise InputError(
            f"the index names the objects, and {show(index[index.duplicated()][0])} stands in it more than once: "
            "make it unique, or drop it with reset_index(drop=True)"
        )
    return np.asarray(index.to_numpy())


def check_same_objects(ensemble: Any, *given: Any) -> None:
    """Refuse pandas objects whose index differs from another's, or from the ids of the ensemble where both name objects."""
    index = check_same_index(*given)
    if ensemble.ids is not None and names_objects(index):
        check_same_index(pd.Series(ensemble.ids, index=ensemble.ids), pd.Series(index, index=index))
