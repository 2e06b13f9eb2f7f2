"""consilience agree: clusterings of a table of counts that agree with each other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from consilience._check import InputError, count
from consilience.agreement import agree, column_information, stable_groups
from consilience.agreement.agree import MODELS
from consilience.cli.inputs import by_name, check_outputs, joined, labels_from, table_options, truth_options
from consilience.consensus import combine
from consilience.measures import accuracy
from consilience.reports import write_table
from consilience.reports.agreement import agreement_summary, draw_iterations, labels_table, print_agreement
from consilience.reports.files import check_figure_path, check_table_path
from consilience.results import check_new_folder
from consilience.tables import Table, read_table

FILE = click.Path(path_type=Path)


@click.command("agree", short_help="Clusterings of a table of counts that agree: rows and columns together.")
@click.argument("counts", type=FILE)
@click.option("--clusters", "-k", type=click.IntRange(min=2), required=True, help="Clusters of the rows.")
@click.option("--column-clusters", type=int, help="Clusters of the columns; by default as the start makes them.")
@click.option("--m", "-m", type=int, default=10, show_default=True, help="How many clusterings agree.")
@click.option("--iterations", type=int, default=4, show_default=True, help="Rounds of the process.")
@click.option(
    "--model",
    type=click.Choice(MODELS),
    default="auto",
    show_default=True,
    help="What makes the clusterings: 'mdc' hierarchically, 'paper' without its last passes, 'dataloom' flat, for large tables.",
)
@click.option(
    "--candidates",
    type=int,
    default=1,
    show_default=True,
    help="Runs for every clustering that takes part: those with most information do.",
)
@click.option("--triples", is_flag=True, help="The columns of the table are row, column and count.")
@click.option("--names", help="Names of the columns: a vector of the npz file, or a text file with one a line.")
@click.option(
    "--output", "-o", type=FILE, help="Write consensus and all clusterings of the rows (.csv, .tsv, .parquet)."
)
@click.option("--column-output", type=FILE, help="Write all clusterings of the columns.")
@click.option("--stability", "stability_file", type=FILE, help="Write the stability by iteration.")
@click.option("--components", type=FILE, help="Write the stable components of rows and columns, before and after.")
@click.option("--save", type=FILE, help="Keep everything in a new folder: the clusterings of every iteration, as runs.")
@click.option(
    "--figure", type=FILE, help="Draw the stability by iteration (.png, .svg, .pdf); needs the extra 'plots'."
)
@truth_options
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--jobs", "-j", "n_jobs", type=int, default=1, show_default=True, help="Threads; -1 for all cores.")
@table_options
def command(
    counts: Path,
    clusters: int,
    column_clusters: int | None,
    m: int,
    iterations: int,
    model: str,
    candidates: int,
    triples: bool,
    names: str | None,
    output: Path | None,
    column_output: Path | None,
    stability_file: Path | None,
    components: Path | None,
    save: Path | None,
    figure: Path | None,
    truth: list[str],
    truth_from: Path | None,
    seed: int,
    as_json: bool,
    n_jobs: int,
    **how: Any,
) -> None:
    """Cluster the rows and columns of COUNTS, documents by words say, several times, and let the clusterings agree.

    COUNTS is Matrix Market, npz, h5ad, or text; text with lines of row, column and count needs --triples.

    \b
    consilience agree counts.npz -k 20 --names vocab --truth y -o labels.csv
    consilience agree ratings.csv --triples -k 50 --m 5 --components groups.csv --save agreement
    """
    tables = _check_tables(output, column_output, stability_file, components)
    pictures = [check_figure_path(figure)] if figure else []
    folders = [check_new_folder(save)] if save else []
    check_outputs([*tables, *pictures, *folders], [counts, truth_from, Path(names) if names else None])
    table, known = _read(counts, truth, truth_from, triples=triples, **how)
    table = replace(table, columns=_column_names(counts, names, table))
    how_many: dict[str, Any] = {"n_clusterings": m, "max_iter": iterations, "model": model, "n_init": candidates}
    result = agree(table, clusters, column_clusters, **how_many, random_state=seed, n_jobs=n_jobs)
    if save:
        result.save(save)
    by_iteration = result.stability_by_iteration(known, n_jobs=n_jobs)
    consensus = combine(result.after.rows, method="sccc", progress=False)
    weights = column_information(table.values, consensus.labels)
    groups = stable_groups(result.before.columns, result.after.columns, weights=weights, new=True)
    if output:
        write_table(labels_table(result.after.rows, consensus), output)
    if column_output:
        write_table(labels_table(result.after.columns), column_output)
    if stability_file:
        write_table(by_iteration.set_index("iteration"), stability_file)
    if components:
        write_table(_components(result, weights), components)
    if figure:
        draw_iterations(by_iteration, figure)
    summary = agreement_summary(
        result,
        by_iteration,
        consensus=consensus,
        groups=groups,
        known={name: accuracy(labels, consensus.labels) for name, labels in known.items()},
    )
    if as_json:
        click.echo(json.dumps({"source": str(counts), **summary}, indent=2))
        return
    print_agreement(summary, title=counts.name)
    for path in [*tables, *pictures, *folders]:
        click.echo(f"wrote {path}")


def _check_tables(*files: Path | None) -> list[Path]:
    """The tables to write; npy would lose their names."""
    tables = [check_table_path(path) for path in files if path]
    for path in tables:
        if path.suffix.lower() == ".npy":
            raise InputError(f"{path}: an npy file holds no names; write .csv, .tsv or .parquet")
    return tables


def _read(
    path: Path,
    truth: list[str],
    truth_from: Path | None,
    *,
    triples: bool,
    id_column: str | None,
    columns: list[str],
    key: str | None,
    **text: Any,
) -> tuple[Table, dict[str, Any]]:
    """The table of counts, and the known labels of its rows by name."""
    own_ids = None if triples else id_column  # triples name their rows, and --id is that of the labels beside them
    table = read_table(
        path,
        kind="counts",
        id_column=own_ids,
        known=truth,
        columns=columns or None,
        key=key,
        triples=triples,
        **text,
    )
    known = by_name(table.labels)
    if truth_from is not None:
        known = joined(known, labels_from(truth_from, table, path, id_column, [], text), truth_from, path)
    for name, labels in known.items():
        if len(labels) != table.n_objects:
            rows = count(table.n_objects, "row")
            raise InputError(
                f"{truth_from}: {len(labels):,} known labels {name!r} for {rows} of {path}: match them by --id"
            )
    return table, known


def _column_names(path: Path, names: str | None, table: Table) -> Any:
    """What the columns are called: as --names says, or as the table does; None without names."""
    if names is None:
        return table.columns
    found = _vector(path, names)
    if found is None:
        if not Path(names).is_file():
            raise InputError(f"--names {names}: neither a vector of {path.name} nor a text file: check the name")
        found = np.array(Path(names).read_text(encoding="utf-8").splitlines(), dtype=object)
    if len(found) != table.values.shape[1]:
        columns = count(table.values.shape[1], "column")
        raise InputError(f"--names {names}: {len(found):,} names for {columns} of {path.name}: give one for each")
    return found


def _vector(path: Path, name: str) -> Any:
    """A vector of an npz file; None if there is none of that name."""
    if path.suffix.lower() != ".npz":
        return None
    with np.load(path, allow_pickle=False) as arrays:
        return arrays[name] if name in arrays.files and arrays[name].ndim == 1 else None


def _components(result: Any, weights: Any) -> pd.DataFrame:
    """All stable components with two members or more: of the rows and the columns, before and after."""
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
