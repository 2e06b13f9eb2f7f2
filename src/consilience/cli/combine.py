"""consilience combine: one clustering from many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from consilience._check import InputError
from consilience.cli.inputs import OneOf, check_outputs, read_ensemble, table_options, truth_options
from consilience.consensus import METHODS, combine, floaters
from consilience.consensus.bayes.model import PRIORS
from consilience.consensus.nbce import INFERENCE
from consilience.measures import stability
from consilience.reports import write_table
from consilience.reports.consensus import consensus_summary, consensus_table, match_known, print_consensus
from consilience.reports.files import check_table_path


class Clusters(click.ParamType):
    """A number, or one of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.name = "|".join(["number", *words])

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """A whole number, or the word."""
        if isinstance(value, int):
            return value
        if value.lower() in self.words:
            return value.lower()
        try:
            return int(value)
        except ValueError:
            words = " nor ".join(["a whole number", *map(repr, self.words)])
            self.fail(f"{value!r} is neither {words}", param, ctx)


@click.command("combine", short_help="One clustering from many, with a confidence for every object.")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option(
    "--clusters",
    "-k",
    type=Clusters("auto", "stable"),
    help="How many; by default the median of the clusterings' numbers, 'auto' for what NBCE finds, 'stable' for the most stable number.",
)
@click.option(
    "--method",
    type=OneOf(lambda: ("auto", *METHODS)),
    default="auto",
    show_default=True,
    help="How; 'auto' lets the fast methods compete.",
)
@click.option(
    "--prior", type=click.Choice(PRIORS), help="Of the cluster sizes, with --method nbce: sticks or symmetric."
)
@click.option("--inference", type=click.Choice(INFERENCE), help="With --method nbce: sampling, or a variational bound.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="Write object, cluster and confidence (.csv, .tsv, .parquet).",
)
@click.option("--membership", is_flag=True, help="Also write how strongly each object belongs to each cluster.")
@click.option(
    "--floaters", "floater_file", type=click.Path(path_type=Path), help="Write the objects with weak support."
)
@truth_options
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--jobs", "-j", "n_jobs", type=int, default=1, show_default=True, help="Threads; -1 for all cores.")
@table_options
def command(
    labels: Path,
    clusters: int | str | None,
    method: str,
    prior: str | None,
    inference: str | None,
    output: Path | None,
    membership: bool,
    floater_file: Path | None,
    truth: list[str],
    truth_from: Path | None,
    seed: int,
    as_json: bool,
    n_jobs: int,
    **how: Any,
) -> None:
    """Combine the clusterings in LABELS: a table with one column per clustering, or a stored run.

    \b
    consilience combine labels.csv --id cell -k 8 --output consensus.csv
    consilience combine labels.csv --id cell -k auto --truth type
    consilience combine labels.csv --method nbce --prior tsb --inference gibbs
    """
    given = {"prior": prior, "inference": inference}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if options and method != "nbce":
        raise InputError(f"--{' and --'.join(options)}: only NBCE has a choice of these; add --method nbce")
    if membership and output is None:
        raise InputError("--membership says what to write: name a file with --output too")
    files = [check_table_path(path) for path in (output, floater_file) if path]
    for path in files:
        if path.suffix.lower() == ".npy":
            raise InputError(f"{path}: an npy file holds no names; write .csv, .tsv or .parquet")
    check_outputs(files, [labels, truth_from])
    ensemble, known = read_ensemble(labels, truth, truth_from, **how)
    result = combine(ensemble, clusters, method, random_state=seed, n_jobs=n_jobs, **options)
    weak = floaters(ensemble, result)
    matches = {name: match_known(values, result.labels) for name, values in known.items()}
    agreement = stability(ensemble, "jaccard", n_jobs=n_jobs) if ensemble.n_clusterings > 1 else None
    summary = consensus_summary(result, agreement, matches)
    if output:
        write_table(consensus_table(result, membership=membership), output)
    if floater_file:
        write_table(weak.set_index("id"), floater_file)
    if as_json:
        click.echo(json.dumps({"source": str(labels), **summary}, indent=2))
        return
    print_consensus(summary, title=labels.name or str(labels))
    for path in files:
        click.echo(f"wrote {path}")
