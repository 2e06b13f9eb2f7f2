"""python -m papers NAME: a paper's experiments again."""

from __future__ import annotations

from pathlib import Path

import click

from papers import PAPERS


@click.command()
@click.argument("paper", type=click.Choice(list(PAPERS)))
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Folder for the report (Markdown), its tables (CSV) and figures (PNG).",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    envvar="CONSILIENCE_DATA",
    show_envvar=True,
    help="Folder of real data sets (.npz); what needs them is left out otherwise.",
)
@click.option("--seeds", type=click.IntRange(min=1), default=10, show_default=True, help="Repeats, with seeds from 0.")
@click.option("--quick", is_flag=True, help="Two seeds and small sizes: under a minute, for a look.")
def command(paper: str, output: Path, data: Path | None, seeds: int, quick: bool) -> None:
    """Run the experiments of PAPER and write a report with the paper's numbers beside ours.

    \b
    strehl2002     Strehl and Ghosh, Cluster ensembles
    gondek2005     Gondek and Hofmann, Non-redundant clustering with conditional ensembles
    caruana2006    Caruana, Elhawary, Nguyen and Smith, Meta clustering
    bekkerman2009  Bekkerman, Scholz and Viswanathan, Improving clustering stability
    wang2010       Wang, Domeniconi and Laskey, Nonparametric Bayesian clustering ensembles

    \b
    python -m papers strehl2002 --output strehl2002 --quick
    python -m papers strehl2002 --output strehl2002 --data data --seeds 10
    """
    report = PAPERS[paper].run(output, data=data, n_seeds=seeds, quick=quick)
    if data is None:
        click.echo("left out what needs real data: name its folder with --data", err=True)
    for path in [*report.files, output / "report.md"]:
        click.echo(f"wrote {path}")


if __name__ == "__main__":
    command(prog_name="python -m papers")
