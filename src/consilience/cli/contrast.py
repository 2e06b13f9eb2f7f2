"""consilience contrast: a grouping that tells something else than the one you know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pandas as pd

from consilience._check import InputError
from consilience.alternatives import BASES, alternatives, contrast
from consilience.alternatives.bases import COUNTS
from consilience.alternatives.bottleneck import SEARCHES
from consilience.alternatives.condens import COMBINATIONS
from consilience.alternatives.contrast import METHODS
from consilience.cli.inputs import check_outputs, given_options, read_data, table_options, truth_options
from consilience.reports import write_table
from consilience.reports.contrast import (
    alternatives_summary,
    alternatives_table,
    contrast_summary,
    contrast_table,
    draw_contrast,
    print_alternatives,
    print_contrast,
)
from consilience.reports.figures import new_figure
from consilience.reports.files import check_figure_path, check_table_path
from consilience.tables import SCALES, scale


@click.command("contrast", short_help="A new grouping beside the one you know.")
@click.argument("data", type=click.Path(path_type=Path))
@given_options
@click.option("--clusters", "-k", type=int, help="How many new clusters; may be left out with --alternatives.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="condens",
    show_default=True,
    help="Conditional ensembles, or for counts the coordinated conditional information bottleneck.",
)
@click.option(
    "--base",
    type=click.Choice(list(BASES)),
    help=f"What splits the known groups [default: kmeans]; {', '.join(COUNTS)} take counts.",
)
@click.option(
    "--combine",
    type=click.Choice(COMBINATIONS),
    help="How the splits of all groups become one clustering [default: information].",
)
@click.option(
    "--center/--no-center",
    default=None,
    is_flag=True,
    help="Take the means of the known groups out of the columns first [default: only with --alternatives].",
)
@click.option(
    "--scale",
    "how_scaled",
    type=click.Choice(list(SCALES)),
    help="Columns to one spread, rows to one length, or for counts: square roots, tf-idf.",
)
@click.option(
    "--standardize/--no-standardize",
    default=True,
    help="Bring the columns to one scale first (the default, except for counts and --scale).",
)
@click.option("--weight", type=float, help="λ of ccib: how much coordination weighs [default: chosen without labels].")
@click.option("--search", type=click.Choice(SEARCHES), help="Where runs of ccib begin [default: sequential].")
@click.option("--restarts", type=int, default=10, show_default=True, help="Runs in every group, all of them used.")
@click.option(
    "--alternatives", "n_alternatives", type=int, help="So many groupings at most, each new to all before it."
)
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
    clusters: int | None,
    method: str,
    base: str | None,
    combine: str | None,
    center: bool | None,
    how_scaled: str | None,
    standardize: bool,
    weight: float | None,
    search: str | None,
    restarts: int,
    n_alternatives: int | None,
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

    DATA is a table with one row per object: measured values, or counts where the method or the base takes them.

    \b
    consilience contrast beads.csv --id bead --given shape --truth color -k 4
    consilience contrast words.mtx --given topic --given-from labels.csv -k 4 --base multinomial
    consilience contrast beads.csv --id bead --truth shape,color --alternatives 3
    """
    counts = method == "ccib" or base in COUNTS
    if method == "ccib" and (base or combine or center or n_alternatives):
        raise InputError("--method ccib splits no groups: leave out --base, --combine, --center and --alternatives")
    if method != "ccib" and (weight is not None or search):
        raise InputError("--weight and --search are of --method ccib: leave them out, or choose it")
    if counts and how_scaled:
        raise InputError(
            f"{base or method} takes counts as they are: leave out --scale {how_scaled}, or use --base kmeans"
        )
    if n_alternatives is None:
        _check_one(clusters, given, given_from)
    elif figure:
        raise InputError("--figure draws one grouping: leave out --alternatives")
    files = _check_files(output, figure, [data, given_from, truth_from])

    kind = "counts" if counts else "data"
    table, groups, known = read_data(data, kind, given, given_from, truth, truth_from, **how)
    X, past = scale(table.values, how_scaled) if how_scaled else table.values, pd.DataFrame(groups)
    options: dict[str, Any] = {"n_init": restarts, "random_state": seed, "n_jobs": n_jobs}
    options["standardize"] = standardize and how_scaled in (None, "columns")
    chosen = {"base": base, "combine": combine, "trade_off": weight, "search": search}
    options |= {name: value for name, value in chosen.items() if value is not None}
    if center is not None:
        options["center"] = "group" if center else None
    if n_alternatives is not None:
        found = alternatives(X, n_alternatives, n_clusters=clusters, given=past if groups else None, **options)
        labels, summary = alternatives_table(found, table.n_objects, table.ids), alternatives_summary(found, known)
    else:
        assert clusters is not None
        result = contrast(X, past, clusters, method=method, **options)
        labels, summary = contrast_table(result, table.ids), contrast_summary(result, known)
    if output:
        write_table(labels, output)
    if figure:
        draw_contrast(result, X, groups, figure)
    if as_json:
        click.echo(json.dumps({"source": str(data), **summary}, indent=2))
        return
    show = print_contrast if n_alternatives is None else print_alternatives
    show(summary, title=data.name or str(data))
    for path in files:
        click.echo(f"wrote {path}")


def _check_one(clusters: int | None, given: list[str], given_from: Path | None) -> None:
    if clusters is None:
        raise InputError("how many new clusters? say -k 4, for example")
    if not given and given_from is None:
        raise InputError("which grouping do you know? name its column with --given, or its file with --given-from")


def _check_files(output: Path | None, figure: Path | None, inputs: list[Path | None]) -> list[Path]:
    """What will be written, refused before any work if it cannot be."""
    files = [check_table_path(output)] if output else []
    if output and output.suffix.lower() == ".npy":
        raise InputError(f"{output}: an npy file holds no names; write .csv, .tsv or .parquet")
    files += [check_figure_path(figure)] if figure else []
    check_outputs(files, inputs)
    for path in files:
        if not path.parent.is_dir():
            raise InputError(f"{path}: the folder {path.parent} does not exist; make it first")
        if path.is_dir():
            raise InputError(f"{path} is a folder; give the name of a file in it")
    if figure:
        new_figure(1, 1)  # says so where there is nothing to draw with
    return files
