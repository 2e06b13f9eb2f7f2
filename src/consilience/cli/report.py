"""consilience report: one HTML file about a run, a table of labels or a saved result."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from consilience.cli import shared_options as options
from consilience.cli.shared_options import option


@options.verb("report", "source", "confidence, support, floater")
@click.argument("page", type=click.Path(path_type=Path), required=False)
@option("--n-groups -g", "How many groups of clusterings.", type=options.Number("auto"))
@option("--linkage", "How their tree is grown; Ward's method by default.", of="consilience.meta.tree:LINKAGES")
@options.consensus_options(
    "Clusters of a consensus; by default the median of its clusterings. 'auto' looks for the number of the consensus of all.",
    "How clusterings are combined.",
)
@options.shuffles_option
@options.kind_option("", "data", "labels")
@options.column_names_option
@option("--title", "Of the page.")
@option("--figures", "Folder for every figure as PNG and SVG, and every table, whole, as CSV.", writes="folder")
@options.reading(options.data_options, options.more_option, options.known_options, options.table_options)
@options.block(options.seed_option, options.jobs_option)
def command(
    source: Path, how: dict[str, Any], page: Any, kind: str, names: Any, title: Any, figures: Any, **settings: Any
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
    from consilience._check import InputError, printable
    from consilience.cli.inputs import open_clusterings, open_data, print_notices
    from consilience.ensemble.results import saved_kind
    from consilience.inputs.known_labels import read_names
    from consilience.reports.report import check_places, cluster_table, is_table_of_data, write_report
    from consilience.tables.raw_table import PARSING

    more, data, known_from = how["more"], how["data"], how["known_from"]
    inputs = [path for path in (source, *more, data, known_from) if path is not None]
    page = Path(f"{source.resolve().name.split('.')[0]}_report.html") if page is None else page
    page, folder = check_places(page, figures, inputs)
    data_kind = "counts" if source.is_dir() and saved_kind(source) == "Agreement" else "data"
    looked_at = (*PARSING, "id_column", "columns", *(["known"] if known_from is None else []))
    reading = {name: how[name] for name in looked_at if how[name] not in (None, [])}
    turned = bool(how["transpose"]) and data is None  # only tables of data are
    is_data = kind == "data" or turned
    is_data = is_data or (kind == "auto" and data is None and not more and is_table_of_data(source, reading))
    if is_data:
        beside = [how.pop(name) for name in ("more", *options.OF_DATA)]
        if any(beside):
            what = f"{source} is taken for data, and --with and --data go with clusterings"
            raise InputError(f"{what}: leave them out, or say --kind labels")
        n_clusters, method = settings.pop("n_clusters"), settings.pop("method")
        table = open_data(source, "data", **how)[0]
        opened = cluster_table(table, n_clusters, method, settings["random_state"], settings["n_jobs"])
    else:
        opened = open_clusterings(source, data_kind=data_kind, **how)
    if names is not None:
        if opened.data is None:
            raise InputError("--names are those of the columns of the data, and there is none: give it too (--data)")
        opened = replace(opened, data=replace(opened.data, columns=read_names(data or source, names, opened.data)))
    written = write_report(report_of(opened, **settings), page, folder, inputs=inputs, title=title)
    size = page.stat().st_size
    if is_data:
        taken = f"{printable(source.name)} is taken for measurements (--kind says otherwise)"
        click.echo(f"{taken} and was clustered first, as by cluster")
    click.echo(f"wrote {page}, {f'{size / 1e6:.1f} MB' if size >= 1e6 else f'{size / 1e3:.0f} kB'}")
    if figures is not None:
        click.echo(f"wrote {len(written) - 1} files of figures and tables to {figures}")
    print_notices(opened)


def report_of(opened: Any, random_state: int, n_jobs: int, **settings: Any) -> Any:
    from consilience.reports.report import make_report

    about = {"data": opened.data, "known": opened.known, "id_name": opened.id_name, "command": options.command_line()}
    return make_report(opened.result, opened.provenance, seed=random_state, n_jobs=n_jobs, **about, **settings)
