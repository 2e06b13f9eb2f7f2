"""consilience contrast: a grouping that tells something else than the one you know."""

from pathlib import Path
from typing import Any

from consilience.cli import outputs
from consilience.cli import shared_options as options
from consilience.cli.shared_options import option

NEW = "How many new clusters; with --alternatives may be left out, or 3,4 for one and the next."
MAKERS = "Conditional ensembles, or for counts the coordinated conditional information bottleneck."
SPLITTERS = "What splits the known groups [default: kmeans]; bottleneck and multinomial take counts."
COMBINED = "How the splits of all groups become one clustering [default: information]."
CENTERED = "Take the means of the known groups out of the columns first [default: only with --alternatives]."
SCALED = "Instead of standardizing: rows to one length, or for counts square roots or tf-idf."


@options.verb("contrast", "data", "redundancy, shared, confidence, support")
@option("--n-clusters -k", NEW, type=options.Number(several=True))
@option("--method", MAKERS, of="consilience.alternatives.contrast:METHODS", default="condens")
@option("--base", SPLITTERS, of="consilience.alternatives.splits:BASES")
@option("--combine", COMBINED, of="consilience.alternatives.condens:COMBINATIONS")
@option("--center/--no-center", CENTERED, default=None, is_flag=True)
@options.standardize_option("counts, for --method ccib and bases of counts, stay as they are")
@option("--scale how_scaled", SCALED, of="consilience.tables.scaling_and_counts:SCALES")
@option("--trade-off", "λ of ccib: how much coordination weighs [default: chosen without labels].", type=float)
@option("--search", "Where runs of ccib begin [default: sequential].", of="consilience.alternatives.ccib:SEARCHES")
@option("--n-init", "Runs in every group, all of them used  [default: 10, at once 30].", type=int)
@option("--alternatives n_alternatives", "So many groupings at most, each new to all before it.", type=int)
@option("--at-once", "Look for all --alternatives at once, each in a space of its own; needs -k.", is_flag=True)
@options.output_option("id, cluster, confidence and support")
@options.figure_option("both groupings")
@options.reading(options.given_options, options.known_options, options.table_options)
@options.run_options
def command(
    data: Path,
    how: dict[str, Any],
    n_clusters: Any,
    method: str,
    center: bool | None,
    standardize: bool,
    how_scaled: str | None,
    n_alternatives: int | None,
    at_once: bool,
    output: Path | None,
    figure: Path | None,
    **settings: Any,
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
    from consilience.alternatives.splits import COUNTS
    from consilience.cli.inputs import open_data
    from consilience.reports import contrast as reports
    from consilience.reports import draw
    from consilience.reports.files import object_index, object_table, write_objects
    from consilience.tables import scale

    settings = {name: value for name, value in settings.items() if value is not None}
    counts = method == "ccib" or settings.get("base") in COUNTS
    if counts and how_scaled:
        raise InputError(f"counts are taken as they are: leave out --scale {how_scaled}, or use --base kmeans")
    if n_alternatives is not None and (figure or method == "ccib" or settings.keys() & {"trade_off", "search"}):
        raise InputError("--alternatives takes no --figure, --method ccib, --trade-off or --search: leave these out")
    if at_once and n_alternatives is None:
        raise InputError("--at-once is of several groupings: say how many with --alternatives")
    if n_alternatives is None and n_clusters is None:
        raise InputError("how many new clusters? say -k 4, for example")
    if n_alternatives is None and not how["given"] and how["given_from"] is None:
        raise InputError("which grouping do you know? name its column with --given, or its file with --given-from")
    opened, groups = open_data(data, "counts" if counts else "data", **how)
    table = opened.data
    assert table is not None
    X, past = scale(table.values, how_scaled) if how_scaled else table.values, pd.DataFrame(groups)
    settings["standardize"] = standardize and how_scaled in (None, "columns")
    if center is not None:
        settings["center"] = "group" if center else None
    if n_alternatives is not None:
        settings |= {"at_once": True} if at_once else {}
        found: Any = alternatives(X, n_alternatives, n_clusters=n_clusters, given=past if groups else None, **settings)
    else:
        found = contrast(X, past, n_clusters, method=method, **settings)
    if output:
        write_objects(object_table(found, object_index(table.ids, table.n_objects)), output, table.id_heading)
    if figure:
        draw(found, figure, X=X, given=groups)
    told: Any = (reports.contrast_finding, reports.contrast_summary)
    if n_alternatives is not None:
        told = (reports.alternatives_finding, reports.alternatives_summary)
    outputs.tell(data, *told, found, opened.known, notices=table)
