"""How many clusters: stability by number of clusters beside the null, the scales, and their splits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, count
from consilience._types import Floats
from consilience.consensus import Consensus
from consilience.consensus.how_many.significance import TESTS, real_by
from consilience.consensus.result import describe_scales
from consilience.measures import contingency
from consilience.reports.figures import ACCENT, PALETTE, QUIET, Axes, Figure, new_axis, open_frame, picture, short_name
from consilience.reports.finding import Block, Finding, Picture, Sheet, Text
from consilience.reports.tree_over_k import tree_over_k, tree_over_k_edges
from consilience.reports.words import DEFINITIONS, format_cell

CAPTION = (
    "Numbers of clusters at which the clusterings agree, those that are more than chance first: what was measured, what data without "
    "clusters reach by chance, and the mean confidence of the objects"
)
PEAKS = (
    "Stability above the grey band, or nesting above its dotted line, is more than chance. Peaks are numbers at which the "
    "ensemble agrees with itself."
)


def scales_finding(one: Any) -> Finding:
    if one.scales is None:
        return Finding("How many clusters?")
    tables = [scale_table(one.scales)]
    if one.splits is not None and len(one.splits):
        caption = "Is the split real? Every split between neighboring scales"
        tables.append(Sheet("splits", one.splits.set_index("from_k"), caption, 60))
    none = "No number of clusters is more stable than chance: any clusters here may be noise."
    return Finding("How many clusters?", tables=tables, sentences=[] if one.scales["real"].any() else [none])


def scale_table(scales: pd.DataFrame) -> Sheet:
    """The scales, each with the figure that says whether it is more than chance."""
    rows = []
    for row in scales.to_dict("records"):
        by, low, high = real_by(row), row["from_k"], row["to_k"]
        test = "nesting" if by == "nesting" else "stability"
        measured = (np.nan, np.nan) if by == "gaps" else (row.get(test), row.get(TESTS[test]))
        around = f"{low}" if low == high else f"{low}–{high}"
        chance = f"by {by}" if by else format_cell(row["real"])
        rows.append((row["n_clusters"], around, chance, *measured, row.get("confidence")))
    columns = ["n_clusters", "about as stable", "more than chance", "measured", "chance reaches", "confidence"]
    return Sheet("scales", pd.DataFrame(rows, columns=columns).set_index("n_clusters"), CAPTION, on_page=True)


@picture("scales", Consensus, main=False)
def scales_figure(one: Consensus, canvas: Callable[[float, float], Axes] = new_axis) -> Figure:
    """Stability by number of clusters beside the band of the null, and the scales that were found; `canvas` makes the axis."""
    if not isinstance(one, Consensus) or one.curve is None:
        raise InputError('there is no curve of stability by number of clusters: combine(ens, "auto") makes one')
    curve = one.curve.sort_values("n_clusters")
    axis = canvas(7.2, 3.8)
    k, stability = curve["n_clusters"].to_numpy(float), curve["stability"].to_numpy(float)
    at, low, high = _widened(k, curve["null"].to_numpy(float), curve["null_high"].to_numpy(float))
    axis.fill_between(at, low, high, color=QUIET, alpha=0.25, linewidth=0, label="by chance")
    axis.plot(at, low, color=QUIET, linewidth=1, linestyle=(0, (4, 3)), label="mean of the null")
    if len(k) == 1:
        axis.set(xlim=(k[0] - 1, k[0] + 1), xticks=k)
    error = np.nan_to_num(curve["sem"].to_numpy(float))
    axis.errorbar(k, stability, yerr=error, color="black", linewidth=1.2, marker=".", markersize=5, label="stability")
    look: dict[str, Any] = {"color": PALETTE[1], "linewidth": 1}
    axis.plot(k, curve["nesting"], marker=".", markersize=3, label="nesting", **look)
    chance = _widened(k, curve["nesting_high"].to_numpy(float))
    axis.plot(*chance, linestyle=(0, (1, 1.5)), label="nesting by chance", **look)
    look |= {"color": PALETTE[0], "linestyle": (0, (1, 2))}
    axis.axvline(one.n_clusters, label=f"this answer: {one.n_clusters}", **look)
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
    return open_frame(axis)


def _widened(k: Floats, *values: Floats) -> list[Floats]:
    """Numbers and their values; one number is given a width, or there would be nothing to see."""
    return [k, *values] if len(k) > 1 else [k[0] + np.array([-0.4, 0.4]), *(np.repeat(value, 2) for value in values)]


def _draw_scales(axis: Any, scales: pd.DataFrame) -> None:
    for name, real in (("more than chance", True), ("no more than chance", False)):
        some = scales[scales["real"].astype(bool) == real]
        if len(some):
            how: dict[str, Any] = {"s": 70, "facecolor": ACCENT if real else "none", "edgecolor": ACCENT}
            axis.scatter(some["n_clusters"], some["stability"], zorder=3, label=f"a scale, {name}", **how)
    band: dict[str, Any] = {"color": ACCENT, "linewidth": 4, "alpha": 0.25, "solid_capstyle": "butt"}
    for row in scales.itertuples():
        axis.plot([row.from_k, row.to_k], [row.stability] * 2, **band)
        spot = (row.n_clusters, row.stability)
        axis.annotate(str(row.n_clusters), spot, (0, 7), textcoords="offset points", ha="center", fontsize=8)


def describe_scale_blocks(one: Consensus, report: Any) -> Iterator[Block]:
    found = scales_finding(one)
    if one.curve is not None:
        yield Text(f"Stability: {DEFINITIONS['stability']}. Nesting: {DEFINITIONS['nesting']}.")
        yield from (Text(sentence, note=True) for sentence in found.sentences)
        words = describe_scales(one) or "no scale was looked for"
        alt = f"Stability by number of clusters, beside that of a null without clusters: {words}."
        yield Picture("stability_by_k", scales_figure(one), alt, PEAKS)
        yield Sheet("number_of_clusters", one.curve.set_index("n_clusters"), "Stability by number of clusters", most=0)
    yield from found.tables
    if one.scales is not None:
        yield Sheet("scales", one.scales.set_index("n_clusters"), "Scales", most=0)
    if one.scale_labels is not None and one.scale_labels.shape[1] > 1:
        yield from describe_tree_over_k(one, "Every row is a scale")
        for number, (name, known) in enumerate(list(report.known.items())[:2], 1):
            share = np.column_stack([known_share(column, known) for column in np.asarray(one.scale_labels).T])
            color = pd.DataFrame(share).rename_axis(f"share of one {short_name(name)}", axis=1)
            words = f"colored by the share of the most frequent {name} in every cluster."
            tree, what = tree_over_k(one, color=color), f"The tree over k, {words}"
            yield Picture(f"tree_over_k_known_{number}", tree, what, f"The same tree, {words}")


def known_share(labels: Any, known: Any) -> Floats:
    """(n_objects,) of every object's cluster, the share of the most frequent known label; NaN without a cluster or known labels."""
    labels, table = np.asarray(labels), contingency(labels, known)
    total = table.sum(axis=1)
    share = np.where(total > 0, table.max(axis=1, initial=0) / np.maximum(total, 1), np.nan)
    return np.where(labels >= 0, share[labels], np.nan)


def describe_tree_over_k(found: Any, rows: str) -> Iterator[Block]:
    edges = tree_over_k_edges(found)
    alt = f"How clusters split and merge: {count(len(edges), 'edge')} between clusters of neighboring rows."
    said = f"{rows}, nodes have the area of their clusters, and edges say which share of the upper cluster goes where."
    yield Picture("tree_over_k", tree_over_k(found), alt, said)
    yield Sheet("tree_over_k_edges", edges.set_index("level"), "Edges of the tree over k", most=0)
