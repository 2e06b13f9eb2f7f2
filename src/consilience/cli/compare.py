"""consilience compare: how alike are these clusterings?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from consilience.cli.inputs import Names, read_ensemble, table_options
from consilience.comparison import MEASURES, compare
from consilience.reports import print_comparison, write_table
from consilience.reports.files import check_table_path


@click.command("compare", short_help="How alike, how stable: all pairs, and against known labels.")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option(
    "--measure",
    "-m",
    "measures",
    type=Names(tuple(MEASURES)),
    default="jaccard,nmi,adjusted_rand",
    show_default=True,
    help=f"Measures, separated by commas: {', '.join(MEASURES)}.",
)
@click.option("--truth", "-t", type=Names(), default=(), help="Known labels: columns of the table, set aside.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="Write the values of all pairs (.csv, .tsv, .parquet, .npy); one file per measure.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--jobs", "-j", "n_jobs", type=int, default=1, show_default=True, help="Threads; -1 for all cores.")
@table_options
def command(
    labels: Path,
    measures: list[str],
    truth: list[str],
    output: Path | None,
    as_json: bool,
    n_jobs: int,
    **how: Any,
) -> None:
    """Compare the clusterings in LABELS: a table with one column per clustering, or a stored run.

    \b
    consilience compare labels.csv --id cell --truth type
    consilience compare labels.csv --measure jaccard,nmi --json
    """
    if output:
        check_table_path(output)
    ensemble, known = read_ensemble(labels, list(truth), **how)
    result = compare(ensemble, measures, truth=known, n_jobs=n_jobs)
    files = _matrix_paths(output, measures) if output else {}
    for measure, path in files.items():
        write_table(result.matrix(measure), path)
    if as_json:
        click.echo(json.dumps({"source": str(labels), **result.to_dict()}, indent=2))
        return
    print_comparison(result, title=labels.name)
    for path in files.values():
        click.echo(f"wrote {path}")


def _matrix_paths(output: Path, measures: list[str]) -> dict[str, Path]:
    if len(measures) == 1:
        return {measures[0]: output}
    return {measure: output.with_name(f"{output.stem}_{measure}{output.suffix}") for measure in measures}
