"""Progress bars: on a terminal, for work worth waiting for, and nowhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, TypeVar

from consilience._run.run_log import Where, is_logging, record

T = TypeVar("T")
QUIET = 0.5  # seconds of work that need no bar


class Bar:
    """A bar on standard error with what is done, the rate and the time left; a context manager.

    `progress=None` shows it only when standard error is a terminal; True and False force it. It appears after half a
    second, so quick work stays quiet.
    """

    def __init__(self, total: int, what: str, progress: bool | None = None, *, done: int = 0) -> None:
        self._shown = sys.stderr is not None and (sys.stderr.isatty() if progress is None else progress)
        self._told = progress is not False  # not where it is a part of other work
        self._total, self._what, self._done, self._before = total, what, done, done
        self._start = time.monotonic()
        self._bar: Any = None

    def advance(self, n: int = 1) -> None:
        """Say that `n` more are done."""
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

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._told and is_logging():
            seconds = time.monotonic() - self._start
            record("step", seconds, Where.here(), name=self._what, n=self._done - self._before, of=self._total)


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def track(items: Iterable[T], total: int, what: str, progress: bool | None = None) -> Iterator[T]:
    """Yield `items` under a :class:`Bar`."""
    with Bar(total, what, progress) as bar:
        for item in items:
            yield item
            bar.advance()
