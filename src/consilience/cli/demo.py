"""consilience demo: the main job on bundled data."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from shlex import quote

import click

from consilience.comparison import compactness, compare
from consilience.datasets import load_beads, load_beads_labels, sample_path
from consilience.reports import draw_agreement, print_comparison, terminal, write_table


@click.command("demo", short_help="Try it: the main job on bundled data.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the data, the tables and a picture to this folder.",
)
def command(output: Path | None) -> None:
    """Compare 16 clusterings of 300 glass beads, which can be grouped by shape or by colour."""
    beads, ensemble = load_beads(), load_beads_labels()
    assert beads.labels is not None
    result = compare(ensemble, ("jaccard", "nmi"), truth=dict(beads.labels.items()))
    console = terminal()
    print_comparison(result, title="beads", console=console)
    tight = compactness((beads.values - beads.values.mean(axis=0)) / beads.values.std(axis=0), ensemble)
    names = ensemble.names
    best, worst = tight.argmin(), tight.argmax()
    console.print(
        f"\nMost compact on the standardised columns: {names[best]} ({tight[best]:.3f}); "
        f"least: {names[worst]} ({tight[worst]:.3f})."
    )
    console.print("Two families that hardly agree: some clusterings found the shapes, others the colours.")
    if output is None:
        return
    output.mkdir(parents=True, exist_ok=True)
    for name in ("beads.csv", "beads_labels.csv"):
        shutil.copyfile(sample_path(name), output / name)
    write_table(result.clusterings.assign(compactness=tight).set_index("name"), output / "clusterings.csv")
    write_table(result.matrix("jaccard"), output / "agreement.csv")
    if find_spec("matplotlib"):
        draw_agreement(result, output / "agreement.png")
    labels = output / "beads_labels.csv"
    console.print(
        f"Files are in {output}. Next, try: consilience compare {quote(str(labels))} --id bead -t shape,colour"
    )
