"""consilience report: one HTML file about a run, a table of labels or a saved agreement."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path
from typing import Any

import click

from consilience._check import InputError
from consilience.agreement import Agreement
from consilience.cli.combine import Clusters
from consilience.cli.inputs import OneOf, by_name, labels_from, read_ensemble, split_truth, table_options, truth_options
from consilience.consensus import METHODS
from consilience.meta.tree import LINKAGES
from consilience.opening import Provenance, open_source
from consilience.reports.report import check_places, make_report, write_report
from consilience.tables import Table, match_rows, read_table
from consilience.tables.files import Options, open_sheet

FILE = click.Path(path_type=Path)


@click.command("report", short_help="One HTML file: what was done, what was found, how sure it is.")
@click.argument("source", type=FILE)
@click.argument("page", type=FILE)
@click.option(
    "--data", type=FILE, help="The table that was clustered: effect sizes, compactness, pictures of the data."
)
@click.option("--groups", "-g", "n_groups", type=Clusters("auto"), help="How many groups of clusterings.")
@click.option("--linkage", type=click.Choice(LINKAGES), help="How their tree is grown; ward by default.")
@click.option(
    "--clusters",
    "-k",
    "n_clusters",
    type=Clusters("auto", "stable"),
    help="Clusters of a consensus; by default the median of its clusterings.",
)
@click.option(
    "--method",
    type=OneOf(lambda: ("auto", *METHODS)),
    help="How clusterings are combined; vote by default, and sccc for an agreement.",
)
@click.option(
    "--shuffles",
    "n_shuffles",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Shuffles that the best group is held against (with known labels).",
)
@click.option("--title", help="Of the page.")
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for every figure as PNG and SVG, and every table, whole, as CSV.",
)
@truth_options
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("--jobs", "-j", "n_jobs", type=int, default=1, show_default=True, help="Threads; -1 for all cores.")
@table_options
@click.pass_context
def command(
    ctx: click.Context,
    source: Path,
    page: Path,
    data: Path | None,
    title: str | None,
    figures: Path | None,
    truth: list[str],
    truth_from: Path | None,
    id_column: str | None,
    columns: list[str],
    sep: str | None,
    header: bool | None,
    key: str | None,
    **settings: Any,
) -> None:
    """Write PAGE, an HTML file that needs nothing beside it, about SOURCE: a stored run, labels, or a saved agreement.

    Of a run, --truth, --id and the like are those of the --data table, or of --truth-from.

    \b
    consilience report run report.html --data beads.csv --id bead --truth shape,color -g 6 --linkage ward
    consilience report labels.csv report.html --id cell --truth type --figures figures
    """
    inputs = [path for path in (source, data, truth_from) if path is not None]
    page, folder = check_places(page, figures, inputs)
    how: dict[str, Any] = {"id_column": id_column, "columns": columns, "key": key, "sep": sep, "header": header}
    if source.is_dir():
        result, origin, table, known = _of_folder(source, data, truth, truth_from, how)
    else:
        result, origin, table, known = _of_labels(source, data, truth, truth_from, how)
    made = make_report(result, origin, data=table, known=known, command=command_line(ctx), **settings)
    written = write_report(made, page, folder, inputs=inputs, title=title)
    click.echo(f"wrote {page}, {page.stat().st_size / 1e6:.1f} MB")
    if figures is not None:
        click.echo(f"wrote {len(written) - 1} files of figures and tables to {figures}")


def _of_labels(
    source: Path, data: Path | None, truth: list[str], truth_from: Path | None, how: dict[str, Any]
) -> tuple[Any, Provenance, Table | None, dict[str, Any]]:
    """A table of labels, with the data and known labels of its objects; --columns and --key are of the data where it is given."""
    mine, theirs = (truth, []) if data is None else split_truth(truth, source, data, how)
    own = how if data is None else {**how, "columns": [], "key": None}
    if data is not None and data.suffix != source.suffix:
        own = {**own, "sep": None, "header": None}
    result, known = read_ensemble(source, mine, truth_from, **own)
    load = f"cs.Ensemble(cs.tables.read_table({str(source)!r}, kind='labels', id_column={how['id_column']!r}))"
    if data is None:
        return result, Provenance(source.name, source.name, code=load), None, known
    table = match_rows(_data(data, "data", theirs, how, all_there=True), result.ids, result.n_objects)
    return result, Provenance(source.name, source.name, code=load), table, {**by_name(table.labels), **known}


def _of_folder(
    source: Path, data: Path | None, truth: list[str], truth_from: Path | None, how: dict[str, Any]
) -> tuple[Any, Provenance, Table | None, dict[str, Any]]:
    """A run or an agreement, with the data and known labels of its objects."""
    if data is None and truth_from is None and (truth or any(value for value in how.values())):
        raise InputError(
            f"{source} is a folder of clusterings: --truth, --id, --columns, --sep, --header and --key are of the table named "
            "with --data or --truth-from"
        )
    opened = open_source(source)
    result, origin = opened.result, opened.provenance
    objects = result.after.rows if isinstance(result, Agreement) else result
    known: dict[str, Any] = {}
    if truth_from is not None:
        text = {"sep": how["sep"], "header": how["header"]}
        known = labels_from(truth_from, objects, source, how["id_column"], truth, text)
    if data is None:
        return result, origin, None, known
    table = _data(data, "counts" if isinstance(result, Agreement) else "data", truth, how, all_there=truth_from is None)
    table = match_rows(table, objects.ids, objects.n_objects)
    return result, origin, table, known if truth_from is not None else by_name(table.labels)


def _data(path: Path, kind: str, truth: list[str], how: dict[str, Any], *, all_there: bool = False) -> Table:
    """The table that was clustered; columns of known labels, as far as it has them, are no data."""
    aside = truth
    if truth and not all_there:
        there = open_sheet(path, Options("labels", how.get("header"), how.get("sep"))).column_names()
        aside = [name for name in truth if name in there]
    return read_table(path, kind=kind, known=aside, **{**how, "columns": how.get("columns") or None})


def command_line(ctx: click.Context) -> str:
    """The command as it was given, to be typed again: arguments first, then the options that were set."""
    words, options = ["consilience", str(ctx.info_name)], []
    for parameter in ctx.command.params:
        value, name = ctx.params[str(parameter.name)], parameter.opts[0]
        if ctx.get_parameter_source(str(parameter.name)) is click.core.ParameterSource.DEFAULT:
            continue
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif isinstance(value, bool):
            options.append(name if value else parameter.secondary_opts[0])
        else:
            options += [name, _listed(value) if isinstance(value, list) else str(value)]
    return shlex.join([*words, *options])


def _listed(names: list[str]) -> str:
    """Names in one option, quoted as in CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()
