"""consilience compare: how alike are these clusterings?"""

from pathlib import Path
from typing import Any

from consilience.cli import outputs
from consilience.cli import shared_options as options
from consilience.cli.shared_options import option


@options.verb("compare", "labels")
@options.names_option(
    "--measure -m measures",
    "Measures, such as rand, adjusted_mutual_information, element_centric, accuracy or f1; docs/measures.md lists all.",
    of="consilience.measures:MEASURES",
    default=["jaccard,nmi,adjusted_rand"],
)
@options.output_option("a row for every clustering")
@option("--pairs", "Write the values of all pairs (also .npy); one file per measure.", writes="matrix")
@options.figure_option("the agreement by the first measure")
@options.reading(options.more_option, options.known_options, options.table_options)
@options.block(options.json_option, options.jobs_option)
def command(
    labels: Path, how: dict[str, Any], measures: list[str], output: Any, pairs: Any, figure: Any, n_jobs: int
) -> None:
    """Compare the clusterings in LABELS: a table with one column per clustering, a stored run or a saved result.

    Names go in one list or option by option; a name with a comma is quoted as in CSV: -t '"a,b"'.

    \b
    consilience compare labels.csv --id cell --known type
    consilience compare labels.csv --measure jaccard,nmi --json
    consilience compare cells.h5ad --columns 'leiden_*' -o clusterings.csv
    """
    from consilience.cli.inputs import open_clusterings, print_notices
    from consilience.measures import Comparison, compare
    from consilience.reports import draw
    from consilience.reports.comparison import comparison_finding
    from consilience.reports.files import check_file, write_table

    files = dict.fromkeys(measures, pairs) if pairs else {}
    if pairs and len(measures) > 1:
        files = {measure: pairs.with_name(f"{pairs.stem}_{measure}{pairs.suffix}") for measure in measures}
        outputs.check_apart(*files.values())
    for path in files.values():
        check_file(path)
    opened = open_clusterings(labels, **how)
    print_notices(opened, err=True)
    result = compare(opened.ensemble, measures, known=opened.known, n_jobs=n_jobs)
    if output:
        write_table(result.clusterings.set_index("name"), output)
    for measure, path in files.items():
        write_table(result.matrix(measure), path)
    if figure:
        draw(result, figure)
    written = [path for path in (output, *files.values(), figure) if path]
    outputs.tell(labels, comparison_finding, Comparison.to_dict, result, written=written)
