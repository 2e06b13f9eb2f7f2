"""consilience generate: many clusterings of a table, into a run on disk."""

import ast
from pathlib import Path
from shlex import quote
from typing import Any

import click

from consilience.cli import outputs
from consilience.cli import shared_options as options
from consilience.cli.shared_options import option

GROWS = "Folder of the run; one that is there goes on where it stopped, or grows."
GIVEN_UP = "Give up a clustering after so long; each is then made in a process that can be killed."


@options.verb("generate", "data", "compactness, guide")
@option("--output -o run", GROWS, writes="folder", required=True)
@option("--n-clusterings -n", "How many clusterings.", default=1000)
@options.clusters_option("Clusters in each: 15, 5-20, 5,10,15.")
@options.methods_option()
@options.base_option
@options.distances_option
@options.standardize_option()
@option("--around", "More like this clustering of the run, added to it.", type=int, metavar="ID")
@option("--jitter", "How far from it.", default=0.3)
@options.guide_options
@option("--time-limit", GIVEN_UP, type=float, metavar="SECONDS")
@option("--retry-failed", "Try again the clusterings of the run that could not be made.", is_flag=True)
@options.reading(options.known_option, options.table_options)
@options.run_options
def command(data: Path, how: dict[str, Any], run: Path, guide: dict[str, Any], **settings: Any) -> None:
    """Cluster the table DATA many times, differently each time: one row per object, one column per measurement.

    \b
    consilience generate beads.csv --id bead -t shape,color -k 4 -n 500 -o run
    consilience generate beads.csv --id bead -t shape,color -o run --around 17
    consilience generate beads.csv --id bead --unlike shape -k 4 -o run
    consilience generate distances.csv --distances --id protein -k 20 -o run
    consilience generate folder_of_parquet --columns x,y -k 5-40 -o run
    """
    from consilience._check import InputError, count
    from consilience.cli.inputs import open_data, open_number_blocks
    from consilience.cli.sigterm import when_stopped
    from consilience.generation import generate
    from consilience.reports.ensemble import generation_finding, generation_summary

    given, around, known = options.given_by_user(), settings["around"], how.pop("known")
    if around is None and "jitter" in given:
        raise InputError("--jitter says how far from --around: name the clustering with --around too")
    if around is not None and (fixed := sorted(given & {"n_clusters", "methods", "standardize"})):
        raise InputError(f"--{fixed[0].replace('_', '-')} is the clustering's own for more --around it: leave it out")
    aside = list(dict.fromkeys([*known, *guide["like"], *guide["unlike"]]))
    is_far = settings["metric"] == "precomputed"
    blocks = open_number_blocks(data, [*aside, is_far], how)
    opened = None if blocks else open_data(data, "distances" if is_far else "data", aside, **how)[0]
    before = _held(run)[0]
    when_stopped(lambda: f"{run} holds {count(_held(run)[0], 'clustering')}; the same command goes on")
    wishes = {name: value for name, value in guide.items() if value not in (None, [])}
    made = generate(blocks if opened is None else opened.data, store=run, **wishes, **settings)
    labels = {} if opened is None else {name: opened.known[name] for name in known}
    held, failed = _held(run)
    reading: dict[str, Any] = {"notices": opened and opened.data, "written": ()}
    reading["standardize"] = settings["standardize"] if around is None else None
    more = {"run": str(run), "failed": failed}
    if not outputs.tell(data, generation_finding, generation_summary, made, labels, more=more, **reading):
        return
    judged = f" --known-from {quote(str(data))} --known {quote(','.join(known))}" if known else ""
    lost = f" {count(failed, 'clustering')} could not be made: --retry-failed tries again." if failed else ""
    click.echo(
        f"\n{run} holds {count(held, 'clustering')}, {held - before:,} of them new.{lost} "
        f"Next: consilience organize {quote(str(run))}{judged}"
    )


def _held(run: Path) -> tuple[int, int]:
    from consilience.ensemble.store import Store

    if not (run / "manifest.json").exists():
        return 0, 0
    store = Store.open(run)
    return store.n_clusterings, len(store.failures(["unit"]))


def parse_base(text: str) -> Any:
    """A scikit-learn clusterer from "HDBSCAN(min_cluster_size=10)"; parameters are plain values."""
    from sklearn.utils import all_estimators

    from consilience._check import InputError, check_choice, show

    kinds = all_estimators()
    known = dict(all_estimators("cluster")) | {name: kind for name, kind in kinds if name.endswith("GaussianMixture")}
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        call = tree if isinstance(tree, ast.Call) else ast.Call(tree, [], [])
        if not isinstance(call.func, ast.Name) or call.args:
            raise ValueError
        settings = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError):
        raise InputError(f"--base {show(text)} is not a clusterer such as 'HDBSCAN(min_cluster_size=10)'") from None
    same = {name.casefold(): name for name in known}
    kind = known[check_choice(same.get(call.func.id.casefold(), call.func.id), known, "clusterer for --base")]
    try:
        return kind(**settings)
    except TypeError as error:
        raise InputError(f"--base: {error}") from None
