"""The run log: what was done, where, in how many seconds and with how much memory, one JSON object per line.

Lines are written by the process that the caller started, as results reach it, and each at once: whatever happens later, they are there.
Durations are those of a clock that nobody sets; the date stands in the first line alone, for people.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

from consilience._check import check_path
from consilience._types import PathLike

_active: ContextVar[RunLog | None] = ContextVar("consilience_run_log", default=None)


@dataclass(frozen=True)
class Where:
    """A process that did some work: its machine, or Dask's name of the worker, its id, and the most memory it held so far, in MB."""

    worker: str
    pid: int
    peak_mb: float | None

    @classmethod
    def here(cls) -> Where:
        """This process."""
        there = "distributed" in sys.modules  # else this is no worker of Dask, and nothing is imported to find out
        name = import_module("consilience._run.cluster").worker_name() if there else None
        return cls(name or socket.gethostname(), os.getpid(), peak_memory())


def peak_memory() -> float | None:
    """The most memory that this process has held, in MB; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(most / (2**20 if sys.platform == "darwin" else 2**10), 1)


class RunLog:
    """Writes lines to a file, or to whoever wants to hear of them."""

    def __init__(self, path: PathLike | None = None, hear: Callable[[dict[str, Any]], None] | None = None) -> None:
        self._start, self._hear = time.monotonic(), hear
        self._file = None if path is None else open(check_path(path, "the run log"), "ab", buffering=0)  # noqa: SIM115

    def write(self, what: str, **about: Any) -> None:
        """A line; what is None is left out."""
        line = {"what": what, "at": round(time.monotonic() - self._start, 3)}
        line |= {name: value for name, value in about.items() if value is not None}
        if self._file is not None:
            self._file.write(json.dumps(line, ensure_ascii=False, default=str).encode() + b"\n")
        if self._hear is not None:
            self._hear(line)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


@contextlib.contextmanager
def logging_to(
    path: PathLike | None, verb: str, hear: Callable[[dict[str, Any]], None] | None = None
) -> Iterator[None]:
    """Within, work is written to a log, from a line that says what starts to one that says how it ended."""
    if path is None and hear is None:
        yield
        return
    from importlib.metadata import version

    log, started = RunLog(path, hear), time.perf_counter()
    here = Where.here()
    about = {"worker": here.worker, "pid": here.pid, "version": version("consilience")}
    log.write("start", verb=verb, time=datetime.now(UTC).isoformat(timespec="seconds"), **about)
    token, status, note = _active.set(log), "done", None
    try:
        yield
    except BaseException as error:
        status = "failed" if isinstance(error, Exception) else "stopped"
        note = str(error) or type(error).__name__
        raise
    finally:
        _active.reset(token)
        seconds = round(time.perf_counter() - started, 3)
        log.write("end", verb=verb, status=status, seconds=seconds, peak_mb=peak_memory(), note=note)
        log.close()


def is_logging() -> bool:
    """Whether anybody wants to know."""
    return _active.get() is not None


def record(what: str, seconds: float | None = None, where: Where | None = None, **about: Any) -> None:
    """A line in the log, if there is one."""
    log = _active.get()
    if log is None:
        return
    place = {} if where is None else {"worker": where.worker, "pid": where.pid, "peak_mb": where.peak_mb}
    log.write(what, **about, seconds=None if seconds is None else round(float(seconds), 6), **place)


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Within is a step of the work, which the log has with its seconds."""
    started = time.perf_counter()
    yield
    if is_logging():
        record("step", time.perf_counter() - started, Where.here(), name=name)
