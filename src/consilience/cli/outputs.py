"""Files that a verb reads and writes, looked at before the work; what it prints after it, and on the way."""

import contextlib
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from consilience.cli.errors import say

F = TypeVar("F", bound=Callable[..., Any])


class Input(click.Path):
    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path.exists() or value == "-" or (ctx is not None and ctx.resilient_parsing):
            return path
        from consilience._check import InputError

        raise InputError(f"{path.name}: no such file or folder in {path.parent.resolve()}: check the path")


class Output(click.Path):
    """What is written: "table", "matrix", "picture", "page", "result", "model" or "folder"; its place is looked at before."""

    def __init__(self, kind: str) -> None:
        super().__init__(path_type=Path, file_okay=kind != "folder")
        self.kind = kind

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        return path if ctx is not None and ctx.resilient_parsing else check_place(path, self.kind)


def check_place(path: Path, kind: str) -> Path:
    from consilience._check import InputError
    from consilience.ensemble.results import check_new_folder
    from consilience.reports import files

    if kind == "result":
        return check_new_folder(path)
    if kind == "model":
        check_new_folder(path)
    elif kind == "page":
        from consilience.reports.report import check_places

        check_places(path, None, ())
    elif kind == "picture":
        from consilience.reports.figures import new_figure

        new_figure(1, 1)  # refused where there is nothing to draw with
        files.check_file(files.check_figure_path(path))
    elif kind == "matrix":  # of each measure: whose file is that with its name
        files.check_table_path(path)
    elif kind == "table":
        files.check_file(files.check_table_path(path))
        if path.suffix.lower() == ".npy":
            raise InputError(f"{path}: an npy file holds no names; write .csv, .tsv or .parquet")
    return path


def check_apart(*more: Path) -> None:
    """Refuse to write over what is read, or two things to one file; `more` is written beside what options name."""
    outputs, inputs = [*_paths(Output), *more], _paths(Input)
    if not outputs:
        return
    from consilience._check import InputError

    if names := click.get_current_context().params.get("names"):  # of columns: a file, or a vector of one
        inputs.append(Path(names))
    for i, output in enumerate(outputs):
        if any(_is_same(output, other) for other in outputs[:i]):
            raise InputError(f"{output} is named for two outputs: give each its own file")
        if any(_is_same(output, given) for given in inputs):
            raise InputError(f"{output} is also read: give the output another name, so that nothing is lost")


def _paths(kind: type[click.Path]) -> list[Path]:
    """The paths that this command was given for options of a type."""
    ctx = click.get_current_context()
    params = [param for param in ctx.command.params if isinstance(param.type, kind)]
    values = [ctx.params.get(str(param.name)) for param in params]
    return [one for value in values for one in (value if isinstance(value, tuple) else (value,)) if one is not None]


def _is_same(one: Path, other: Path) -> bool:
    return os.path.samefile(one, other) if one.exists() and other.exists() else one.resolve() == other.resolve()


def tell(
    source: Path,
    describe: Callable[..., Any],
    summarize: Callable[..., dict[str, Any]],
    *found: Any,
    more: dict[str, Any] | None = None,
    notices: Any = None,
    standardize: bool | None = None,
    own_scales: bool = False,
    written: Iterable[Path] | None = None,
    **about: Any,
) -> bool:
    """Print what was found in a file or folder, for people or, with `more` of it, as JSON; whether it was for people."""
    from consilience.cli.inputs import print_notices
    from consilience.reports.terminal import print_finding

    ctx = click.get_current_context()
    if ctx.meta.get("as_json"):
        from json import dumps

        from consilience._json import plain

        click.echo(dumps(plain({"source": str(source), **(more or {}), **summarize(*found, **about)}), indent=2))
        return False
    print_finding(describe(*found, **about), title=source.name or str(source), verbose=bool(ctx.params.get("verbose")))
    print_notices(notices, standardize=standardize, own_scales=own_scales)
    for path in _paths(Output) if written is None else written:
        click.echo(f"wrote {path}")
    return True


# Where a command's work is done, and what is said of it: a cluster, a log, words on the way.


def runs(function: F) -> F:
    @wraps(function)
    def command(*args: Any, scheduler: str | None, log_file: Path | None, verbose: bool, **given: Any) -> Any:
        with _running(scheduler, log_file, verbose):
            return function(*args, **given)

    added: Any = command
    place = click.Path(path_type=Path, dir_okay=False)
    where = "Do the work on a Dask cluster: tcp://host:8786, or local:4 for four worker processes on this machine."
    log = "Add a line of JSON for every piece of work to this file: seconds, memory, worker."
    words = "Say how the answer came about, and the steps on standard error."
    for option in (
        click.option("--verbose", "-v", is_flag=True, help=words),
        click.option("--log", "log_file", type=place, help=log),
        click.option("--scheduler", metavar="ADDRESS", help=where),
        click.option("--jobs", "-j", "n_jobs", default=1, show_default=True, help="Threads; -1 for all cores."),
    ):
        added = option(added)
    return cast(F, added)


@contextlib.contextmanager
def _running(scheduler: str | None, log_file: Path | None, verbose: bool) -> Iterator[None]:
    from consilience._run.progress import logging_to

    if log_file is not None:
        from consilience.reports.files import check_file

        check_file(log_file)
    with contextlib.ExitStack() as stack:
        if scheduler is not None:
            from consilience._run.parallel import on_cluster

            # Dask's event loop complains if Ctrl-C comes between two of its lines, beside our sentence.
            logging.getLogger("tornado.application").setLevel(logging.CRITICAL)
            client = stack.enter_context(_connected(scheduler))
            stack.enter_context(on_cluster(client))
        verb = click.get_current_context().info_name or "consilience"
        stack.enter_context(logging_to(log_file, verb, _say if verbose else None))
        yield


@contextlib.contextmanager
def _connected(address: str) -> Iterator[Any]:
    try:
        from consilience._run.dask_cluster import connect
    except ImportError as error:
        raise ImportError("--scheduler needs Dask: pip install 'consilience[dask]'") from error
    with connect(address) as client:
        with contextlib.suppress(Exception):  # a courtesy: the work tells of a scheduler that is lost
            if find_spec("bokeh") is not None and (link := client.dashboard_link):
                say(f"the work can be watched at {link}")
        yield client


def _say(line: dict[str, Any]) -> None:
    """A line of the log for people; single tasks, and clusterings that were made, are too many to be said."""
    memory = f", {line['peak_mb']:,.0f} MB" if "peak_mb" in line else ""
    if line["what"] == "step":
        number = f"{line['n']:,} of {line['of']:,} in " if "n" in line else ""
        say(f"{line['name']}: {number}{line['seconds']:.2f} s{memory}")
    elif line["what"] == "end":
        say(f"{line['verb']}: {line['status']} after {line['seconds']:.2f} s{memory}")
    elif line["what"] == "clustering" and line["status"] == "failed":
        say(f"clustering {line['unit']} could not be made: {line['note']}")
