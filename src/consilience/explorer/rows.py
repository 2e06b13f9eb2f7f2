"""Objects that a client picked: their numbers as a list, or as the bits of a text where they are many."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import numpy as np

from consilience._types import Ints

LISTED = 5000  # objects of a list; more come as bits
BITS = 500_000  # characters of a text of bits: 3,000,000 objects
BODY = 2**16  # bytes of the body of a call
PICKS = 2**20  # bytes of a body with two picks, and what is asked of them


def picked_rows(value: Any) -> Ints:
    """The numbers of the objects, in increasing order, each once; ValueError says what they must be.

    A text is base64 of bytes whose bit j (from the lowest) of byte i stands for object 8 i + j.

    Examples
    --------
    >>> picked_rows([4, 2, 2]), picked_rows("BQE=")
    (array([2, 4]), array([0, 2, 8]))
    """
    if isinstance(value, list) and len(value) <= LISTED:
        if all(type(one) is int and 0 <= one < 10**9 for one in value):
            return np.unique(np.array(value, np.int64))
    elif isinstance(value, str) and len(value) <= BITS:
        try:
            data = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            pass
        else:
            return np.flatnonzero(np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little"))
    raise ValueError(f"a list of at most {LISTED:,} numbers of objects, or at most {BITS:,} characters of base64")
