"""The explorer: a page that shows many clusterings, and the small server behind it."""

from consilience.explorer.explore import explore
from consilience.explorer.serve import Server
from consilience.explorer.session import Session

__all__ = ["Server", "Session", "explore"]
