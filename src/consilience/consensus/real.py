"""By which test a number of clusters is real: its stability, its nesting, or gaps in the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from consilience._types import Array, Floats

NEARLY = 0.999  # stability and nesting beyond which z is not told apart
STEADY = 0.9  # stability from which an answer that is not real is said not to be told from chance, where chance is as high as can be
TESTS = {"stability": "null_high", "nesting": "nesting_high"}  # with what chance reaches
SAID = {"stability": "", "nesting": " (by nesting)", "gaps": " (by gaps in the data)", "": ""}


def z_of(stability: Array) -> Floats:
    """artanh of stabilities, which has no end, so that differences near 1 count as others do; clipped where they are not told apart."""
    return np.arctanh(np.clip(stability, -NEARLY, NEARLY))


def nesting_z(nesting: Array) -> Floats:
    """−log(1 − nesting), which has no end either."""
    return -np.log1p(-np.clip(nesting, 0, NEARLY))


def beyond_chance(curve: pd.DataFrame) -> pd.DataFrame:
    """`stability` and `nesting` of every row of a curve, each as z above what chance reaches.

    Examples
    --------
    >>> curve = pd.DataFrame({"stability": [0.9], "null_high": [0.8], "nesting": [0.7], "nesting_high": [0.9]})
    >>> beyond_chance(curve).round(2).to_numpy().tolist()
    [[0.37, -1.1]]
    """
    z = {"stability": z_of, "nesting": nesting_z}
    return pd.DataFrame(
        {name: z[name](curve[name].to_numpy()) - z[name](curve[high].to_numpy()) for name, high in TESTS.items()},
        index=curve.index,
    )


def is_real(curve: pd.DataFrame) -> pd.Series:
    """Of every row of a curve, whether the stability or the nesting is more than chance."""
    stable, nested = (_beyond(curve[name], curve[high]) for name, high in TESTS.items())
    return stable | nested


def _beyond(value: Any, chance: Any) -> Any:
    return np.minimum(value, NEARLY) > chance


def real_by(row: Mapping[str, Any]) -> str:
    """Which test says that a scale is real: "stability", "nesting", "both", or "gaps" where neither does; "" where it is not.

    Examples
    --------
    >>> real_by({"stability": 0.95, "null_high": 0.97, "nesting": 0.90, "nesting_high": 0.87, "real": True})
    'nesting'
    >>> real_by({"stability": 0.95, "null_high": 0.97, "nesting": 0.80, "nesting_high": 0.87, "real": True})
    'gaps'
    """
    if not row["real"] or "stability" not in row:
        return ""
    figures = {name: (row.get(name), row.get(high)) for name, high in TESTS.items()}
    passed = [
        name
        for name, (value, high) in figures.items()
        if value is not None and high is not None and _beyond(value, high)
    ]
    return "both" if len(passed) > 1 else passed[0] if passed else "gaps"


def say_real(scales: pd.DataFrame) -> tuple[str, list[str]]:
    """What the scales that are real are more than chance by, "more stable than chance" where all are; and each with its other test."""
    rows = [(str(row["n_clusters"]), real_by(row)) for row in scales.to_dict("records") if row["real"]]
    said = [number + SAID[by.replace("both", "stability")] for number, by in rows]
    return "more than chance" if any("(" in one for one in said) else "more stable than chance", said


def no_room(scales: pd.DataFrame | None) -> bool:
    """Whether the first scale is not real though all but wholly stable: clouds without clusters reach the highest stability themselves."""
    if scales is None or "null_high" not in scales or scales["real"].any():
        return False
    return bool(scales["null_high"].iloc[0] >= NEARLY and scales["stability"].iloc[0] >= STEADY)
