"""Progress bars: on a terminal, for work worth waiting for, and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def track(items: Iterable[T], total: int, what: str, progress: bool | None = None) -> Iterator[T]:
    """Yield `items`, showing a bar with rate and time left on standard error.

    `progress=None` shows it only when standard error is a terminal; True and False force it.
    The bar appears after half a second, so quick work stays quiet.
    """
    if progress is None:
        progress = sys.stderr.isatty()
    if not progress:
        yield from items
        return
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    start, bar, task = time.monotonic(), None, None
    try:
        for done, item in enumerate(items):
            if bar is None and time.monotonic() - start > 0.5:
                bar = Progress(
                    TextColumn("{task.description}"),
                    BarColumn(),
                    MofNCompleteColumn(),
                    TimeRemainingColumn(),
                    console=Console(stderr=True),
                    transient=True,
                )
                task = bar.add_task(what, total=total)
                bar.start()
            if bar is not None and task is not None:
                bar.update(task, completed=done)
            yield item
    finally:
        if bar is not None:
            bar.stop()
