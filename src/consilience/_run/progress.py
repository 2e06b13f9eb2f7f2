"""Progress bars: on a terminal, for work worth waiting for, and nowhere else."""

import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Self, TypeVar

from consilience._check import check_path
from consilience._types import PathLike

T = TypeVar("T")
QUIET = 0.5  # safeguard: seconds of work that need no bar


class Bar:
    """A bar on standard error with what is done, the rate and the time left: from half a second of work on, by default on a terminal."""

    def __init__(self, total: int, what: str, progress: bool | None = None, *, done: int = 0) -> None:
        self._shown = sys.stderr is not None and (sys.stderr.isatty() if progress is None else progress)
        self._told = progress is not False  # not where it is a part of other work
        self._total, self._what, self._done, self._before = total, what, done, done
        self._start = time.monotonic()
        self._bar: Any = None

    def advance(self, n: int = 1) -> None:
        self._done += n
        if not self._shown:
            return
        if self._bar is None and time.monotonic() - self._start > QUIET:
            self._bar = _bar()
            self._task = self._bar.add_task(self._what, total=self._total, rate="")
            self._bar.start()
        if self._bar is not None:
            rate = (self._done - self._before) / (time.monotonic() - self._start)
            self._bar.update(self._task, completed=self._done, rate=f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._told and is_logging():
            seconds = time.monotonic() - self._start
            record("step", seconds, whereabouts(), name=self._what, n=self._done - self._before, of=self._total)


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    what, rate = TextColumn("{task.description}"), TextColumn("{task.fields[rate]}")
    columns = what, BarColumn(), MofNCompleteColumn(), rate, TimeRemainingColumn()
    return Progress(*columns, console=Console(stderr=True), transient=True)


def track(items: Iterable[T], total: int, what: str, progress: bool | None = None) -> Iterator[T]:
    with Bar(total, what, progress) as bar:
        for item in items:
            yield item
            bar.advance()


# The run log: what was done, where, in how many seconds and with how much memory, one JSON object per line. Lines are written by the
# process that the caller started, as results reach it, and each at once: whatever happens later, they are there. Durations are those of a
# clock that nobody sets; the date stands in the first line alone, for people.

_active: ContextVar[Callable[..., None] | None] = ContextVar("consilience_run_log", default=None)


def whereabouts() -> dict[str, Any]:
    """Of this process, for the log: its machine, or Dask's name of the worker, its id, and the most memory it held so far, in MB."""
    return {"worker": worker_name() or socket.gethostname(), "pid": os.getpid(), "peak_mb": peak_memory()}


def worker_name() -> str | None:
    """Dask's address of the worker that this runs in; None outside of one."""
    distributed = sys.modules.get("distributed")  # else this is no worker, and nothing is imported to find out
    if distributed is None:
        return None
    try:
        return str(distributed.get_worker().address)
    except ValueError:
        return None


def peak_memory() -> float | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(most / (2**20 if sys.platform == "darwin" else 2**10), 1)


@contextlib.contextmanager
def logging_to(path: PathLike | None, verb: str, hear: Callable[..., None] | None = None) -> Iterator[None]:
    """Within, work is written to a log (a file that lines are added to, or `hear`), from what starts to how it ended."""
    if path is None and hear is None:
        yield
        return
    from importlib.metadata import version

    started = time.monotonic()
    with contextlib.ExitStack() as held:
        file = None if path is None else held.enter_context(open(check_path(path, "the run log"), "ab", buffering=0))

        def write(what: str, **about: Any) -> None:
            line = {"what": what, "at": round(time.monotonic() - started, 3)}
            line |= {name: value for name, value in about.items() if value is not None}
            if file is not None:
                file.write(json.dumps(line, ensure_ascii=False, default=str).encode() + b"\n")
            if hear is not None:
                hear(line)

        date = datetime.now(UTC).isoformat(timespec="seconds")
        write("start", verb=verb, time=date, version=version("consilience"), **whereabouts())
        token, status, note = _active.set(write), "done", None
        try:
            yield
        except BaseException as error:
            status = "failed" if isinstance(error, Exception) else "stopped"
            note = str(error) or type(error).__name__
            raise
        finally:
            _active.reset(token)
            seconds = round(time.monotonic() - started, 3)
            write("end", verb=verb, status=status, seconds=seconds, peak_mb=peak_memory(), note=note)


def is_logging() -> bool:
    return _active.get() is not None


def record(what: str, seconds: float, where: dict[str, Any], **about: Any) -> None:
    write = _active.get()
    if write is not None:
        write(what, **about, seconds=round(float(seconds), 6), **where)


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Within is a step of the work, which the log has with its seconds."""
    started = time.perf_counter()
    yield
    record("step", time.perf_counter() - started, whereabouts(), name=name)
