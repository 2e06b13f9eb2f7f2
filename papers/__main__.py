"""python -m papers NAME: a paper's experiments again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from papers import PAPERS
from papers.results import FOLDER, write_results

HERE = Path(__file__).parent


@click.command()
@click.argument("paper", type=click.Choice([*PAPERS, "all"]))
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    default=HERE,
    help="Folder for RESULTS.md, results/ (reports, CSV, PNG) and cells/ (what is finished); papers/ itself by default.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    envvar="CONSILIENCE_DATA",
    show_envvar=True,
    help="Folder of real data sets (.npz); what needs them is left out otherwise.",
)
@click.option("--seeds", type=click.IntRange(min=1), default=10, show_default=True, help="Repeats, with seeds from 0.")
@click.option("--quick", is_flag=True, help="Two seeds and small sizes: under a minute each, for a look.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Threads or processes; -1 for all cores.")
def command(paper: str, output: Path, data: Path | None, seeds: int, quick: bool, jobs: int) -> None:
    """Run the experiments of PAPER, or of all, and write reports with the paper's numbers beside ours.

    A run that was cut off goes on where it was, cell by cell (an experiment with one setting and one seed).

    \b
    strehl2002     Strehl and Ghosh, Cluster ensembles
    gondek2005     Gondek and Hofmann, Non-redundant clustering with conditional ensembles
    caruana2006    Caruana, Elhawary, Nguyen and Smith, Meta clustering
    bekkerman2009  Bekkerman, Scholz and Viswanathan, Improving clustering stability
    wang2010       Wang, Domeniconi and Laskey, Nonparametric Bayesian clustering ensembles

    \b
    python -m papers strehl2002 --output strehl --quick
    python -m papers all --data data
    """
    how: dict[str, Any] = {"data": data, "n_seeds": seeds, "quick": quick, "n_jobs": jobs}
    for name in PAPERS if paper == "all" else (paper,):
        folder, cells = output / FOLDER / name, output / "cells" / f"{name}.jsonl"
        report = PAPERS[name].run(folder, **how, cells=cells, tell=_teller(name))
        for path in [*report.files, folder / "report.md", write_results(output, PAPERS)]:
            click.echo(f"wrote {path}")
    if data is None:
        click.echo("left out what needs real data: name its folder with --data", err=True)


def _teller(name: str) -> Any:
    return lambda line: click.echo(f"{name}: {line}", err=True)


if __name__ == "__main__":
    command(prog_name="python -m papers")
