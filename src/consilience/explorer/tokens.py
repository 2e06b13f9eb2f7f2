"""The token of a port that somebody asked for by its number: the same at every start, so that bookmarks last.

It is made from a secret of the user, which lies in a file that nobody else can read, and from the run, the host and the port: the
token of one run says nothing of that of another.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path

SECRET, BYTES = "explorer-secret", 32


class UnsafeSecretError(Exception):
    """The secret cannot be kept, or others could read it; the message says why."""


def state_folder() -> Path:
    """Where a user's programs keep what is no setting and no data."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "consilience"
    given = os.environ.get("XDG_STATE_HOME", "")
    return (Path(given) if os.path.isabs(given) else Path.home() / ".local" / "state") / "consilience"


def stable_token(run: str, host: str, port: int) -> str:
    """128 bits in hexadecimal digits; :class:`UnsafeSecretError` where there is no safe secret to make them from."""
    try:
        secret = _secret(state_folder())
    except (OSError, RuntimeError) as error:  # RuntimeError: the user has no home
        raise UnsafeSecretError(f"the secret for it cannot be kept ({error})") from None
    return hmac.new(secret, "\0".join([run, host, str(port)]).encode(), hashlib.sha256).hexdigest()[:32]


def _secret(folder: Path) -> bytes:
    """The user's secret; made at the first use."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check_ours(folder, 0o022)
    path = folder / SECRET
    if not path.exists():
        _make(path)
    _check_ours(path, 0o077)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        secret = file.read(BYTES + 1)
    if len(secret) != BYTES:
        raise UnsafeSecretError(f"{path} is damaged: remove it")
    return secret


def _make(path: Path) -> None:
    """Write a new secret; of two processes that do so at once the first one's stays."""
    new = path.with_name(f"{SECRET}-{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(new, flags, 0o600), "wb") as file:
            file.write(secrets.token_bytes(BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.rename(new, path) if sys.platform == "win32" else os.link(new, path)
    finally:
        new.unlink(missing_ok=True)


def _check_ours(path: Path, forbidden: int) -> None:
    """Refuse what another user owns or could open; Windows keeps a user's folders by itself."""
    if sys.platform == "win32":
        return
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & forbidden:
        raise UnsafeSecretError(f"{path} is not yours alone: remove it, or mend its owner and permissions")
