"""The objects on their plane, once for each of several clusterings, colored by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience._check import count
from consilience._run.random import stream
from consilience._types import Array, Ints
from consilience.ensemble import Ensemble
from consilience.reports.figures import any_script, legend_of, new_figure, save_figure, scatter_codes, short_name
from consilience.reports.html import Block, Link, Picture, See
from consilience.reports.palette import NEARLY_BLACK, NEARLY_WHITE, slots_of
from consilience.reports.plane import plane_of
from consilience.reports.sections import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 3000  # objects on a picture
ACROSS = (4, 3)  # tiles in a row, the number that leaves fewer places empty
TILE, ALONE = 2.6, 4.4  # inches of a tile, and of one that stands alone
TILES = 9  # clusterings that the plane is colored by
NUMBERED = 20  # clusters of a tile that have their number on it
FEW = 6  # known labels that a legend in a tile has room for


def aligned(labels: Array, reference: Array) -> Ints:
    """The labels renumbered so that every cluster has the number of the reference cluster it overlaps most; others the next."""
    slots = slots_of(labels, reference)
    return np.append(slots, -1)[labels]  # the last place is that of -1


def draw_tiles(
    clusterings: Mapping[str, Any], data: Any, path: str | Path, *, names: Mapping[str, Any] | None = None
) -> None:
    """Draw the objects on the data's plane, once for each clustering, colored by it.

    Parameters
    ----------
    clusterings : mapping of a name to (n_objects,) label codes
        Colors follow the first by overlap, so that equal colors mean nearly the same objects.
    data : Table or None
        Of the same objects; without it they stand on the plane of the labels.
    path : file ending in .png, .svg or .pdf
    names : mapping, optional
        For some of the clusterings, the names of their labels in the order of the codes.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from consilience.datasets import load_beads, load_beads_labels
    >>> from consilience.reports import draw_tiles
    >>> labels = load_beads_labels()
    >>> some = {name: labels.labels[:, labels.names.index(name)] for name in ("form1", "color1")}
    >>> with TemporaryDirectory() as folder:
    ...     draw_tiles(some, load_beads(), f"{folder}/tiles.svg")
    """
    codes = {name: np.asarray(labels) for name, labels in clusterings.items()}
    plane = plane_of(Ensemble(np.column_stack(list(codes.values()))), data)
    save_figure(path, tiles_figure, plane.xy, codes, note=plane.note, names=names)


def tiles_figure(
    xy: Array,
    tiles: Mapping[str, Array],
    *,
    note: str = "",
    names: Mapping[str, Any] | None = None,
    under: Mapping[str, str] | None = None,
    reference: Array | None = None,
) -> Figure:
    """The picture of :func:`draw_tiles`: at most 3,000 of the objects at given places, with words under some of the tiles.

    Colors follow `reference`, by default the first clustering.
    """
    objects = np.sort(stream(0, "reports.objects").permutation(len(xy))[:POINTS])
    across = len(tiles) if len(tiles) <= max(ACROSS) else min(ACROSS, key=lambda n: -len(tiles) % n)
    down, wide = -(-len(tiles) // across), TILE if len(tiles) > 1 else ALONE
    lines = max([text.count("\n") + 1 for text in (under or {}).values()], default=0)
    figure = new_figure(wide * across + 0.2, (wide + 0.15 + 0.16 * lines) * down + 0.2)
    axes = figure.subplots(down, across, squeeze=False).ravel()
    reference = next(iter(tiles.values())) if reference is None else reference
    size = float(np.clip(2500 / len(objects), 3, 14))
    for axis, (name, labels) in zip(axes, tiles.items(), strict=False):
        codes = aligned(labels, reference)
        scatter_codes(axis, xy[objects], codes[objects], size=size)
        if under and name in under:
            axis.set_xlabel(under[name], fontsize=8, loc="left")
        axis.set_title(short_name(name), loc="left", fontsize=10)
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
        elif 0 <= labels.max(initial=-1) < NUMBERED:
            _write_beside(axis, xy, labels, [str(cluster) for cluster in range(int(labels.max()) + 1)], bold=True)
    return figure


@any_script()
def _write_names(axis: Any, xy: Array, codes: Array, labels: Array, names: Any) -> None:
    """The names of known labels: a few in a legend, more of them in the middle of their objects, none over another."""
    there = [label for label in range(len(names)) if (labels == label).any()]
    if len(there) <= FEW:
        named = {int(codes[np.argmax(labels == label)]): names[label] for label in there}
        legend_of(axis, named, "", loc="best", fontsize=7, frameon=True, framealpha=0.7, borderpad=0.2)
        return
    _write_beside(axis, xy, labels, names)


def _write_beside(axis: Any, xy: Array, labels: Array, names: Any, *, bold: bool = False) -> None:
    """Names in the middle of their objects, none over another."""
    from matplotlib.patheffects import withStroke

    there = [label for label in range(len(names)) if (labels == label).any()]
    taken: list[Any] = []
    for label in sorted(there, key=lambda label: -np.count_nonzero(labels == label)):
        x, y = np.median(xy[labels == label], axis=0)
        for shift in (0, 8, -8, 16, -16):
            how: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "center", "fontsize": 7}
            how |= {"fontweight": "bold", "fontsize": 8} if bold else {}
            text = axis.annotate(short_name(names[label]), (x, y), xytext=(0, shift), color=NEARLY_BLACK, **how)
            if any(text.get_window_extent().overlaps(box) for box in taken):
                text.remove()
                continue
            taken.append(text.get_window_extent())
            text.set_path_effects([withStroke(linewidth=2.2, foreground=NEARLY_WHITE)])
            break


def describe_plane(
    report: Report,
    tiles: Mapping[str, Array],
    *,
    under: Mapping[str, str] | None = None,
    more: Sequence[str | Link | See] = (),
    reference: Array | None = None,
) -> Iterator[Block]:
    """The data's plane, colored by each of several clusterings and by what is known; `more` is said below."""
    if report.data is None or not tiles:
        return
    plane = plane_of(report.objects, report.data)
    known = {f"known: {name}": codes for name, codes in list(report.known.items())[:3]}
    shown = dict(list(tiles.items())[:TILES]) | known
    names = {f"known: {name}": report.names_of(name) for name in report.known}
    left = f" {count(len(tiles) - TILES, 'more clustering')} are not drawn." if len(tiles) > TILES else ""
    n = report.data.n_objects
    follow = "Colors are those of the tables."
    if len(shown) > 1:
        follow = "Colors follow the first picture by overlap: equal colors mean nearly the same objects, and are those of the tables."
    some = f"{POINTS:,} of {n:,} objects" if n > POINTS else "All objects"
    yield Picture(
        "tiles",
        tiles_figure(plane.xy, shown, note=plane.note, names=names, under=under, reference=reference),
        f"The same points colored by {', '.join(shown)}. {some} on {plane.note}.{left}",
        [
            f"{some} on {plane.note}.{left} Numbers are those of the clusters. {follow}",
            *more,
        ],
    )
