"""consilience compare: how alike are these clusterings?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from consilience.cli.inputs import check_outputs, names_option, read_ensemble, table_options, truth_options
from consilience.measures import MEASURES, compare
from consilience.reports import draw_comparison, print_comparison, write_table
from consilience.reports.files import check_figure_path, check_table_path


@click.command("compare", short_help="How alike, how stable: all pairs, and against known labels.")
@click.argument("labels", type=click.Path(path_type=Path))
@names_option(
    "--measure",
    "-m",
    "measures",
    choices=MEASURES,
    default=["jaccard,nmi,adjusted_rand"],
    show_default=True,
    help=f"Measures: {', '.join(MEASURES)}. The last three are slower on many clusterings.",
)
@truth_options
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="Write the values of all pairs (.csv, .tsv, .parquet, .npy); one file per measure.",
)
@click.option(
    "--figure",
    type=click.Path(path_type=Path),
    help="Draw the agreement by the first measure (.png, .svg, .pdf); needs the extra 'plots'.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--jobs", "-j", "n_jobs", type=int, default=1, show_default=True, help="Threads; -1 for all cores.")
@table_options
def command(
    labels: Path,
    measures: list[str],
    truth: list[str],
    truth_from: Path | None,
    output: Path | None,
    figure: Path | None,
    as_json: bool,
    n_jobs: int,
    **how: Any,
) -> None:
    """Compare the clusterings in LABELS: a table with one column per clustering, or a stored run.

    Names go in one list or option by option; a name with a comma is quoted as in CSV: -t '"a,b"'.

    \b
    consilience compare labels.csv --id cell --truth type
    consilience compare labels.csv --measure jaccard,nmi --json
    """
    files = _matrix_paths(check_table_path(output), measures) if output else {}
    pictures = [check_figure_path(figure)] if figure else []
    check_outputs([*files.values(), *pictures], [labels, truth_from])
    ensemble, known = read_ensemble(labels, truth, truth_from, **how)
    result = compare(ensemble, measures, known=known, n_jobs=n_jobs)
    for measure, path in files.items():
        write_table(result.matrix(measure), path)
    for path in pictures:
        draw_comparison(result, path)
    if as_json:
        click.echo(json.dumps({"source": str(labels), **result.to_dict()}, indent=2))
        return
    print_comparison(result, title=labels.name or str(labels))
    for path in [*files.values(), *pictures]:
        click.echo(f"wrote {path}")


def _matrix_paths(output: Path, measures: list[str]) -> dict[str, Path]:
    if len(measures) == 1:
        return {measures[0]: output}
    return {measure: output.with_name(f"{output.stem}_{measure}{output.suffix}") for measure in measures}
