"""consilience demo: the main job on bundled data."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from shlex import quote

import click
import pandas as pd

from consilience.comparison import accuracy, compare
from consilience.consensus import Consensus
from consilience.datasets import load_beads, load_beads_labels, sample_path
from consilience.generation import generate
from consilience.meta import organize, score
from consilience.reports import draw_agreement, terminal
from consilience.reports.generation import generation_summary, print_generation
from consilience.reports.meta import print_organized
from consilience.reports.organized import write_organized
from consilience.reports.terminal import print_table

NUMBER, CLUSTERS, GROUPS = 500, 4, 6


@click.command("demo", short_help="Try it: the main job on bundled data.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the data, the run, the tables and pictures to this folder.",
)
def command(output: Path | None) -> None:
    """Cluster 300 glass beads 500 times, organise the clusterings, and see which groupings there are.

    The beads can be grouped by shape or by colour; nothing tells the clusterings so.
    """
    beads, console = load_beads(), terminal()
    assert beads.labels is not None
    known = {str(name): beads.labels[name] for name in beads.labels}
    run = None if output is None else output / "run"
    ens = generate(beads, NUMBER, CLUSTERS, store=run)
    print_generation(generation_summary(ens, known), title="beads.csv", console=console)

    meta = organize(ens, GROUPS, "ward")
    data = (beads.values - beads.values.mean(axis=0)) / beads.values.std(axis=0)
    scores = score(ens, data, known=known).drop(columns="clusters")
    null = meta.null(known)
    console.print()
    print_organized(meta, title="The clusterings", scores=scores, null=null, console=console)

    found = [meta.consensus(group) for group in range(GROUPS)]
    whole = meta.consensus()
    console.print("\nOne clustering from each group, and from all, beside what is known of the beads")
    rows = [_row(str(group), one, known) for group, one in enumerate(found)] + [_row("all", whole, known)]
    numbers = tuple(range(1, 2 + len(known)))
    print_table(console, ["group", "confidence", *(f"accuracy:{name}" for name in known)], rows, numbers)
    best = {name: int(null.table.loc[name, "group"]) for name in known}
    told = " and ".join(f"group {group} {name}" for name, group in best.items())
    console.print(f"\nNone of them is wrong: {told}. Combining everything would have hidden one of the two.")
    if output is None:
        return
    marked = {"consensus of a group": _scored(found, data, known), "of all": _scored([whole], data, known)}
    write_organized(meta, output / "organized", found, scores=scores, null=null, marked=marked)
    _write_beads(output)
    folder = quote(str(output))
    console.print(
        f"Files are in {output}. Next, try:\n"
        f"  consilience organize {folder}/run --linkage ward -g 8 --truth-from {folder}/beads.csv -t shape,colour --id bead\n"
        f"  consilience generate {folder}/beads.csv --id bead -t shape,colour -o {folder}/run -n 100 --around {meta.medoids[0]}\n"
        f"  consilience compare {folder}/beads_labels.csv --id bead -t shape,colour"
    )


def _row(name: str, one: Consensus, known: dict[str, pd.Series]) -> list[str]:
    return [name, f"{one.confidence.mean():.3f}", *(f"{accuracy(k, one.labels):.3f}" for k in known.values())]


def _scored(found: list[Consensus], data: object, known: dict[str, pd.Series]) -> pd.DataFrame:
    return score([one.labels for one in found], data, known=known)


def _write_beads(output: Path) -> None:
    """The beads and 16 clusterings of them by hand, with a picture of how these agree."""
    for name in ("beads.csv", "beads_labels.csv"):
        shutil.copyfile(sample_path(name), output / name)
    if find_spec("matplotlib"):
        beads = load_beads()
        assert beads.labels is not None
        truth = dict(beads.labels.items())
        draw_agreement(compare(load_beads_labels(), ("jaccard", "nmi"), truth=truth), output / "agreement.png")
