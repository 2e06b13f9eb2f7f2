"""A new grouping beside a known one, for people and for files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Console
from scipy import sparse

from consilience._check import check_labels, count
from consilience._random import stream
from consilience.alternatives import Alternatives, Contrast
from consilience.alternatives.contrast import USED
from consilience.reports.consensus import against, records, whole_or_empty
from consilience.reports.figures import NEARLY_BLACK, NEARLY_WHITE, look, new_figure, save_figure, short_name
from consilience.reports.terminal import print_table, terminal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 12  # groups listed, or drawn; beyond, the first and a note
POINTS = 4000  # objects on a map
REDUNDANCY = {"nmi": "NMI", "information": "I(C;Z)", "share": "I(C;Z)/H(Z)", "told_twice": "told twice"}
WORTH = {"inside_combined": "inside", "extended_combined": "extended", "extended_given": "with given"}


def contrast_table(result: Contrast, ids: Any = None) -> pd.DataFrame:
    """One row per object: cluster and confidence."""
    frame = pd.DataFrame(index=_objects(len(result.labels), ids))
    return frame.assign(cluster=whole_or_empty(result.labels), confidence=np.round(result.confidence, 6))


def alternatives_table(found: Alternatives, n_objects: int, ids: Any = None) -> pd.DataFrame:
    """One row per object, one column of clusters per grouping, in the order found."""
    frame = pd.DataFrame(index=_objects(n_objects, ids))
    for number, labels in enumerate(found.labels.T, 1):
        frame[f"cluster_{number}"] = whole_or_empty(labels)
    return frame


def _objects(n_objects: int, ids: Any) -> pd.Index:
    return pd.Index(range(n_objects) if ids is None else ids, name="object")


def contrast_summary(result: Contrast, truth: Mapping[str, Any]) -> dict[str, Any]:
    """Plain numbers and text, ready for JSON; `truth` has known labelings by name."""
    about, known = result.diagnostics, result.labels >= 0
    return {
        "sentence": result.sentence,
        "n_objects": len(result.labels),
        "n_without_labels": int(np.count_nonzero(~known)),
        "n_clusters": result.n_clusters,
        "sizes": result.sizes.tolist(),
        "redundancy": records(about.redundancy),
        "measure": about.measure,
        "quality": _plain(result.quality),
        "quality_of_given": _plain(about.quality_of_given),
        "stability": _plain(result.stability),
        "mean_confidence": _plain(result.confidence[known].mean()) if known.any() else None,
        "groups": records(_groups(result, truth)),
        "method": result.method,
        "note": result.note,
        "truth": {name: _against(labels, result.labels) for name, labels in truth.items()},
        "seconds": result.seconds,
    }


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _against(truth: Any, labels: Any) -> dict[str, float | None]:
    return {name: _plain(value) for name, value in against(truth, labels).items()}


def alternatives_summary(found: Alternatives, truth: Mapping[str, Any]) -> dict[str, Any]:
    """Plain numbers and text, ready for JSON; `truth` has known labelings by name."""
    rows = records(found.table)
    for row, labels in zip(rows, found.labels.T, strict=False):  # the last one may not have been kept
        row["truth"] = {name: _against(known, labels) for name, known in truth.items()}
    return {"n_alternatives": len(found), "alternatives": rows, "stopped": found.stopped}


def _groups(result: Contrast, truth: Mapping[str, Any]) -> pd.DataFrame:
    """Every group, and what its splits were worth (the paper's tables 3 and 4), beside the first known labeling too."""
    groups = result.groups[["name", "size", "outcome"]].rename(columns={"name": "group"})
    worth = result.walk_through(next(iter(truth.values()), None)).drop(columns=["group", "size"])
    return groups.join(worth.set_axis(groups.index[groups["outcome"].isin(USED)]))


def print_contrast(summary: dict[str, Any], *, title: str, console: Console | None = None) -> None:
    """Print what :func:`contrast_summary` holds."""
    console = console or terminal()
    objects = summary["n_objects"] - summary["n_without_labels"]
    console.print(f"{title}: {summary['n_clusters']} new clusters of {count(objects, 'object')}")
    console.print(summary["sentence"])
    sizes = summary["sizes"]
    more = f" … ({len(sizes) - SHOWN} more)" if len(sizes) > SHOWN else ""
    lines = {"sizes": ", ".join(f"{size:,}" for size in sizes[:SHOWN]) + more}
    if summary["n_without_labels"]:
        lines["no label"] = count(summary["n_without_labels"], "object")
    for name, values in summary["truth"].items():
        lines[f"with {name}"] = ", ".join(f"{measure} {_number(value)}" for measure, value in values.items())
    width = max(map(len, lines)) + 2
    for name, text in lines.items():
        console.print(f"{name:<{width}}{text}")
    if summary["note"]:
        console.print(f"note: {summary['note']}")
    console.print("\nHow new: what the clusters share with what was given")
    rows = [[row["given"], *(_number(row[key]) for key in REDUNDANCY)] for row in summary["redundancy"]]
    print_table(console, ["given", *REDUNDANCY.values()], rows, (1, 2, 3, 4))
    runs = "the runs" if summary["method"] == "ccib" else "their splits"
    console.print(f"\nGroups: how much of the answer {runs} tell, inside the group and of all objects")
    truth = next(iter(summary["truth"]), None)
    columns = WORTH if truth is None else WORTH | {f"{key}_truth": f"{key}:{truth}" for key in ("inside", "extended")}
    rows = [
        [row["group"], f"{row['size']:,}", row["outcome"] if row["runs"] is None else f"{row['runs']:.0f}"]
        + [_number(row[key]) for key in columns]
        for row in summary["groups"][:SHOWN]
    ]
    print_table(console, ["group", "size", "runs", *columns.values()], rows, tuple(range(1, 3 + len(columns))))
    if len(summary["groups"]) > SHOWN:
        console.print(f"… and {count(len(summary['groups']) - SHOWN, 'more group')}: --json lists them all")


def print_alternatives(summary: dict[str, Any], *, title: str, console: Console | None = None) -> None:
    """Print what :func:`alternatives_summary` holds."""
    console = console or terminal()
    n = summary["n_alternatives"]
    console.print(f"{title}: {count(n, 'grouping')}, each new to what is known and to all before it")
    known = list(summary["alternatives"][0].get("truth", {})) if n else []
    rows = [
        [
            str(number) if row["kept"] else "–",
            str(row["n_clusters"]),
            *(_number(row[key]) for key in ("quality", "redundancy", "reproducibility")),
            *(_number(row["truth"][name]["nmi"]) if row["kept"] else "–" for name in known),
        ]
        for number, row in enumerate(summary["alternatives"], 1)
    ]
    names = ["", "clusters", "quality", "redundancy", "reproducibility", *(f"NMI with {name}" for name in known)]
    if rows:
        print_table(console, names, rows, tuple(range(1, len(names))))
    console.print(f"Stopped: {summary['stopped']}.")


def _number(value: float | None) -> str:
    return "–" if value is None or np.isnan(value) else f"{value:.3f}"


def draw_contrast(result: Contrast, X: Any, given: Mapping[str, Any], path: str | Path) -> None:
    """Draw where the given groups went, and the data colored by what was given and by what was found.

    The map's axes are the directions in which the means of the given groups, and those of the new clusters, differ most, so
    that two groupings that have nothing to do with each other lie across.

    Parameters
    ----------
    result : Contrast
    X : (n_objects, n_columns) array or sparse matrix
    given : mapping of a name to the label vector
        What was given; the first is drawn.
    path : file ending in .png, .svg or .pdf
    """
    save_figure(path, contrast_figure, result, X, given)


def contrast_figure(result: Contrast, X: Any, given: Mapping[str, Any]) -> Figure:
    """The picture of :func:`draw_contrast`; without data (X is None) only where the given groups went."""
    name, labels = next(iter(given.items()))
    codes = check_labels(labels, name)
    names = [str(np.asarray(labels, object)[np.argmax(codes == code)]) for code in range(codes.max() + 1)]
    if X is None:
        figure = new_figure(5.4, 4.2)
        _draw_table(figure.subplots(), result, codes, names, name)
        return figure
    figure = new_figure(13, 4.4)
    axes = figure.subplots(1, 3, width_ratios=[1.15, 1, 1])
    _draw_table(axes[0], result, codes, names, name)
    places = np.column_stack([_spread(X, codes), _spread(X, result.labels)])
    shown = np.sort(stream(0, "reports.objects").permutation(len(codes))[:POINTS])
    for axis, groups, words, what in (
        (axes[1], codes, names, f"Given: {short_name(name)}"),
        (axes[2], result.labels, [str(c) for c in range(result.n_clusters)], "Found"),
    ):
        _draw_map(axis, places[shown], groups[shown], words, what)
        axis.set(xlabel=f"where {short_name(name)} differs most", ylabel="where the new clusters differ most")
    return figure


def given_labels(result: Contrast) -> dict[str, NDArray[Any]]:
    """What was given, by name; the names of the groups where the result still has them."""
    given: dict[str, NDArray[Any]] = {}
    for name, codes in zip(result.given.names, result.given.labels.T, strict=True):
        called = dict(zip(result.groups["group"], result.groups["name"].astype(str), strict=True))
        if result.given.n_clusterings > 1 or len(set(called.values())) < len(called):
            called = {}
        labels = [None if code < 0 else called.get(code, str(code)) for code in codes.tolist()]
        given[str(name)] = np.array(labels, object)
    return given


def _spread(X: Any, codes: NDArray[Any]) -> NDArray[Any]:
    """Objects along the direction in which the means of the groups differ most."""
    groups = np.flatnonzero(np.bincount(codes[codes >= 0]))
    means = np.vstack([np.asarray(X[codes == g].mean(axis=0)).ravel() for g in groups])
    sizes = np.bincount(codes[codes >= 0])[groups]
    apart = (means - np.average(means, axis=0, weights=sizes)) * np.sqrt(sizes)[:, None]
    direction = np.linalg.svd(apart, full_matrices=False)[2][0]
    along = np.asarray(X @ direction).ravel() if sparse.issparse(X) else np.asarray(X, float) @ direction
    return np.asarray(along - along.mean())


def _draw_table(axis: Any, result: Contrast, codes: NDArray[Any], names: list[str], name: str) -> None:
    """Shares of every given group in the new clusters, with the counts."""
    both = (codes >= 0) & (result.labels >= 0)
    counts = np.zeros((result.n_clusters, len(names)), int)
    np.add.at(counts, (result.labels[both], codes[both]), 1)
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    image = axis.imshow(shares, cmap="viridis", vmin=0, vmax=1, aspect="auto")
    axis.figure.colorbar(image, ax=axis, label=f"share of each {short_name(name)}")
    if counts.size <= SHOWN**2:
        for (row, column), value in np.ndenumerate(counts):
            light = NEARLY_BLACK if shares[row, column] > 0.6 else NEARLY_WHITE
            axis.text(column, row, f"{value:,}", ha="center", va="center", color=light, fontsize=9)
    axis.set_xticks(range(len(names)), [short_name(text) for text in names], rotation=30 if len(names) > 4 else 0)
    axis.set_yticks(range(result.n_clusters))
    axis.set(xlabel=f"given: {short_name(name)}", ylabel="new cluster")
    axis.set_title("Where did each known group go?", loc="left")


def _draw_map(axis: Any, places: NDArray[Any], groups: NDArray[Any], names: list[str], title: str) -> None:
    how: dict[str, Any] = {"alpha": 0.7, "linewidth": 0, "rasterized": True}
    axis.scatter(*places[groups < 0].T, s=8, color="0.75", **how)
    for code, text in enumerate(names):
        color, mark = look(code)
        axis.scatter(*places[groups == code].T, s=12, color=color, marker=mark, label=short_name(text), **how)
    if len(names) <= SHOWN:
        axis.legend(frameon=False, fontsize=8, markerscale=1.6, loc="best")
    axis.set_title(title, loc="left")
    axis.spines[["top", "right"]].set_visible(False)
