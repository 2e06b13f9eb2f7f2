"""Options shared by verbs that read tables, and the reading itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from consilience._check import InputError
from consilience.ensemble import Ensemble
from consilience.tables import read_table

F = TypeVar("F", bound=Callable[..., Any])


class Names(click.ParamType):
    """A comma-separated list; with `choices`, each of them is checked and completed by the shell."""

    name = "NAME,…"

    def __init__(self, choices: tuple[str, ...] = ()) -> None:
        self.choices = choices

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Split at commas."""
        from consilience._check import check_choice

        if not isinstance(value, str):
            return value
        names = [name.strip() for name in value.split(",") if name.strip()]
        if not names:
            self.fail("give at least one name", param, ctx)
        if self.choices:
            for name in names:
                try:
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


def table_options(function: F) -> F:
    """How to read a table: id column, separator, header, key."""
    for option in (
        click.option("--key", help="Which array of an npz file."),
        click.option("--no-header", is_flag=True, help="The text file has no line of column names."),
        click.option("--sep", help="Column separator of a text file; by default a comma, or a tab for .tsv."),
        click.option("--id", "id_column", help="Column that names the objects."),
    ):
        function = option(function)
    return function


def read_ensemble(
    path: Path, truth: list[str], *, id_column: str | None, sep: str | None, no_header: bool, key: str | None
) -> tuple[Ensemble, dict[str, Any]]:
    """An ensemble from a store or a table of labels, and the known labellings set aside by name."""
    if path.is_dir():
        if truth or id_column or sep or no_header or key:
            raise InputError(f"{path} is a stored run: --truth, --id, --sep, --no-header and --key are for tables")
        return Ensemble.load(path), {}
    table = read_table(
        path,
        kind="labels",
        id_column=id_column,
        label_columns=truth,
        sep=sep,
        header=False if no_header else None,
        key=key,
    )
    known = {} if table.labels is None else {str(name): table.labels[name] for name in table.labels.columns}
    if not table.values.shape[1]:
        raise InputError(f"{path}: no column of labels is left to compare")
    try:
        ensemble = Ensemble(table.values, ids=table.ids)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    for name, k in zip(ensemble.info["name"], ensemble.n_clusters, strict=True):
        if 2 * k > ensemble.n_objects > 4:
            warnings.warn(
                f"{path}: column {name!r} has {k} different labels for {ensemble.n_objects} objects; "
                f"if it names the objects, say --id {name}; if it is measured data, it is no clustering",
                stacklevel=2,
            )
    return ensemble, known
