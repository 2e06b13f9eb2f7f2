"""Files and folders that appear whole or not at all."""

import ctypes
import errno
import glob
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from consilience._check import InputError, check_path

UNFINISHED, REPLACED = ".unfinished-", ".replaced-"
FULL = (errno.ENOSPC, errno.EDQUOT)  # the disk, or the user's share of it
EXCHANGE, HERE = 2, -100  # safeguard: given by the system, RENAME_EXCHANGE and AT_FDCWD of Linux


def reason_of(error: Exception) -> str:
    """The first sentence of what a library says of a file that it cannot read."""
    text = " ".join(str(error).split()) or type(error).__name__
    text = re.sub(r"^(.*: )?Could not open Parquet input source '.*?': ", "", text).split(". ")[0].rstrip(".")
    return text if len(text) <= 150 else f"{text[:150].rsplit(' ', 1)[0]} …"


def open_parquet(path: Path) -> Any:
    """A Parquet file of which only the end is read; one that is none is refused in a sentence."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path}: damaged, or not a .parquet file ({reason_of(error)}): write it again") from None


def write_whole(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Call ``write(file)`` on a temporary file beside `path`; sync it, rename it into place, sync the folder.

    Of a link the target is written, and a file that is there keeps its permissions.
    """
    path, mode = path.resolve(), None
    with suppress(OSError):  # not there, or nowhere that it could be: opening says so
        old = path.stat().st_mode
        if not stat.S_ISREG(old):
            raise InputError(f"{path} is not a regular file, so it is not replaced: choose another path")
        mode = stat.S_IMODE(old)
    with _unfinished(path) as unfinished:
        # Nobody can have put a link or a file of his own under this name.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(unfinished, flags, 0o666 if mode is None else mode), "wb") as file:
            if mode is not None and sys.platform != "win32":
                os.fchmod(file.fileno(), mode)
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    sync_folder(path.parent)


def check_folder(path: Any) -> Path:
    """Where a folder can be saved, links resolved; the folder one is in cannot be put in place."""
    folder = check_path(path, "where to save").resolve()
    if folder.is_dir() and folder.samefile(os.curdir):
        raise InputError(f"{folder} is the folder you are in: give the name of a new one")
    return folder


def write_folder(path: Path, write: Callable[[Path], Any]) -> None:
    """Call ``write(folder)`` on a hidden folder beside `path`; rename it into place, and remove what was there."""
    path = path.resolve()
    with _unfinished(path) as unfinished:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(unfinished)
        _put_in_place(unfinished, path)
    sync_folder(path.parent)
    # also of a process that was killed
    for replaced in path.parent.glob(f"{REPLACED}*-{glob.escape(path.name[-50:])}"):
        shutil.rmtree(replaced, ignore_errors=True)


def _put_in_place(folder: Path, path: Path) -> None:
    """Rename a folder to `path`, and what is there to a name that says so; whoever else does the same."""
    while True:
        try:
            os.rename(folder, path)
            return
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
        if _exchange(folder, path):
            os.rename(folder, _beside(path, REPLACED))
            return
        with suppress(FileNotFoundError):  # another process was quicker
            os.rename(path, _beside(path, REPLACED))


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders so that neither name is ever missing, where the system can (Linux, and most of its file systems)."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    return rename is not None and rename(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0


def _beside(path: Path, prefix: str) -> Path:
    """A hidden name beside `path` that cannot be guessed."""
    return path.with_name(f"{prefix}{secrets.token_hex(8)}-{path.name[-50:]}")


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`: whatever fails, nothing is left under it, and no message speaks of it."""
    unfinished = _beside(path, UNFINISHED)
    try:
        yield unfinished
    except BaseException as error:
        with suppress(OSError):  # not there, or nowhere that it could be
            shutil.rmtree(unfinished) if unfinished.is_dir() else unfinished.unlink()
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
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
