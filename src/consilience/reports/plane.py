"""Objects in the plane, in reports and in the explorer: two columns of the data, its two main axes, or those of the labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._check import InputError, check_choice, count
from consilience._run.random import stream
from consilience._types import Array, Floats, Ints
from consilience.agreement import Agreement
from consilience.ensemble import Ensemble
from consilience.generation.methods.mds import embed
from consilience.reports import figures
from consilience.tables import Table, scale

# safeguard: clusterings, and labels of theirs, from which a plane is made within seconds
COLUMNS, CELLS = 200, 4_000_000


@dataclass(frozen=True)
class Plane:
    xy: NDArray[np.float32] = field(repr=False)
    kind: str
    note: str


def plane_of(ensemble: Ensemble, data: Table | None, axes: Any = None) -> Plane:
    if axes is not None:
        return _columns(data, axes)
    if data is None:
        return _labels(ensemble)
    if data.kind == "distances":
        xy, stress = embed(data.values, 2)
        return Plane(_unit(xy), "mds", f"scaling of the distances to two dimensions, stress {stress:.2f}")
    return _axes(data)


def given_plane(xy: Any, note: str, n_objects: int) -> Plane:
    """Coordinates that were made elsewhere: the first two of their columns."""
    table = np.asarray(xy.toarray() if sparse.issparse(xy) else xy)
    if table.ndim != 2 or table.shape[1] < 2 or table.dtype.kind not in "iuf":
        raise InputError(f"{note}: coordinates are numbers in two columns or more; got an array of shape {table.shape}")
    if len(table) != n_objects:
        raise InputError(f"{note}: {count(len(table), 'row')} for {count(n_objects, 'object')}: give one for each")
    first = table[:, :2].astype(float)
    if not np.isfinite(first).all():
        raise InputError(f"{note}: some coordinates are missing or infinite: fill them, or leave those objects out")
    of = "" if table.shape[1] == 2 else f", the first two of {table.shape[1]} columns"
    return Plane(_unit(first), "given", f"{note}{of}")


def feature_names(data: Table) -> list[str]:
    """What the columns are called; their positions where they have no name."""
    return [f"column {i}" for i in range(data.values.shape[1])] if data.columns is None else list(data.columns)


def with_own_names(data: Table, result: Any) -> Table:
    """The data; its columns have the names that an agreement of it knows, where it has none itself."""
    words = result.after.columns.ids if isinstance(result, Agreement) else None
    if data.columns is not None or words is None or len(words) != data.values.shape[1]:
        return data
    return replace(data, columns=[str(word) for word in words])


def _columns(data: Table | None, axes: Any) -> Plane:
    if data is None or data.kind == "distances":
        raise InputError("the plane's axes are columns of the data, and there is none: give a table of data")
    names = feature_names(data)
    chosen = [axes] if isinstance(axes, (str, int)) else list(axes)
    if len(chosen) != 2:
        raise InputError(f"a plane has two axes; got {count(len(chosen), 'column')}")
    places = [one if isinstance(one, int) else _place(str(one), names) for one in chosen]
    if not all(0 <= place < len(names) for place in places):
        raise InputError(f"the plane's axes are columns 0 to {len(names) - 1}; got {chosen[0]} and {chosen[1]}")
    columns = data.values[:, places]
    xy = columns.toarray() if sparse.issparse(columns) else columns
    return Plane(_unit(xy), "columns", f"{names[places[0]]} and {names[places[1]]}")


def _place(name: str, names: list[str]) -> int:
    if name in names:
        return names.index(name)
    if name.isascii() and name.isdigit():
        return int(name)
    shown = names if len(names) <= 20 else [*names[:20], f"… ({len(names)} columns in all)"]
    return names.index(check_choice(name, shown, "column for the plane"))


def _axes(table: Table) -> Plane:
    """Principal components of the columns as :func:`comparable` has them; of sparse ones that are no counts, singular vectors."""
    from sklearn.decomposition import PCA, TruncatedSVD

    data, is_counts = comparable(table), table.kind == "counts" or table.is_counts
    if min(data.shape) < 2:
        first = data.toarray()[:, 0] if sparse.issparse(data) else data[:, 0]
        return Plane(_unit(np.column_stack([first, np.zeros(len(first))])), "columns", "the only column")
    if sparse.issparse(data) and not (is_counts and min(data.shape) > 2):
        made = TruncatedSVD(2, random_state=0)
        kind, words = "svd", "two main axes of the sparse columns (truncated SVD)"
    else:  # ARPACK centers sparse columns without filling them
        made = PCA(2, svd_solver="arpack" if sparse.issparse(data) else "auto", random_state=0)
        kind, words = "pca", "two principal components" + (" of the square roots of the counts" if is_counts else "")
    with np.errstate(invalid="ignore", divide="ignore"):  # shares of no variance, where all columns are constant
        xy = made.fit_transform(data)
        share = float(np.sum(made.explained_variance_ratio_))
    note = f"{words}, {100 * share:.0f} % of the variance" if np.isfinite(share) else f"{words} of constant columns"
    return Plane(_unit(xy), kind, note)


def comparable(table: Table) -> Any:
    """The columns as pictures compare them: brought to one scale; of counts, square roots with rows of length 1 (Hellinger's distance)."""
    if table.kind == "counts" or table.is_counts:
        return scale(table.values, "roots")
    return table.scaling().apply(table.values)


def _labels(ensemble: Ensemble) -> Plane:
    """Principal components of the labels as columns of 0 and 1: objects lie near if clusterings put them together."""
    n, m = ensemble.labels.shape
    some = min(m, COLUMNS, max(10, CELLS // n))
    chosen = np.sort(stream(0, "explorer.plane").permutation(m)[:some])
    rows = ensemble[:, chosen].signatures()
    axes, share = _main_axes(rows.labels, rows.counts.astype(float))
    of = "all clusterings" if some == m else f"{some} of the clusterings"
    note = f"two main axes of the labels of {of}, {100 * share:.0f} % of their variation"
    return Plane(_unit(axes[rows.inverse]), "labels", note)


def _main_axes(labels: NDArray[np.int32], weights: Floats) -> tuple[Floats, float]:
    """Scores of the distinct rows, and the share of the variance that two axes hold."""
    from scipy.sparse.linalg import LinearOperator, svds

    tops = labels.max(axis=0) + 1
    offsets = np.concatenate([[0], np.cumsum(tops)])
    known = labels >= 0
    numbers = (labels + offsets[:-1])[known]
    row = np.repeat(np.arange(len(labels)), known.sum(axis=1))
    mass = np.sqrt(weights / weights.sum())
    table = sparse.csr_matrix((mass[row], (row, numbers)), (len(labels), offsets[-1]))
    center = np.asarray(mass @ table).ravel()
    variance = float(table.multiply(table).sum() - center @ center)
    if min(table.shape) < 4 or variance <= 1e-9:
        left, values, _ = np.linalg.svd(table.toarray() - np.outer(mass, center), full_matrices=False)
        left, values = np.pad(left, ((0, 0), (0, 2)))[:, :2], np.pad(values, (0, 2))[:2]  # there may be one axis only
    else:
        operator = LinearOperator(
            table.shape,
            matvec=lambda x: table @ np.ravel(x) - mass * (center @ np.ravel(x)),
            rmatvec=lambda y: table.T @ np.ravel(y) - center * (mass @ np.ravel(y)),
            dtype=float,
        )
        start = stream(0, "explorer.components").standard_normal(min(table.shape))
        left, values, _ = svds(operator, 2, v0=start)
        left, values = left[:, ::-1], values[::-1]
    scores = left / mass[:, None] * values
    signs = np.where(scores[np.abs(scores).argmax(axis=0), [0, 1]] < 0, -1, 1)
    return scores * signs, float(np.square(values).sum() / variance) if variance > 1e-9 else 1.0


def _unit(xy: Any) -> NDArray[np.float32]:
    """Both axes from 0 to 1; an axis without extent in the middle. Objects far outside the others stand at the edge."""
    xy = np.asarray(xy, float)
    inner, outer = np.quantile(xy, [0.02, 0.98], axis=0)
    low = np.maximum(xy.min(axis=0), inner - (outer - inner))
    extent = np.minimum(xy.max(axis=0), outer + (outer - inner)) - low
    inside = np.clip((xy - low) / np.where(extent > 0, extent, 1), 0, 1)
    return np.where(extent > 0, inside, 0.5).astype(np.float32)


def aligned(labels: Array, reference: Array) -> Ints:
    """The labels renumbered so that every cluster has the number of the reference cluster it overlaps most; others the next."""
    slots = figures.slots_of(labels, reference)
    return np.append(slots, -1)[labels]  # the last place is that of -1


@figures.picture("tiles", dict, main=False)
def tiles_of(
    clusterings: Mapping[str, Any], *, data: Any = None, names: Mapping[str, Any] | None = None
) -> figures.Figure:
    """Objects on the data's plane, or without data on that of the labels, once for each of some clusterings (codes by name)."""
    codes = {name: np.asarray(labels) for name, labels in clusterings.items()}
    plane = plane_of(Ensemble(np.column_stack(list(codes.values()))), data)
    return tiles_figure(plane.xy, codes, note=plane.note, names=names)


def tiles_figure(
    xy: Array,
    tiles: Mapping[str, Array],
    *,
    note: str = "",
    names: Mapping[str, Any] | None = None,
    under: Mapping[str, str] | None = None,
    reference: Array | None = None,
) -> figures.Figure:
    """At most 3,000 objects at given places, colored by each clustering; colors follow `reference`, by default the first of them."""
    objects = np.sort(stream(0, "reports.objects").permutation(len(xy))[: figures.POINTS])
    across = len(tiles) if len(tiles) <= 4 else min((4, 3), key=lambda n: -len(tiles) % n)  # few empty places
    down, wide = -(-len(tiles) // across), 2.6 if len(tiles) > 1 else 4.4  # inches
    lines = max([text.count("\n") + 1 for text in (under or {}).values()], default=0)
    figure = figures.new_figure(wide * across + 0.2, (wide + 0.15 + 0.16 * lines) * down + 0.2)
    axes = figure.subplots(down, across, squeeze=False).ravel()
    reference = next(iter(tiles.values())) if reference is None else reference
    size = float(np.clip(2500 / len(objects), 3, 14))
    for axis, (name, labels) in zip(axes, tiles.items(), strict=False):
        figures.scatter_codes(axis, xy[objects], aligned(labels, reference)[objects], size=size)
        axis.set_xlabel((under or {}).get(name, ""), fontsize=8, loc="left")
        axis.set_title(figures.short_name(name), loc="left", fontsize=10)
    for axis in axes:
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set_color("#aab2bc")
    for axis in axes[len(tiles) :]:
        axis.set_axis_off()
    figure.supxlabel(fill(note, int(14 * wide * across)), fontsize=9)
    figure.draw_without_rendering()  # once, for the places of everything, which stay as they are
    figure.set_layout_engine("none")
    for axis, (name, labels) in zip(axes, tiles.items(), strict=False):
        if names and name in names:
            _write_names(axis, xy, aligned(labels, reference), labels, names[name])
        elif 0 <= labels.max(initial=-1) < 20:
            _write_beside(axis, xy, labels, [str(cluster) for cluster in range(int(labels.max()) + 1)], bold=True)
    return figure


@figures.any_script()
def _write_names(axis: Any, xy: Array, codes: Array, labels: Array, names: Any) -> None:
    """The names of known labels: a few in a legend, more of them in the middle of their objects, none over another."""
    there = np.unique(labels[labels >= 0]).tolist()
    if len(there) > 6:
        return _write_beside(axis, xy, labels, names)
    named = {int(codes[np.argmax(labels == label)]): names[label] for label in there}
    return figures.legend_of(axis, named, "", loc="best", fontsize=7, frameon=True, framealpha=0.7, borderpad=0.2)


def _write_beside(axis: Any, xy: Array, labels: Array, names: Any, *, bold: bool = False) -> None:
    """Names in the middle of their objects, none over another."""
    from matplotlib.patheffects import withStroke

    sizes, taken = np.bincount(labels[labels >= 0], minlength=len(names)), list[Any]()
    for label in np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]:
        x, y = np.median(xy[labels == label], axis=0)
        for shift in (0, 8, -8, 16, -16):
            how: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "center"}
            how |= {"fontweight": "bold", "fontsize": 8} if bold else {"fontsize": 7}
            how |= {"xytext": (0, shift), "color": figures.NEARLY_BLACK}
            text = axis.annotate(figures.short_name(names[label]), (x, y), **how)
            if any(text.get_window_extent().overlaps(box) for box in taken):
                text.remove()
                continue
            taken.append(text.get_window_extent())
            text.set_path_effects([withStroke(linewidth=2.2, foreground=figures.NEARLY_WHITE)])
            break
