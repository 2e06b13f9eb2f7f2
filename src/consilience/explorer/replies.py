"""What the explorer says: replies, JSON without NaN, and arrays in a small binary container.

The container is a little-endian u32 length H, H bytes of a JSON header padded with spaces so that 4 + H is a multiple of 8, then
the arrays, each at a multiple of 8 from there. The header's `arrays` gives the type, shape and offset of each.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from consilience._json import plain

JSON, BINARY = "application/json", "application/octet-stream"
TYPES = ("float32", "int32", "uint8", "uint16", "uint32")


class RefusedError(Exception):
    """A call that cannot be answered: the status, and one sentence that says why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Reply:
    status: int
    content_type: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        return len(self.body)


def json_reply(content: Mapping[str, Any], status: int = 200) -> Reply:
    """A reply of JSON text; NaN and infinite numbers become null."""
    return Reply(status, JSON, _text(content))


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(status, JSON, _text({"error": message}), headers or {})


def file_reply(name: str, content_type: str, body: bytes) -> Reply:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Reply(200, content_type, body, headers)


def binary_reply(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], headers: Any = None) -> Reply:
    return Reply(200, BINARY, pack(header, arrays), headers or {})


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    places, parts, offset = {}, [], 0
    for name, array in arrays.items():
        if array.dtype.name not in TYPES:
            raise TypeError(f"the container has no place for {array.dtype.name} ({name})")
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        places[name] = {"dtype": array.dtype.name, "shape": list(array.shape), "offset": offset}
        padding = -len(data) % 8
        parts += [data, b"\0" * padding]
        offset += len(data) + padding
    text = _text({**header, "arrays": places})
    text += b" " * (-(4 + len(text)) % 8)
    return b"".join([len(text).to_bytes(4, "little"), text, *parts])


def _text(content: Any) -> bytes:
    told = plain(content, big_as_text=True)
    return json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(errors="replace")


# Answers that were worked out once: kept as long as there is room, made by one thread while others wait.


class Sized(Protocol):
    @property
    def nbytes(self) -> int:
        """Its size."""


T = TypeVar("T", bound=Sized)


class Cache:
    """The least recently used answers go first once there are more than `room` bytes of them."""

    def __init__(self, room: int) -> None:
        self._room, self._used = room, 0
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The answer kept under `key`, or the one that `make` gives now."""
        with self._lock:
            if key in self._kept:
                return self._found(key)
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._kept:  # made while this thread waited
                    return self._found(key)
            try:
                value = make()
                self._keep(key, value)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return value

    def _found(self, key: Hashable) -> Any:
        self._kept.move_to_end(key)
        return self._kept[key]

    def _keep(self, key: Hashable, value: Sized) -> None:
        with self._lock:
            if key in self._kept:  # two made it at once, after a third gave it up
                self._used -= self._kept[key].nbytes
            self._kept[key] = value
            self._used += value.nbytes
            while self._used > self._room and len(self._kept) > 1:
                self._used -= self._kept.popitem(last=False)[1].nbytes
