"""consilience agree: clusterings of a table of counts that agree with each other."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from consilience.cli import options, outputs


@click.command("agree", cls=options.Verb, terms=("stable component", "confidence", "support", "floater"))
@click.argument("counts", type=options.INPUT, is_eager=True)
@click.option("--n-clusters", "-k", type=click.IntRange(min=2), required=True, help="Clusters of the rows.")
@click.option("--n-column-clusters", type=int, help="Clusters of the columns; by default as the start makes them.")
@click.option("--n-clusterings", "-n", type=int, default=10, show_default=True, help="How many clusterings agree.")
@click.option("--max-iter", type=int, default=4, show_default=True, help="Rounds of the process.")
@options.choice_option(
    "--model",
    of="consilience.agreement.agree:MODELS",
    default="auto",
    help="What makes the clusterings: 'mdc' hierarchically, 'mdc_plain' without its last passes, 'dataloom' flat, for large tables.",
)
@click.option(
    "--n-init",
    type=int,
    default=1,
    show_default=True,
    help="Runs for every clustering that takes part: those with most information do.",
)
@click.option("--restart", is_flag=True, help="At the end begin again from the clusterings' own consensus.")
@click.option("--triples", is_flag=True, help="The columns of the table are row, column and count.")
@click.option("--names", help="Names of the columns: a vector of the npz file, or a text file with one a line.")
@options.output_option("consensus and all clusterings of the rows")
@click.option("--column-output", type=options.FILE, help="Write all clusterings of the columns.")
@click.option("--stability", "stability_file", type=options.FILE, help="Write the stability by iteration.")
@click.option(
    "--components", type=options.FILE, help="Write the stable components of rows and columns, before and after."
)
@click.option(
    "--save", type=options.FILE, help="Keep everything in a new folder: the clusterings of every iteration, as runs."
)
@options.figure_option("the stability by iteration")
@options.reading(options.known_options, options.table_options)
@options.run_options
def command(
    counts: Path,
    how: dict[str, Any],
    triples: bool,
    names: str | None,
    output: Path | None,
    column_output: Path | None,
    stability_file: Path | None,
    components: Path | None,
    save: Path | None,
    figure: Path | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Cluster the rows and columns of COUNTS, documents by words say, several times, and let the clusterings agree.

    COUNTS is Matrix Market, npz, h5ad, or text; text with lines of row, column and count needs --triples. A folder of npz files, or of
    Parquet with columns row, column and count, is read in row blocks, and never held all at once.

    \b
    consilience agree counts.npz -k 20 --names vocab --known y -o labels.csv
    consilience agree ratings.csv --triples -k 50 --components groups.csv
    """
    from consilience.agreement import agree, stable_groups
    from consilience.agreement.components import column_information
    from consilience.cli.inputs import open_count_blocks, open_data, print_notices
    from consilience.consensus import combine
    from consilience.ensemble.results import check_new_folder
    from consilience.inputs.known import read_names
    from consilience.reports import draw
    from consilience.reports.agreement import agreement_finding, agreement_summary, labels_table
    from consilience.reports.clusters import match_known
    from consilience.reports.files import write_objects, write_table

    tables = outputs.check_tables(output, column_output, stability_file, components)
    pictures = outputs.check_pictures(figure)
    folders = [check_new_folder(save)] if save else []
    outputs.check_outputs([*tables, *pictures, *folders], [counts, how["known_from"], Path(names) if names else None])
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
    if save:
        result.save(save)
    by_iteration = result.stability_by_iteration(known, n_jobs=settings["n_jobs"])
    consensus = combine(result.after.rows, progress=False)
    weights = column_information(table if blocks else table.values, consensus.labels)
    groups = stable_groups(result.before.columns, result.after.columns, weights=weights, new=True)
    if output:
        write_objects(labels_table(result.after.rows, consensus), output, "id" if blocks else table.id_heading)
    if column_output:
        write_table(labels_table(result.after.columns), column_output)
    if stability_file:
        write_table(by_iteration.set_index("iteration"), stability_file)
    if components:
        write_table(_components(result, weights), components)
    if figure:
        draw(by_iteration, figure, "iterations")
    matches = {name: match_known(labels, consensus.labels) for name, labels in known.items()}
    about: dict[str, Any] = {"consensus": consensus, "groups": groups, "known": matches}
    if as_json:
        outputs.print_json({"source": str(counts), **agreement_summary(result, by_iteration, **about)})
        return
    outputs.print_answer(agreement_finding(result, by_iteration, **about), counts)
    print_notices(None if blocks else table)
    outputs.print_written([*tables, *pictures, *folders])


def _components(result: Any, weights: Any) -> Any:
    """All stable components with two members or more: of the rows and the columns, before and after."""
    import pandas as pd

    from consilience.agreement import stable_groups

    parts = []
    for side, heavy in (("rows", None), ("columns", weights)):
        before, after = getattr(result.before, side), getattr(result.after, side)
        for when, ensemble in (("before", before), ("after", after)):
            found = stable_groups(before, ensemble, weights=heavy)
            found.insert(0, "when", when)
            found.insert(0, "side", side)
            parts.append(found)
    table = pd.concat(parts, ignore_index=True)
    table["members"] = ["; ".join(map(str, members)) for members in table["members"]]
    return table.set_index("side")
