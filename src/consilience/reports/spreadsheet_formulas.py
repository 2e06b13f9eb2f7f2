"""Texts that a spreadsheet would run as formulas, made safe."""

from typing import Any

import pandas as pd

RISKY = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets take for the beginning of a formula


def quoted(text: Any) -> Any:
    """A text that a spreadsheet could run as a formula, with a ' before it; anything else as it is."""
    return f"'{text}" if isinstance(text, str) and text.startswith(RISKY) else text


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """The same table with every text cell, name and id made safe for spreadsheets."""
    safe = frame.copy()
    for place in range(safe.shape[1]):
        if safe.dtypes.iloc[place].kind == "O" or pd.api.types.is_string_dtype(safe.dtypes.iloc[place]):
            safe.isetitem(place, safe.iloc[:, place].map(quoted))
    return safe.set_axis(safe.columns.map(quoted), axis=1).set_axis(safe.index.map(quoted), axis=0)
