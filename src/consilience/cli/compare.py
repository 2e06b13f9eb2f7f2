"""consilience compare: how alike are these clusterings?"""

from pathlib import Path
from typing import Any

import click

from consilience.cli import options, outputs


@click.command("compare", cls=options.Verb)
@click.argument("labels", type=options.INPUT, is_eager=True)
@options.names_option(
    "--measure",
    "-m",
    "measures",
    of="consilience.measures:MEASURES",
    default=["jaccard,nmi,adjusted_rand"],
    show_default=True,
    help="Measures, such as rand, adjusted_mutual_information, element_centric, accuracy or f1; docs/measures.md lists all.",
)
@options.output_option("a row for every clustering")
@click.option(
    "--pairs",
    type=options.FILE,
    help="Write the values of all pairs (.csv, .tsv, .parquet, .npy); one file per measure.",
)
@options.figure_option("the agreement by the first measure")
@options.reading(options.more_option, options.known_options, options.table_options)
@options.block(options.json_option, options.jobs_option)
def command(
    labels: Path,
    how: dict[str, Any],
    measures: list[str],
    output: Path | None,
    pairs: Path | None,
    figure: Path | None,
    as_json: bool,
    n_jobs: int,
) -> None:
    """Compare the clusterings in LABELS: a table with one column per clustering, a stored run or a saved result.

    Names go in one list or option by option; a name with a comma is quoted as in CSV: -t '"a,b"'.

    \b
    consilience compare labels.csv --id cell --known type
    consilience compare labels.csv --measure jaccard,nmi --json
    consilience compare cells.h5ad --columns 'leiden_*' -o clusterings.csv
    """
    from consilience.cli.inputs import open_clusterings, print_notices
    from consilience.measures import compare
    from consilience.reports import draw
    from consilience.reports.comparison import comparison_finding
    from consilience.reports.files import check_table_path, write_table

    tables = outputs.check_tables(output)
    files = _matrix_paths(check_table_path(pairs), measures) if pairs else {}
    pictures = outputs.check_pictures(figure)
    outputs.check_outputs([*tables, *files.values(), *pictures], [labels, *how["more"], how["known_from"]])
    opened = open_clusterings(labels, **how)
    print_notices(opened, err=True)
    result = compare(opened.ensemble, measures, known=opened.known, n_jobs=n_jobs)
    for path in tables:
        write_table(result.clusterings.set_index("name"), path)
    for measure, path in files.items():
        write_table(result.matrix(measure), path)
    for path in pictures:
        draw(result, path)
    if as_json:
        outputs.print_json({"source": str(labels), **result.to_dict()})
        return
    outputs.print_answer(comparison_finding(result), labels)
    outputs.print_written([*tables, *files.values(), *pictures])


def _matrix_paths(pairs: Path, measures: list[str]) -> dict[str, Path]:
    if len(measures) == 1:
        return {measures[0]: pairs}
    return {measure: pairs.with_name(f"{pairs.stem}_{measure}{pairs.suffix}") for measure in measures}
