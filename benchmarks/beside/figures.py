"""Pictures of the page of results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.beside.peers import PEERS
from benchmarks.beside.render import ratios
from benchmarks.beside.tasks import TASKS


def draw_ratios(results: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """A row per task, a dot per peer: how many times our CPU-seconds it takes."""
    from matplotlib.figure import Figure

    rows = [(name, ratios(found)) for name, found in results.items() if "sides" in found and ratios(found)]
    sides = [side for side in PEERS if any(row["side"] == side for _, some in rows for row, _ in some)]
    figure = Figure(figsize=(9, 0.8 + 0.28 * len(rows)), layout="constrained")
    axes = figure.subplots()
    shades = [
        "#4477aa",
        "#ee6677",
        "#228833",
        "#ccbb44",
        "#66ccee",
        "#aa3377",
        "#777777",
    ]  # Paul Tol's, told apart by all
    for i, side in enumerate(sides):
        dots = [(ratio, y) for y, (_, some) in enumerate(rows) for row, ratio in some if row["side"] == side]
        marker = "os^D"[i // len(shades)]
        axes.scatter(
            *zip(*dots, strict=True), label=PEERS[side].name, color=shades[i % len(shades)], marker=marker, zorder=3
        )
    axes.axvline(1, color="black", lw=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [TASKS[name].title.replace("`", "") for name, _ in rows])
    axes.invert_yaxis()
    axes.grid(axis="x", color="#dddddd")
    axes.set_xlabel("CPU-seconds of the peer over those of consilience (right of the line: consilience is faster)")
    figure.legend(loc="outside right upper", fontsize=8)
    figure.savefig(path, dpi=110)


def draw_growth(growth: Mapping[str, Any], path: Path) -> None:
    """CPU-seconds over n, m and k."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3), layout="constrained")
    for axes, what in zip(figure.subplots(1, 3, sharey=True), ("n", "m", "k"), strict=True):
        sizes = sorted({size for curves in growth["curves"].values() for size in curves[what]["sizes"]})
        for call, color in (("combine", "#4477aa"), ("pairwise", "#ee6677")):
            curve = growth["curves"][call][what]
            axes.loglog(curve["sizes"], curve["cpu_s"], "o-", color=color, label=f"{call}, {curve['exponent']:.2f}")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=60)
        axes.minorticks_off()
        axes.set_xlabel({"n": "objects", "m": "clusterings", "k": "clusters"}[what])
        axes.legend(title="exponent", fontsize=8)
        axes.grid(color="#dddddd")
    figure.axes[0].set_ylabel("CPU-seconds")
    figure.savefig(path, dpi=110)
