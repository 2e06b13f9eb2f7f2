"""Values as JSON has them: the one conversion of the package."""

import dataclasses
import os
from collections.abc import Mapping, Set
from typing import Any

import numpy as np
import pandas as pd

EXACT = 2**53  # safeguard: whole numbers up to here survive JavaScript


def plain(value: Any, *, big_as_text: bool = False) -> Any:
    """A value as JSON has it: plain numbers, lists and dicts with text keys; tables as rows, what is left as text."""
    # What is missing, and numbers that are not finite, become None. With `big_as_text`, whole numbers beyond 2⁵³ become text for
    # JavaScript, which has none.

    def convert(value: Any) -> Any:
        if value is None or isinstance(value, (str, bool)):
            return value
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float):
            return value if np.isfinite(value) else None
        if isinstance(value, int):
            return str(value) if big_as_text and abs(value) > EXACT else value
        if isinstance(value, pd.DataFrame):
            return convert(value.to_dict("records"))
        if isinstance(value, (np.ndarray, pd.Series, pd.Index)):
            return convert(value.tolist())
        if isinstance(value, Mapping):
            return {str(key): convert(item) for key, item in value.items()}
        if isinstance(value, Set):
            return [convert(item) for item in sorted(value, key=str)]
        if isinstance(value, (list, tuple)):
            return [convert(item) for item in value]
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: convert(getattr(value, field.name)) for field in dataclasses.fields(value)}
        if value is pd.NA or value is pd.NaT:
            return None
        return os.fspath(value) if isinstance(value, os.PathLike) else str(value)

    return convert(value)
