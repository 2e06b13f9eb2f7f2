"""consilience contrast: a grouping that tells something else than the one you know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pandas as pd

from consilience._check import InputError
from consilience.alternatives import BASES, contrast
from consilience.alternatives.bases import COUNTS
from consilience.alternatives.condens import COMBINATIONS
from consilience.cli.inputs import check_outputs, given_options, read_data, table_options, truth_options
from consilience.reports import write_table
from consilience.reports.alternatives import contrast_summary, contrast_table, draw_contrast, print_contrast
from consilience.reports.files import check_figure_path, check_table_path
from consilience.tables import SCALES, scale


@click.command("contrast", short_help="A new grouping beside the one you know.")
@click.argument("data", type=click.Path(path_type=Path))
@given_options
@click.option("--clusters", "-k", type=int, required=True, help="How many new clusters.")
@click.option(
    "--base",
    type=click.Choice(list(BASES)),
    default="kmeans",
    show_default=True,
    help=f"What splits the known groups; {', '.join(COUNTS)} take counts.",
)
@click.option(
    "--combine",
    type=click.Choice(COMBINATIONS),
    default="information",
    show_default=True,
    help="How the splits of all groups become one clustering.",
)
@click.option("--centre", is_flag=True, help="Take the means of the known groups out of the columns first.")
@click.option(
    "--scale",
    "how_scaled",
    type=click.Choice(list(SCALES)),
    help="Columns to one spread, rows to one length, or for counts: square roots, tf-idf.",
)
@click.option("--restarts", type=int, default=10, show_default=True, help="Runs of the base in every group, all used.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="Write object, cluster and confidence (.csv, .tsv, .parquet).",
)
@click.option(
    "--figure",
    type=click.Path(path_type=Path),
    help="Draw both groupings (.png, .svg, .pdf); needs the extra 'plots'.",
)
@truth_options
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--jobs", "-j", "n_jobs", type=int, default=1, show_default=True, help="Threads; -1 for all cores.")
@table_options
def command(
    data: Path,
    given: list[str],
    given_from: Path | None,
    clusters: int,
    base: str,
    combine: str,
    centre: bool,
    how_scaled: str | None,
    restarts: int,
    output: Path | None,
    figure: Path | None,
    truth: list[str],
    truth_from: Path | None,
    seed: int,
    as_json: bool,
    n_jobs: int,
    **how: Any,
) -> None:
    """Group the objects in DATA in a new way: good, and unlike the grouping you know.

    DATA is a table with one row per object: measured values, or counts for the bases that take them.

    \b
    consilience contrast beads.csv --id bead --given shape --truth colour -k 4 --scale columns
    consilience contrast words.mtx --given topic --given-from labels.csv -k 4 --base multinomial
    """
    tables = [check_table_path(output)] if output else []
    if output and output.suffix.lower() == ".npy":
        raise InputError(f"{output}: an npy file holds no names; write .csv, .tsv or .parquet")
    pictures = [check_figure_path(figure)] if figure else []
    check_outputs([*tables, *pictures], [data, given_from, truth_from])
    counts = base in COUNTS
    if counts and how_scaled:
        raise InputError(
            f"--base {base} takes counts as they are: leave out --scale {how_scaled}, or use --base kmeans"
        )
    table, groups, known = read_data(data, "counts" if counts else "data", given, given_from, truth, truth_from, **how)
    X = scale(table.values, how_scaled) if how_scaled else table.values
    result = contrast(
        X,
        pd.DataFrame(groups),
        clusters,
        base=base,
        combine=combine,
        n_restarts=restarts,
        centre="group" if centre else None,
        random_state=seed,
        n_jobs=n_jobs,
    )
    summary = contrast_summary(result, known)
    for path in tables:
        write_table(contrast_table([result], table.ids), path)
    for path in pictures:
        draw_contrast(result, X, groups, path)
    if as_json:
        click.echo(json.dumps({"source": str(data), **summary}, indent=2))
        return
    print_contrast(summary, title=data.name or str(data))
    for path in [*tables, *pictures]:
        click.echo(f"wrote {path}")
