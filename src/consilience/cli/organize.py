"""consilience organize: many clusterings in groups of like ones, and what each group says."""

from pathlib import Path
from typing import Any

import click

from consilience.cli import outputs
from consilience.cli import shared_options as options
from consilience.cli.shared_options import option

GROUPS = "How many groups, or 'auto' for the sharpest jump of the compactness curve (the default)."
SYMMETRIC = options.OneOf("consilience.measures:MEASURES", only=lambda how: bool(how.symmetric))


@options.verb("organize", "labels", "medoid, height, bend, null")
@option("--n-groups -g", GROUPS, type=options.Number("auto"))
@option("--height", "Instead: groups that are complete at this height of the tree.", type=float)
@options.linkage_option
@option(
    "--measure -m",
    "How alike two clusterings are; by default shared_information, or cluster_difference of equal numbers of clusters.",
    type=SYMMETRIC,
)
@options.consensus_options(
    "Clusters of a group's consensus; by default the median of its clusterings.",
    "How a group's clusterings are combined; by default as combine does.",
)
@options.shuffles_option
@option("--output -o", "Folder for tables of clusterings, groups and consensus, and pictures.", writes="folder")
@options.reading(options.more_option, options.known_options, options.table_options)
@options.run_options
def command(
    labels: Path, how: dict[str, Any], n_groups: Any, height: Any, n_shuffles: int, output: Any, **tree: Any
) -> None:
    """Organize the clusterings in LABELS: a stored run, a table with one column per clustering or a saved result.

    \b
    consilience organize run --n-groups 8 -o organized
    consilience organize run --known-from beads.csv --known shape,color
    """
    from consilience._check import InputError
    from consilience.cli.inputs import open_clusterings, print_notices
    from consilience.meta import organize
    from consilience.reports import meta as report
    from consilience.reports.ensemble import known_scores

    inside = [] if output is None else [output.resolve(), *output.resolve().parents]
    if any(path.resolve() in inside for path in (labels, *how["more"])):
        raise InputError(f"{output} lies in the run itself: choose another folder, so that nothing is lost")
    outputs.check_apart(*([] if output is None else [output / name for name in report.FOLDER]))
    opened = open_clusterings(labels, **how)
    print_notices(opened, err=True)
    ensemble = opened.ensemble
    wanted = n_groups if n_groups is not None or height is not None else "auto"
    settings = {name: tree.pop(name) for name in ("n_clusters", "method")}
    tree["measure"] = tree["measure"] or "auto"
    settings = {"random_state": tree["random_state"], **settings, "method": settings["method"] or "auto"}
    meta = organize(ensemble, wanted, height=height, **tree)
    scores = known_scores(ensemble, dict(opened.known))
    found = [meta.consensus(group, **settings) for group in meta.numbers]
    is_judged = opened.known and n_shuffles > 0 and meta.n_groups > 1
    null = meta.null(opened.known, n_shuffles=n_shuffles, **settings) if is_judged else None
    table = report.group_table(meta, scores, found)
    written = []
    if output is not None:
        written = report.write_organized(meta, output, found, scores=scores, null=null, id_name=opened.id_name)

    def summarize(*_: Any, **about: Any) -> dict[str, Any]:
        own = ("n_clusterings", "linkage", "measure", "note", "standard_error", "jumps")
        return {
            **{name: getattr(meta, name) for name in own},
            "n_objects": ensemble.n_objects,
            "groups": table.reset_index(),
            "group_of": meta.groups,
            "null": None if null is None else null.table.to_dict("index"),
        }

    shown = outputs.tell(labels, report.meta_finding, summarize, meta, written=(), scores=scores, null=null)
    if shown and output is not None:
        click.echo(f"wrote {len(written)} files to {output}: {', '.join(path.name for path in written)}")
