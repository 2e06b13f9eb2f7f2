"""What the weights of a clustering are weights of: columns, or components named by the columns that make them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from consilience._check import InputError
from consilience._types import Floats
from consilience.explorer.session import Session
from consilience.generation import METHODS, GenerationWarning

Row: TypeAlias = Mapping[str, Any] | pd.Series
LOADED = 3  # columns that name a component
MUCH = 0.5  # of the largest loading, that those beside it must reach
CELLS = 2 * 10**7  # of the data whose components are found again


def weights_of(row: Row) -> Floats | None:
    """The weights that a clustering was made with; None where there were none."""
    weights = row.get("weights")
    return None if weights is None or np.ndim(weights) == 0 else np.asarray(weights, float)


def space_of(row: Row) -> str:
    """What was weighted: "columns", "components" or another space of a method."""
    method = row.get("method")
    return METHODS[method].space if isinstance(method, str) and method in METHODS else "columns"


def weight_names(session: Session, row: pd.Series, width: int) -> list[str]:
    """What each weight is of; components with the columns that they are made of mostly."""
    space = space_of(row)
    if space == "columns":
        return session.features if len(session.features) == width else [f"column {i}" for i in range(width)]
    plain = [f"{space.removesuffix('s')} {i + 1}" for i in range(width)]
    loadings = loadings_of(session, row) if space == "components" else None
    if loadings is None or loadings.shape != (len(session.features), width):
        return plain
    return [f"{name} ({loaded_columns(session.features, loadings[:, i])})" for i, name in enumerate(plain)]


def loadings_of(session: Session, row: pd.Series) -> Floats | None:
    """Columns × components of a clustering of principal components; None where they cannot be found again."""
    data = session.data
    if data is None or data.kind == "distances" or session.other_data or np.prod(data.values.shape) > CELLS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GenerationWarning)  # what was left out was said when the run was made
            return session.variations.loadings(row)
    except InputError:  # made from other data, or with a base that is not here
        return None


def loaded_columns(names: list[str], loadings: Any) -> str:
    """The columns of the largest loadings, with their signs.

    Examples
    --------
    >>> loaded_columns(["red", "green", "width"], [0.7, 0.1, -0.6])
    'red − width'
    """
    size = np.abs(np.asarray(loadings))
    order = [i for i in np.argsort(-size, kind="stable")[:LOADED] if size[i] >= MUCH * size.max() > 0]
    if not order:
        return "nothing"
    first = "−" if loadings[order[0]] < 0 else ""
    return first + names[order[0]] + "".join(f" {'+' if loadings[i] > 0 else '−'} {names[i]}" for i in order[1:])
