"""The types of the kernels' arrays, and the check of those that they write to."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience._check import InputError


def check_out(array: Any, kinds: tuple[Any, ...], what: str) -> None:
    """Refuse an array that a kernel could not write to in place: it would fill a copy, and the result would be lost."""
    if array.dtype not in kinds or not array.flags.c_contiguous or not array.flags.writeable:
        names = " or ".join(np.dtype(kind).name for kind in kinds)
        raise InputError(f"the {what} must be a writable C-contiguous array of {names}; got {array.dtype}")
