"""consilience report: one HTML file about a run, a table of labels or a saved result."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path
from typing import Any

import click

from consilience.cli import options


@click.command("report")
@click.argument("source", type=options.FILE)
@click.argument("page", type=options.FILE)
@options.data_options
@click.option("--n-groups", "-g", type=options.Number("auto"), help="How many groups of clusterings.")
@options.choice_option(
    "--linkage", of="consilience.meta.tree:LINKAGES", help="How their tree is grown; Ward's method by default."
)
@options.consensus_options(
    "Clusters of a consensus; by default the median of its clusterings. 'auto' looks for the number of the consensus of all.",
    "How clusterings are combined; evidence by default, and sccc for an agreement.",
)
@options.shuffles_option
@click.option("--title", help="Of the page.")
@click.option(
    "--figures", type=options.FOLDER, help="Folder for every figure as PNG and SVG, and every table, whole, as CSV."
)
@options.block(options.known_options, options.seed_option, options.jobs_option, options.table_options)
@click.pass_context
def command(
    ctx: click.Context,
    source: Path,
    page: Path,
    title: str | None,
    figures: Path | None,
    data: Path | None,
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
    """Write PAGE, an HTML file that needs nothing beside it, about SOURCE: a stored run, labels, or a saved result.

    Of a run, --known, --id and the like are those of the --data table, or of --known-from.

    \b
    consilience report run report.html --data beads.csv --id bead --known shape,color -g 6
    consilience report labels.csv report.html --id cell --known type --figures figures
    consilience report labels.csv report.html --id cell --data cells.h5ad --known type
    consilience report model report.html --data customers.csv
    """
    from consilience._check import InputError
    from consilience.cli.inputs import open_clusterings, print_notices
    from consilience.opening import guess
    from consilience.reports.report import check_places, make_report, write_report
    from consilience.results import saved_kind

    inputs = [path for path in (source, data, known_from) if path is not None]
    page, folder = check_places(page, figures, inputs)
    data_kind = "counts" if source.is_dir() and saved_kind(source) == "Agreement" else "data"
    try:
        opened = open_clusterings(source, known_from=known_from, data=data, data_kind=data_kind, **how)
    except InputError as error:
        if source.is_file() and guess(source, {}) == "data" and data is None:
            first = f"consilience cluster {shlex.quote(str(source))} --report {shlex.quote(str(page))}"
            raise InputError(f"{error}; if it is a table of measurements, cluster it: {first}") from None
        raise
    made = make_report(
        opened.result,
        opened.provenance,
        data=opened.data,
        known=opened.known,
        command=command_line(ctx),
        n_groups=n_groups,
        linkage=linkage,
        n_clusters=n_clusters,
        method=method,
        n_shuffles=n_shuffles,
        seed=seed,
        n_jobs=n_jobs,
    )
    written = write_report(made, page, folder, inputs=inputs, title=title)
    size = page.stat().st_size
    click.echo(f"wrote {page}, {f'{size / 1e6:.1f} MB' if size >= 1e6 else f'{size / 1e3:.0f} kB'}")
    if figures is not None:
        click.echo(f"wrote {len(written) - 1} files of figures and tables to {figures}")
    print_notices(opened)


def command_line(ctx: click.Context) -> str:
    """The command as it was given, to be typed again: arguments first, then the options that were set."""
    words, options = ["consilience", str(ctx.info_name)], []
    for parameter in ctx.command.params:
        value, name = ctx.params[str(parameter.name)], parameter.opts[0]
        if ctx.get_parameter_source(str(parameter.name)) is click.core.ParameterSource.DEFAULT:
            continue
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif isinstance(value, dict):
            options += [name, _listed([f"{key}={kind}" for key, kind in value.items()])]
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
