"""Curves with error bars in colors that everybody can tell apart (Okabe and Ito's), each with a mark of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from consilience.reports.files import write_file

COLORS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")

MARKS = "so^vD*PX"
SHADES = 64  # colors that a picture is saved with: clouds of points take a third of the room


def shrink(path: Path) -> None:
    """Save a PNG again with a small palette."""
    from PIL import Image  # comes with matplotlib

    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(SHADES, dither=Image.Dither.NONE)
    write_file(path, lambda file: small.save(file, format="png", optimize=True))


def curve(axis: Any, x: Any, mean: Any, sem: Any, number: int, label: str) -> None:
    """A line through means, with standard errors; the number chooses color and mark, 0 is dashed."""
    axis.errorbar(
        x,
        mean,
        yerr=np.nan_to_num(np.asarray(sem, float)),
        color=COLORS[number],
        marker=MARKS[number],
        markersize=5,
        linewidth=1.6,
        elinewidth=1,
        linestyle="--" if number == 0 else "-",
        label=label,
        zorder=3 if number else 4,
    )
    axis.spines[["top", "right"]].set_visible(False)


def legend_outside(figure: Any, axis: Any) -> None:
    """One legend right of all panels; what is drawn several times under one name is named once."""
    handles, labels = axis.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    figure.legend(once.values(), once.keys(), loc="outside right center", frameon=False, fontsize=9)
