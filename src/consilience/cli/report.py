"""consilience report: one HTML file about a run, a table of labels or a saved result."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Collection
from pathlib import Path
from typing import Any

import click

from consilience.cli import options

PARSED = ("header", "sep", "decimal", "encoding", "id_column", "columns")  # what says how to read a table of labels
OF_DATA = ("data", "data_id", "data_columns", "data_key")


@click.command("report", cls=options.Verb, terms=("confidence", "support", "floater"))
@click.argument("source", type=options.INPUT, is_eager=True)
@click.argument("page", type=options.FILE, required=False)
@options.data_options
@click.option("--n-groups", "-g", type=options.Number("auto"), help="How many groups of clusterings.")
@options.choice_option(
    "--linkage", of="consilience.meta.tree:LINKAGES", help="How their tree is grown; Ward's method by default."
)
@options.consensus_options(
    "Clusters of a consensus; by default the median of its clusterings. 'auto' looks for the number of the consensus of all.",
    "How clusterings are combined.",
)
@options.shuffles_option
@click.option(
    "--kind",
    type=click.Choice(["auto", "data", "labels"]),
    default="auto",
    show_default=True,
    help="What a table holds: 'auto' takes columns of few whole numbers or names for labels. Data is clustered first.",
)
@click.option(
    "--names",
    help="Names of the columns of data, such as words: a vector of its npz file, or a text file with one a line.",
)
@click.option("--title", help="Of the page.")
@click.option(
    "--figures", type=options.FOLDER, help="Folder for every figure as PNG and SVG, and every table, whole, as CSV."
)
@options.block(
    options.more_option, options.known_options, options.seed_option, options.jobs_option, options.table_options
)
@click.pass_context
def command(
    ctx: click.Context,
    source: Path,
    page: Path | None,
    kind: str,
    names: str | None,
    title: str | None,
    figures: Path | None,
    data: Path | None,
    more: tuple[Path, ...],
    known_from: Path | None,
    n_groups: Any,
    linkage: str | None,
    n_clusters: Any,
    method: str | None,
    n_shuffles: int,
    seed: int,
    n_jobs: int,
    **how: Any,
) -> None:
    """Write PAGE, an HTML file that needs nothing beside it, about SOURCE: a stored run, labels, a saved result, or a table.

    A table of measurements is clustered first, as cluster does. Without PAGE, the page is called after SOURCE.

    Of a run, --known, --id and the like are those of the --data table, or of --known-from.

    \b
    consilience report customers.csv
    consilience report run report.html --data beads.csv --id bead -t shape,color
    consilience report labels.csv report.html --id cell -t type --figures figures
    consilience report labels.csv report.html --id cell --data cells.h5ad -t type
    consilience report model report.html --data customers.csv
    """
    from dataclasses import replace

    from consilience._check import InputError, printable
    from consilience.cli.inputs import open_clusterings, open_data, print_notices
    from consilience.ensemble.results import saved_kind
    from consilience.inputs.known import read_names
    from consilience.reports.report import check_places, cluster_table, is_table_of_data, make_report, write_report

    inputs = [path for path in (source, *more, data, known_from) if path is not None]
    page = Path(f"{source.resolve().name.split('.')[0]}_report.html") if page is None else page
    page, folder = check_places(page, figures, inputs)
    data_kind = "counts" if source.is_dir() and saved_kind(source) == "Agreement" else "data"
    asked: dict[str, Any] = {"n_clusters": n_clusters, "method": method}
    reading = {name: value for name, value in how.items() if name in PARSED and value not in (None, [])}
    if how["known"] and known_from is None:
        reading["known"] = how["known"]
    turned = bool(how["transpose"]) and data is None  # only tables of data are
    is_data = (
        kind == "data" or turned or (kind == "auto" and data is None and not more and is_table_of_data(source, reading))
    )
    if is_data and more:
        raise InputError(
            "--with names more files of clusterings, and --kind data is about one table: leave one of them out"
        )
    if is_data:
        if beside := [f"--{name.replace('_', '-')}" for name in OF_DATA if ctx.params[name]]:
            raise InputError(
                f"{beside[0]} is of the data of clusterings, and {source} is taken for data itself: leave it out, or say --kind labels"
            )
        shared = {name: value for name, value in how.items() if name not in OF_DATA}
        opened = cluster_table(
            open_data(source, "data", known_from=known_from, **shared)[0], n_clusters, method, seed, n_jobs
        )
        asked = {}
    else:
        opened = open_clusterings(source, known_from=known_from, more=more, data=data, data_kind=data_kind, **how)
    if names is not None:
        if opened.data is None:
            raise InputError("--names are those of the columns of the data, and there is none: give it too (--data)")
        opened = replace(opened, data=replace(opened.data, columns=read_names(data or source, names, opened.data)))
    made = make_report(
        opened.result,
        opened.provenance,
        data=opened.data,
        known=opened.known,
        command=command_line(ctx),
        n_groups=n_groups,
        linkage=linkage,
        n_shuffles=n_shuffles,
        seed=seed,
        n_jobs=n_jobs,
        id_name=opened.id_name,
        **asked,
    )
    written = write_report(made, page, folder, inputs=inputs, title=title)
    size = page.stat().st_size
    if is_data:
        click.echo(
            f"{printable(source.name)} is taken for measurements (--kind says otherwise) and was clustered first, as consilience cluster "
            "does; consilience explore shows other ways to group it."
        )
    click.echo(f"wrote {page}, {f'{size / 1e6:.1f} MB' if size >= 1e6 else f'{size / 1e3:.0f} kB'}")
    if figures is not None:
        click.echo(f"wrote {len(written) - 1} files of figures and tables to {figures}")
    print_notices(opened)


def command_line(ctx: click.Context) -> str:
    """The command as it was given, to be typed again: arguments first, then the options that were set."""
    given = [
        str(ctx.params[str(one.name)])
        for one in ctx.command.params
        if isinstance(one, click.Argument) and _typed(ctx, one)
    ]
    return shlex.join(["consilience", str(ctx.info_name), *given, *typed_options(ctx)])


def typed_options(ctx: click.Context, only: Collection[str] | None = None) -> list[str]:
    """The options that were set, or some of them by the names of their parameters, to be typed again."""
    options: list[str] = []
    for parameter in ctx.command.params:
        if isinstance(parameter, click.Argument) or not _typed(ctx, parameter):
            continue
        if only is not None and parameter.name not in only:
            continue
        value, name = ctx.params[str(parameter.name)], parameter.opts[0]
        if isinstance(value, dict):
            options += [name, list_names([f"{key}={kind}" for key, kind in value.items()])]
        elif isinstance(value, tuple):
            options += [part for one in value for part in (name, str(one))]
        elif isinstance(value, bool):
            options.append(name if value else parameter.secondary_opts[0])
        else:
            options += [name, list_names(value) if isinstance(value, list) else str(value)]
    return options


def _typed(ctx: click.Context, parameter: click.Parameter) -> bool:
    return ctx.get_parameter_source(str(parameter.name)) is not click.core.ParameterSource.DEFAULT


def list_names(names: list[str]) -> str:
    """Names in one option, quoted as in CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()
