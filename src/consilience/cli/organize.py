"""consilience organize: many clusterings in groups of like ones, and what each group says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from consilience._check import InputError
from consilience.cli.combine import Clusters
from consilience.cli.inputs import OneOf, check_outputs, read_ensemble, table_options, truth_options
from consilience.consensus import METHODS
from consilience.measures import MEASURES
from consilience.meta import organize
from consilience.meta.tree import LINKAGES
from consilience.reports.ensemble import known_scores
from consilience.reports.meta import FOLDER, group_table, is_organized_file, print_organized, write_organized


@click.command("organize", short_help="Many clusterings in groups of like ones, and what each group says.")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option(
    "--groups",
    "-g",
    type=Clusters("auto"),
    help="How many groups, or 'auto' for the sharpest jump of the compactness curve (the default).",
)
@click.option("--height", type=float, help="Instead: groups that are complete at this height of the tree.")
@click.option(
    "--linkage", type=click.Choice(LINKAGES), default="ward", show_default=True, help="How the tree is grown."
)
@click.option(
    "--measure",
    "-m",
    type=OneOf(lambda: [name for name, how in MEASURES.items() if how.symmetric]),
    default="cluster_difference",
    show_default=True,
    help="How alike two clusterings are.",
)
@click.option(
    "--method",
    type=OneOf(lambda: ("auto", *METHODS)),
    default="vote",
    show_default=True,
    help="How a group's clusterings are combined.",
)
@click.option(
    "--clusters",
    "-k",
    type=Clusters("auto", "stable"),
    help="Clusters of a group's consensus; by default the median of its clusterings.",
)
@click.option(
    "--shuffles",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Shuffles that the best group is held against (with known labels).",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for tables of clusterings, groups and consensus, and pictures.",
)
@truth_options
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--jobs", "-j", "n_jobs", type=int, default=1, show_default=True, help="Threads; -1 for all cores.")
@table_options
def command(
    labels: Path,
    groups: Any,
    height: float | None,
    linkage: str,
    measure: str,
    method: str,
    clusters: Any,
    shuffles: int,
    output: Path | None,
    truth: list[str],
    truth_from: Path | None,
    seed: int,
    as_json: bool,
    n_jobs: int,
    **how: Any,
) -> None:
    """Organize the clusterings in LABELS: a stored run, or a table with one column per clustering.

    \b
    consilience organize run --groups 8 --linkage ward -o organized
    consilience organize run --truth-from beads.csv --truth shape,color --id bead
    """
    if output is not None and (output.resolve() == labels.resolve() or labels.resolve() in output.resolve().parents):
        raise InputError(f"{output} lies in the run itself: choose another folder, so that nothing is lost")
    check_outputs([] if output is None else [output / name for name in FOLDER], [labels, truth_from])
    ensemble, known = read_ensemble(labels, truth, truth_from, **how)
    wanted = groups if groups is not None or height is not None else "auto"
    meta = organize(ensemble, wanted, linkage, measure=measure, height=height, random_state=seed, n_jobs=n_jobs)
    scores = known_scores(ensemble, known)
    found = [meta.consensus(group, method=method, n_clusters=clusters, random_state=seed) for group in meta.numbers]
    settings = {"n_shuffles": shuffles, "method": method, "n_clusters": clusters, "random_state": seed}
    null = meta.null(known, **settings) if known and shuffles > 0 and meta.n_groups > 1 else None
    table = group_table(meta, scores, found)
    written = [] if output is None else write_organized(meta, output, found, scores=scores, null=null)
    if as_json:
        content = {
            "source": str(labels),
            "n_clusterings": meta.n_clusterings,
            "n_objects": ensemble.n_objects,
            "linkage": meta.linkage,
            "measure": meta.measure,
            "note": meta.note,
            "standard_error": meta.standard_error,
            "groups": json.loads(table.reset_index().to_json(orient="records")),
            "group_of": meta.groups.tolist(),
            "jumps": json.loads(meta.jumps.to_json(orient="records")),
            "null": None if null is None else json.loads(null.table.to_json(orient="index")),
        }
        click.echo(json.dumps(content, indent=2))
        return
    print_organized(meta, title=labels.name or str(labels), scores=scores, null=null)
    if output is not None:
        click.echo(f"wrote {len(written)} files to {output}: {', '.join(path.name for path in written)}")
        if old := sorted(
            path.name for path in output.iterdir() if path not in written and is_organized_file(path.name)
        ):
            click.echo(f"left there from before: {', '.join(old)}")
