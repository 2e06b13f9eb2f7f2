"""consilience explore: see many clusterings in the browser, choose, refine, take away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from consilience._check import InputError, printable
from consilience.cli.generate import Clusters, parse_base
from consilience.cli.inputs import Names, joined, labels_from, split_truth, table_options, truth_options
from consilience.explorer.launch import Server, prepare, run
from consilience.explorer.sources import KINDS, GenerateOptions, OpenedSource, open_clusterings
from consilience.generation import METHODS
from consilience.meta.tree import LINKAGES

OF_DATA = {"number", "clusters", "methods", "output", "seed"}  # options that say how data is clustered


@click.command("explore", short_help="See many clusterings in the browser: choose, refine, take away.")
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="The table that the clusterings of a run or of a labels file are of.",
)
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="auto",
    show_default=True,
    help="What a table holds: 'auto' takes columns of few whole numbers or names for labels.",
)
@click.option("--xy", type=Names(), help="Two columns of the data for the plane; by default its two main axes.")
@click.option(
    "--linkage", type=click.Choice(LINKAGES), default="ward", show_default=True, help="How the tree is grown."
)
@click.option("--groups", "-g", type=click.IntRange(min=1), help="Where the tree is cut at first.")
@click.option(
    "--number", "-n", type=click.IntRange(min=2), default=1000, show_default=True, help="Of data: how many clusterings."
)
@click.option("--clusters", "-k", type=Clusters(), default=15, show_default=True, help="Of data: clusters in each.")
@click.option(
    "--methods", default="zipf+pca", show_default=True, metavar="NAME[:SHARE]+…", help=f"Of data: {', '.join(METHODS)}."
)
@click.option("--base", help="The scikit-learn clusterer in place of k-means.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    help="Of data: the folder of the run; by default memory.",
)
@truth_options
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Listen at this address of the machine instead of for itself alone.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="By default any that is free.")
@click.option("--browser/--no-browser", default=True, help="Open the page (the default).")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("--jobs", "-j", "n_jobs", type=int, default=1, show_default=True, help="Threads; -1 for all cores.")
@table_options
@click.pass_context
def command(
    ctx: click.Context,
    source: Path,
    data: Path | None,
    kind: str,
    xy: list[str] | None,
    linkage: str,
    groups: int | None,
    number: int,
    clusters: Any,
    methods: str,
    base: str | None,
    output: Path | None,
    truth: list[str],
    truth_from: Path | None,
    host: str,
    port: int,
    browser: bool,
    seed: int,
    n_jobs: int,
    **how: Any,
) -> None:
    """Explore SOURCE: a stored run, a table of data (clustered first), or a table with one column of labels per clustering.

    \b
    consilience explore run --data beads.csv --id bead --truth shape,color
    consilience explore beads.csv --id bead --truth shape,color -k 4 -n 500 -o run
    consilience explore labels.csv --id bead
    """
    if not source.exists():
        raise InputError(f"{source} is not there: name a stored run, or a table of data or labels")
    assets = prepare(host)
    clusterer = None if base is None else parse_base(base)
    options = GenerateOptions(number, clusters, methods, clusterer, seed, output, n_jobs)
    of_truth = truth_from is not None and data is None and source.is_dir()  # whose columns --truth names
    found = _read(source, data, kind, [] if of_truth else truth, options, how, truth_from is not None)
    given = {name for name in ctx.params if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT}
    if (found.taken_for == "labels" or source.is_dir()) and (unused := sorted(given & OF_DATA)):
        raise InputError(
            f"--{unused[0]} says how a table of data is clustered, and {source} holds clusterings: leave it out"
        )
    known: dict[str, Any] = {}
    if truth_from is not None:
        text = {name: how[name] for name in ("header", "sep")}
        known = labels_from(truth_from, found.ensemble, source, how["id_column"], truth if of_truth else [], text)
        joined(dict(found.known), known, truth_from, data or source)
    session = found.session(known=known, axes=xy, linkage=linkage, n_groups=groups, base=clusterer, n_jobs=n_jobs)
    server = Server(session, host=host, port=port, assets=assets)
    if kind == "auto" and data is None and not source.is_dir():
        click.echo(f"{printable(source.name)} is taken for {found.taken_for}; --kind says otherwise.", err=True)
    if data is None and found.taken_for == "data" and output is None:
        click.echo("The clusterings are in memory only; -o FOLDER keeps them.", err=True)
    run(server, browser=browser, say=lambda text: click.echo(printable(text), err=True))


def _read(
    source: Path,
    data: Path | None,
    kind: str,
    truth: list[str],
    options: GenerateOptions,
    how: dict[str, Any],
    has_truth: bool,
) -> OpenedSource:
    """The clusterings, and their data; how to read is said of the data where it is given, and of SOURCE otherwise."""
    reading = {**how, "columns": how["columns"] or None, "known": truth}
    if data is not None:
        own: dict[str, Any] = {}
        if not source.is_dir():
            mine, reading["known"] = split_truth(truth, source, data, how)
            own = {"id_column": how["id_column"], "known": mine}
            own |= {name: how[name] for name in ("sep", "header")} if data.suffix == source.suffix else {}
        found = open_clusterings(source, kind="auto" if source.is_dir() else "labels", reading=own)
        return found.with_data(data, kind="distances" if kind == "distances" else "data", **reading)
    if not source.is_dir():
        return open_clusterings(source, kind=kind, reading=reading, options=options)
    found = open_clusterings(source)
    asked = [truth, how["columns"], how["key"], *([] if has_truth else [how["id_column"], how["sep"], how["header"]])]
    if any(value is not None and value != [] for value in asked):
        raise InputError(
            f"{source} is a stored run: --truth, --id, --columns, --sep, --header and --key say how to read the table of its "
            "data, so name that with --data, or known labels with --truth-from"
        )
    return found
