"""What a verb writes and prints: checked before the work, told after it."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import click


def check_outputs(outputs: Iterable[Path], inputs: Iterable[Path | None]) -> None:
    """Refuse to write over what is read, or two things to one file."""
    from consilience._check import InputError

    outputs, inputs = list(outputs), list(inputs)
    for i, output in enumerate(outputs):
        if any(_is_same(output, other) for other in outputs[:i]):
            raise InputError(f"{output} is named for two outputs: give each its own file")
        for given in inputs:
            if given is not None and _is_same(output, given):
                raise InputError(f"{output} is also read: give the output another name, so that nothing is lost")


def check_tables(*paths: Path | None) -> list[Path]:
    """The tables to write; npy would lose their names."""
    from consilience._check import InputError
    from consilience.reports.files import check_file, check_table_path

    tables = [check_file(check_table_path(path)) for path in paths if path]
    for path in tables:
        if path.suffix.lower() == ".npy":
            raise InputError(f"{path}: an npy file holds no names; write .csv, .tsv or .parquet")
    return tables


def check_pictures(path: Path | None) -> list[Path]:
    """The picture to draw, if one is asked for; refused where there is nothing to draw with."""
    from consilience.reports.figures import new_figure
    from consilience.reports.files import check_figure_path, check_file

    if path is None:
        return []
    new_figure(1, 1)
    return [check_file(check_figure_path(path))]


def print_answer(finding: Any, source: Path) -> None:
    """Print what was found in a file or folder; with --verbose also how it came about."""
    from consilience.reports.terminal import print_finding

    verbose = bool(click.get_current_context().params.get("verbose"))
    print_finding(finding, title=source.name or str(source), verbose=verbose)


def print_json(content: dict[str, Any]) -> None:
    """Print a summary for machines."""
    import json

    from consilience._json import plain

    click.echo(json.dumps(plain(content), indent=2))


def print_written(paths: Iterable[Path]) -> None:
    """Say what was written."""
    for path in paths:
        click.echo(f"wrote {path}")


def _is_same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return os.path.samefile(one, other)
    return one.resolve() == other.resolve()


# Where a command's work is done, and what is said of it: a cluster, a log, words on the way.

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
    words = click.option(
        "--verbose",
        "-v",
        is_flag=True,
        help="Say how the answer came about, and the steps on standard error.",
    )
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
