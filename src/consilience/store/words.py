"""Values as JSON text, and as words in a message."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from consilience._check import show


class RefusedError(Exception):
    """Why a file is left out."""


def json_text(value: Any, *, allow_nan: bool = True) -> str:
    """JSON with sorted keys: equal values, equal text."""
    return json.dumps(value, sort_keys=True, allow_nan=allow_nan, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def brief(value: Any) -> str:
    """A value or an error on one line of bearable length."""
    if not isinstance(value, Exception):
        return show(value, 100)
    text = " ".join(str(value).split())
    return text if len(text) <= 100 else f"{text[:99]}…"
