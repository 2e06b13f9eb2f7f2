"""consilience assign: the clusters of new objects, by a saved model."""

from pathlib import Path
from typing import Any

from consilience.cli import outputs
from consilience.cli import shared_options as options
from consilience.cli.shared_options import option


@options.verb("assign", "model data", "confidence, support, floater")
@options.output_option("id, cluster, confidence, support, and whether the object lies outside what was seen")
@option("--membership", "Also write the probability of each cluster.", is_flag=True)
@options.reading(options.known_option, options.table_options)
@options.json_option
def command(model: Path, data: Path, output: Path | None, membership: bool, how: dict[str, Any]) -> None:
    """Find the clusters of the new objects in the table DATA, by the MODEL that 'cluster --save' kept.

    The table has the columns of the one that was clustered, in any order; others are ignored. Where that was a matrix
    of distances, it has the distances to each of its objects.

    \b
    consilience assign model new.csv -o new_labels.csv
    """
    from consilience._check import InputError
    from consilience.clusterer import EnsembleClusterer
    from consilience.inputs.known_labels import labels_by_name
    from consilience.reports.clusterer import assignment_finding, assignment_summary
    from consilience.reports.files import object_table, write_objects
    from consilience.tables.raw_table import given_reading

    if membership and output is None:
        raise InputError("--membership says what to write: name a file with --output too")
    fitted = EnsembleClusterer.load(model)
    table = fitted.read(data, **given_reading(how))
    found = fitted.assign(table)
    labels = labels_by_name(table.labels)
    if output:
        write_objects(object_table(found, membership=membership), output, table.id_heading)
    more = {"model": str(model)}
    outputs.tell(data, assignment_finding, assignment_summary, found, labels, more=more, notices=table)
