"""A clustering of clusterings for people: printed, and its tree and curve as pictures (matplotlib, the extra `plots`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Console

from consilience._check import InputError, count
from consilience.meta import MetaClustering, Null
from consilience.meta.tree import layout
from consilience.reports.figures import (
    ACCENT,
    QUIET,
    ink_on,
    look,
    new_figure,
    save_figure,
    score_title,
    shades,
    short_name,
)
from consilience.reports.terminal import print_table, terminal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 30  # groups printed
NAMED = 40  # clusterings that a tree has room to name


def print_organized(
    result: MetaClustering,
    *,
    title: str,
    scores: pd.DataFrame | None = None,
    null: Null | None = None,
    console: Console | None = None,
) -> None:
    """Print the groups, with the mean of every score over their clusterings, candidates for their number, and the null."""
    console = console or terminal()
    m, n = count(result.n_clusterings, "clustering"), count(result.ensemble.n_objects, "object")
    console.print(f"{title}: {m} of {n} in {count(result.n_groups, 'group')}", markup=False)
    console.print(f"Tree: {result.linkage} linkage of {result.measure}; groups: {result.note}.", markup=False)
    if result.n_pairs is not None:
        pairs = f"{result.n_pairs:,} random pairs of objects"
        console.print(f"Distances are estimated from {pairs}, standard error {result.standard_error:.4f}.")
    candidates = [f"{row.n_groups} ({row.bend:.2g})" for row in result.jumps.head(6).itertuples()]
    if candidates:
        console.print(f"Sharpest jumps of the compactness curve: {', '.join(candidates)}. None of them is the truth.")
    means = pd.DataFrame() if scores is None else scores.select_dtypes("number").groupby(result.groups).mean()
    names = ["group", "clusterings", "height", "medoid", *(f"mean {name}" for name in means)]
    rows = [
        [str(group), f"{size:,}", f"{height:.3f}", result.ensemble.names[medoid], *_numbers(means, group)]
        for group, size, height, medoid in zip(
            result.numbers, result.sizes, result.heights, result.medoids, strict=True
        )
    ]
    console.print()
    print_table(console, names, rows[:SHOWN], tuple(i for i in range(len(names)) if i != 3))
    if len(rows) > SHOWN:
        console.print(f"… and {count(len(rows) - SHOWN, 'more group')}")
    if null is not None:
        console.print(f"\nBest consensus of a group, against {count(len(null.shuffled), 'shuffle')} of their members")
        print_table(console, ["score", "best", "group", "shuffled", "p"], _null_rows(null), (1, 2, 3, 4))


def _numbers(means: pd.DataFrame, group: int) -> list[str]:
    return ["–" if np.isnan(value) else f"{value:.3f}" for value in means.loc[group]] if len(means) else []


def _null_rows(null: Null) -> list[list[str]]:
    return [
        [
            str(name),
            f"{row['best']:.3f}",
            f"{row['group']:.0f}",
            f"{row['null_mean']:.3f} ± {row['null_sd']:.3f}",
            f"{row['p_value']:.3f}",
        ]
        for name, row in null.table.iterrows()
    ]


def draw_tree(result: MetaClustering, path: str | Path, *, score: pd.Series | None = None) -> None:
    """Draw the tree, every branch in the color of its mean score, and the groups below it (the paper's Figure 6).

    Parameters
    ----------
    result : MetaClustering
    path : file ending in .png, .svg or .pdf
    score : Series, optional
        One number per clustering, such as a column of :func:`consilience.meta.score`; its name is written on the picture.
    """
    save_figure(path, tree_figure, result, score=score)


def tree_figure(result: MetaClustering, *, score: pd.Series | None = None) -> Figure:
    """The picture of :func:`draw_tree`."""
    from matplotlib.collections import LineCollection

    values = _check_score(score, result)
    figure = new_figure(9, 4.8)
    axis, strip = figure.subplots(2, 1, sharex=True, height_ratios=[14, 1])
    paths, means = _branches(result, values)
    lines = LineCollection(list(paths), linewidths=np.clip(300 / result.n_clusterings, 0.5, 1.6), rasterized=True)
    if values is None:
        lines.set_color(QUIET)
    else:
        lines.set_array(means)
        lines.set(cmap=shades(), clim=tuple(np.nanquantile(values, [0.01, 0.99])))
        figure.colorbar(lines, ax=[axis, strip], shrink=0.9, pad=0.015, label=f"mean {score_title(score)}")
    axis.add_collection(lines)
    top = result.tree[-1, 2] or 1.0
    axis.set(xlim=(-0.5, result.n_clusterings - 0.5), ylim=(-0.01 * top, 1.04 * top))
    axis.set_ylabel("height" if result.linkage == "ward" else result.measure.replace("_", " "))
    if result.n_groups > 1:
        between = (
            result.tree[[-result.n_groups, 1 - result.n_groups], 2].mean()
            if result.n_groups < result.n_clusterings
            else 0
        )
        axis.axhline(between, color=ACCENT, linewidth=0.8, linestyle=(0, (4, 3)))
    axis.set_title(
        f"{count(result.n_clusterings, 'clustering')} in {count(result.n_groups, 'group')}, {result.linkage} linkage",
        loc="left",
    )
    axis.spines[["top", "right", "bottom"]].set_visible(False)
    axis.tick_params(bottom=False, labelbottom=False)
    _draw_groups(strip, result)
    return figure


def _branches(result: MetaClustering, values: NDArray[Any] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """The bracket of every merge, (m − 1, 4, 2), and the mean value of the clusterings under it."""
    m = result.n_clusterings
    order, first, sizes = layout(result.tree)
    x, height = np.zeros(2 * m - 1), np.concatenate([np.zeros(m), result.tree[:, 2]])
    x[order] = np.arange(m)
    left, right = result.tree[:, :2].astype(int).T
    for i in range(m - 1):
        x[m + i] = (x[left[i]] + x[right[i]]) / 2
    top = height[m:]
    paths = np.stack(
        [
            np.column_stack(pair)
            for pair in ((x[left], height[left]), (x[left], top), (x[right], top), (x[right], height[right]))
        ],
        axis=1,
    )
    if values is None:
        return paths, np.zeros(m - 1)
    known = np.where(np.isnan(values), 0, values)[order]
    sums = np.concatenate([[0], np.cumsum(known)]), np.concatenate([[0], np.cumsum(~np.isnan(values)[order])])
    total, number = (s[first[m:] + sizes[m:]] - s[first[m:]] for s in sums)
    return paths, np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _draw_groups(strip: Any, result: MetaClustering) -> None:
    """A bar per group under the tree, from left to right, its number where there is room."""
    order, first, sizes = layout(result.tree)
    for group, node in enumerate(result.nodes):
        begin, width, color = first[node] - 0.5, sizes[node], look(group)[0]
        strip.barh(0, width, left=begin, height=1, color=color, edgecolor="white", linewidth=0.5)
        if width > 0.02 * result.n_clusterings:
            strip.text(begin + width / 2, 0, str(group), ha="center", va="center", fontsize=8, color=ink_on(color))
    strip.set_ylim(-0.5, 0.5)
    strip.set_xlabel("clusterings in the order of the tree, and their groups")
    strip.tick_params(left=False, labelleft=False, bottom=False, labelbottom=False)
    if result.n_clusterings <= NAMED:
        names = [short_name(result.ensemble.names[i]) for i in order]
        strip.set_xticks(range(result.n_clusterings), names, rotation=90, fontsize=8)
        strip.tick_params(labelbottom=True)
    strip.spines[:].set_visible(False)


def draw_curve(result: MetaClustering, path: str | Path, *, most: int = 60, candidates: int = 5) -> None:
    """Draw the compactness of the groups by their number, with the sharpest jumps marked (the paper's Figure 8).

    Parameters
    ----------
    result : MetaClustering
    path : file ending in .png, .svg or .pdf
    most : int
        Groups up to which the curve is drawn.
    candidates : int
        Jumps that are marked.
    """
    save_figure(path, curve_figure, result, most=most, candidates=candidates)


def curve_figure(result: MetaClustering, *, most: int = 60, candidates: int = 5) -> Figure:
    """The picture of :func:`draw_curve`."""
    figure = new_figure(6.4, 4)
    axis = figure.subplots()
    curve = result.curve.head(most)
    axis.plot(curve["n_groups"], curve["compactness"], color="black", marker=".", markersize=4, linewidth=1)
    marked = result.jumps.head(candidates)
    for rank, row in enumerate(marked.itertuples()):
        before = float(result.curve["compactness"].iloc[row.n_groups - 2])
        where = ([row.n_groups - 1, row.n_groups], [before, row.compactness])
        axis.plot(*where, color=ACCENT, linewidth=2.5, alpha=1 - 0.14 * rank, solid_capstyle="butt")
        axis.annotate(
            f"{row.n_groups}", (row.n_groups, row.compactness), xytext=(4, 5), textcoords="offset points", color=ACCENT
        )
    axis.axvline(result.n_groups, color=QUIET, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    axis.set(xlabel="number of groups", ylabel=f"compactness ({result.measure.replace('_', ' ')})", xlim=(0, None))
    axis.set_title("How many kinds of clusterings? Jumps are candidates, not truth", loc="left", fontsize=11)
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def _check_score(score: Any, result: MetaClustering) -> NDArray[np.float64] | None:
    if score is None:
        return None
    values = np.asarray(score, float)
    if values.shape != (result.n_clusterings,):
        raise InputError(f"a score has one number for each of {result.n_clusterings} clusterings; got {values.shape}")
    return values
