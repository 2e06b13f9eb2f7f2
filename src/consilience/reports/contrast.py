"""New groupings beside what was given: as tables, printed, drawn, and in a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.console import Console
from scipy import sparse

from consilience._check import check_labels, count
from consilience._json import plain
from consilience._run.random import stream
from consilience._types import Array
from consilience.alternatives import Alternatives, Contrast
from consilience.alternatives.contrast import USED
from consilience.measures import contingency
from consilience.measures.labelings import LabelingComparison
from consilience.reports.clusters import describe_plane, say_clusters
from consilience.reports.consensus import describe_clusters, match_known
from consilience.reports.figures import (
    NEARLY_BLACK,
    NEARLY_WHITE,
    legend_of,
    new_figure,
    open_frame,
    save_figure,
    scatter_codes,
    short_name,
)
from consilience.reports.files import object_table
from consilience.reports.finding import code_names, format_list, format_number
from consilience.reports.html import Block, Items, Link, Picture, See, Sheet, Text
from consilience.reports.sections import CLUSTERED, CONFIDENCE, Report, section
from consilience.reports.terminal import print_lines, print_table, terminal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 12  # groups listed, or drawn; beyond, the first and a note
POINTS = 4000  # objects on a map
REDUNDANCY = {"nmi": "NMI", "information": "I(C;Z)", "share": "I(C;Z)/H(Z)", "shared_information": "shared"}
WORTH = {"inside_combined": "inside", "extended_combined": "extended", "extended_given": "with given"}


def contrast_summary(result: Contrast, known: Mapping[str, Any]) -> dict[str, Any]:
    """Plain numbers and text, for print and JSON; `known` has known labelings by name."""
    about, there = result.diagnostics, result.labels >= 0
    return plain(
        {
            "sentence": result.sentence,
            "n_objects": len(result.labels),
            "n_without_labels": np.count_nonzero(~there),
            "n_clusters": result.n_clusters,
            "sizes": result.sizes,
            "redundancy": about.redundancy,
            "measure": about.measure,
            "quality": result.quality,
            "quality_of_given": about.quality_of_given,
            "run_agreement": result.run_agreement,
            "mean_confidence": result.confidence[there].mean() if there.any() else None,
            "mean_support": result.support[there].mean() if there.any() else None,
            "groups": _groups(result, known),
            "method": result.method,
            "scaling": result.scaling,
            "note": result.note,
            "known": {name: match_known(labels, result.labels) for name, labels in known.items()},
            "seconds": result.seconds,
        }
    )


def alternatives_summary(found: Alternatives, known: Mapping[str, Any]) -> dict[str, Any]:
    """Plain numbers and text, for print and JSON; `known` has known labelings by name."""
    rows = plain(found.table)
    for row, labels in zip(rows, found.labels.T, strict=False):  # the last one may not have been kept
        row["known"] = plain({name: match_known(values, labels) for name, values in known.items()})
    compared = _labelings(found.score(known)) if known and len(found) else None
    return {
        "n_alternatives": len(found),
        "alternatives": rows,
        "labelings": compared,
        "scaling": found.scaling,
        "stopped": found.stopped,
    }


def _labelings(compared: LabelingComparison) -> dict[str, Any]:
    """All groupings beside all known ones, as plain numbers."""
    return plain(
        {
            "measure": compared.measure,
            "matched": compared.matched,
            "best": compared.best,
            "matches": compared.matches.reset_index(),
            "pairs": compared.pairs,
        }
    )


def _groups(result: Contrast, known: Mapping[str, Any]) -> pd.DataFrame:
    """Every group, and what its splits were worth (Gondek and Hofmann 2005, tables 3 and 4), beside the first known labeling too."""
    groups = result.groups[["name", "size", "outcome"]].rename(columns={"name": "group"})
    worth = result.group_breakdown(next(iter(known.values()), None)).drop(columns=["group", "size"])
    return groups.join(worth.set_axis(groups.index[groups["outcome"].isin(USED)]))


def print_contrast(summary: Mapping[str, Any], *, title: str, console: Console | None = None) -> None:
    """Print what :func:`contrast_summary` holds.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> from consilience.reports import print_contrast
    >>> from consilience.reports.contrast import contrast_summary
    >>> beads = load_beads()
    >>> found = cs.contrast(beads, beads.labels["shape"].to_numpy(), 4, n_init=2)
    >>> print_contrast(contrast_summary(found, {}), title="beads.csv")  # doctest: +ELLIPSIS
    beads.csv: 4 new clusters of 300 objects
    ...
    """
    console = console or terminal()
    objects = summary["n_objects"] - summary["n_without_labels"]
    console.print(f"{title}: {summary['n_clusters']} new clusters of {count(objects, 'object')}")
    console.print(summary["sentence"])
    lines = {"sizes": format_list(summary["sizes"], SHOWN)}
    if summary["n_without_labels"]:
        lines["no label"] = count(summary["n_without_labels"], "object")
    for name, values in summary["known"].items():
        lines[f"with {name}"] = ", ".join(f"{measure} {format_number(value)}" for measure, value in values.items())
    lines["data"] = summary["scaling"]
    print_lines(console, lines)
    if summary["note"]:
        console.print(f"note: {summary['note']}")
    console.print("\nHow new: what the clusters share with what was given")
    rows = [[row["given"], *(format_number(row[key]) for key in REDUNDANCY)] for row in summary["redundancy"]]
    print_table(console, ["given", *REDUNDANCY.values()], rows, (1, 2, 3, 4))
    runs = "the runs" if summary["method"] == "ccib" else "their splits"
    console.print(f"\nGroups: how much of the answer {runs} tell, inside the group and of all objects")
    known = next(iter(summary["known"]), None)
    columns = WORTH if known is None else WORTH | {f"{key}_known": f"{key}:{known}" for key in ("inside", "extended")}
    rows = [
        [row["group"], f"{row['size']:,}", row["outcome"] if row["runs"] is None else f"{row['runs']:.0f}"]
        + [format_number(row[key]) for key in columns]
        for row in summary["groups"][:SHOWN]
    ]
    print_table(console, ["group", "size", "runs", *columns.values()], rows, tuple(range(1, 3 + len(columns))))
    if len(summary["groups"]) > SHOWN:
        console.print(f"… and {count(len(summary['groups']) - SHOWN, 'more group')}: --json lists them all")


def print_alternatives(summary: Mapping[str, Any], *, title: str, console: Console | None = None) -> None:
    """Print what :func:`alternatives_summary` holds.

    Examples
    --------
    >>> from consilience.alternatives import alternatives
    >>> from consilience.datasets import load_beads
    >>> from consilience.reports import print_alternatives
    >>> from consilience.reports.contrast import alternatives_summary
    >>> found = alternatives(load_beads().values, 1, n_clusters=3)
    >>> print_alternatives(alternatives_summary(found, {}), title="beads.csv")  # doctest: +ELLIPSIS
    beads.csv: 1 grouping, each new to what was given and to all before it
    ...
    """
    console = console or terminal()
    n = summary["n_alternatives"]
    console.print(f"{title}: {count(n, 'grouping')}, each new to what was given and to all before it")
    known = list(summary["alternatives"][0].get("known", {})) if n else []
    rows = [
        [
            str(number) if row["kept"] else "–",
            str(row["n_clusters"]),
            *(format_number(row[key]) for key in ("quality", "redundancy", "reproducibility")),
            *(format_number(row["known"][name]["nmi"]) if row["kept"] else "–" for name in known),
        ]
        for number, row in enumerate(summary["alternatives"], 1)
    ]
    names = ["", "clusters", "quality", "redundancy", "reproducibility", *(f"NMI with {name}" for name in known)]
    if rows:
        print_table(console, names, rows, tuple(range(1, len(names))))
    if summary["labelings"]:
        _print_labelings(summary["labelings"], console)
    console.print(f"Data: {summary['scaling']}.")
    console.print(f"Stopped: {summary['stopped']}.")


def _print_labelings(compared: Mapping[str, Any], console: Console) -> None:
    """How much of all known groupings was found, in two lines."""
    who = [f"{row['known']} by {(row['matched'] or 'none').removeprefix('cluster_')}" for row in compared["matches"]]
    console.print(
        f"Known groupings, one to one ({', '.join(who)}): mean NMI {format_number(compared['matched'])}; "
        f"each with its nearest: {format_number(compared['best'])}"
    )
    scores = ", ".join(f"{name} {format_number(value)}" for name, value in compared["pairs"].items())
    console.print(f"Pairs that are together in at least one grouping: {scores}")


def draw_contrast(result: Contrast, X: Any, given: Mapping[str, Any], path: str | Path) -> None:
    """Draw where the given groups went, and the data colored by what was given and by what was found.

    The map's axes are the directions in which the means of the given groups, and those of the new clusters, differ most, so
    that two groupings that have nothing to do with each other lie across.

    Parameters
    ----------
    result : Contrast
    X : (n_objects, n_columns) array or sparse matrix
    given : mapping of a name to the label vector
        What was given; the first is drawn.
    path : file ending in .png, .svg or .pdf

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> from consilience.reports import draw_contrast
    >>> beads = load_beads()
    >>> shape = beads.labels["shape"].to_numpy()
    >>> found = cs.contrast(beads, shape, 4, n_init=2)
    >>> with TemporaryDirectory() as folder:
    ...     draw_contrast(found, beads.values, {"shape": shape}, f"{folder}/contrast.svg")
    """
    save_figure(path, contrast_figure, result, X, given)


def contrast_figure(result: Contrast, X: Any, given: Mapping[str, Any]) -> Figure:
    """The picture of :func:`draw_contrast`; without data (X is None) only where the given groups went."""
    name, labels = next(iter(given.items()))
    codes = check_labels(labels, name)
    names = code_names(labels, codes)
    if X is None:
        figure = new_figure(5.4, 4.2)
        _draw_table(figure.subplots(), result, codes, names, name)
        return figure
    figure = new_figure(13, 4.4)
    axes = figure.subplots(1, 3, width_ratios=[1.15, 1, 1])
    _draw_table(axes[0], result, codes, names, name)
    places = np.column_stack([_along(X, codes), _along(X, result.labels)])
    shown = np.sort(stream(0, "reports.objects").permutation(len(codes))[:POINTS])
    for axis, groups, words, what in (
        (axes[1], codes, names, f"Given: {short_name(name)}"),
        (axes[2], result.labels, [str(c) for c in range(result.n_clusters)], "Found"),
    ):
        scatter_codes(axis, places[shown], groups[shown], size=12)
        legend_of(axis, dict(enumerate(words)), "", loc="center left", bbox_to_anchor=(1, 0.5))
        axis.set_title(what, loc="left")
        open_frame(axis)
        axis.set(xlabel=f"where {short_name(name)} differs most", ylabel="where the new clusters differ most")
    return figure


def given_labels(result: Contrast) -> dict[str, Array]:
    """What was given, by name, with the names of the groups."""
    return {str(name): result.given.named_labels(j) for j, name in enumerate(result.given.names)}


def _along(X: Any, codes: Array) -> Array:
    """Objects along the direction in which the means of the groups differ most."""
    groups = np.flatnonzero(np.bincount(codes[codes >= 0]))
    means = np.vstack([np.asarray(X[codes == g].mean(axis=0)).ravel() for g in groups])
    sizes = np.bincount(codes[codes >= 0])[groups]
    apart = (means - np.average(means, axis=0, weights=sizes)) * np.sqrt(sizes)[:, None]
    direction = np.linalg.svd(apart, full_matrices=False)[2][0]
    along = np.asarray(X @ direction).ravel() if sparse.issparse(X) else np.asarray(X, float) @ direction
    return np.asarray(along - along.mean())


def _draw_table(axis: Any, result: Contrast, codes: Array, names: list[str], name: str) -> None:
    """Shares of every given group in the new clusters, with the counts."""
    counts = contingency(result.labels, codes)
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    image = axis.imshow(shares, cmap="viridis", vmin=0, vmax=1, aspect="auto")
    axis.figure.colorbar(image, ax=axis, label=f"share of each {short_name(name)}")
    if counts.size <= SHOWN**2:
        for (row, column), value in np.ndenumerate(counts):
            light = NEARLY_BLACK if shares[row, column] > 0.6 else NEARLY_WHITE
            axis.text(column, row, f"{value:,}", ha="center", va="center", color=light, fontsize=9)
    axis.set_xticks(range(len(names)), [short_name(text) for text in names], rotation=30 if len(names) > 4 else 0)
    axis.set_yticks(range(result.n_clusters))
    axis.set(xlabel=f"given: {short_name(name)}", ylabel="new cluster")
    axis.set_title("Where did each given group go?", loc="left")


class ContrastReport(Report, of=Contrast):
    """How new a grouping is, and its clusters."""

    about = "a new grouping"

    def describe(self) -> str:
        """What was found."""
        return str(self.result.sentence[0].upper() + self.result.sentence[1:])

    def answer(self) -> list[Text | Items]:
        """What was found beside what was given, and how sure it is."""
        first: list[str | Link | See] = [self.describe().removesuffix("."), See(("contrast",), ("redundancy",)), "."]
        return [Text(first), *say_clusters(self.result, self)]

    def facts(self) -> list[tuple[str, str]]:
        """What was done, in numbers."""
        result: Contrast = self.result
        facts = [
            *super().facts(),
            ("method", result.method),
            ("objects", f"{len(result.labels):,}"),
            ("given groupings", ", ".join(map(str, result.given.names))),
            ("new clusters", f"{result.n_clusters:,}"),
            ("splits combined", f"{result.ensemble.n_clusterings:,}"),
        ]
        if not np.isnan(result.run_agreement):
            halves = f"adjusted Rand index {result.run_agreement:.3f} between two halves of the runs"
            facts.append(("agreement of runs", halves))
        if "seed" in result.ensemble.info and len(seeds := pd.unique(result.ensemble.info["seed"].dropna())) == 1:
            facts.append(("seed", str(seeds[0])))
        return [*facts, ("data", result.scaling), *([("note", result.note)] if result.note else [])]

    def code(self) -> list[str]:
        """The call of contrast."""
        call = f"found = cs.contrast(data, given, {self.result.n_clusters}, method={self.result.method!r})"
        return super().code() or [call]

    def notes(self) -> list[str | None]:
        """What confidence and effect sizes do not say."""
        return [CONFIDENCE, CLUSTERED]


@section(Contrast, title="How new, how good", order=10)
def how_new(report: ContrastReport) -> Iterator[Block]:
    """Redundancy with what was given, and what every group was worth."""
    result: Contrast = report.result
    given = given_labels(result)
    redundancy = result.diagnostics.redundancy.set_index("given")
    yield Sheet("redundancy", redundancy, "What the new clusters share with what was given")
    yield Picture(
        "contrast",
        contrast_figure(result, None if report.data is None else report.data.values, given),
        f"Share of every given group of {next(iter(given))} in each new cluster. {result.sentence}",
        "Where each given group went: rows alike mean that the new clusters cut across what was given.",
    )
    groups = result.groups[["name", "size", "outcome"]].rename(columns={"name": "group"}).set_index("group")
    if result.groups["outcome"].isin(USED).any() and result.ensemble.n_clusterings:
        worth = result.group_breakdown().drop(columns=["size"]).set_index("group")
        groups = groups.join(worth) if groups.index.is_unique and worth.index.is_unique else groups
    yield Sheet("groups", groups, "The given groups, and how much of the answer their splits tell")


@section(Contrast, title="The new clusters", order=60)
def new_clusters(report: ContrastReport) -> Iterator[Block]:
    """The clusters, and the data colored by them and by what was given."""
    result: Contrast = report.result
    given = {f"given: {name}": codes for name, codes in zip(result.given.names, result.given.labels.T, strict=True)}
    yield from describe_clusters(result, report)
    yield from describe_plane(report, {"new": result.labels} | given)
    yield Sheet("objects", object_table(result), "Every object", most=0)
