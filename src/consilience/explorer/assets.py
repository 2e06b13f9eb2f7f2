"""The files of the page, a fixed list read once: no path from outside ever reaches the disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from consilience._check import InputError

STATIC = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/explorer.js": ("explorer.js", "text/javascript; charset=utf-8"),
    "/explorer.css": ("explorer.css", "text/css; charset=utf-8"),
}


class PageMissingError(InputError):
    """The package was built without its page."""


@dataclass(frozen=True)
class Asset:
    """A file of the page."""

    body: bytes = field(repr=False)
    content_type: str


def static_folder() -> Path:
    """Where the built page lies in the package."""
    return Path(str(files("consilience") / "explorer" / "static"))


def load_page(folder: Path | None = None) -> dict[str, Asset]:
    """The files of the page by their paths in the address."""
    folder = static_folder() if folder is None else folder
    try:
        return {path: Asset((folder / name).read_bytes(), kind) for path, (name, kind) in STATIC.items()}
    except FileNotFoundError:
        raise PageMissingError(
            "the explorer's page is not in this installation, which was built without Node.js, npm or a network: install Node.js 18 or "
            "newer and reinstall consilience, or run 'make page' in a checkout"
        ) from None
