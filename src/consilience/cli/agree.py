"""consilience agree: clusterings of a table of counts that agree with each other."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import click

from consilience.cli import outputs
from consilience.cli import shared_options as options
from consilience.cli.shared_options import option

MAKERS = "What makes the clusterings: 'mdc' hierarchically, 'mdc_plain' without its last passes, 'dataloom' flat, for large tables."


@options.verb("agree", "counts", "stable component, confidence, support, floater")
@option("--n-clusters -k", "Clusters of the rows.", type=click.IntRange(min=2), required=True)
@option("--n-column-clusters", "Clusters of the columns; by default as the start makes them.", type=int)
@option("--n-clusterings -n", "How many clusterings agree.", default=10)
@option("--max-iter", "Rounds of the process.", default=4)
@option("--model", MAKERS, of="consilience.agreement.agree:MODELS", default="auto")
@option("--n-init", "Runs for every clustering that takes part: those with most information do.", default=1)
@option("--restart", "At the end begin again from the clusterings' own consensus.", is_flag=True)
@option("--triples", "The columns of the table are row, column and count.", is_flag=True)
@option("--names", "Names of the columns: a vector of the npz file, or a text file with one a line.")
@options.writing(
    options.output_option("consensus and all clusterings of the rows"),
    option("--column-output", "Write all clusterings of the columns.", writes="table"),
    option("--stability", "Write the stability by iteration.", writes="table"),
    option("--components", "Write the stable components of rows and columns, before and after.", writes="table"),
    options.figure_option("the stability by iteration"),
    option("--save", "Keep everything in a new folder: clusterings of every iteration, as runs.", writes="result"),
)
@options.reading(options.known_options, options.table_options)
@options.run_options
def command(counts: Path, how: dict[str, Any], out: dict[str, Any], triples: bool, names: Any, **settings: Any) -> None:
    """Cluster the rows and columns of COUNTS, documents by words say, several times, and let the clusterings agree.

    COUNTS is Matrix Market, npz, h5ad, or text; text with lines of row, column and count needs --triples. A folder of npz files, or of
    Parquet with columns row, column and count, is read in row blocks, and never held all at once.

    \b
    consilience agree counts.npz -k 20 --names vocab --known y -o labels.csv
    consilience agree ratings.csv --triples -k 50 --components groups.csv
    """
    from consilience.agreement import agree, stable_groups
    from consilience.agreement.stable_groups import column_information
    from consilience.cli.inputs import open_count_blocks, open_data
    from consilience.consensus import combine
    from consilience.inputs.known_labels import read_names
    from consilience.reports import draw
    from consilience.reports.agreement import agreement_finding, agreement_summary, labels_table
    from consilience.reports.clusters import matches
    from consilience.reports.files import write_objects, write_table

    if triples:  # these name their rows themselves, and --id is that of the labels beside them
        how |= {"triples": True, "known_id": how["known_id"] or how["id_column"], "id_column": None}
    blocks = open_count_blocks(counts, [names], how)
    known: Any = {}
    table: Any = blocks
    if blocks is None:
        opened, _ = open_data(counts, "counts", **how)
        assert opened.data is not None
        known, table = opened.known, opened.data
        table = table if names is None else replace(table, columns=read_names(counts, names, table))
    result = agree(table, **settings)
    if out["save"]:
        result.save(out["save"])
    by_iteration = result.stability_by_iteration(known, n_jobs=settings["n_jobs"])
    consensus = combine(result.after.rows, progress=False)
    weights = column_information(table if blocks else table.values, consensus.labels)
    groups = stable_groups(result.before.columns, result.after.columns, weights=weights, new=True)
    if out["output"]:
        write_objects(labels_table(result.after.rows, consensus), out["output"], "id" if blocks else table.id_heading)
    if out["column_output"]:
        write_table(labels_table(result.after.columns), out["column_output"])
    if out["stability"]:
        write_table(by_iteration.set_index("iteration"), out["stability"])
    if out["components"]:
        write_table(_components(result, weights), out["components"])
    if out["figure"]:
        draw(by_iteration, out["figure"], "iterations")
    about: dict[str, Any] = {"consensus": consensus, "groups": groups, "notices": None if blocks else table}
    about["known"] = matches(known, consensus.labels)
    outputs.tell(counts, agreement_finding, agreement_summary, result, by_iteration, **about)


def _components(result: Any, weights: Any) -> Any:
    """All stable components with two members or more: of the rows and the columns, before and after."""
    import pandas as pd

    from consilience.agreement import stable_groups

    parts = []
    for side, when in product(("rows", "columns"), ("before", "after")):
        ends = getattr(result.before, side), getattr(getattr(result, when), side)
        found = stable_groups(*ends, weights=None if side == "rows" else weights)
        parts.append(found.assign(side=side, when=when))
    table = pd.concat(parts, ignore_index=True).set_index(["side", "when"])
    return table.assign(members=["; ".join(map(str, members)) for members in table["members"]])
