"""Pictures of a clustering of clusterings: its tree, the curve of its compactness, maps, and scores against each other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice, count
from consilience._types import Array, Floats
from consilience.meta import Map, MetaClustering
from consilience.meta.tree import layout
from consilience.reports.figures import (
    annotate_points,
    legend_of,
    new_figure,
    open_frame,
    save_figure,
    scatter_codes,
    score_title,
    short_name,
)
from consilience.reports.formats import format_name
from consilience.reports.palette import ACCENT, QUIET, color_of, ink_on, score_colors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMED = 40  # clusterings that a picture has room to name
MAPS = {"mds": "Distances (MDS)", "neighbors": "Neighbors (t-SNE)"}


def draw_tree(result: MetaClustering, path: str | Path, *, score: pd.Series | None = None) -> None:
    """Draw the tree, every branch in the color of its mean score, and the groups below it (Caruana et al. 2006, Figure 6).

    Parameters
    ----------
    result : MetaClustering
    path : file ending in .png, .svg or .pdf
    score : Series, optional
        One number per clustering, such as a column of :func:`consilience.meta.score`; its name is written on the picture.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import consilience as cs
    >>> with TemporaryDirectory() as folder:
    ...     cs.reports.draw_tree(cs.organize(cs.datasets.load_beads_labels()), f"{folder}/tree.svg")
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
        lines.set(cmap=score_colors(), clim=tuple(np.nanquantile(values, [0.01, 0.99])))
        figure.colorbar(lines, ax=[axis, strip], shrink=0.9, pad=0.015, label=f"mean {score_title(score)}")
    axis.add_collection(lines)
    top = result.tree[-1, 2] or 1.0
    axis.set(xlim=(-0.5, result.n_clusterings - 0.5), ylim=(-0.01 * top, 1.04 * top))
    axis.set_ylabel("height" if result.linkage == "ward" else format_name(result.measure))
    if result.n_groups > 1:
        merges = (
            result.tree[[-result.n_groups, 1 - result.n_groups], 2] if result.n_groups < result.n_clusterings else [0]
        )
        axis.axhline(np.mean(merges), color=ACCENT, linewidth=0.8, linestyle=(0, (4, 3)))
    groups = count(result.n_groups, "group")
    axis.set_title(f"{count(result.n_clusterings, 'clustering')} in {groups}, {result.linkage} linkage", loc="left")
    axis.spines[["top", "right", "bottom"]].set_visible(False)
    axis.tick_params(bottom=False, labelbottom=False)
    _draw_groups(strip, result)
    return figure


def _branches(result: MetaClustering, values: Floats | None) -> tuple[Floats, Floats]:
    """The bracket of every merge, (m − 1, 4, 2), and the mean value of the clusterings under it."""
    m = result.n_clusterings
    order, first, sizes = layout(result.tree)
    x, height = np.zeros(2 * m - 1), np.concatenate([np.zeros(m), result.tree[:, 2]])
    x[order] = np.arange(m)
    left, right = result.tree[:, :2].astype(int).T
    for i in range(m - 1):
        x[m + i] = (x[left[i]] + x[right[i]]) / 2
    top = height[m:]
    corners = ((x[left], height[left]), (x[left], top), (x[right], top), (x[right], height[right]))
    paths = np.stack([np.column_stack(corner) for corner in corners], axis=1)
    if values is None:
        return paths, np.zeros(m - 1)
    known = np.where(np.isnan(values), 0, values)[order]
    sums = np.concatenate([[0], np.cumsum(known)]), np.concatenate([[0], np.cumsum(~np.isnan(values)[order])])
    total, number = (s[first[m:] + sizes[m:]] - s[first[m:]] for s in sums)
    return paths, np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _draw_groups(strip: Any, result: MetaClustering) -> None:
    """A bar per group under the tree, from left to right, its number where there is room."""
    order, first, sizes = layout(result.tree)
    for group, node in zip(result.numbers, result.nodes, strict=True):
        begin, width, color = first[node] - 0.5, sizes[node], color_of(group - 1)
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


def _check_score(score: Any, result: MetaClustering) -> Floats | None:
    if score is None:
        return None
    values = np.asarray(score, float)
    if values.shape != (result.n_clusterings,):
        raise InputError(f"a score has one number for each of {result.n_clusterings} clusterings; got {values.shape}")
    return values


def draw_curve(result: MetaClustering, path: str | Path, *, most: int = 60, candidates: int = 5) -> None:
    """Draw the compactness of the groups by their number, the sharpest jumps marked (Caruana et al. 2006, Figure 8).

    Parameters
    ----------
    result : MetaClustering
    path : file ending in .png, .svg or .pdf
    most : int
        Groups up to which the curve is drawn.
    candidates : int
        Jumps that are marked.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import consilience as cs
    >>> with TemporaryDirectory() as folder:
    ...     cs.reports.draw_curve(cs.organize(cs.datasets.load_beads_labels()), f"{folder}/curve.svg")
    """
    save_figure(path, curve_figure, result, most=most, candidates=candidates)


def curve_figure(result: MetaClustering, *, most: int = 60, candidates: int = 5) -> Figure:
    """The picture of :func:`draw_curve`."""
    figure = new_figure(6.4, 4)
    axis = figure.subplots()
    curve = result.curve.head(most)
    axis.plot(curve["n_groups"], curve["compactness"], color="black", marker=".", markersize=4, linewidth=1)
    for rank, row in enumerate(result.jumps.head(candidates).itertuples()):
        before = float(result.curve["compactness"].iloc[row.n_groups - 2])
        where = ([row.n_groups - 1, row.n_groups], [before, row.compactness])
        axis.plot(*where, color=ACCENT, linewidth=2.5, alpha=1 - 0.14 * rank, solid_capstyle="butt")
        how: dict[str, Any] = {"xytext": (4, 5), "textcoords": "offset points", "color": ACCENT}
        axis.annotate(f"{row.n_groups}", (row.n_groups, row.compactness), **how)
    chosen = f"{result.n_groups} chosen"
    axis.axvline(result.n_groups, color=QUIET, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0, label=chosen)
    axis.plot([], [], color=ACCENT, linewidth=2.5, label="sharpest jumps")
    axis.legend(frameon=False, fontsize=8, loc="upper left")
    axis.set(xlabel="number of groups", ylabel=f"compactness ({format_name(result.measure)})", xlim=(0, None))
    axis.set_title("How many kinds of clusterings? Jumps are candidates, not truth", loc="left", fontsize=11)
    open_frame(axis)
    return figure


def draw_map(
    maps: Map | list[Map], path: str | Path, *, score: pd.Series | None = None, groups: Any = None, names: Any = None
) -> None:
    """Draw one or more maps of the clusterings, with their distortion written on them.

    Parameters
    ----------
    maps : Map or list of Map
        From ``meta.map()``.
    path : file ending in .png, .svg or .pdf
    score : Series, optional
        A number per clustering, for the colors.
    groups : (n_clusterings,) int array, optional
        Instead of a score: the group of every clustering.
    names : sequence, optional
        Of the clusterings, written beside the points where there is room and they are 40 at most.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import consilience as cs
    >>> from consilience.datasets import load_beads
    >>> meta = cs.organize(cs.generate(load_beads(), 12, n_clusters=4), 3)
    >>> from consilience.reports import draw_map
    >>> with TemporaryDirectory() as folder:
    ...     draw_map(meta.map(), f"{folder}/map.svg")
    """
    save_figure(path, map_figure, maps, score=score, groups=groups, names=names)


def map_figure(
    maps: Map | list[Map], *, score: pd.Series | None = None, groups: Any = None, names: Any = None
) -> Figure:
    """The picture of :func:`draw_map`."""
    several = [maps] if isinstance(maps, Map) else list(maps)
    if not several or not all(isinstance(one, Map) for one in several):
        raise InputError("draw_map draws what meta.map() made, one or a list of them")
    if score is not None and groups is not None:
        raise InputError("a map is colored by a score or by groups, not by both")
    figure = new_figure(5.2 * len(several) + 0.8 * (score is not None or groups is not None), 5.2)
    axes = figure.subplots(1, len(several), squeeze=False)[0]
    for axis, one in zip(axes, several, strict=True):
        dots = _scatter(axis, one.xy, score, groups)
        axis.set_aspect("equal", adjustable="datalim")
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set_color("#cbd5e1")
        axis.set_title(MAPS[one.kind], loc="left")
        kept = f"keeps {100 * one.neighbors_kept:.0f} % of the {one.n_neighbors} nearest neighbors"
        axis.set_xlabel(f"stress {one.stress:.2f}, {kept}", color=ACCENT if one.stress > 0.2 else "black")
    if score is not None:
        figure.colorbar(dots, ax=list(axes), shrink=0.8, pad=0.02, label=score_title(score))
    elif groups is not None:
        _group_legend(axes[-1], groups)
    if names is not None and len(names) <= NAMED:
        for axis, one in zip(axes, several, strict=True):
            annotate_points(axis, list(names), one.xy)
    return figure


def _scatter(axis: Any, xy: Array, score: pd.Series | None, groups: Any) -> Any:
    """Clusterings as points: by score, by group, or all alike."""
    size = float(np.clip(9000 / len(xy), 4, 40))
    if groups is not None:
        return scatter_codes(axis, xy, np.asarray(groups) - 1, size=size)
    how: dict[str, Any] = {"s": size, "linewidths": 0, "alpha": 0.8, "rasterized": True}
    if score is None:
        return axis.scatter(*xy.T, color=QUIET, **how)
    values = np.asarray(score, float)
    low, high = np.nanquantile(values, [0.01, 0.99])
    return axis.scatter(*xy.T, c=values, cmap=score_colors(), vmin=low, vmax=high, **how)


def _group_legend(axis: Any, groups: Any) -> None:
    numbers = {int(group) - 1: group for group in np.unique(groups)}
    legend_of(axis, numbers, "group", loc="center left", bbox_to_anchor=(1, 0.5))


def draw_scores(
    scores: pd.DataFrame,
    x: str,
    y: str,
    path: str | Path,
    *,
    marked: Mapping[str, pd.DataFrame] | None = None,
    groups: Any = None,
    null: tuple[float, float] | None = None,
) -> None:
    """Draw one score of all clusterings against another (Caruana et al. 2006, Figures 2 to 5 and 11).

    Parameters
    ----------
    scores : DataFrame
        From :func:`consilience.meta.score`.
    x, y : str
        Two of its columns.
    path : file ending in .png, .svg or .pdf
    marked : mapping of name to DataFrame, optional
        Scores of other clusterings, such as consensus ones, drawn large and named in the legend.
    groups : (n_clusterings,) int array, optional
        The group of every clustering, for the colors.
    null : (mean, standard deviation), optional
        Of `y`, an accuracy, for the best of shuffled groups: a band of two standard deviations either side.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> from consilience.reports import draw_scores
    >>> scores = pd.DataFrame({"compactness": [0.2, 0.3], "accuracy": [0.9, 0.7]})
    >>> with TemporaryDirectory() as folder:
    ...     draw_scores(scores, "compactness", "accuracy", f"{folder}/scores.svg")
    """
    save_figure(path, scores_figure, scores, x, y, marked=marked, groups=groups, null=null)


def scores_figure(
    scores: pd.DataFrame,
    x: str,
    y: str,
    *,
    marked: Mapping[str, pd.DataFrame] | None = None,
    groups: Any = None,
    null: tuple[float, float] | None = None,
) -> Figure:
    """The picture of :func:`draw_scores`."""
    for name in (x, y):
        check_choice(name, [str(column) for column in scores.select_dtypes("number")], "score")
    figure = new_figure(6.4, 4.6)
    axis = figure.subplots()
    _scatter(axis, scores[[x, y]].to_numpy(float), None, groups)
    if null is not None:
        mean, half = null[0], 2 * np.nan_to_num(null[1])
        axis.axhspan(max(0, mean - half), min(1, mean + half), color=QUIET, alpha=0.25, linewidth=0, zorder=0)
        axis.axhline(mean, color=QUIET, linewidth=1, zorder=0, label="best of shuffled groups, ± 2 s.d.")
    how: dict[str, Any] = {"s": 120, "color": "black", "edgecolor": "white", "linewidth": 0.8, "zorder": 3}
    for i, (name, points) in enumerate((marked or {}).items()):
        axis.scatter(points[x], points[y], marker="*X"[i % 2], label=name, **how)
    axis.set(xlabel=score_title(scores[x]), ylabel=score_title(scores[y]))
    if marked or null is not None:
        figure.legend(frameon=False, fontsize=8, loc="outside upper center", ncols=3)
    if groups is not None:
        _group_legend(axis, groups)
    open_frame(axis)
    return figure
