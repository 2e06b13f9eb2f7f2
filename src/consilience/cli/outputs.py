"""What a verb writes and prints: checked before the work, told after it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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
