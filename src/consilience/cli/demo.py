"""consilience demo: the main job on bundled data."""

import shutil
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Any

import click

from consilience.cli import shared_options as options
from consilience.cli.shared_options import option

OWN = {"beads.csv", "beads_labels.csv", "run"}  # what every demo's folder holds


@options.verb("demo")
@option("--output -o", "Write the data, the run, a picture and a report to this folder.", writes="folder")
@option("--n-clusterings -n number", "How many.", type=click.IntRange(min=20), default=500)
def command(output: Path | None, number: int) -> None:
    """Cluster 300 glass beads many times, organize the clusterings, and see which groupings there are.

    The beads can be grouped by shape or by color; nothing tells the clusterings so.
    """
    import pandas as pd

    from consilience.datasets import load_beads, sample_path
    from consilience.generation import generate
    from consilience.inputs import open_source
    from consilience.meta import organize
    from consilience.reports.ensemble import generation_finding
    from consilience.reports.finding import Finding, Sheet
    from consilience.reports.meta import MetaReport, meta_finding
    from consilience.reports.report import make_report, write_report
    from consilience.reports.terminal import print_finding, terminal

    if output is not None:
        _check_folder(output)
    beads, console = load_beads(), terminal()
    assert beads.labels is not None
    known = {str(name): beads.labels[name] for name in beads.labels}
    run = None if output is None else output / "run"
    ens = generate(beads, number, 4, store=run)
    print_finding(generation_finding(ens, known), title="beads.csv", console=console)

    meta = organize(ens, 6, "ward")
    origin = open_source(ens if run is None else run).provenance
    found = make_report(meta, origin, data=beads, known=known, id_name=beads.id_heading)
    assert isinstance(found, MetaReport)
    null = found.null
    assert null is not None
    console.print()
    print_finding(meta_finding(meta, scores=found.scores, null=null), title="The clusterings", console=console)
    answers = {**dict(zip(map(str, meta.numbers), found.group_consensus, strict=True)), "all": found.consensus}
    table = pd.DataFrame({group: _row(one, known) for group, one in answers.items()}).T.rename_axis("group")
    told = "One clustering from each group, and from all, beside what is known of the beads"
    print_finding(Finding("What they say together", tables=[Sheet("answers", table, told)]), console=console)
    best = {name: int(null.table.loc[name, "group"]) for name in known}
    told = " and ".join(f"group {group} found the {name}" for name, group in best.items())
    console.print(f"\nNone of them is wrong: {told}. Combining everything would have hidden one of the two.")
    if output is None:
        return
    assert run is not None
    for name in ("beads.csv", "beads_labels.csv"):
        shutil.copyfile(sample_path(name), output / name)
    if find_spec("matplotlib"):
        title = f"{number} clusterings of {beads.n_objects} glass beads"
        write_report(found, output / "report.html", title=title)
        console.print(f"The report, for your browser: {output / 'report.html'}")
    else:
        console.print("A report of all this needs matplotlib: pip install 'consilience[plots]'")
    folder = quote(str(output))
    explore = f"consilience explore {folder}/run --data {folder}/beads.csv --known shape,color -g 6"
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
        what = f"{output} is not empty and not the folder of a demo"
        raise InputError(f"{what}: choose another folder, so that nothing is lost")


def _row(one: Any, known: dict[str, Any]) -> dict[str, float]:
    from consilience.measures import matched_accuracy

    scores = {f"accuracy with {name}": matched_accuracy(labels, one.labels) for name, labels in known.items()}
    return {"confidence": one.mean_confidence, "support": one.mean_support, **scores}
