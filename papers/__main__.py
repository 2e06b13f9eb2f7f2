"""consilience reproduce: a paper's experiments again."""

from __future__ import annotations

from pathlib import Path

import click

from papers import PAPERS


@click.command("reproduce", short_help="A paper's experiments again, its numbers beside ours.")
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
    000  Bekkerman, Scholz and Viswanathan, Improving clustering stability (2009)
    001  Strehl and Ghosh, Cluster ensembles (2002)
    002  Gondek and Hofmann, Non-redundant clustering with conditional ensembles (2005)
    003  Caruana, Elhawary, Nguyen and Smith, Meta clustering (2006)
    004  Wang, Domeniconi and Laskey, Nonparametric Bayesian clustering ensembles (2010)

    \b
    consilience reproduce 001 --output report001 --quick
    consilience reproduce 001 --output report001 --data data --seeds 10
    consilience reproduce 004 --output report004 --data data --seeds 10
    """
    report = PAPERS[paper](output, data=data, n_seeds=seeds, quick=quick)
    if data is None:
        click.echo("left out what needs real data: name its folder with --data", err=True)
    for path in [*report.files, output / "report.md"]:
        click.echo(f"wrote {path}")


if __name__ == "__main__":
    command()
