"""The tree over k: how clusters split, merge and exchange objects from one number of clusters to the next (clustree).

One row of nodes per clustering, the coarsest on top; what flows between neighboring rows is an edge (Zappia and Oshlack 2018).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from consilience._check import InputError, count
from consilience._kernels import contingency
from consilience._types import Array, EnsembleLike, Floats, Ints
from consilience.consensus import Consensus
from consilience.ensemble import Ensemble
from consilience.inputs import as_ensemble
from consilience.reports import figures
from consilience.reports.words import format_range

SWEEPS = 12  # safeguard: up and down, to make few edges cross; more of them change nothing to be seen
LEVELS = 60  # safeguard: clusterings that a picture has room for


@dataclass(frozen=True, eq=False)
class _Levels:
    """Clusterings by rising number of clusters: codes 0 … k − 1, names of the clusters, and what stands left of each row."""

    columns: list[Ints]
    names: list[list[Any]]
    titles: list[str]

    @property
    def sizes(self) -> list[Ints]:
        return [np.bincount(c[c >= 0], minlength=len(n)) for c, n in zip(self.columns, self.names, strict=True)]


def tree_over_k_edges(found: Consensus | EnsembleLike) -> pd.DataFrame:
    """What flows between clusters of neighboring numbers of clusters, as a table.

    `level` is the row of the tree, from 0, that an edge leaves, `from_k`, `to_k`, `from_cluster` and `to_cluster` its ends, `n` the objects
    in both, and `share_of_from` and `share_of_to` their shares of the objects of either that are labeled in both clusterings.
    """
    return _edges(_levels(found), named=True)


@figures.picture("tree_over_k", Consensus, Ensemble, main=False)
def tree_over_k(
    found: Consensus | EnsembleLike,
    *,
    color: Any = None,
    notes: Mapping[tuple[int, int], str] | None = None,
    canvas: Callable[[float, float], figures.Axes] = figures.new_axis,
) -> figures.Figure:
    """How clusters split and merge from one number of clusters to the next; `notes` stand under nodes, `canvas` makes the axis."""
    levels = _levels(found)
    if color is None and isinstance(found, Consensus):
        own = np.asarray(found.confidence)[:, None] if found.scale_confidence is None else found.scale_confidence
        color = pd.DataFrame(own).rename_axis("confidence", axis=1)
    score = _check_color(color, len(levels.columns[0]), len(levels.columns))
    edges, sizes = _edges(levels), levels.sizes
    places = _places([len(names) for names in levels.names], edges)
    widest, deep = max(map(len, sizes)), len(sizes)
    room = 1.0 if notes else 0.5  # a column
    axis = canvas(float(np.clip(2.5 + room * widest, 6.4, 16)), float(np.clip(1.2 + 0.85 * deep, 3.2, 24)))
    figure: Any = axis.get_figure()
    _draw_edges(axis, edges, places, levels, int(sizes[0].sum()), widest)
    dots = _draw_nodes(axis, levels, places, score, widest)
    if score is not None:
        named = color.columns if isinstance(color, pd.DataFrame) else color
        name = figures.score_title(named) if hasattr(named, "name") else "score"
        figure.colorbar(dots, ax=axis, shrink=0.7, pad=0.01, aspect=30, label=f"mean {name}")
    for (level, cluster), text in (notes or {}).items():
        if cluster not in levels.names[level]:
            continue  # of none of the objects here
        spot = (places[level][levels.names[level].index(cluster)], -level)
        look: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": 6.5, "style": "italic", "zorder": 5}
        box: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.75}
        axis.annotate(text, spot, (0, -14), textcoords="offset points", bbox=box, **look)
    axis.set_yticks(-np.arange(deep), levels.titles, fontsize=8)
    axis.set(xticks=[], ylim=(0.5 - deep, 0.5), xlim=(-0.6, widest - 0.4))
    axis.spines[:].set_visible(False)
    axis.tick_params(left=False)
    what = "scale" if isinstance(found, Consensus) else "clustering"
    title = f"{count(deep, what)} of {format_range((len(sizes[0]), len(sizes[-1])), 'cluster')}"
    axis.set_title(title, loc="left", fontsize=11)
    return figure


def _levels(found: Any) -> _Levels:
    if not isinstance(found, Consensus):
        return _from_ensemble(as_ensemble(found))
    if found.scale_labels is None:
        raise InputError('this consensus has no scales: combine(ens, "auto") finds them')
    labels = found.scale_labels
    names: list[list[Any]] = [np.unique(column[column >= 0]).tolist() for column in labels.T]
    columns = [np.where(c < 0, -1, np.searchsorted(n, c)) for c, n in zip(labels.T, names, strict=True)]
    numbers = [len(present) for present in names]
    # a method may find fewer than it is asked for, and of some of the objects there may be fewer
    asked = numbers if found.scales is None else sorted(int(k) for k in found.scales["n_clusters"])
    titles = [f"{k} clusters" if k == of else f"{k} of {of} clusters" for k, of in zip(numbers, asked, strict=True)]
    return _Levels(columns, names, titles)


def _from_ensemble(ens: Ensemble) -> _Levels:
    if ens.n_clusterings > LEVELS:
        room = f"a tree over k has room for {LEVELS} clusterings"
        raise InputError(f"{room}, and there are {ens.n_clusterings}: select some of them")
    order = np.argsort(ens.n_clusters, kind="stable")
    columns, names, titles = [], [], []
    for q in order:
        present, codes = np.unique(ens.labels[:, q], return_inverse=True)
        codes = codes - int(present[0] < 0)
        present = present[present >= 0]
        if not len(present):
            raise InputError(f"clustering {ens.names[q]!r} labels no object: leave it out")
        known = ens.label_names[q]
        columns.append(codes.astype(np.int64))
        names.append([int(c) if known is None else known[c] for c in present])
        title = count(len(present), "cluster")
        titles.append(f"{figures.short_name(ens.names[q])}: {title}" if "name" in ens.info else title)
    return _Levels(columns, names, titles)


def _edges(levels: _Levels, *, named: bool = False) -> pd.DataFrame:
    """One row per pair of clusters of neighboring levels that share an object."""
    parts = []
    for level in range(len(levels.columns) - 1):
        upper, lower = levels.columns[level], levels.columns[level + 1]
        k = len(levels.names[level]), len(levels.names[level + 1])
        table = contingency(upper.astype(np.int32), lower.astype(np.int32), k)
        above, below = np.nonzero(table)
        n = table[above, below]
        part = pd.DataFrame({"level": level, "from_k": k[0], "to_k": k[1]}, index=range(len(n)))
        part["from_cluster"] = [levels.names[level][c] for c in above] if named else above
        part["to_cluster"] = [levels.names[level + 1][c] for c in below] if named else below
        part["n"] = n
        part["share_of_from"] = n / table.sum(axis=1)[above]
        part["share_of_to"] = n / table.sum(axis=0)[below]
        parts.append(part)
    columns = ["level", "from_k", "to_k", "from_cluster", "to_cluster", "n", "share_of_from", "share_of_to"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _places(numbers: list[int], edges: pd.DataFrame) -> list[Floats]:
    """Where the nodes of every level stand: an order in which few edges cross, and parents over their children."""
    flows = []
    for level in range(len(numbers) - 1):
        some, table = edges[edges["level"] == level], np.zeros((numbers[level], numbers[level + 1]))
        table[some["from_cluster"].to_numpy(int), some["to_cluster"].to_numpy(int)] = some["n"]
        flows.append(table)
    ranks = [np.arange(k, dtype=float) for k in numbers]
    best, fewest = list(ranks), np.inf
    for sweep in range(SWEEPS):
        for level in range(1, len(numbers)) if sweep % 2 == 0 else range(len(numbers) - 2, -1, -1):
            flow, other = (flows[level - 1].T, level - 1) if sweep % 2 == 0 else (flows[level], level + 1)
            ranks[level] = rankdata(_means(flow, ranks[other], ranks[level]), "ordinal") - 1.0
        crossed = sum(_crossings(flow, *ranks[at : at + 2]) for at, flow in enumerate(flows))
        if crossed < fewest:
            best, fewest = list(ranks), crossed
    widest = max(numbers)
    places = [np.empty(0)] * len(numbers)
    places[-1] = (best[-1] + 0.5) * widest / numbers[-1] - 0.5
    for level in range(len(numbers) - 2, -1, -1):
        wanted = _means(flows[level], places[level + 1], (best[level] + 0.5) * widest / numbers[level] - 0.5)
        places[level] = _apart(wanted, best[level], 0.5 + 0.5 * widest / numbers[level], widest)
    return places


def _means(flow: Floats, places: Floats, otherwise: Floats) -> Floats:
    """The mean place of what each node is joined to, by the objects that flow."""
    total = flow.sum(axis=1)
    return np.where(total > 0, flow @ places / np.maximum(total, 1), otherwise)


def _crossings(flow: Floats, above: Floats, below: Floats) -> float:
    """Objects times objects on edges that cross."""
    ordered = flow[np.argsort(above)][:, np.argsort(below)]
    right = ordered[:, ::-1].cumsum(axis=1)[:, ::-1] - ordered  # of the same upper node, to the right below
    earlier = np.vstack([np.zeros((1, ordered.shape[1])), right.cumsum(axis=0)[:-1]])
    return float((ordered * earlier).sum())


def _apart(wanted: Floats, ranks: Array, gap: float, widest: int) -> Floats:
    """The nearest places in the given order that are at least a gap apart and inside the picture."""
    from sklearn.isotonic import isotonic_regression

    order = np.argsort(ranks)
    gap = min(gap, 1.0 if len(order) < 2 else (widest - 1) / (len(order) - 1))
    steps = gap * np.arange(len(order))
    room = widest - 1 - steps[-1]
    places = np.empty(len(order))
    places[order] = np.clip(isotonic_regression(wanted[order] - steps), 0, max(room, 0)) + steps
    return places


def _check_color(color: Any, n_objects: int, n_levels: int) -> Floats | None:
    if color is None:
        return None
    values = np.asarray(color, float)
    if values.shape not in ((n_objects,), (n_objects, 1), (n_objects, n_levels)):
        wanted = f"one number for each of {n_objects} objects, or {n_levels} of them, one for each level"
        raise InputError(f"a color is {wanted}; got shape {values.shape}")
    return np.broadcast_to(values.reshape(n_objects, -1), (n_objects, n_levels))


def _draw_edges(
    axis: Any, edges: pd.DataFrame, places: list[Floats], levels: _Levels, n_objects: int, widest: int
) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    drawn = edges[(edges["share_of_from"] > 0.01) | (edges["share_of_to"] > 0.01)].sort_values("n", kind="stable")
    for row in drawn.itertuples():
        x, to, y = places[row.level][row.from_cluster], places[row.level + 1][row.to_cluster], -row.level
        curve = Curve([(x, y), (x, y - 0.5), (to, y - 0.5), (to, y - 1)], [1, 4, 4, 4])
        look: dict[str, Any] = {"facecolor": "none", "edgecolor": figures.QUIET, "capstyle": "butt", "zorder": 1}
        look |= {"linewidth": 0.4 + 14 * row.n / n_objects, "alpha": 0.2 + 0.7 * row.share_of_from}
        axis.add_patch(PathPatch(curve, **look))
        large = row.n >= 0.6 * n_objects / widest or row.n >= 0.04 * n_objects
        if widest <= figures.NAMED and large and 0.1 <= row.share_of_from < 0.995:
            box: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8}
            middle = {"ha": "center", "va": "center", "fontsize": 6.5, "bbox": box, "zorder": 2}
            axis.text(x + 0.6 * (to - x), y - 0.56, f"{100 * row.share_of_from:.0f} %", **middle)


def _draw_nodes(axis: Any, levels: _Levels, places: list[Floats], score: Floats | None, widest: int) -> Any:
    """Circles with the clusters' names where there is room; returns what a color bar is of."""
    sizes = np.concatenate(levels.sizes)
    x, y = np.concatenate(places), -np.repeat(np.arange(len(places)), [len(place) for place in places])
    largest = 620 if widest <= 16 else 420 if widest <= figures.NAMED else 220  # square points
    areas = np.maximum(largest * sizes / sizes.max(), 48 if widest <= figures.NAMED else 30)
    look: dict[str, Any] = {"s": areas, "edgecolors": "white", "linewidths": 0.8, "zorder": 3}
    if score is None:
        dots, colors = axis.scatter(x, y, color=figures.PALETTE[0], **look), [figures.PALETTE[0]] * len(x)
    else:
        parts = zip(levels.columns, score.T, places, strict=True)
        means = np.concatenate([_node_means(codes, own, len(place)) for codes, own, place in parts])
        dots = axis.scatter(x, y, c=means, cmap=figures.score_colors(), plotnonfinite=True, **look)
        low, high = np.nanmin(means), np.nanmax(means)
        shades = figures.score_colors()((means - low) / max(high - low, 1e-12))
        colors = ["#" + "".join(f"{round(255 * part):02x}" for part in shade[:3]) for shade in shades]
    inside: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": 7, "zorder": 4}
    beside: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 6, "zorder": 4}
    for at, name in enumerate(name for row in levels.names for name in row):
        text = figures.short_name(name)
        if areas[at] >= 90 * len(text):
            axis.text(x[at], y[at], text, color=figures.ink_on(colors[at]), **inside)
        elif widest <= figures.NAMED:
            right = (float(np.sqrt(areas[at]) / 2) + 1.5, 0)
            axis.annotate(text, (x[at], y[at]), right, color=figures.QUIET, **beside)
    return dots


def _node_means(codes: Ints, score: Floats, k: int) -> Floats:
    known = (codes >= 0) & ~np.isnan(score)
    number = np.bincount(codes[known], minlength=k)
    sums = np.bincount(codes[known], score[known], minlength=k)
    return np.where(number > 0, sums / np.maximum(number, 1), np.nan)
