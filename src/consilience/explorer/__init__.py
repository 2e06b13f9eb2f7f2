"""The explorer: a page that shows many clusterings, and the small server behind it."""

from importlib import import_module
from typing import Any

from consilience.explorer.explore import explore

__all__ = ["Server", "Session", "explore"]
_LATER = {"Server": "launch", "Session": "session"}  # imported when asked for: the package stays quick to import


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"consilience.explorer.{_LATER[name]}"), name)
    raise AttributeError(f"module 'consilience.explorer' has no attribute {name!r}")
