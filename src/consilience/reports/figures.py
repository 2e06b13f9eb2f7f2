"""Pictures, drawn with matplotlib (the extra `plots`): what they share, and how alike clusterings are.

Every ``…_figure`` function makes a figure, for a page or a notebook; the ``draw_…`` function beside it writes it to a file.
Pure black and white stand for ink and paper: a page with a dark side turns them over.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from consilience._check import InputError, kind_of
from consilience.measures import MEASURES, Comparison, Stability
from consilience.reports.files import check_figure_path, write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


LONGEST = 24  # letters of a name
# Okabe and Ito's: everybody can tell them apart.
COLORS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
MARKS = "o^s"
LOOKS = 6 * len(MARKS)  # groups or clusters that look like no other; beyond, they are grey
QUIET, ACCENT = "#7b8794", "#d9480f"  # lines that only help, and what must not be overlooked
NEARLY_BLACK, NEARLY_WHITE = "#010101", "#fefefe"  # on a colored ground, which does not turn over


def look(number: int) -> tuple[str, str]:
    """Color and mark of a group or cluster, the same in every picture."""
    if number >= LOOKS:
        return "#b0b7bf", "."
    return COLORS[1:7][number % 6], MARKS[number // 6]


def ink_on(color: str) -> str:
    """Black or white, whichever can be read on a color."""
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return NEARLY_BLACK if 0.3 * red + 0.59 * green + 0.11 * blue > 105 else NEARLY_WHITE


def shades() -> Any:
    """Colors of a score: yellow is low and blue is high, as in the paper, and both ends can be seen on white and on black."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["viridis_r"](np.linspace(0.06, 0.72, 256)))


def _shade(share: float) -> tuple[float, float, float]:
    """From dark blue to orange: told apart by people with any color vision."""
    low, high = np.array([0.15, 0.40, 0.75]), np.array([0.98, 0.65, 0.20])
    red, green, blue = low + (high - low) * share
    return float(red), float(green), float(blue)


def new_figure(width: float, height: float) -> Figure:
    """An empty figure that belongs to no window, so that it can be made anywhere."""
    try:
        from matplotlib.figure import Figure as Made
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'consilience[plots]'") from error
    return Made(figsize=(width, height), layout="constrained")


def save_figure(path: str | Path, make: Callable[..., Figure], *given: Any, **options: Any) -> None:
    """Draw ``make(*given, **options)`` to a file, by its ending; one that cannot be drawn is refused before any work."""
    path = check_figure_path(path)
    write_figure(make(*given, **options), path)


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure, whole or not at all."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a name in a script that the font lacks is drawn as boxes
        write_file(path, lambda file: figure.savefig(file, format=path.suffix[1:].lower(), dpi=160))


def draw_agreement(result: Comparison, path: str | Path, *, measure: str | None = None) -> None:
    """Draw how alike all clusterings are, neighbors by average linkage, beside how well they match known labels.

    Parameters
    ----------
    result : Comparison
    path : file ending in .png, .svg or .pdf
    measure : str, optional
        One of the comparison's measures; the first by default.
    """
    if not isinstance(result, Comparison):
        raise InputError(f"draw_agreement draws what compare found; got {kind_of(result)}")
    save_figure(path, agreement_figure, result, measure=measure)


def agreement_figure(result: Comparison, *, measure: str | None = None) -> Figure:
    """The picture of :func:`draw_agreement`."""
    measure = measure or next(iter(result.matrices))
    matrix = result.matrix(measure)
    known = [c for c in result.clusterings.columns if c.startswith(f"{measure}:")]
    figure = new_figure(5.6 + 4.4 * (len(known) > 0), 4.6)
    axes = figure.subplots(1, 2 if known else 1, squeeze=False, width_ratios=[1.15, 1] if known else None)[0]
    order = _similar_first(matrix.to_numpy(), MEASURES[measure].is_distance)
    _draw_matrix(axes[0], matrix.iloc[order, order], measure)
    if known:
        _draw_known(axes[1], result, known, measure)
    return figure


def stability_figure(found: Stability) -> Figure:
    """The mean over all pairs on the scale of its measure, with the larger of its standard errors."""
    figure = new_figure(4.4, 1.1)
    axis, largest = figure.subplots(), MEASURES[found.measure].largest
    error = float(np.nanmax([found.sem, found.sem_jackknife, 0.0]))
    axis.errorbar([found.mean], [0], xerr=[2 * error], fmt="o", color=COLORS[1], capsize=4)
    axis.set(yticks=[], xlabel=f"{found.measure.replace('_', ' ')} (bar: ± 2 s.e.)")
    axis.set_xlim(min(0.0, found.mean - 2 * error), largest or 1.2 * (found.mean + 2 * error))
    axis.spines[["top", "right", "left"]].set_visible(False)
    return figure


def _similar_first(matrix: Any, is_distance: bool) -> Any:
    """An order in which alike clusterings stand side by side."""
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
    low = min(0.0, np.nan_to_num(matrix).min())
    image = axis.imshow(matrix, cmap=colors, vmin=low, vmax=how.largest)
    axis.figure.colorbar(image, ax=axis, shrink=0.8, label=measure.replace("_", " "))
    axis.set_title("How alike are the clusterings?", loc="left")
    if len(matrix) <= 40:
        names = [short_name(name) for name in matrix.columns]
        axis.set_xticks(range(len(matrix)), names, rotation=90, fontsize=8)
        axis.set_yticks(range(len(matrix)), names, fontsize=8)
    else:
        axis.set(xlabel="clusterings", ylabel="clusterings")


def _draw_known(axis: Any, result: Comparison, known: list[str], measure: str) -> None:
    """Two known labelings: one against the other; otherwise one against the mean with the others, if there are any."""
    rows = result.clusterings
    x, y = (known[0], known[1]) if len(known) > 1 else (measure if measure in rows else "clusters", known[0])
    for k, group in rows.groupby("clusters"):
        shade = (k - rows["clusters"].min()) / max(1, np.ptp(rows["clusters"]))
        axis.scatter(group[x], group[y], s=40, color=_shade(shade), edgecolor="white", linewidth=0.6, label=str(k))
    if rows["clusters"].nunique() <= 8:
        axis.legend(title="clusters", frameon=False, fontsize=8, title_fontsize=8)
    short = measure.replace("_", " ")
    titles = {c: f"{short} with the known {short_name(c.split(':', 1)[1])}" for c in known}
    titles |= {measure: f"mean {short} with the others", "clusters": "clusters"}
    axis.set(xlabel=titles[x], ylabel=titles[y])
    axis.set_title("What did each one find?", loc="left")
    axis.spines[["top", "right"]].set_visible(False)
    axis.margins(0.1)
    if len(rows) <= 40:
        low, high = axis.get_xlim()
        axis.set_xlim(low, high + 0.28 * (high - low))  # room for the names
        _annotate(axis, rows[["name", x, y]].dropna())
    top = MEASURES[measure].largest
    if top is not None:  # room beside the points, but no ticks for values that cannot be
        for ruler in (axis.yaxis,) if x == "clusters" else (axis.xaxis, axis.yaxis):
            low, high = ruler.get_view_interval()
            ruler.set_ticks([tick for tick in ruler.get_ticklocs() if low <= tick <= min(high, top + 1e-9)])


def short_name(name: Any) -> str:
    """A name that fits beside a picture, on one line, and is no formula to matplotlib."""
    text = "".join(letter if letter.isprintable() else " " for letter in str(name))
    return (text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…").replace("$", r"\$")


def score_title(score: Any) -> str:
    """What to write beside a score: accuracy with vowel, for the column "accuracy:vowel"."""
    return short_name(score.name or "score").replace("_", " ").replace(":", " with ")


def _annotate(axis: Any, rows: Any) -> None:
    """Names beside the points; points close to each other share a label."""
    places = rows.iloc[:, 1:].to_numpy(float)
    reach = 0.06 * np.maximum(np.ptp(places, axis=0), 1e-9)
    free = list(range(len(rows)))
    while free:
        near = [i for i in free if (np.abs(places[i] - places[free[0]]) <= reach).all()]
        free = [i for i in free if i not in near]
        first = short_name(rows.iloc[near[0], 0])
        axis.annotate(
            first if len(near) == 1 else f"{first} and {len(near) - 1} more",
            (places[near, 0].max(), places[near, 1].mean()),
            xytext=(7, -3),
            textcoords="offset points",
            fontsize=8,
        )
