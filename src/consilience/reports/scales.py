"""How many clusters: stability by number of clusters, and the numbers on which halves agree."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import InputError, count
from consilience.consensus import Consensus
from consilience.consensus.how_many.stability import NEAR, STABLE
from consilience.consensus.result import describe_scales
from consilience.reports.figures import ACCENT, PALETTE, QUIET, Axes, Figure, new_axis, open_frame, picture
from consilience.reports.finding import Block, Finding, Picture, Sheet, Text
from consilience.reports.tree_over_k import tree_over_k, tree_over_k_edges
from consilience.reports.words import DEFINITIONS

CAPTION = (
    "Numbers of clusters on which two halves of the clusterings agree, that of the answer first: their adjusted Rand index, whether clouds "
    "without clusters hardly ever reach it, and the mean confidence of the objects"
)
VOICES = "Numbers of clusters with three voices of kinds of clustering or more, that of the answer first"
PEAKS = (
    "Peaks are numbers at which the ensemble agrees with itself. Above the dashed line clouds without clusters are hardly ever; between "
    "the lines, labels alone cannot tell."
)
UNSTABLE = "No number of clusters is stable enough to tell: any clusters here may be noise."


def scales_finding(one: Any) -> Finding:
    if one.scales is None:
        return Finding("How many clusters?")
    sentences = [UNSTABLE] if "stability" in one.scales and not one.scales["real"].any() else []
    return Finding("How many clusters?", tables=[scale_table(one.scales)], sentences=sentences)


def scale_table(scales: pd.DataFrame) -> Sheet:
    if "voices" in scales:
        shown = scales[["n_clusters", "voices", "kinds"]].rename(columns={"kinds": "kinds that speak for it"})
        return Sheet("scales", shown.set_index("n_clusters"), VOICES, on_page=True)
    shown = scales.set_index("n_clusters").filter(["stability", "real", "confidence"])
    return Sheet("scales", shown.rename(columns={"real": "beyond clouds"}), CAPTION, on_page=True)


@picture("scales", Consensus, main=False)
def scales_figure(one: Consensus, canvas: Callable[[float, float], Axes] = new_axis) -> Figure:
    """Stability by number of clusters, and the numbers that were found; `canvas` makes the axis."""
    if not isinstance(one, Consensus) or one.curve is None:
        raise InputError('there is no curve of stability by number of clusters: combine(ens, "auto") makes one')
    curve = one.curve.sort_values("n_clusters")
    axis = canvas(7.2, 3.8)
    k, stability = curve["n_clusters"].to_numpy(float), curve["stability"].to_numpy(float)
    if len(k) == 1:
        axis.set(xlim=(k[0] - 1, k[0] + 1), xticks=k)
    error = np.nan_to_num(curve["sem"].to_numpy(float))
    axis.errorbar(k, stability, yerr=error, color="black", linewidth=1.2, marker=".", markersize=5, label="stability")
    axis.axhline(1 - NEAR, color=QUIET, linewidth=1, linestyle=(0, (4, 3)), label="clouds are hardly ever above")
    axis.axhline(STABLE, color=QUIET, linewidth=1, linestyle=(0, (1, 1.5)), label="stable enough to be looked at")
    look: dict[str, Any] = {"color": PALETTE[0], "linewidth": 1, "linestyle": (0, (1, 2))}
    axis.axvline(one.n_clusters, label=f"this answer: {one.n_clusters}", **look)
    if one.scales is not None:
        _draw_scales(axis, one.scales)
    if k.max() >= 12 * k.min():
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    elif len(k) > 1:
        axis.locator_params(axis="x", integer=True)
    axis.set(xlabel="number of clusters", ylabel="stability")
    axis.margins(y=0.12)
    axis.set_title("At which numbers of clusters does the ensemble agree with itself?", loc="left", fontsize=11)
    axis.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return open_frame(axis)


def _draw_scales(axis: Any, scales: pd.DataFrame) -> None:
    for name, real in (("beyond clouds", True), ("cannot be told", False)):
        some = scales[scales["real"].astype(bool) == real]
        if len(some):
            how: dict[str, Any] = {"s": 70, "facecolor": ACCENT if real else "none", "edgecolor": ACCENT}
            axis.scatter(some["n_clusters"], some["stability"], zorder=3, label=f"a scale, {name}", **how)
    for row in scales.itertuples():
        spot = (row.n_clusters, row.stability)
        axis.annotate(str(row.n_clusters), spot, (0, 7), textcoords="offset points", ha="center", fontsize=8)


def describe_scale_blocks(one: Consensus) -> Iterator[Block]:
    found = scales_finding(one)
    if one.curve is not None:
        yield Text(f"Stability: {DEFINITIONS['stability']}.")
        yield from (Text(sentence, note=True) for sentence in found.sentences)
        words = describe_scales(one) or "no scale was looked for"
        alt = f"Stability by number of clusters: {words}."
        yield Picture("stability_by_k", scales_figure(one), alt, PEAKS)
        yield Sheet("number_of_clusters", one.curve.set_index("n_clusters"), "Stability by number of clusters", most=0)
    yield from found.tables
    if one.scales is not None:
        yield Sheet("scales", one.scales.set_index("n_clusters"), "Scales", most=0)
    if one.scale_labels is not None and one.scale_labels.shape[1] > 1:
        yield from describe_tree_over_k(one, "Every row is a scale")


def describe_tree_over_k(found: Any, rows: str) -> Iterator[Block]:
    edges = tree_over_k_edges(found)
    alt = f"How clusters split and merge: {count(len(edges), 'edge')} between clusters of neighboring rows."
    said = f"{rows}, nodes have the area of their clusters, and edges say which share of the upper cluster goes where."
    yield Picture("tree_over_k", tree_over_k(found), alt, said)
    yield Sheet("tree_over_k_edges", edges.set_index("level"), "Edges of the tree over k", most=0)
