"""Figures of Wang et al. 2010's report: one row per data set, one mark per method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience.reports.figures import new_figure
from papers.figures import COLORS, MARKS, curve, legend_outside
from papers.wang2010 import printed as printed


def draw_f1(mean: pd.DataFrame, keys: dict[str, str], titles: dict[str, str]) -> Any:
    """F1 of the paper (hollow) above ours (filled) for every data set."""
    names = _names(mean)
    figure = new_figure(9, 1 + 0.75 * len(names))
    axis = figure.subplots()
    for number, method in enumerate(keys):
        own = mean[mean["method"] == method].set_index("data")
        style: dict[str, Any] = {"color": COLORS[number], "marker": MARKS[number], "markersize": 8, "linestyle": ""}
        for row, name in enumerate(names):
            theirs = printed.TABLE_2[keys[method]][printed.DATA.index(name)]
            axis.plot(theirs, row - 0.16, **style, markerfacecolor="white", zorder=3)
            axis.plot(own.at[name, "f1"], row + 0.16, **style, label=titles[method], zorder=3)
    _data_rows(axis, names, (-0.16, 0.16))
    axis.set_xlabel("F1 averaged over classes")
    legend_outside(figure, axis)
    return figure


def draw_perplexity(mean: pd.DataFrame, titles: dict[str, str]) -> Any:
    """Perplexity of fitted and of held-out rows."""
    names = _names(mean)
    figure = new_figure(11, 1 + 0.6 * len(names))
    axes = figure.subplots(1, 2, sharey=True, sharex=True)
    for axis, measure, what in zip(axes, ("train", "test"), ("fitted rows", "held-out rows"), strict=True):
        for number, method in enumerate(titles):
            own = mean[mean["method"] == method].set_index("data").reindex(names)
            _marks(axis, own[measure], own[f"{measure}_sem"], number, titles[method])
        axis.set(xlabel="perplexity per label", title=what)
        axis.axvline(1, color="0.6", linewidth=1)
        _data_rows(axis, names, (0.0,))
    legend_outside(figure, axes[0])
    return figure


def draw_inference(mean: pd.DataFrame) -> Any:
    """Perplexity of the variational inferences over that of Gibbs sampling, by prior."""
    names = _names(mean)
    figure = new_figure(11, 1 + 0.6 * len(names))
    axes = figure.subplots(1, 2, sharey=True, sharex=True)
    for axis, measure, what in zip(axes, ("train", "test"), ("fitted rows", "held-out rows"), strict=True):
        values = mean.pivot(index="data", columns="method", values=measure).reindex(names)
        for number, (inference, word) in enumerate((("cvb2", "CVB2"), ("cvb", "CVB"), ("vb", "VB"))):
            for shift, prior, face in ((-0.15, "tsb", None), (0.15, "fsd", "white")):
                ratio = values[f"nbce {inference} {prior}"] / values[f"nbce gibbs {prior}"]
                axis.plot(
                    ratio,
                    np.arange(len(names)) + shift,
                    linestyle="",
                    marker=MARKS[number + 1],
                    color=COLORS[number + 1],
                    markerfacecolor=face or COLORS[number + 1],
                    markersize=7,
                    label=f"{word}, {prior.upper()}",
                    zorder=3,
                )
        axis.axvline(1, color="0.3", linewidth=1)
        axis.set(xlabel="perplexity / that of Gibbs", title=what)
        _data_rows(axis, names, (-0.15, 0.15))
    legend_outside(figure, axes[0])
    return figure


def draw_outliers(X: NDArray[Any], groups: NDArray[Any], labels: NDArray[Any], mean: pd.DataFrame) -> Any:
    """The objects by the cluster that NBCE gave them, and perplexity against the noise."""
    figure = new_figure(11, 4.2)
    left, right = figure.subplots(1, 2)
    for group, mark in enumerate("o^*"):
        own = groups == group
        shades = [COLORS[1 + label % (len(COLORS) - 1)] for label in labels[own]]
        left.scatter(X[own, 0], X[own, 1], c=shades, marker=mark, s=60 if mark == "*" else 22, linewidths=0)
    left.set(title="marks: drawn (★ outliers); colors: NBCE", aspect="equal", xticks=[], yticks=[])
    left.spines[:].set_visible(False)
    others = [method for method in mean["method"].unique() if method != "NBCE"]
    for number, method in enumerate(["NBCE", *others]):  # the first is drawn dashed, above the others
        rows = mean[mean["method"] == method]
        curve(right, 100 * rows["noise"], rows["perplexity"], rows["perplexity_sem"], number, method)
    right.set(xlabel="labels changed, %", ylabel="perplexity per label", xticks=100 * mean["noise"].unique())
    legend_outside(figure, right)
    return figure


def _names(mean: pd.DataFrame) -> list[str]:
    return [name for name in printed.DATA if name in set(mean["data"])]


def _marks(axis: Any, values: pd.Series, errors: pd.Series, number: int, label: str) -> None:
    axis.errorbar(
        values,
        np.arange(len(values)),
        xerr=np.nan_to_num(errors.to_numpy(float)),
        color=COLORS[number],
        marker=MARKS[number],
        markersize=7,
        linestyle="",
        elinewidth=1,
        label=label,
        zorder=3,
    )


def _data_rows(axis: Any, names: Sequence[str], shifts: Sequence[float]) -> None:
    for row in range(len(names)):
        for shift in shifts:
            axis.axhline(row + shift, color="0.92", linewidth=1, zorder=1)
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(axis="y", length=0)
