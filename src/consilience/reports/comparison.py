"""How alike clusterings are: printed, drawn, and in a report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.text import Text as Styled
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from consilience._check import InputError, count, kind_of
from consilience.ensemble import Ensemble
from consilience.measures import MEASURES, Comparison, Stability
from consilience.meta import MetaClustering
from consilience.reports.clusters import listed
from consilience.reports.figures import PALETTE, annotate_points, new_figure, open_frame, save_figure, short_name
from consilience.reports.finding import format_cell, format_name, format_number, format_range
from consilience.reports.html import Block, Items, Picture, See, Sheet, Text
from consilience.reports.sections import NOT_TRUTH, Report, section
from consilience.reports.terminal import print_table, terminal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 20  # clusterings printed; beyond, the first and a note
TYPICAL = 16  # clusterings listed on a page
NAMED = 40  # clusterings that a picture has room to name


def print_comparison(result: Comparison, *, title: str, console: Console | None = None) -> None:
    """Print the stability of an ensemble and a row for every clustering.

    Examples
    --------
    >>> import consilience as cs
    >>> from consilience.reports import print_comparison
    >>> found = cs.compare([[0, 0, 1, 1], [0, 0, 1, 2]])
    >>> print_comparison(found, title="labels.csv")  # doctest: +ELLIPSIS
    labels.csv: 2 clusterings of 4 objects, 2 to 3 clusters
    ...
    """
    console = console or terminal()
    rows = result.clusterings
    several = format_range([int(rows["clusters"].min()), int(rows["clusters"].max())], "cluster")
    what = f": {count(len(rows), 'clustering')} of {count(result.n_objects, 'object')}, {several}"
    console.print(Styled.assemble((title, "bold"), what))
    known = any(":" in column for column in rows.columns)
    if result.stability:
        console.print("\nAgreement over all pairs")
        cells = [
            [name, found.words(3) if found.n_pairs else "–", *_ends(result, name)]
            for name, found in result.stability.items()
        ]
        print_table(console, ["measure", "mean ± s.e.", "most alike", "least alike"], cells, (1,))
        console.print(f"\nClusterings: mean with the others{' and with known labels' if known else ''}")
    else:
        alone = "" if known else ": nothing to compare it with; name known labels with --known (known= in Python)"
        console.print(f"\nClusterings{alone}")
    cells = [[_cell(*cell) for cell in row.items()] for row in rows.head(SHOWN).to_dict("records")]
    print_table(console, list(rows.columns), cells, tuple(range(1, len(rows.columns))))
    if len(rows) > SHOWN:
        console.print(
            f"… and {count(len(rows) - SHOWN, 'more clustering')}: -o FILE.csv writes them all (to_frame() in Python)"
        )


def _ends(result: Comparison, measure: str) -> list[str]:
    """The most and the least alike two."""
    ends = [f"{one}, {other} ({format_number(value)})" for one, other, value in result.extremes(measure)]
    return ends or ["no two share an object", ""]


def _cell(column: Any, value: Any) -> str:
    return f"{100 * value:.3g} %" if column == "labeled" else str(value) if column == "name" else format_cell(value)


def draw_comparison(result: Comparison, path: str | Path, *, measure: str | None = None) -> None:
    """Draw how alike all clusterings are, like ones side by side, beside how well they match known labels.

    Parameters
    ----------
    result : Comparison
    path : file ending in .png, .svg or .pdf
    measure : str, optional
        One of the comparison's measures; the first by default.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from consilience.datasets import load_beads_labels
    >>> import consilience as cs
    >>> from consilience.reports import draw_comparison
    >>> with TemporaryDirectory() as folder:
    ...     draw_comparison(cs.compare(load_beads_labels()), f"{folder}/agreement.svg")
    """
    if not isinstance(result, Comparison):
        raise InputError(f"draw_comparison draws what compare found; got {kind_of(result)}")
    save_figure(path, comparison_figure, result, measure=measure)


def comparison_figure(result: Comparison, *, measure: str | None = None) -> Figure:
    """The picture of :func:`draw_comparison`."""
    measure = measure or next(iter(result.matrices))
    matrix = result.matrix(measure)
    known = [c for c in result.clusterings.columns if c.startswith(f"{measure}:")]
    side = 4.6 + 0.08 * max(0, min(len(matrix), NAMED) - 20)  # names need room
    figure = new_figure(side + 1 + side * (len(known) > 0), side)
    axes = figure.subplots(1, 2 if known else 1, squeeze=False, width_ratios=[1.15, 1] if known else None)[0]
    order = _like_first(matrix.to_numpy(), MEASURES[measure].is_distance)
    _draw_matrix(axes[0], matrix.iloc[order, order], measure)
    if known:
        _draw_known(axes[1], result, known, measure)
    return figure


def stability_figure(found: Stability) -> Figure:
    """The mean over all pairs on the scale of its measure, with the larger of its standard errors."""
    figure = new_figure(4.4, 1.1)
    axis, largest = figure.subplots(), MEASURES[found.measure].largest
    error = float(np.nanmax([found.sem, found.sem_jackknife, 0.0]))
    axis.errorbar([found.mean], [0], xerr=[2 * error], fmt="o", color=PALETTE[0], capsize=4)
    axis.set(yticks=[], xlabel=f"{format_name(found.measure)} (bar: ± 2 s.e.)")
    axis.set_xlim(min(0.0, found.mean - 2 * error), largest or 1.2 * (found.mean + 2 * error))
    axis.spines[["top", "right", "left"]].set_visible(False)
    return figure


def _like_first(matrix: Any, is_distance: bool) -> Any:
    """An order in which like clusterings stand side by side."""
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
    low = float(
        np.fmin.reduce(np.asarray(matrix), axis=None, initial=0.0)
    )  # NaN stays: what pandas 2 gives NumPy 2 is no copy
    image = axis.imshow(matrix, cmap=colors, vmin=low, vmax=how.largest)
    axis.figure.colorbar(image, ax=axis, shrink=0.8, label=format_name(measure))
    axis.set_title("How alike are the clusterings?", loc="left")
    if len(matrix) <= NAMED:
        names = [short_name(name) for name in matrix.columns]
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
        axis.legend(
            title="clusters", frameon=False, fontsize=8, title_fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5)
        )
    else:
        dots = axis.scatter(rows[x], rows[y], c=rows["clusters"], cmap=cividis, **how)
        axis.figure.colorbar(dots, ax=axis, shrink=0.8, label="clusters")
    short = format_name(measure)
    titles = {c: f"{short} with the known {short_name(c.split(':', 1)[1])}" for c in known}
    titles |= {measure: f"mean {short} with the others", "clusters": "clusters"}
    axis.set(xlabel=titles[x], ylabel=titles[y])
    axis.set_title("What did each one find?", loc="left")
    open_frame(axis)
    axis.margins(0.12)
    if len(rows) <= NAMED:  # room for names
        low, high = axis.get_xlim()
        axis.set_xlim(low, high + 0.32 * (high - low))
    top = MEASURES[measure].largest
    if top is not None:  # room beside the points, but no ticks for values that cannot be
        for ruler in (axis.yaxis,) if x == "clusters" else (axis.xaxis, axis.yaxis):
            low, high = ruler.get_view_interval()
            ruler.set_ticks([tick for tick in ruler.get_ticklocs() if low <= tick <= min(high, top + 1e-9)])
    there = rows[["name", x, y]].dropna()
    if 0 < len(there) <= NAMED:
        annotate_points(axis, there["name"].tolist(), there[[x, y]].to_numpy(float))


class ComparisonReport(Report, of=Comparison):
    """How alike clusterings are, and nothing else."""

    uses = ()
    about = "how alike"

    @property
    def comparison(self) -> Comparison:
        """What compare found."""
        found: Comparison = self.result
        return found

    @property
    def _what(self) -> str:
        return (
            f"{count(len(self.comparison.clusterings), 'clustering')} of {count(self.comparison.n_objects, 'object')}"
        )

    def describe(self) -> str:
        """The means of all pairs."""
        means = [f"{format_name(name)} {value.words(4)}" for name, value in self.comparison.stability.items()]
        return f"{self._what}. Mean of all pairs: {', '.join(means)}." if means else f"{self._what}."

    def answer(self) -> list[Text | Items]:
        """How alike the clusterings are, which of them most and least, and which come nearest to what is known."""
        comparison = self.comparison
        said = [Text([self.describe().removesuffix("."), See(("comparison",), ("stability",)), "."])]
        if comparison.stability:
            name = next(iter(comparison.stability))
            pairs = [f"{one} and {other} ({value:.2f})" for one, other, value in comparison.extremes(name)]
            if pairs:
                words = f"the two most alike are {pairs[0]}, the two least alike {pairs[-1]}"
                said.append(Text(f"By {format_name(name)}, {words}."))
        best = comparison.clusterings
        known = [column for column in best if ":" in str(column)]
        first = str(known[0]).split(":", 1)[0] if known else ""
        told = []
        for column in (column for column in known if str(column).startswith(f"{first}:")):
            at = best[column].idxmin() if MEASURES[first].is_distance else best[column].idxmax()
            told.append(f"{best['name'][at]} comes nearest to {str(column).split(':', 1)[1]} ({best[column][at]:.2f})")
        if told:
            said.append(Text(f"By {format_name(first)}, {listed(told)}."))
        return [*said]

    def facts(self) -> list[tuple[str, str]]:
        """What was compared."""
        return [*super().facts(), ("clusterings", self._what), ("measures", ", ".join(self.comparison.matrices))]

    def code(self) -> list[str]:
        """The call of compare."""
        return super().code() or [f"found = cs.compare(ens, {list(self.comparison.matrices)!r})"]

    def notes(self) -> list[str | None]:
        """What agreement does not say."""
        return [NOT_TRUTH]


@section(Comparison, Ensemble, MetaClustering, title="How alike are the clusterings?", order=15)
def alike(report: Any) -> Iterator[Block]:
    """Agreement over all pairs, with standard errors, and every clustering."""
    comparison: Comparison = report.comparison
    if not comparison.stability:
        yield Text("There is only one clustering, so nothing can be said about how alike several are.")
        yield Sheet("comparison", comparison.clusterings.set_index("name"), "The clustering", most=TYPICAL)
        return
    rows = [
        (name, found.mean, found.sem, found.sem_jackknife, found.n_pairs, *_ends(comparison, name))
        for name, found in comparison.stability.items()
    ]
    columns = ["measure", "mean", "standard_error", "jackknife_error", "pairs", "most_alike", "least_alike"]
    yield Sheet(
        "stability", pd.DataFrame(rows, columns=columns).set_index("measure"), "Agreement over all pairs of clusterings"
    )
    yield Text(
        "The standard error is that of papers, over pairs. Pairs share clusterings, so it is too small to compare two "
        "ensembles by; the jackknife error, which leaves out one clustering at a time, allows for that."
    )
    first, found = next(iter(comparison.stability.items()))
    mean = f"Mean {format_name(first)} of all pairs {found.words(4)}."
    beside = (
        " Right: how well each matches known labels."
        if any(":" in str(name) for name in comparison.clusterings)
        else ""
    )
    yield Picture(
        "comparison",
        comparison_figure(comparison),
        f"Matrix of all pairs of {count(len(comparison.clusterings), 'clustering')}. {mean}{beside}",
        f"Like clusterings stand side by side. {mean}{beside}",
    )
    table = comparison.clusterings.set_index("name")
    table = table.sort_values(first, ascending=MEASURES[first].is_distance, kind="stable")
    yield Sheet(
        "comparison", table, "Every clustering: its mean with the others, those most like them first", most=TYPICAL
    )
