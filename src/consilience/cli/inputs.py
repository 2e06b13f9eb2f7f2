"""Options shared by verbs that read tables, and the reading itself."""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click
import pandas as pd

from consilience._check import InputError, check_choice, count, nearest
from consilience.ensemble import Ensemble
from consilience.tables import Table, find_id_column, read_table
from consilience.tables.files import Options, open_sheet

F = TypeVar("F", bound=Callable[..., Any])
NAMED = 3  # columns that a warning names


class OneOf(click.Choice):
    """One of the names that there are when the command runs, since methods and measures can be added from outside."""

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self.names, self.case_sensitive = names, True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names."""
        return tuple(self.names())


class Names(click.ParamType):
    """A comma-separated list, quoted as in CSV; with `choices`, each is checked and completed by the shell."""

    name = "NAME,…"

    def __init__(self, choices: Collection[str] = ()) -> None:
        self.choices = choices

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Split at commas that no quotes enclose."""
        if not isinstance(value, str):
            return value
        names = [name.strip() for name in next(csv.reader([value], skipinitialspace=True), [])]
        if not all(names) or not names:
            self.fail("give at least one name, and one between every two commas", param, ctx)
        try:
            for name in names if self.choices else ():
                check_choice(name, self.choices, str(param.name).rstrip("s"))
        except InputError as error:
            self.fail(str(error), param, ctx)
        return names

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[Any]:
        """Complete the name after the last comma."""
        from click.shell_completion import CompletionItem

        done, _, last = incomplete.rpartition(",")
        prefix = f"{done}," if done else ""
        return [CompletionItem(prefix + name) for name in self.choices if name.startswith(last)]


def names_option(*flags: str, choices: Collection[str] = (), **settings: Any) -> Callable[[F], F]:
    """An option of names: in one list, or given several times."""

    def join(ctx: click.Context, param: click.Parameter, lists: tuple[list[str], ...]) -> list[str]:
        names = [name for names in lists for name in names]
        for name in names:
            if names.count(name) > 1:
                raise click.BadParameter(f"{name!r} is named twice.", ctx, param)
        return names

    return click.option(*flags, type=Names(choices), multiple=True, callback=join, **settings)


def table_options(function: F) -> F:
    """How to read a table: id column, columns, separator, header, key."""
    for option in (
        click.option("--key", help="Which array of an npz file."),
        click.option(
            "--header/--no-header",
            default=None,
            is_flag=True,
            help="Whether the first line of a text file holds names.",
        ),
        click.option("--sep", help="Separator of a text file, or 'tab'; by default a comma, and a tab for .tsv."),
        names_option("--columns", help="Keep only these columns."),
        click.option(
            "--id", "id_column", metavar="NAME", help="Column that names the objects; or its position, from 0."
        ),
    ):
        function = option(function)
    return function


def truth_options(function: F) -> F:
    """Known labels: columns of the table itself, or another table."""
    function = click.option(
        "--truth-from",
        type=click.Path(path_type=Path),
        help="A table of known labels for the same objects; matched by --id if given, otherwise in the same order. "
        "For a stored run, --truth names its columns.",
    )(function)
    return names_option("--truth", "-t", help="Known labels: columns of the table, set aside.")(function)


def given_options(function: F) -> F:
    """A grouping that is known already: columns of the table itself, or of another table."""
    function = click.option(
        "--given-from",
        type=click.Path(path_type=Path),
        help="The table that holds --given (all its columns by default), matched as --truth-from is.",
    )(function)
    return names_option("--given", "-g", help="The grouping you know: columns of the table, set aside.")(function)


def check_outputs(outputs: list[Path], inputs: list[Path | None]) -> None:
    """Refuse to write over what is read, or two things to one file."""
    for i, output in enumerate(outputs):
        if any(_is_same(output, other) for other in outputs[:i]):
            raise InputError(f"{output} is named for two outputs: give each its own file")
    for output in outputs:
        for given in inputs:
            if given is not None and _is_same(output, given):
                raise InputError(f"{output} is also read: give the output another name, so that nothing is lost")


def _is_same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return os.path.samefile(one, other)
    return one.resolve() == other.resolve()


def read_ensemble(
    path: Path,
    truth: list[str],
    truth_from: Path | None = None,
    *,
    id_column: str | None,
    columns: list[str],
    key: str | None,
    **text: Any,
) -> tuple[Ensemble, dict[str, Any]]:
    """An ensemble from a store or a table of labels, and the known labelings by name."""
    known: dict[str, Any] = {}
    if path.is_dir():
        reading = [] if truth_from else [id_column, *text.values(), *truth]
        if columns or key or any(option is not None for option in reading):
            raise InputError(
                f"{path} is a stored run: --truth, --id, --columns, --sep, --header and --key are for tables; known "
                "labels of its objects come with --truth-from"
            )
        ensemble = Ensemble.load(path)
    else:
        how = {"id_column": id_column, "columns": columns or None, "key": key, **text}
        table = read_table(path, kind="labels", known=truth, **how)
        ensemble, known = _ensemble(path, table), by_name(table.labels)
    if truth_from is not None:
        chosen = truth if path.is_dir() else []  # which of its columns; of a table they are its own
        known = joined(known, labels_from(truth_from, ensemble, path, id_column, chosen, text), truth_from, path)
    return ensemble, known


def read_data(
    path: Path,
    kind: str,
    given: list[str],
    given_from: Path | None,
    truth: list[str],
    truth_from: Path | None = None,
    *,
    id_column: str | None,
    columns: list[str],
    key: str | None,
    **text: Any,
) -> tuple[Table, dict[str, Any], dict[str, Any]]:
    """A table of data or counts, the given groupings and the known labelings, by name."""
    here = [] if given_from else given
    if both := [name for name in here if name in truth]:
        raise InputError(f"{both[0]!r} is named by --given and by --truth: leave it out of one")
    how = {"id_column": id_column, "columns": columns or None, "key": key, **text}
    table = read_table(path, kind=kind, known=[*here, *truth], **how)
    aside = pd.DataFrame() if table.labels is None else table.labels
    groups, known = by_name(aside.iloc[:, : len(here)]), by_name(aside.iloc[:, len(here) :])
    if given_from is not None:
        groups = labels_from(given_from, table, path, id_column, given, text)
    if truth_from is not None:
        known = joined(known, labels_from(truth_from, table, path, id_column, [], text), truth_from, path)
    return table, groups, known


def split_truth(truth: list[str], labels: Path, data: Path, text: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Which known labels are columns of a table of labels, and which of the data beside it; a name may be in both."""
    there = [
        open_sheet(path, Options("labels", **_text_of(path, data, text))).column_names() for path in (labels, data)
    ]
    for name in truth:
        if not any(name in names for names in there):
            near = nearest(name, [*there[0], *there[1]])
            hint = f": did you mean {near[0]!r}?" if near else ""
            raise InputError(f"--truth {name!r} is no column of {labels} or {data}{hint}")
    mine, theirs = ([name for name in truth if name in names] for names in there)
    return mine, theirs


def _text_of(path: Path, data: Path, text: dict[str, Any]) -> dict[str, Any]:
    """How to read a text file, where it was said of one like it."""
    return {name: text.get(name) for name in ("header", "sep")} if path.suffix == data.suffix else {}


def labels_from(
    source: Path, objects: Ensemble | Table, path: Path, id_column: str | None, columns: list[str], text: dict[str, Any]
) -> dict[str, Any]:
    """Labels of the objects in another table, matched by id if there is one."""
    if path.suffix != source.suffix and not path.is_dir():
        text = {}  # how to read one kind of file says nothing of another
    if id_column is None and objects.ids is not None:
        id_column = find_id_column(source, objects.ids, **text)
    table = read_table(source, kind="labels", id_column=id_column, columns=columns or None, **text)
    return by_name(_match(table, objects, source) if id_column is not None else table.values)


def joined(known: dict[str, Any], found: dict[str, Any], source: Path, path: Path) -> dict[str, Any]:
    """Known labels of two tables; no name may be in both."""
    if twice := sorted(set(found) & set(known)):
        raise InputError(f"{source}: known labels {twice[0]!r} are also in {path}: rename one of the two")
    return known | found


def by_name(frame: pd.DataFrame | None) -> dict[str, Any]:
    """The columns of labels by their names."""
    return {} if frame is None else {str(name): frame[name].to_numpy() for name in frame.columns}


def _match(table: Table, objects: Ensemble | Table, path: Path) -> pd.DataFrame:
    """The rows of a table in the order of the objects, by id; None where it has no such row."""
    if objects.ids is None:
        raise InputError(f"{path}: cannot be matched by --id, since the run has no object ids: leave --id out")
    places = pd.Index([str(i) for i in table.ids]).get_indexer([str(i) for i in objects.ids])  # type: ignore[union-attr]
    lost = int((places < 0).sum())
    if lost == len(places):
        raise InputError(f"{path}: names none of the objects: is --id the right column?")
    if lost:
        warnings.warn(f"{path}: {count(lost, 'object')} not in it: no known labels", stacklevel=2)
    frame = table.values.astype(object).iloc[places].reset_index(drop=True)
    frame.loc[places < 0] = None
    return frame


def _ensemble(path: Path, table: Table) -> Ensemble:
    try:
        ensemble = Ensemble(table)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    many = [name for name, k in zip(ensemble.names, ensemble.n_clusters, strict=True) if 2 * k > ensemble.n_objects > 4]
    if many:
        named = ", ".join(repr(name) for name in many[:NAMED])
        more = f" and {len(many) - NAMED:,} more" if len(many) > NAMED else ""
        k = f"{ensemble.n_clusters.max()} different labels for {count(ensemble.n_objects, 'object')}"
        has = f"column {named} has {k}" if len(many) == 1 else f"columns {named}{more} have up to {k}"
        warnings.warn(
            f"{path}: {has}; if it names the objects, say --id {many[0]}; if it is measured data, it is no clustering",
            stacklevel=2,
        )
    return ensemble
