"""consilience generate: many clusterings of a table, into a run on disk."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from shlex import quote
from typing import Any

import click

from consilience._check import InputError, check_choice, count, show
from consilience.cli.inputs import check_outputs, names_option, table_options
from consilience.generation import METHODS, generate
from consilience.reports.generation import generation_summary, print_generation
from consilience.store import Store
from consilience.tables import read_table


class Clusters(click.ParamType):
    """How many clusters: 15, 5-20 or 5,10,15."""

    name = "NUMBER|LOW-HIGH|A,B,…"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """What `generate` takes."""
        if not isinstance(value, str):
            return value
        try:
            if "," in value:
                return [int(k) for k in value.split(",")]
            low, dash, high = value.partition("-")
            return (int(low), int(high)) if dash else int(low)
        except ValueError:
            self.fail(f"{value!r} is no number, no range such as 5-20 and no list such as 5,10,15", param, ctx)


@click.command("generate", short_help="Many different clusterings of a table.")
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--output",
    "-o",
    "run",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the run; one that is there goes on where it stopped, or grows.",
)
@click.option("--number", "-n", type=int, default=1000, show_default=True, help="How many clusterings.")
@click.option(
    "--clusters", "-k", type=Clusters(), default=15, show_default=True, help="Clusters in each: 15, 5-20, 5,10,15."
)
@click.option(
    "--methods",
    default="zipf+pca",
    show_default=True,
    metavar="NAME[:SHARE]+…",
    help=f"Where the diversity comes from: {', '.join(METHODS)}.",
)
@click.option("--base", help="A scikit-learn clusterer in place of k-means: 'HDBSCAN(min_cluster_size=10)'.")
@click.option("--distances", is_flag=True, help="DATA is a matrix of distances.")
@click.option(
    "--standardize/--no-standardize", default=True, help="Bring the columns to one scale first (the default)."
)
@click.option("--around", type=int, metavar="ID", help="More like this clustering of the run, added to it.")
@click.option("--jitter", type=float, default=0.3, show_default=True, help="How far from it.")
@names_option("--truth", "-t", help="Known labels: columns of the table, set aside and held against the clusterings.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--jobs", "-j", "n_jobs", type=int, default=1, show_default=True, help="Threads; -1 for all cores.")
@table_options
@click.pass_context
def command(
    ctx: click.Context,
    data: Path,
    run: Path,
    number: int,
    clusters: Any,
    methods: str,
    base: str | None,
    distances: bool,
    standardize: bool,
    around: int | None,
    jitter: float,
    truth: list[str],
    seed: int,
    as_json: bool,
    n_jobs: int,
    **how: Any,
) -> None:
    """Cluster the table DATA many times, differently each time: one row per object, one column per measurement.

    \b
    consilience generate beads.csv --id bead --truth shape,color -k 4 -n 500 -o run
    consilience generate beads.csv --id bead --truth shape,color -o run --around 17 -n 100
    consilience generate distances.csv --distances --id protein -k 20 -o run
    """
    given = {name for name in ctx.params if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT}
    if around is None and "jitter" in given:
        raise InputError("--jitter says how far from --around: name the clustering with --around too")
    if around is not None and (fixed := sorted(given & {"clusters", "methods", "standardize"})):
        raise InputError(f"--{fixed[0]} is the clustering's own for more --around it: leave it out")
    check_outputs([run], [data])
    how["columns"] = how["columns"] or None
    table = read_table(data, kind="distances" if distances else "data", known=truth, **how)
    before = _held(run)
    try:
        made = generate(
            table,
            number,
            clusters,
            methods,
            base=None if base is None else parse_base(base),
            metric="precomputed" if distances else "euclidean",
            standardize=standardize,
            around=around,
            jitter=jitter,
            random_state=seed,
            store=run,
            n_jobs=n_jobs,
        )
    except KeyboardInterrupt:
        click.echo(
            f"consilience: stopped; {run} holds {count(_held(run), 'clustering')}; the same command goes on", err=True
        )
        ctx.exit(130)
    summary = generation_summary(made, {} if table.labels is None else dict(table.labels.items()))
    if as_json:
        click.echo(json.dumps({"source": str(data), "run": str(run), **summary}, indent=2))
        return
    print_generation(summary, title=data.name or str(data))
    known = f" --truth-from {quote(str(data))} --truth {quote(','.join(truth))}" if truth else ""
    named = f" --id {quote(how['id_column'])}" if truth and how["id_column"] is not None else ""
    held = _held(run)
    click.echo(
        f"\n{run} holds {count(held, 'clustering')}, {held - before:,} of them new. "
        f"Next: consilience organize {quote(str(run))} --linkage ward{known}{named}"
    )


def _held(run: Path) -> int:
    """Clusterings of a run so far."""
    return Store.open(run).n_clusterings if (run / "manifest.json").exists() else 0


def parse_base(text: str) -> Any:
    """A scikit-learn clusterer from "HDBSCAN(min_cluster_size=10)"; parameters are plain values."""
    from sklearn.utils import all_estimators

    known = dict(all_estimators("cluster")) | {
        name: kind for name, kind in all_estimators() if name in ("GaussianMixture", "BayesianGaussianMixture")
    }
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        call = tree if isinstance(tree, ast.Call) else ast.Call(tree, [], [])
        if not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        settings = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError):
        raise InputError(f"--base {show(text)} is no clusterer such as 'HDBSCAN(min_cluster_size=10)'") from None
    same = {name.casefold(): name for name in known}
    kind = known[check_choice(same.get(call.func.id.casefold(), call.func.id), known, "clusterer for --base")]
    try:
        return kind(**settings)
    except TypeError as error:
        raise InputError(f"--base: {error}") from None
