"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

UNFINISHED = ".unfinished-"


def write_whole(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Call ``write(file)`` on a temporary file beside `path`; sync it, rename it into place, sync the folder."""
    with _unfinished(path) as unfinished:
        with open(unfinished, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    sync_folder(path.parent)


def write_folder(path: Path, write: Callable[[Path], Any]) -> None:
    """Call ``write(folder)`` on a hidden folder beside `path`; rename it into place, and away what was there."""
    with _unfinished(path) as unfinished:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(unfinished, ignore_errors=True)  # of a process that was killed
        write(unfinished)
        old = path.with_name(f".replaced-{os.getpid()}-{path.name}")
        if path.exists():
            os.replace(path, old)
        os.replace(unfinished, path)
    sync_folder(path.parent)
    if old.exists():
        shutil.rmtree(old)


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`: whatever fails, nothing is left under it, and no message speaks of it."""
    unfinished = path.with_name(f"{UNFINISHED}{os.getpid()}-{path.name[-100:]}")
    try:
        yield unfinished
    except BaseException as error:
        with suppress(OSError):  # not there, or nowhere that it could be
            shutil.rmtree(unfinished) if unfinished.is_dir() else unfinished.unlink()
        if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def sync_folder(folder: Path) -> None:
    """Put renames in a folder on disk, where the system can (Windows cannot, nor can some network drives)."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)
