"""Answers that were worked out once: kept as long as there is room, made by one thread while others wait."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar


class Sized(Protocol):
    """A value that knows its size."""

    @property
    def nbytes(self) -> int:
        """Its size."""


T = TypeVar("T", bound=Sized)


class Cache:
    """The least recently used answers go first once there are more than `room` bytes of them.

    Examples
    --------
    >>> import numpy as np
    >>> cache = Cache(100)
    >>> [cache.get("a", lambda: np.zeros(5)).nbytes for _ in range(2)], len(cache)
    ([40, 40], 1)
    """

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
                _, old = self._kept.popitem(last=False)
                self._used -= old.nbytes
