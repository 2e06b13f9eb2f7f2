"""What a layer calls that is built on it: the package's `__init__` says where each stands, and the first call imports it."""

from collections.abc import Callable
from typing import Any

_LOADERS: dict[str, Callable[[], Any]] = {}


def enter(name: str, load: Callable[[], Any]) -> None:
    _LOADERS[name] = load


def hook(name: str) -> Any:
    return _LOADERS[name]()
