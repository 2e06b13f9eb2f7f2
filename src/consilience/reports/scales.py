"""How many clusters: stability by number of clusters beside the null, the scales, and their splits; printed, drawn, and in a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.console import Console

from consilience._check import InputError, count
from consilience._types import Floats
from consilience.consensus import Consensus
from consilience.consensus.how_many.significance import TESTS, real_by
from consilience.consensus.result import describe_scales
from consilience.measures import contingency
from consilience.reports.figures import ACCENT, PALETTE, QUIET, new_axis, open_frame, save_figure, short_name
from consilience.reports.finding import format_cell, format_number
from consilience.reports.html import Block, Picture, Sheet, Text
from consilience.reports.sections import Report
from consilience.reports.terminal import DEFINITIONS, print_table
from consilience.reports.tree_over_k import tree_over_k, tree_over_k_edges

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PRINTED = 12  # splits on the terminal
COLORED = 2  # trees by known labels, in a report
NONE = "No number of clusters is more stable than chance"


def print_scales(summary: Mapping[str, Any], console: Console) -> None:
    """Print the scales of :func:`consensus_summary`, whether each is more than chance, and the splits between them in words."""
    console.print(
        "\nHow many clusters? Numbers at which the clusterings agree: more than chance first, then the most stable"
    )
    names = ["stability", "null", "null_high", "nesting", "nesting_high", "confidence"]
    rows = []
    for row in summary["scales"]:
        numbers = [
            format_number(row["n_clusters"]),
            stable_range(row),
            *(format_number(row.get(name)) for name in names),
        ]
        rows.append([*numbers, _verdict(row)])
    print_table(console, ["n_clusters", "range", *names, "more than chance"], rows, tuple(range(len(names) + 2)))
    if not any(row["real"] for row in summary["scales"]):
        console.print(f"{NONE}: any clusters here may be noise.", style="bold")
    splits = summary["splits"] or []
    if splits:
        console.print("\nIs the split real?")
    for row in splits[:PRINTED]:
        console.print(split_in_words(row), markup=False)
    if (left := len(splits) - PRINTED) > 0:
        real = sum(bool(row["real"]) for row in splits[PRINTED:])
        console.print(f"… {count(left, 'more split')}, {real} of them real")


def _verdict(row: Mapping[str, Any]) -> str:
    """Whether a scale is more than chance, and by which test."""
    by = real_by(row)
    return f"by {by}" if by else format_cell(row["real"])


def describe_scale_table(scales: pd.DataFrame) -> Iterator[Sheet]:
    """The scales, each with the figure that says whether it is more than chance; all figures are in the file."""
    rows = []
    for row in scales.to_dict("records"):
        by = real_by(row)
        test = None if by == "gaps" else "nesting" if by == "nesting" else "stability"
        figures = {"measured": row.get(test), "chance reaches": row.get(TESTS[test])} if test else {}
        about = {
            "n_clusters": row["n_clusters"],
            "about as stable": stable_range(row),
            "more than chance": _verdict(row),
        }
        rows.append(
            {**about, "measured": np.nan, "chance reaches": np.nan, **figures, "confidence": row.get("confidence")}
        )
    caption = (
        "Numbers of clusters at which the clusterings agree, those that are more than chance first: by stability (two halves of the "
        "clusterings find the same), by nesting (clusterings refine the clusters or are refined by them) or by both, and by gaps in the "
        "data; what was measured, what clouds without clusters reach, and the mean confidence of the objects"
    )
    yield Sheet("scales", pd.DataFrame(rows).set_index("n_clusters"), caption, on_page=True)
    yield Sheet("scales", scales.set_index("n_clusters"), "Scales", most=0)


def stable_range(row: Mapping[str, Any]) -> str:
    """The numbers around a scale that are nearly as stable.

    Examples
    --------
    >>> stable_range({"from_k": 8, "to_k": 18}), stable_range({"from_k": 3, "to_k": 3})
    ('8–18', '3')
    """
    low, high = row["from_k"], row["to_k"]
    return f"{low}" if low == high else f"{low}–{high}"


def split_in_words(row: Mapping[str, Any]) -> str:
    """One row of the splits.

    Examples
    --------
    >>> split_in_words({"from_k": 3, "to_k": 7, "cluster": 0, "into": "0, 4", "real": True})
    '3 → 7: cluster 0 splits into 0, 4: real'
    """
    verdict = "real" if row["real"] else "no more than chance"
    return f"{row['from_k']} → {row['to_k']}: cluster {row['cluster']} splits into {row['into']}: {verdict}"


def draw_scales(result: Consensus, path: str | Path) -> None:
    """Draw how stable the answer is by its number of clusters, beside the band of the null, and the scales that were found.

    Parameters
    ----------
    result : Consensus
        With a curve of stability: from ``combine(ens, "auto")``.
    path : file ending in .png, .svg or .pdf

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import consilience as cs
    >>> from consilience.datasets import noisy_labels
    >>> from consilience.reports import draw_scales
    >>> one = cs.combine(noisy_labels(60, 3, 8, 0.1)[0], "auto")
    >>> with TemporaryDirectory() as folder:
    ...     draw_scales(one, f"{folder}/scales.svg")
    """
    save_figure(path, scales_figure, result)


def scales_figure(one: Consensus, canvas: Callable[[float, float], Axes] = new_axis) -> Figure:
    """The picture of :func:`draw_scales`; `canvas` makes the axis."""
    if not isinstance(one, Consensus) or one.curve is None:
        raise InputError('there is no curve of stability by number of clusters: combine(ens, "auto") makes one')
    curve = one.curve.sort_values("n_clusters")
    axis = canvas(7.2, 3.8)
    figure: Any = axis.get_figure()
    k, stability = curve["n_clusters"].to_numpy(float), curve["stability"].to_numpy(float)
    _draw_null(axis, k, curve["null"].to_numpy(float), curve["null_high"].to_numpy(float))
    if len(k) == 1:
        axis.set(xlim=(k[0] - 1, k[0] + 1), xticks=k)
    error = np.nan_to_num(curve["sem"].to_numpy(float))
    axis.errorbar(k, stability, yerr=error, color="black", linewidth=1.2, marker=".", markersize=5, label="stability")
    axis.plot(k, curve["nesting"], color=PALETTE[1], linewidth=1, marker=".", markersize=3, label="nesting")
    look: dict[str, Any] = {
        "color": PALETTE[1],
        "linewidth": 1,
        "linestyle": (0, (1, 1.5)),
        "label": "nesting by chance",
    }
    axis.plot(*_widened(k, curve["nesting_high"].to_numpy(float)), **look)
    axis.axvline(
        one.n_clusters, color=PALETTE[0], linewidth=1, linestyle=(0, (1, 2)), label=f"this answer: {one.n_clusters}"
    )
    if one.scales is not None:
        _draw_scales(axis, one.scales)
    if k.max() >= 12 * k.min():
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    elif len(k) > 1:
        axis.locator_params(axis="x", integer=True)
    axis.set(xlabel="number of clusters", ylabel="stability, nesting")
    axis.margins(y=0.12)
    axis.set_title("At which numbers of clusters does the ensemble agree with itself?", loc="left", fontsize=11)
    axis.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    open_frame(axis)
    return figure


def _draw_null(axis: Any, k: Floats, low: Floats, high: Floats) -> None:
    """The band of the stability that chance gives, and its mean."""
    at, low, high = _widened(k, low, high)
    axis.fill_between(at, low, high, color=QUIET, alpha=0.25, linewidth=0, label="by chance")
    axis.plot(at, low, color=QUIET, linewidth=1, linestyle=(0, (4, 3)), label="mean of the null")


def _widened(k: Floats, *values: Floats) -> list[Floats]:
    """Numbers and their values; one number is given a width, or there would be nothing to see."""
    return [k, *values] if len(k) > 1 else [k[0] + np.array([-0.4, 0.4]), *(np.repeat(value, 2) for value in values)]


def _draw_scales(axis: Any, scales: pd.DataFrame) -> None:
    """Scales as marks with their numbers, hollow where no more than chance, and bars over the numbers that are nearly as stable."""
    for name, real in (("more than chance", True), ("no more than chance", False)):
        some = scales[scales["real"].astype(bool) == real]
        if len(some):
            how: dict[str, Any] = {"s": 70, "facecolor": ACCENT if real else "none", "edgecolor": ACCENT}
            axis.scatter(some["n_clusters"], some["stability"], zorder=3, label=f"a scale, {name}", **how)
    for row in scales.itertuples():
        axis.plot(
            [row.from_k, row.to_k], [row.stability] * 2, color=ACCENT, linewidth=4, alpha=0.25, solid_capstyle="butt"
        )
        spot = (row.n_clusters, row.stability)
        axis.annotate(str(row.n_clusters), spot, (0, 7), textcoords="offset points", ha="center", fontsize=8)


def describe_scale_blocks(one: Consensus, report: Report) -> Iterator[Block]:
    """The numbers of clusters at which the ensemble agrees with itself: the curve, the scales, the tree over them, its splits."""
    if one.curve is not None:
        words = describe_scales(one) or "no scale was looked for"
        yield Text(f"Stability: {DEFINITIONS['stability']}.")
        yield Text(f"Nesting: {DEFINITIONS['nesting']}.")
        if one.scales is not None and not one.scales["real"].any():
            yield Text(f"{NONE}.", note=True)
        yield Picture(
            "stability_by_k",
            scales_figure(one),
            f"Stability by number of clusters, beside that of a null without clusters: {words}.",
            "Stability above the grey band, or nesting above its dotted line, is more than chance. Peaks are numbers at which the "
            "ensemble agrees with itself.",
        )
        yield Sheet("number_of_clusters", one.curve.set_index("n_clusters"), "Stability by number of clusters", most=0)
    if one.scales is not None:
        yield from describe_scale_table(one.scales)
    if one.scale_labels is not None and one.scale_labels.shape[1] > 1:
        yield from describe_tree_over_k(one, "Every row is a scale")
        yield from _colored_trees(one, report)
    if one.splits is not None and len(one.splits):
        caption = "Is the split real? Every split between neighboring scales"
        yield Sheet("splits", one.splits.set_index("from_k"), caption, most=60)


def describe_tree_over_k(found: Any, rows: str) -> Iterator[Block]:
    """The tree over k, and its edges for the file."""
    edges = tree_over_k_edges(found)
    yield Picture(
        "tree_over_k",
        tree_over_k(found),
        f"How clusters split and merge: {count(len(edges), 'edge')} between clusters of neighboring rows.",
        f"{rows}, nodes have the area of their clusters, and edges say which share of the upper cluster goes where.",
    )
    yield Sheet("tree_over_k_edges", edges.set_index("level"), "Edges of the tree over k", most=0)


def _colored_trees(one: Consensus, report: Report) -> Iterator[Block]:
    """The tree again, colored by how far the clusters of every scale are of one known label."""
    for number, (name, known) in enumerate(list(report.known.items())[:COLORED]):
        share = np.column_stack([known_share(column, known) for column in np.asarray(one.scale_labels).T])
        title = f"share of one {short_name(name)}"
        yield Picture(
            f"tree_over_k_known_{number + 1}",
            tree_over_k(one, color=pd.DataFrame(share).rename_axis(title, axis=1)),
            f"The tree over k, colored by the share of the most frequent {name} in every cluster.",
            f"The same tree: the darker a node, the more of its objects have the same known {name}.",
        )


def known_share(labels: Any, known: Any) -> Floats:
    """(n_objects,) of every object's cluster, the share of the most frequent known label; NaN without a cluster or known labels.

    Examples
    --------
    >>> known_share([0, 0, 0, 0, 1, -1], [2, 2, 2, 3, -1, 2])
    array([0.75, 0.75, 0.75, 0.75,  nan,  nan])
    """
    labels, table = np.asarray(labels), contingency(labels, known)
    total = table.sum(axis=1)
    share = np.where(total > 0, table.max(axis=1, initial=0) / np.maximum(total, 1), np.nan)
    return np.where(labels >= 0, share[labels], np.nan)
