"""The explorer: a page that shows many clusterings, and the small server behind it."""

from typing import Any

from consilience.explorer.explore import explore

__all__ = ["Server", "explore"]


def __getattr__(name: str) -> Any:
    if name == "Server":  # imported when asked for: the package stays quick to import
        from consilience.explorer.server import Server

        return Server
    raise AttributeError(f"module 'consilience.explorer' has no attribute {name!r}")
