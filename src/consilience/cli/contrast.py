"""consilience contrast: a grouping that tells something else than the one you know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from consilience.cli import options, outputs


@click.command("contrast", cls=options.Verb, terms=("redundancy", "shared", "confidence", "support"))
@click.argument("data", type=options.INPUT, is_eager=True)
@options.given_options
@click.option(
    "--n-clusters",
    "-k",
    type=options.Number(several=True),
    help="How many new clusters; with --alternatives may be left out, or 3,4 for one and the next.",
)
@options.choice_option(
    "--method",
    of="consilience.alternatives.contrast:METHODS",
    default="condens",
    help="Conditional ensembles, or for counts the coordinated conditional information bottleneck.",
)
@options.choice_option(
    "--base",
    of="consilience.alternatives.bases:BASES",
    help="What splits the known groups [default: kmeans]; bottleneck and multinomial take counts.",
)
@options.choice_option(
    "--combine",
    of="consilience.alternatives.condens:COMBINATIONS",
    help="How the splits of all groups become one clustering [default: information].",
)
@click.option(
    "--center/--no-center",
    default=None,
    is_flag=True,
    help="Take the means of the known groups out of the columns first [default: only with --alternatives].",
)
@options.standardize_choice("counts, for --method ccib and bases of counts, stay as they are")
@options.choice_option(
    "--scale",
    "how_scaled",
    of="consilience.tables.scaling:SCALES",
    help="Instead of standardizing: rows to one length, or for counts square roots or tf-idf.",
)
@click.option(
    "--trade-off", type=float, help="λ of ccib: how much coordination weighs [default: chosen without labels]."
)
@options.choice_option(
    "--search",
    of="consilience.alternatives.count_bases:SEARCHES",
    help="Where runs of ccib begin [default: sequential].",
)
@click.option("--n-init", type=int, default=10, show_default=True, help="Runs in every group, all of them used.")
@click.option(
    "--alternatives", "n_alternatives", type=int, help="So many groupings at most, each new to all before it."
)
@click.option(
    "--at-once", is_flag=True, help="Look for all --alternatives at once, each in a space of its own; needs -k."
)
@options.output_option("id, cluster, confidence and support")
@options.figure_option("both groupings")
@options.block(options.known_options, options.run_options, options.table_options)
@click.pass_context
def command(
    ctx: click.Context,
    data: Path,
    given: list[str],
    given_from: Path | None,
    n_clusters: Any,
    method: str,
    base: str | None,
    combine: str | None,
    center: bool | None,
    standardize: bool,
    how_scaled: str | None,
    trade_off: float | None,
    search: str | None,
    n_init: int,
    n_alternatives: int | None,
    at_once: bool,
    output: Path | None,
    figure: Path | None,
    known_from: Path | None,
    seed: int,
    as_json: bool,
    n_jobs: int,
    **how: Any,
) -> None:
    """Group the objects in DATA in a new way: good, and unlike the grouping you know.

    DATA is a table with one row per object: measured values, or counts where the method or the base takes them.

    \b
    consilience contrast beads.csv --id bead --given shape --known color -k 4
    consilience contrast words.mtx --given-from topics.csv -k 4 --base multinomial
    consilience contrast beads.csv --id bead --known shape,color --alternatives 3
    consilience contrast beads.csv -t shape,color --alternatives 2 --at-once -k 3
    """
    import pandas as pd

    from consilience._check import InputError
    from consilience.alternatives import alternatives, contrast
    from consilience.alternatives.bases import COUNTS
    from consilience.cli.inputs import open_data, print_notices
    from consilience.reports import contrast as reports
    from consilience.reports import draw
    from consilience.reports.files import object_index, object_table, write_objects
    from consilience.tables import scale

    counts = method == "ccib" or base in COUNTS
    if method == "ccib" and (base or combine or center or n_alternatives):
        raise InputError("--method ccib splits no groups: leave out --base, --combine, --center and --alternatives")
    if method != "ccib" and (trade_off is not None or search):
        raise InputError("--trade-off and --search are of --method ccib: leave them out, or choose it")
    if counts and (how_scaled or "standardize" in options.given_by_user(ctx)):
        asked = f"--scale {how_scaled}" if how_scaled else "--standardize"
        raise InputError(f"{base or method} takes counts as they are: leave out {asked}, or use --base kmeans")
    if n_alternatives is not None and figure:
        raise InputError("--figure draws one grouping: leave out --alternatives")
    if at_once and n_alternatives is None:
        raise InputError("--at-once is of several groupings: say how many with --alternatives")
    if isinstance(n_clusters, tuple) or (n_alternatives is None and isinstance(n_clusters, list)):
        raise InputError("-k takes one number, or with --alternatives one for each, as in -k 3,4")
    if n_alternatives is None and n_clusters is None:
        raise InputError("how many new clusters? say -k 4, for example")
    if n_alternatives is None and not given and given_from is None:
        raise InputError("which grouping do you know? name its column with --given, or its file with --given-from")
    files = outputs.check_tables(output) + outputs.check_pictures(figure)
    outputs.check_outputs(files, [data, given_from, known_from])
    kind = "counts" if counts else "data"
    opened, groups = open_data(data, kind, known_from=known_from, given=given, given_from=given_from, **how)
    table = opened.data
    assert table is not None
    X, past = scale(table.values, how_scaled) if how_scaled else table.values, pd.DataFrame(groups)
    settings: dict[str, Any] = {"n_init": n_init, "random_state": seed, "n_jobs": n_jobs}
    if at_once:
        settings["at_once"] = True
        if "n_init" not in options.given_by_user(ctx):
            del settings["n_init"]  # it has many more starts, being quick
    settings["standardize"] = standardize and how_scaled in (None, "columns")
    chosen = {"base": base, "combine": combine, "trade_off": trade_off, "search": search}
    settings |= {name: value for name, value in chosen.items() if value is not None}
    if center is not None:
        settings["center"] = "group" if center else None
    if n_alternatives is not None:
        found: Any = alternatives(X, n_alternatives, n_clusters=n_clusters, given=past if groups else None, **settings)
    else:
        assert n_clusters is not None
        found = contrast(X, past, n_clusters, method=method, **settings)
    if output:
        write_objects(object_table(found, object_index(table.ids, table.n_objects)), output, table.id_heading)
    if figure:
        draw(found, figure, X=X, given=groups)
    if as_json:
        summarize = reports.contrast_summary if n_alternatives is None else reports.alternatives_summary
        outputs.print_json({"source": str(data), **summarize(found, opened.known)})
        return
    describe = reports.contrast_finding if n_alternatives is None else reports.alternatives_finding
    outputs.print_answer(describe(found, opened.known), data)
    print_notices(table)
    outputs.print_written(files)
