"""How alike clusterings are: what there is to say of it, drawn, and in a report."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from consilience._check import InputError, count
from consilience.clusterer.drift import evenly
from consilience.ensemble import Ensemble
from consilience.measures import MEASURES, Comparison, compare
from consilience.meta import MetaClustering
from consilience.reports import figures
from consilience.reports.finding import Block, Finding, Items, Picture, See, Sheet, Text
from consilience.reports.sections import NOT_TRUTH, Report, section
from consilience.reports.words import format_name, format_number, format_range

TYPICAL = 16  # safeguard: clusterings listed on a page


def comparison_finding(result: Comparison) -> Finding:
    table = result.clusterings.set_index("name")
    several = format_range(table["clusters"], "cluster")
    title = f"{count(len(table), 'clustering')} of {count(result.n_objects, 'object')}, {several}"
    if "labeled" in table:
        table["labeled"] = [f"{100 * share:.3g} %" for share in table["labeled"]]
    known = any(":" in column for column in table)
    if not result.stability:
        alone = "There is nothing to compare it with; name known labels with --known (known= in Python)."
        return Finding(title, tables=[Sheet("clusterings", table, "Clusterings")], sentences=[] if known else [alone])
    pairs = _pairs(result)[["most_alike", "least_alike"]].rename(columns=lambda name: name.replace("_", " "))
    pairs.insert(0, "mean ± s.e.", [one.words(3) if one.n_pairs else "–" for one in result.stability.values()])
    caption = f"Clusterings: mean with the others{' and with known labels' if known else ''}"
    tables = [Sheet("stability", pairs, "Agreement over all pairs"), Sheet("clusterings", table, caption)]
    return Finding(title, tables=tables)


def _pairs(result: Comparison) -> pd.DataFrame:
    """A row per measure: the agreement over all pairs, and the most and the least alike two."""
    rows = []
    for name, one in result.stability.items():
        ends = [f"{a}, {b} ({format_number(value)})" for a, b, value in result.extremes(name)]
        found = (one.mean, one.sem, one.sem_jackknife, one.n_pairs)
        rows.append((name, *found, *(ends or ["no two share an object", ""])))
    columns = ["measure", "mean", "standard_error", "jackknife_error", "pairs", "most_alike", "least_alike"]
    return pd.DataFrame(rows, columns=columns).set_index("measure")


@figures.picture("ensemble", Ensemble)
def ensemble_figure(ensemble: Ensemble) -> figures.Figure:
    """How alike some of the clusterings are, on some of the objects: quick, whatever the size."""
    if ensemble.n_clusterings < 2:
        raise InputError("a single clustering is like no other: there is nothing to draw")
    objects, clusterings = (evenly(n, most) for n, most in zip(ensemble.labels.shape, (2000, 100), strict=True))
    figure = comparison_figure(compare(ensemble[objects, clusterings], "jaccard", progress=False))
    if (len(objects), len(clusterings)) != ensemble.labels.shape:
        figure.axes[0].set_xlabel(f"{len(clusterings):,} of the clusterings, on {len(objects):,} of the objects")
    return figure


@figures.picture("comparison", Comparison)
def comparison_figure(result: Comparison, *, measure: str | None = None) -> figures.Figure:
    """How alike all clusterings are, like ones side by side, beside how well they match known labels."""
    measure = measure or next(iter(result.matrices))
    matrix = result.matrix(measure)
    known = [c for c in result.clusterings.columns if c.startswith(f"{measure}:")]
    side = 4.6 + 0.08 * max(0, min(len(matrix), figures.NAMED) - 20)  # names need room
    figure = figures.new_figure(side + 1 + side * (len(known) > 0), side)
    axes = figure.subplots(1, 2 if known else 1, squeeze=False, width_ratios=[1.15, 1] if known else None)[0]
    order = _like_first(matrix.to_numpy(), MEASURES[measure].is_distance)
    _draw_matrix(axes[0], matrix.iloc[order, order], measure)
    if known:
        _draw_known(axes[1], result, known, measure)
    return figure


def _like_first(matrix: Any, is_distance: bool) -> Any:
    if len(matrix) < 3 or np.isnan(matrix).all():
        return np.arange(len(matrix))
    values = np.nan_to_num((matrix + matrix.T) / 2, nan=np.nanmean(matrix))
    distance = values if is_distance else values.max() - values
    np.fill_diagonal(distance, 0)
    return leaves_list(linkage(squareform(distance, checks=False), "average", optimal_ordering=len(matrix) <= 500))


def _draw_matrix(axis: Any, matrix: Any, measure: str) -> None:
    from matplotlib import colormaps

    how = MEASURES[measure]
    colors = colormaps["viridis_r" if how.is_distance else "viridis"].with_extremes(bad="0.8")
    # NaN stays: what pandas 2 gives NumPy 2 is no copy
    low = float(np.fmin.reduce(np.asarray(matrix), axis=None, initial=0.0))
    image = axis.imshow(matrix, cmap=colors, vmin=low, vmax=how.largest)
    axis.figure.colorbar(image, ax=axis, shrink=0.8, label=format_name(measure))
    axis.set_title("How alike are the clusterings?", loc="left")
    if len(matrix) <= figures.NAMED:
        names = [figures.short_name(name) for name in matrix.columns]
        size = 8 if len(names) <= 24 else 6.5
        axis.set_xticks(range(len(matrix)), names, rotation=90, fontsize=size)
        axis.set_yticks(range(len(matrix)), names, fontsize=size)
    else:
        axis.set(xlabel="clusterings", ylabel="clusterings")


def _draw_known(axis: Any, result: Comparison, known: list[str], measure: str) -> None:
    """Two known labelings: one against the other; otherwise one against the mean with the others, if there are any."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    rows = result.clusterings
    x, y = (known[0], known[1]) if len(known) > 1 else (measure if measure in rows else "clusters", known[0])
    how: dict[str, Any] = {"s": 40, "edgecolor": "white", "linewidth": 0.6}
    cividis = ListedColormap(colormaps["cividis"](np.linspace(0.1, 0.95, 256)))
    low, high = int(rows["clusters"].min()), int(rows["clusters"].max())
    if rows["clusters"].nunique() <= 8:
        for k, some in rows.groupby("clusters"):
            color = cividis((k - low) / max(1, high - low))
            axis.scatter(some[x], some[y], color=color, label=str(k), **how)
        beside: dict[str, Any] = {"frameon": False, "loc": "center left", "bbox_to_anchor": (1, 0.5)}
        axis.legend(title="clusters", fontsize=8, title_fontsize=8, **beside)
    else:
        dots = axis.scatter(rows[x], rows[y], c=rows["clusters"], cmap=cividis, **how)
        axis.figure.colorbar(dots, ax=axis, shrink=0.8, label="clusters")
    short = format_name(measure)
    titles = {c: f"{short} with the known {figures.short_name(c.split(':', 1)[1])}" for c in known}
    titles |= {measure: f"mean {short} with the others", "clusters": "clusters"}
    axis.set(xlabel=titles[x], ylabel=titles[y])
    axis.set_title("What did each one find?", loc="left")
    figures.open_frame(axis)
    axis.margins(0.12)
    if len(rows) <= figures.NAMED:  # room for names
        low, high = axis.get_xlim()
        axis.set_xlim(low, high + 0.32 * (high - low))
    top = MEASURES[measure].largest
    if top is not None:  # room beside the points, but no ticks for values that cannot be
        for ruler in (axis.yaxis,) if x == "clusters" else (axis.xaxis, axis.yaxis):
            low, high = ruler.get_view_interval()
            ruler.set_ticks([tick for tick in ruler.get_ticklocs() if low <= tick <= min(high, top + 1e-9)])
    there = rows[["name", x, y]].dropna()
    if 0 < len(there) <= figures.NAMED:
        figures.annotate_points(axis, there["name"].tolist(), there[[x, y]].to_numpy(float))


class ComparisonReport(Report, of=Comparison):
    uses = ()
    about = "how alike"

    @property
    def comparison(self) -> Comparison:
        return self.result

    def finding(self) -> Finding:
        return comparison_finding(self.result)

    def answer(self) -> list[Text | Items]:
        means = [f"{format_name(name)} {value.words(4)}" for name, value in self.comparison.stability.items()]
        words = self.finding().title + (f". Mean of all pairs: {', '.join(means)}" if means else "")
        return [Text([words, See(("comparison",), ("stability",)), "."])]

    def facts(self) -> list[tuple[str, str]]:
        measures = ", ".join(self.comparison.matrices)
        return [*super().facts(), ("clusterings", self.finding().title), ("measures", measures)]

    def code(self) -> list[str]:
        return super().code() or [f"found = cs.compare(ens, {list(self.comparison.matrices)!r})"]

    def notes(self) -> list[str | None]:
        return [NOT_TRUTH]


@section(Comparison, Ensemble, MetaClustering, title="How alike are the clusterings?", order=15)
def alike(report: Any) -> Iterator[Block]:
    comparison: Comparison = report.comparison
    table = comparison.clusterings.set_index("name")
    if not comparison.stability:
        yield Text("There is only one clustering, so nothing can be said about how alike several are.")
        yield Sheet("comparison", table, "The clustering", most=TYPICAL)
        return
    yield Sheet("stability", _pairs(comparison), "Agreement over all pairs of clusterings")
    yield Text(
        "The standard error is that of papers, over pairs. Pairs share clusterings, so it is too small to compare two "
        "ensembles by; the jackknife error, which leaves out one clustering at a time, allows for that."
    )
    first, found = next(iter(comparison.stability.items()))
    mean = f"Mean {format_name(first)} of all pairs {found.words(4)}."
    mean += " Right: how well each matches known labels." if any(":" in str(name) for name in table) else ""
    alt = f"Matrix of all pairs of {count(len(table), 'clustering')}. {mean}"
    yield Picture("comparison", comparison_figure(comparison), alt, f"Like clusterings stand side by side. {mean}")
    table = table.sort_values(first, ascending=MEASURES[first].is_distance, kind="stable")
    caption = "Every clustering: its mean with the others, those most like them first"
    yield Sheet("comparison", table, caption, most=TYPICAL)
