"""The picture of how the engine works: views of the objects, tables of clusters × columns, the objective, and a move."""

from __future__ import annotations

import numpy as np

INK, QUIET, LINE = "#111827", "#374151", "#9ca3af"
COLORS = ("#0072b2", "#e69f00", "#009e73")
CLUSTERS = (0, 0, 1, 0, 2, 1, 2, 1)
LABELS = ((0, 0, 1, 0, 2, 1, 2, 2), (1, 1, 0, 1, -1, 0, 2, 0))
COUNTS = (
    (3, 2, 0, 0),
    (4, 1, 0, 1),
    (0, 0, 3, 2),
    (2, 3, 1, 0),
    (0, 1, 0, 4),
    (1, 0, 4, 2),
    (0, 0, 1, 3),
    (0, 1, 2, 3),
)
CELL, TALL = 18, 23.4


def engine_picture() -> str:
    """The picture as SVG."""
    views = [np.array([[int(label == j) for j in range(3)] for label in labels]) for labels in LABELS]
    views.append(np.array(COUNTS))
    tables = [np.array([view[np.array(CLUSTERS) == c].sum(axis=0) for c in range(3)]) for view in views]
    parts = [rect(0, 0, 860, 330, "#ffffff", rx=8)]
    parts += [
        text(x, 30, words, 14, bold=True)
        for x, words in ((130, "views of n objects"), (440, "a partition adds up rows"), (725, "the objective"))
    ]
    parts.append(text(16, 60, "C", 12, bold=True))
    parts += [rect(8, 72 + CELL * i, 14, 14, COLORS[c], rx=3) for i, c in enumerate(CLUSTERS)]
    for x, name, view in zip((38, 110, 184), ("labels 1", "labels 2", "counts"), views, strict=True):
        parts += draw_view(x, name, view)
    parts.append(text(130, 236, "a missing label is a row of zeros", 11, "#4b5563"))
    parts.append(arrow(272, 325))
    for number, (x, table) in enumerate(zip((340, 412, 484), tables, strict=True), 1):
        parts += draw_table(x, f"T{number}", table)
    parts += [rect(324, round(104 + TALL * c, 1), 10, TALL - 8, COLORS[c], rx=3) for c in range(3)]
    parts.append(text(440, 200, "clusters × columns; n is gone", 11, "#4b5563"))
    parts.append(arrow(570, 618))
    parts.append(rect(630, 74, 200, 120, "#f3f4f6", "#d1d5db", 8))
    parts.append(text(730, 104, "J(C) = Σ w · I(C; view)", 15, bold=True))
    lines = ("I from the tables alone,", "by sums of x log x:", "what C keeps of each view")
    parts += [text(730, y, words, 12, QUIET) for y, words in zip((132, 150, 176), lines, strict=True)]
    parts.append(f'<path d="M730 200 V262 H160 V246" fill="none" stroke="{COLORS[0]}" stroke-width="1.8"/>')
    parts.append(f'<path d="M160 242 l-6 9 h12 z" fill="{COLORS[0]}"/>')
    move = "move one object to the cluster where J grows most; only its cells change"
    parts.append(text(445, 254, move, 12, COLORS[0], bold=True))
    uses = (
        "Labels as views: consensus. Counts as views: information bottleneck. "
        "Counts added up by the other side’s clusters: co-clustering, CAP."
    )
    parts.append(text(445, 290, uses, 11.5, QUIET))
    parts.append(text(445, 310, "Counts within known groups: a clustering that is new to them.", 11.5, QUIET))
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 330" width="860" height="330" '
        'font-family="system-ui, sans-serif" role="img" aria-label="The engine: views, tables, objective, moves">'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def draw_view(x: int, name: str, view: np.ndarray) -> list[str]:
    """A view of the objects: labels are a dark cell in each row, counts are numbers."""
    with_numbers = view.max() > 1
    parts = [text(x + CELL * view.shape[1] // 2, 60, name, 11, QUIET)]
    for (i, j), value in np.ndenumerate(view):
        left, top = x + CELL * j, 70 + CELL * i
        shades = f"rgb({255 - 40 * value},{255 - 34 * value},{255 - 28 * value})"
        parts.append(rect(left, top, CELL, CELL, shades if with_numbers else (QUIET if value else "#ffffff"), LINE))
        if with_numbers:
            parts.append(text(left + 9, top + 13, str(value), 10, "#ffffff" if value >= 3 else INK))
    return parts


def draw_table(x: int, name: str, table: np.ndarray) -> list[str]:
    """A table of clusters × columns."""
    parts = [text(x + CELL * table.shape[1] // 2, 90, name, 12, bold=True)]
    for (c, j), value in np.ndenumerate(table):
        top = round(100 + TALL * c, 1)
        parts.append(rect(x + CELL * j, top, CELL, TALL, "#ffffff", LINE))
        parts.append(text(x + CELL * j + 9, round(top + 16, 1), str(value), 11))
    return parts


def rect(x: float, y: float, width: float, height: float, fill: str, stroke: str = "none", rx: int = 0) -> str:
    """A box."""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height:g}" fill="{fill}" stroke="{stroke}" rx="{rx}"/>'


def text(x: float, y: float, words: str, size: float, fill: str = INK, *, bold: bool = False) -> str:
    """Words, centered."""
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="middle" fill="{fill}"{weight}>{words}</text>'


def arrow(start: int, end: int) -> str:
    """From left to right."""
    line = f'<line x1="{start}" y1="142" x2="{end - 7}" y2="142" stroke="{QUIET}" stroke-width="1.6"/>'
    return f'{line}<path d="M{end} 142 l-9 -5 v10 z" fill="{QUIET}"/>'
