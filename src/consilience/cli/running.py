"""Where a command's work is done, and what is said of it: a cluster, a log, words on the way."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def runs(function: F) -> F:
    """A verb that shares out its work, with the options that say how."""

    @wraps(function)
    def command(*args: Any, scheduler: str | None, log_file: Path | None, verbose: bool, **given: Any) -> Any:
        with _running(scheduler, log_file, verbose):
            return function(*args, **given)

    jobs = click.option(
        "--jobs", "-j", "n_jobs", type=int, default=1, show_default=True, help="Threads; -1 for all cores."
    )
    where = click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Do the work on a Dask cluster: tcp://host:8786, or local:4 for four worker processes on this machine.",
    )
    log = click.option(
        "--log",
        "log_file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Add a line of JSON for every piece of work to this file: seconds, memory, worker.",
    )
    words = click.option("--verbose", "-v", is_flag=True, help="Say the steps, with their seconds, on standard error.")
    found: Any = jobs(where(log(words(command))))
    return found


@contextlib.contextmanager
def _running(scheduler: str | None, log_file: Path | None, verbose: bool) -> Iterator[None]:
    from consilience._run.progress import logging_to

    if log_file is not None:
        from consilience.reports.files import check_file

        check_file(log_file)
    with contextlib.ExitStack() as stack:
        if scheduler is not None:
            from consilience._run.parallel import on_cluster

            client = stack.enter_context(_connected(scheduler))
            stack.enter_context(on_cluster(client))
        verb = click.get_current_context().info_name or "consilience"
        stack.enter_context(logging_to(log_file, verb, _say if verbose else None))
        yield


@contextlib.contextmanager
def _connected(address: str) -> Iterator[Any]:
    from consilience.cli import say

    try:
        from consilience._run.cluster import connect
    except ImportError as error:
        raise ImportError("--scheduler needs Dask: pip install 'consilience[dask]'") from error
    with connect(address) as client:
        if find_spec("bokeh") is not None and client.dashboard_link:
            say(f"the work can be watched at {client.dashboard_link}")
        yield client


def _say(line: dict[str, Any]) -> None:
    """A line of the log for people; single tasks, and clusterings that were made, are too many to be said."""
    from consilience.cli import say

    memory = f", {line['peak_mb']:,.0f} MB" if "peak_mb" in line else ""
    if line["what"] == "step":
        number = f"{line['n']:,} of {line['of']:,} in " if "n" in line else ""
        say(f"{line['name']}: {number}{line['seconds']:.2f} s{memory}")
    elif line["what"] == "end":
        say(f"{line['verb']}: {line['status']} after {line['seconds']:.2f} s{memory}")
    elif line["what"] == "clustering" and line["status"] == "failed":
        say(f"clustering {line['unit']} could not be made: {line['note']}")
