"""consilience demo: the main job on bundled data."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Any

import click

from consilience.cli.options import FOLDER

NUMBER, CLUSTERS, GROUPS = 500, 4, 6
OWN = {"beads.csv", "beads_labels.csv", "run"}  # what every demo's folder holds


@click.command("demo")
@click.option("--output", "-o", type=FOLDER, help="Write the data, the run, a picture and a report to this folder.")
def command(output: Path | None) -> None:
    """Cluster 300 glass beads 500 times, organize the clusterings, and see which groupings there are.

    The beads can be grouped by shape or by color; nothing tells the clusterings so.
    """
    from consilience.datasets import load_beads
    from consilience.generation import generate
    from consilience.inputs import open_source
    from consilience.meta import organize
    from consilience.reports import terminal
    from consilience.reports.ensemble import generation_summary, print_generation
    from consilience.reports.meta import MetaReport, print_organized
    from consilience.reports.report import make_report, write_report
    from consilience.reports.terminal import print_table

    if output is not None:
        _check_folder(output)
    beads, console = load_beads(), terminal()
    assert beads.labels is not None
    known = {str(name): beads.labels[name] for name in beads.labels}
    run = None if output is None else output / "run"
    ens = generate(beads, NUMBER, CLUSTERS, store=run)
    print_generation(generation_summary(ens, known), title="beads.csv", console=console)

    meta = organize(ens, GROUPS, "ward")
    origin = open_source(ens if run is None else run).provenance
    found = make_report(meta, origin, data=beads, known=known, id_name=beads.id_heading)
    assert isinstance(found, MetaReport)
    null = found.null
    assert null is not None
    console.print()
    print_organized(meta, title="The clusterings", scores=found.scores, null=null, console=console)

    console.print("\nOne clustering from each group, and from all, beside what is known of the beads")
    numbered = zip(meta.numbers, found.group_consensus, strict=True)
    rows = [_row(str(group), one, known) for group, one in numbered]
    rows.append(_row("all", found.consensus, known))
    numbers = tuple(range(1, 3 + len(known)))
    print_table(console, ["group", "confidence", "support", *(f"accuracy:{name}" for name in known)], rows, numbers)
    best = {name: int(null.table.loc[name, "group"]) for name in known}
    told = " and ".join(f"group {group} found the {name}" for name, group in best.items())
    console.print(f"\nNone of them is wrong: {told}. Combining everything would have hidden one of the two.")
    if output is None:
        return
    assert run is not None
    _write_beads(output)
    if find_spec("matplotlib"):
        title = f"{NUMBER} clusterings of {beads.n_objects} glass beads"
        write_report(found, output / "report.html", title=title)
        console.print(f"The report, for your browser: {output / 'report.html'}")
    else:
        console.print("A report of all this needs matplotlib: pip install 'consilience[plots]'")
    folder = quote(str(output))
    explore = f"consilience explore {folder}/run --data {folder}/beads.csv --known shape,color -g {GROUPS}"
    needs = "" if find_spec("starlette") else " (after pip install 'consilience[explore]')"
    console.print(f"To look around in it{needs}: {explore}")
    console.print(
        f"Files are in {output}. Next, try:\n"
        f"  consilience organize {folder}/run -g 8 --known-from {folder}/beads.csv --known shape,color\n"
        f"  consilience generate {folder}/beads.csv --id bead -t shape,color -o {folder}/run -n 100 --around {meta.medoids[0]}\n"
        f"  consilience compare {folder}/beads_labels.csv --id bead -t shape,color"
    )


def _check_folder(output: Path) -> None:
    """Refuse a folder that is not empty and holds no demo: its own files are written over, others in it are left alone."""
    from consilience._check import InputError

    if not output.exists():
        return
    there = {path.name for path in output.iterdir()}
    if there and not (there >= OWN or there == {"run"}):  # a run alone is left by a demo that was stopped
        raise InputError(
            f"{output} is not empty and not the folder of a demo: choose another folder, so that nothing is lost"
        )


def _row(name: str, one: Any, known: dict[str, Any]) -> list[str]:
    from consilience.measures import accuracy

    values = [one.mean_confidence, one.mean_support, *(accuracy(k, one.labels) for k in known.values())]
    return [name, *(f"{value:.3f}" for value in values)]


def _write_beads(output: Path) -> None:
    """The beads and 16 clusterings of them by hand, with a picture of how these agree."""
    from consilience.datasets import load_beads, load_beads_labels, sample_path
    from consilience.measures import compare
    from consilience.reports import draw_comparison

    for name in ("beads.csv", "beads_labels.csv"):
        shutil.copyfile(sample_path(name), output / name)
    if find_spec("matplotlib"):
        beads = load_beads()
        assert beads.labels is not None
        known = dict(beads.labels.items())
        draw_comparison(compare(load_beads_labels(), ("jaccard", "nmi"), known=known), output / "comparison.png")
