"""A clustering of clusterings: printed, as a folder of tables and pictures, and in a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from consilience._check import count
from consilience.consensus import Consensus
from consilience.ensemble import Ensemble
from consilience.measures import accuracy
from consilience.meta import MetaClustering, Null
from consilience.reports.consensus import describe_consensus
from consilience.reports.ensemble import EnsembleReport
from consilience.reports.files import object_table, write_objects, write_table
from consilience.reports.formats import decimals_of, format_list, format_name, format_number
from consilience.reports.html import Block, Picture, See, Sheet, Text
from consilience.reports.meta_figures import (
    curve_figure,
    draw_curve,
    draw_map,
    draw_scores,
    draw_tree,
    map_figure,
    scores_figure,
    tree_figure,
)
from consilience.reports.sections import section
from consilience.reports.terminal import DEFINITIONS, print_definitions, print_table, terminal

SHOWN = 30  # groups printed
TREES = 3  # scores that the tree is colored by, each in a picture of its own
FOLDER = (
    *("clusterings.csv", "groups.csv", "consensus.csv", "curve.csv", "null.csv"),
    *("curve.png", "map.png"),
)  # files of fixed name that `write_organized` writes
MAPPED = 2000  # clusterings up to which the neighbor map comes in seconds


def print_organized(
    result: MetaClustering,
    *,
    title: str,
    scores: pd.DataFrame | None = None,
    null: Null | None = None,
    console: Console | None = None,
) -> None:
    """Print the groups, with the mean of every score over their clusterings, candidates for their number, and the null.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads_labels
    >>> from consilience.reports import print_organized
    >>> print_organized(cs.organize(load_beads_labels(), 2), title="labels.csv")  # doctest: +ELLIPSIS
    labels.csv: 16 clusterings of 300 objects in 2 groups
    ...
    """
    console = console or terminal()
    m, n = count(result.n_clusterings, "clustering"), count(result.ensemble.n_objects, "object")
    console.print(f"{title}: {m} of {n} in {count(result.n_groups, 'group')}", markup=False)
    for line in _about_tree(result):
        console.print(line, markup=False)
    if jumps := _jumps(result):
        console.print(f"Sharpest jumps of the compactness curve, with their bends: {jumps}. None of them is the truth.")
    means = _group_means(result, scores)
    names = ["group", "clusterings", "height", "medoid", *map(str, means)]
    parts = zip(result.sizes, result.heights, result.medoids, means.to_numpy(float), strict=True)
    rows = [
        [str(group), f"{size:,}", format_number(height), result.ensemble.names[medoid], *map(format_number, values)]
        for group, (size, height, medoid, values) in zip(result.numbers, parts, strict=True)
    ]
    console.print()
    print_table(console, names, rows[:SHOWN], tuple(i for i in range(len(names)) if i != 3))
    if len(rows) > SHOWN:
        console.print(f"… and {count(len(rows) - SHOWN, 'more group')}")
    if null is not None:
        console.print(
            f"\nBest consensus of a group, against the null: {count(len(null.shuffled), 'shuffle')} of their members"
        )
        print_table(console, ["score", "best", "group", "null", "p"], _null_rows(null), (1, 2, 3, 4))
    print_definitions(
        console, "height", "medoid", *(["bend"] if jumps else []), *(["null"] if null is not None else [])
    )


def _about_tree(meta: MetaClustering) -> Iterator[str]:
    """How the tree was grown and cut."""
    yield f"Tree: {meta.linkage} linkage of {format_name(meta.measure)}; groups: {meta.note}."
    if meta.n_pairs is not None:
        pairs = f"{meta.n_pairs:,} random pairs of objects"
        yield f"Distances are estimated from {pairs}, standard error {meta.standard_error:.4f}."


def _jumps(meta: MetaClustering) -> str:
    jumps = meta.jumps.head(6)
    decimals = decimals_of(jumps["bend"])
    return ", ".join(f"{row.n_groups} ({format_number(row.bend, decimals)})" for row in jumps.itertuples())


def _null_rows(null: Null) -> list[list[str]]:
    return [
        [
            str(name),
            format_number(row["best"]),
            f"{row['group']:.0f}",
            f"{format_number(row['null_mean'])} ± {format_number(row['null_sd'])}",
            format_number(row["p_value"]),
        ]
        for name, row in null.table.iterrows()
    ]


def _group_means(meta: MetaClustering, scores: pd.DataFrame | None) -> pd.DataFrame:
    """The mean of every score over the clusterings of every group."""
    if scores is None:
        return pd.DataFrame(index=meta.numbers)
    means = scores.select_dtypes("number").drop(columns="clusters", errors="ignore").groupby(meta.groups).mean()
    return means.add_prefix("mean ")


def clustering_table(meta: MetaClustering, scores: pd.DataFrame | None) -> pd.DataFrame:
    """One row per clustering: its group, whether it is the group's medoid, its scores, and what made it."""
    info = meta.ensemble.info
    frame = pd.DataFrame(index=pd.Index(meta.ensemble.names, name="clustering"))
    frame["group"] = meta.groups
    frame["medoid"] = np.isin(np.arange(len(frame)), meta.medoids)
    if scores is not None:
        for name in scores.columns.difference(["name"], sort=False):
            frame[name] = scores[name].to_numpy()
    for name in info.columns.difference([*frame.columns, "name", "number"], sort=False):
        frame[name] = info[name].to_numpy()
    return frame


def group_table(
    meta: MetaClustering, scores: pd.DataFrame | None, found: list[Consensus], known: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """One row per group: size, medoid, its consensus in numbers and against known labels, and means of scores."""
    frame = pd.DataFrame(
        {
            "clusterings": meta.sizes,
            "height": meta.heights,
            "medoid": [meta.ensemble.names[medoid] for medoid in meta.medoids],
            "n_clusters": [one.n_clusters for one in found],
            "anmi": [one.anmi for one in found],
            "confidence": [one.mean_confidence for one in found],
            "support": [one.mean_support for one in found],
            "floaters": [len(one.floating) for one in found],
        },
        index=pd.Index(meta.numbers, name="group"),
    )
    for name, codes in (known or {}).items():
        frame[f"accuracy:{name}"] = [accuracy(codes, one.labels) for one in found]
    return frame.join(_group_means(meta, scores))


def group_consensus_table(meta: MetaClustering, found: list[Consensus]) -> pd.DataFrame:
    """One row per object: for every group the cluster of its consensus, its confidence and its support."""
    names = ("group", "confidence", "support")
    numbered = zip(meta.numbers, found, strict=True)
    return pd.concat(
        [object_table(one).set_axis([f"{name}{g}" for name in names], axis=1) for g, one in numbered], axis=1
    )


def is_organized_file(name: str) -> bool:
    """Whether a file in a folder has a name that :func:`write_organized` gives."""
    return name in FOLDER or (name.startswith(("tree", "scores_")) and name.endswith(".png"))


def write_organized(
    meta: MetaClustering,
    folder: Path,
    found: list[Consensus],
    *,
    scores: pd.DataFrame | None = None,
    null: Null | None = None,
    id_name: str = "id",
) -> list[Path]:
    """Write clusterings.csv, groups.csv, consensus.csv, curve.csv, null.csv, and with matplotlib the pictures.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads_labels
    >>> from consilience.reports import write_organized
    >>> meta = cs.organize(load_beads_labels(), 2)
    >>> found = [meta.consensus(group) for group in meta.numbers]
    >>> with TemporaryDirectory() as folder:
    ...     files = write_organized(meta, Path(folder), found)
    >>> [file.name for file in files if file.suffix == ".csv"]
    ['clusterings.csv', 'groups.csv', 'consensus.csv', 'curve.csv']
    """
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        "clusterings": clustering_table(meta, scores),
        "groups": group_table(meta, scores, found),
        "consensus": group_consensus_table(meta, found),
        "curve": meta.curve.set_index("n_groups"),
    }
    if null is not None:
        tables["null"] = null.table.rename_axis("score")
    for name, frame in tables.items():
        write = partial(write_objects, id_name=id_name) if name == "consensus" else write_table
        write(frame, folder / f"{name}.csv")
    written = [folder / f"{name}.csv" for name in tables]
    return written + (_draw_organized(meta, folder, scores) if find_spec("matplotlib") else [])


def _draw_organized(meta: MetaClustering, folder: Path, scores: pd.DataFrame | None) -> list[Path]:
    shown = _shown(scores)
    written = [folder / "curve.png", folder / "map.png"]
    draw_curve(meta, written[0])
    kinds = ("mds", "neighbors") if 10 < meta.n_clusterings <= MAPPED else ("mds",)
    maps = [meta.map(kind, progress=False) for kind in kinds]
    draw_map(maps, written[1], groups=meta.groups, names=meta.ensemble.names)
    if scores is None:
        written.append(folder / "tree.png")
        draw_tree(meta, written[-1])
        return written
    for name in shown:
        file = "".join(letter if letter.isalnum() else "_" for letter in name)  # a name that any file system takes
        written.append(folder / f"tree_{file}.png")
        draw_tree(meta, written[-1], score=scores[name])
        if "compactness" in scores and name != "compactness":
            written.append(folder / f"scores_{file}.png")
            draw_scores(scores, "compactness", name, written[-1], groups=meta.groups)
    return written


class MetaReport(EnsembleReport, of=MetaClustering):
    """Of clusterings that are organized already, as they are."""

    uses = ("data", "known", "n_clusters", "method")

    @property
    def meta(self) -> MetaClustering:
        """What organize found."""
        found: MetaClustering = self.result
        return found


@section(Ensemble, MetaClustering, title="The tree of the clusterings", order=20)
def tree(report: EnsembleReport) -> Iterator[Block]:
    """The tree with its groups, and how their number came about."""
    meta, scores = report.meta, report.scores
    if meta is None:
        return
    first, *rest = _about_tree(meta)
    yield Text(first)
    yield from (Text(line, note=True) for line in rest)
    alt = f"Tree of {meta.n_clusterings:,} clusterings cut into {count(meta.n_groups, 'group')} of {format_list(meta.sizes)}."
    for number, name in enumerate(_shown(scores)[:TREES] or [None], 1):
        color = "" if name is None else f" A branch has the color of its mean {format_name(name)}."
        figure = tree_figure(meta, score=None if scores is None or name is None else scores[name])
        caption = f"The higher two branches meet, the less alike they are; the strip below shows the groups.{color}"
        yield Picture(f"tree_{number}", figure, alt + color, caption)
    if jumps := _jumps(meta):
        yield Text(
            f"Numbers of groups at which the curve bends most: {jumps}. They are candidates; none of them is the truth. "
            f"(Bend: {DEFINITIONS['bend']}.)"
        )
        yield Picture(
            "curve",
            curve_figure(meta),
            f"Compactness of the groups by their number. Sharpest jumps at {jumps}.",
            "How compact the groups are when there are so many of them; marked are the sharpest jumps.",
        )
    yield Sheet("curve", meta.curve.set_index("n_groups"), "Compactness by number of groups", most=0)


def _shown(scores: pd.DataFrame | None) -> list[str]:
    """Scores that are drawn: accuracies, or else compactness."""
    if scores is None:
        return []
    return [str(name) for name in scores if str(name).startswith("accuracy:")] or ["compactness"]


@section(Ensemble, MetaClustering, title="Scores", order=40)
def scores(report: EnsembleReport) -> Iterator[Block]:
    """Compactness against every accuracy, or two accuracies against each other."""
    table, meta = report.scores, report.meta
    if table is None or meta is None:
        return
    known = _shown(table)[:TREES]
    axes = [("compactness", name) for name in known if name != "compactness"] if "compactness" in table else []
    if len(known) > 1:
        axes.append((known[0], known[1]))
    if axes:
        yield Text("Every point is a clustering, in the color of its group. Small compactness is compact.")
    for number, (x, y) in enumerate(axes, 1):
        name, band = y.removeprefix("accuracy:"), None
        if report.null is not None and name in report.null.table.index:
            row = report.null.table.loc[name]
            band = (float(row["null_mean"]), float(row["null_sd"]))
        both = table[[x, y]].corr(method="spearman").iloc[0, 1]
        text = f"{format_name(x)} against {format_name(y)}; rank correlation {both:.2f}."
        text = text[0].upper() + text[1:] + (" The band is the null of the best group." if band else "")
        figure = scores_figure(table, x, y, marked=report.marked, groups=meta.groups, null=band)
        yield Picture(f"scores_{number}", figure, f"Scatter plot of {text}", text)


@section(Ensemble, MetaClustering, title="A map of the clusterings", order=50)
def clusterings_map(report: EnsembleReport) -> Iterator[Block]:
    """The clusterings in the plane, with how much that distorts."""
    meta = report.meta
    if meta is None or meta.n_clusterings < 3:
        return
    one = meta.map(random_state=report.options.seed, progress=False)
    kept = f"{100 * one.neighbors_kept:.0f} % of the {one.n_neighbors} nearest neighbors"
    distortion = f"Stress {one.stress:.2f} (0 is perfect, above 0.2 is poor); it keeps {kept}."
    yield Text(f"Clusterings do not lie in a plane, and a map distorts: believe the tree first. {distortion}")
    yield Picture(
        "map",
        map_figure(one, groups=meta.groups, names=meta.ensemble.names),
        f"Map of {meta.n_clusterings:,} clusterings by their distances, colored by group. {distortion}",
        f"Multidimensional scaling of the distances. {distortion}",
    )
    where = pd.DataFrame(one.xy, columns=["x", "y"], index=pd.Index(meta.ensemble.names, name="clustering"))
    yield Sheet("map", where, "Places on the map", most=0)


@section(Ensemble, MetaClustering, title="One clustering from all, and its confidence", order=60)
def consensus(report: EnsembleReport) -> Iterator[Block]:
    """What all clusterings say together, with confidence and support, and what tells its clusters apart."""
    one, meta = report.consensus, report.meta
    objects, note = object_table(one), None
    if meta is not None:
        objects = objects.join(group_consensus_table(meta, report.group_consensus))
        if meta.n_groups > 1:
            note = Text(
                [
                    "One clustering of everything is a compromise: where groups of clusterings see different things, it may "
                    "show none of them well. Each group's own consensus is above",
                    See(("tiles",), ("groups",)),
                    ".",
                ],
                note=True,
            )
    tiles = {"all": one.labels} if meta is None else {}  # with groups, the data is above
    yield from describe_consensus(one, report, tiles=tiles, note=note)
    yield Sheet("objects", objects, "Every object", most=0)
