"""consilience cluster: clusters of a table, with a confidence for every object, and a model for new ones."""

from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

import click

from consilience.cli import outputs
from consilience.cli import shared_options as options
from consilience.cli.shared_options import option

SAMPLED = "Cluster so many of them at most, drawn at random, and label the others as new ones; or 'all'."


@options.verb("cluster", "data", "confidence, support, floater, stability")
@options.output_option("id, cluster, confidence and support")
@options.consensus_options(
    "How many; by default the number that is most to be trusted.",
    "How the clusterings are combined; 'auto' is 'dawid_skene' where errors are independent, and else 'walk'.",
    default="auto",
)
@option("--n-clusterings -n", "How many clusterings; by default 100 of k-means, 30 of what takes longer.", type=int)
@options.methods_option("auto")
@options.base_option
@options.distances_option
@options.standardize_option()
@option("--max-objects", SAMPLED, type=options.Number("all"), default=50_000)
@options.guide_options
@option("--save", "Keep the model in a new folder, for assign.", writes="model")
@option("--report", "Write an HTML report of the clusters.", writes="page")
@options.reading(options.known_options, options.table_options)
@options.run_options
def command(
    data: Path, how: dict[str, Any], guide: dict[str, Any], output: Any, save: Any, report: Any, **settings: Any
) -> None:
    """Cluster the table DATA: one row per object, one column per measurement.

    It is clustered many times, differently each time, and the clusterings are combined into one.

    \b
    consilience cluster customers.csv -o labels.csv
    consilience cluster customers.csv --id customer -k 5 -o labels.csv
    consilience cluster customers.csv --save model --report report.html
    consilience cluster distances.csv --distances --id protein -o labels.csv
    consilience cluster beads.csv --id bead --apart pairs.csv -k 4 -o labels.csv
    """
    from consilience.cli.inputs import open_data
    from consilience.cli.report import report_of
    from consilience.clusterer import EnsembleClusterer
    from consilience.generation.guide import check_guide
    from consilience.reports.clusterer import cluster_summary, cluster_table, clusters_finding
    from consilience.reports.files import write_objects
    from consilience.reports.report import opened_clusters, write_report

    known = how["known"]
    how["known"] = aside = list(dict.fromkeys([*known, *guide["like"], *guide["unlike"]]))
    wishes = {name.removeprefix("guide_"): value for name, value in guide.items() if value not in (None, [])}
    opened, _ = open_data(data, "distances" if settings["metric"] == "precomputed" else "data", **how)
    table = opened.data
    assert table is not None
    if settings["n_clusters"] is None:
        settings["n_clusters"] = "auto"
    if settings["max_objects"] == "all":
        settings["max_objects"] = None
    model = EnsembleClusterer(guide=check_guide(None, **wishes), **settings).fit(table)
    judged = {name: labels for name, labels in opened.known.items() if name in known or name not in aside}
    if output:
        write_objects(cluster_table(model, table.ids), output, table.id_heading)
    if save:
        model.save(save)
    if report:
        found = opened_clusters(model, replace(opened, known=judged))
        write_report(report_of(found, settings["random_state"], settings["n_jobs"]), report, inputs=[data])
    reading = {"notices": opened.data, "standardize": settings["standardize"]}
    reading["own_scales"] = model.kinds_ is not None and model.kinds_.info["scaling"].nunique() > 1
    if not outputs.tell(data, clusters_finding, cluster_summary, model, judged, **reading):
        return
    step = "-o labels.csv writes every object's cluster, --report page.html shows them, --save model keeps the model"
    if save:
        step = f"consilience assign {quote(str(save))} new.csv -o new_labels.csv"
    look = f"consilience explore {quote(str(data))}, with --id, --known and the like as here"
    click.echo(f"\nNext: {step}\nOther ways to group it: {look}")
