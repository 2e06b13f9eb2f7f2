"""Clusterings as points: maps with their distortion, and one score against another (matplotlib, the extra `plots`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from consilience._check import InputError, check_choice
from consilience.meta import Map
from consilience.reports.figures import ACCENT, LOOKS, QUIET, look, new_figure, save_figure, score_title, shades

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_maps(maps: Map | list[Map], path: str | Path, *, score: pd.Series | None = None, groups: Any = None) -> None:
    """Draw one or more maps of the clusterings, with their distortion written on them.

    Parameters
    ----------
    maps : Map or list of Map
        From ``meta.map()``.
    path : file ending in .png, .svg or .pdf
    score : Series, optional
        A number per clustering, for the colors.
    groups : (m,) int array, optional
        Instead of a score: the group of every clustering; the largest ones have a look of their own, the others are grey.
    """
    save_figure(path, maps_figure, maps, score=score, groups=groups)


def maps_figure(maps: Map | list[Map], *, score: pd.Series | None = None, groups: Any = None) -> Figure:
    """The picture of :func:`draw_maps`."""
    several = [maps] if isinstance(maps, Map) else list(maps)
    if not several or not all(isinstance(one, Map) for one in several):
        raise InputError("draw_maps draws what meta.map() made, one or a list of them")
    if score is not None and groups is not None:
        raise InputError("a map is colored by a score or by groups, not by both")
    figure = new_figure(5.2 * len(several) + 0.8 * (score is not None), 5.2)
    axes = figure.subplots(1, len(several), squeeze=False)[0]
    for axis, one in zip(axes, several, strict=True):
        dots = _scatter(axis, one.xy[:, 0], one.xy[:, 1], score, groups)
        axis.set_aspect("equal", adjustable="datalim")
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set_color("#cbd5e1")
        axis.set_title({"mds": "Distances (MDS)", "neighbors": "Neighbors (t-SNE)"}[one.kind], loc="left")
        kept = f"keeps {100 * one.neighbors_kept:.0f} % of the {one.n_neighbors} nearest neighbors"
        axis.set_xlabel(f"stress {one.stress:.2f}, {kept}", color=ACCENT if one.stress > 0.2 else "black")
    if score is not None:
        figure.colorbar(dots, ax=list(axes), shrink=0.8, pad=0.02, label=score_title(score))
    elif groups is not None:
        _group_legend(axes[-1], groups)
    return figure


def _scatter(axis: Any, x: Any, y: Any, score: pd.Series | None, groups: Any) -> Any:
    """Clusterings as points: by score, by group, or all alike."""
    how: dict[str, Any] = {"s": float(np.clip(9000 / len(x), 4, 40)), "linewidths": 0, "alpha": 0.8, "rasterized": True}
    if score is not None:
        values = np.asarray(score, float)
        low, high = np.nanquantile(values, [0.01, 0.99])
        return axis.scatter(x, y, c=values, cmap=shades(), vmin=low, vmax=high, **how)
    codes = np.zeros(len(x), int) if groups is None else np.minimum(groups, LOOKS)
    for group in np.unique(codes)[::-1]:  # the largest ones on top
        color, mark = (QUIET, "o") if groups is None else look(group)
        dots = axis.scatter(
            np.asarray(x)[codes == group], np.asarray(y)[codes == group], color=color, marker=mark, **how
        )
    return dots


def _group_legend(axis: Any, groups: Any) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for group in np.unique(np.minimum(groups, LOOKS)):
        color, mark = look(group)
        name = str(group) if group < LOOKS else "others"
        handles.append(Line2D([], [], marker=mark, linestyle="", color=color, label=name))
    axis.legend(handles=handles, title="group", frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))


def draw_scores(
    scores: pd.DataFrame,
    x: str,
    y: str,
    path: str | Path,
    *,
    marked: dict[str, pd.DataFrame] | None = None,
    groups: Any = None,
    null: tuple[float, float] | None = None,
) -> None:
    """Draw one score of all clusterings against another (the paper's Figures 2 to 5 and 11).

    Parameters
    ----------
    scores : DataFrame
        From :func:`consilience.meta.score`.
    x, y : str
        Two of its columns.
    path : file ending in .png, .svg or .pdf
    marked : dict of name to DataFrame, optional
        Scores of other clusterings, such as consensus ones, drawn large and named in the legend.
    groups : (m,) int array, optional
        The group of every clustering, for the colors.
    null : (mean, standard deviation), optional
        Of `y`, an accuracy, for the best of shuffled groups: a band of two standard deviations either side.
    """
    save_figure(path, scores_figure, scores, x, y, marked=marked, groups=groups, null=null)


def scores_figure(
    scores: pd.DataFrame,
    x: str,
    y: str,
    *,
    marked: dict[str, pd.DataFrame] | None = None,
    groups: Any = None,
    null: tuple[float, float] | None = None,
) -> Figure:
    """The picture of :func:`draw_scores`."""
    for name in (x, y):
        check_choice(name, [str(column) for column in scores.select_dtypes("number")], "score")
    figure = new_figure(6.4, 4.6)
    axis = figure.subplots()
    _scatter(axis, scores[x], scores[y], None, groups)
    if null is not None:
        mean, spread = null[0], 2 * np.nan_to_num(null[1])
        axis.axhspan(max(0, mean - spread), min(1, mean + spread), color=QUIET, alpha=0.25, linewidth=0, zorder=0)
        axis.axhline(mean, color=QUIET, linewidth=1, zorder=0, label="best of shuffled groups, ± 2 s.d.")
    for i, (name, points) in enumerate((marked or {}).items()):
        how: dict[str, Any] = {
            "marker": "*X"[i % 2],
            "color": "black",
            "edgecolor": "white",
            "linewidth": 0.8,
            "zorder": 3,
        }
        axis.scatter(points[x], points[y], s=120, label=name, **how)
    axis.set(xlabel=score_title(scores[x]), ylabel=score_title(scores[y]))
    if marked or null is not None:
        figure.legend(frameon=False, fontsize=8, loc="outside upper center", ncols=3)
    if groups is not None:
        _group_legend(axis, groups)
    axis.spines[["top", "right"]].set_visible(False)
    return figure
