"""A call as bytes, its large arrays apart, so that what many calls share travels to a process once; what is there already stays there."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import cloudpickle
import numpy as np

from consilience._types import Array

LARGE = 1 << 16  # bytes from which on an array travels by itself


class There:
    """A value that another machine has, or is to make.

    Attributes
    ----------
    value
        What it is here, such as a future.
    send : callable
        Of a Dask client: a future of the value, or a list of them.
    """

    def __init__(self, value: Any, send: Callable[[Any], Any]) -> None:
        self.value, self.send = value, send


class _Packer(cloudpickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.apart: list[Array | There] = []
        self._places: dict[int, int] = {}

    def persistent_id(self, value: Any) -> int | None:
        """The place of a large array, or of what is elsewhere, among those of the call; all else is pickled."""
        if type(value) is not There and (
            type(value) is not np.ndarray or value.nbytes < LARGE or value.dtype.hasobject
        ):
            return None
        if id(value) not in self._places:
            self._places[id(value)] = len(self.apart)
            self.apart.append(value)
        return self._places[id(value)]


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, arrays: Sequence[Array]) -> None:
        super().__init__(file)
        self.arrays = arrays

    def persistent_load(self, place: Any) -> Array:
        """The array at a place."""
        return self.arrays[place]


def pack(call: Any) -> tuple[bytes, list[Any]]:
    """Bytes, and the large arrays (and :class:`There`) anywhere in `call` that they refer to by their place.

    Functions and classes that the other side cannot import, such as those of a notebook, travel by value.
    """
    file = io.BytesIO()
    packer = _Packer(file)
    packer.dump(call)
    return file.getvalue(), packer.apart


def unpack(data: bytes, arrays: Sequence[Array]) -> Any:
    """What :func:`pack` took."""
    return _Unpacker(io.BytesIO(data), arrays).load()
