"""consilience report: one HTML file about a run, a table of labels or a saved result."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path
from typing import Any

import click

from consilience.cli.options import (
    FILE,
    FOLDER,
    Number,
    OneOf,
    block,
    data_options,
    jobs_option,
    known_options,
    seed_option,
    table_options,
)


@click.command("report")
@click.argument("source", type=FILE)
@click.argument("page", type=FILE)
@data_options
@click.option("--n-groups", "-g", type=Number("auto"), help="How many groups of clusterings.")
@click.option(
    "--linkage", type=OneOf("consilience.meta.tree:LINKAGES"), help="How their tree is grown; Ward's method by default."
)
@click.option(
    "--n-clusters",
    "-k",
    type=Number("auto", "stable"),
    help="Clusters of a consensus; by default the median of its clusterings.",
)
@click.option(
    "--method",
    type=OneOf("consilience.consensus:METHODS", "auto"),
    help="How clusterings are combined; vote by default, and sccc for an agreement.",
)
@click.option(
    "--n-shuffles",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Shuffles that the best group is compared with (with known labels).",
)
@click.option("--title", help="Of the page.")
@click.option("--figures", type=FOLDER, help="Folder for every figure as PNG and SVG, and every table, whole, as CSV.")
@block(known_options, seed_option, jobs_option, table_options)
@click.pass_context
def command(
    ctx: click.Context,
    source: Path,
    page: Path,
    title: str | None,
    figures: Path | None,
    data: Path | None,
    data_id: str | None,
    data_columns: list[str],
    data_key: str | None,
    known: list[str],
    known_from: Path | None,
    known_id: str | None,
    id_column: str | None,
    columns: list[str],
    sep: str | None,
    header: bool | None,
    key: str | None,
    **settings: Any,
) -> None:
    """Write PAGE, an HTML file that needs nothing beside it, about SOURCE: a stored run, labels, or a saved result.

    Of a run, --known, --id and the like are those of the --data table, or of --known-from.

    \b
    consilience report run report.html --data beads.csv --id bead --known shape,color -g 6
    consilience report labels.csv report.html --id cell --known type --figures figures
    consilience report labels.csv report.html --id cell --data cells.h5ad --known type
    """
    from consilience.cli.inputs import open_clusterings, print_notices
    from consilience.reports.report import check_places, make_report, write_report
    from consilience.results import saved_kind

    inputs = [path for path in (source, data, known_from) if path is not None]
    page, folder = check_places(page, figures, inputs)
    how: dict[str, Any] = {"id_column": id_column, "columns": columns, "key": key, "sep": sep, "header": header}
    counts = source.is_dir() and saved_kind(source) == "Agreement"
    opened = open_clusterings(
        source,
        known,
        known_from,
        known_id,
        data=data,
        data_id=data_id,
        data_columns=data_columns,
        data_key=data_key,
        data_kind="counts" if counts else "data",
        **how,
    )
    made = make_report(
        opened.result, opened.provenance, data=opened.data, known=opened.known, command=command_line(ctx), **settings
    )
    written = write_report(made, page, folder, inputs=inputs, title=title)
    click.echo(f"wrote {page}, {page.stat().st_size / 1e6:.1f} MB")
    if figures is not None:
        click.echo(f"wrote {len(written) - 1} files of figures and tables to {figures}")
    print_notices(opened.data)


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
