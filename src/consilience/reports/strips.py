"""Small pictures in the cells of a table: how something is spread in a cluster, and elsewhere."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from consilience._check import printable
from consilience.reports.formats import format_number

WIDE, HIGH = 112, 26  # in pixels


@dataclass(frozen=True, eq=False)
class Strip:
    """A histogram of a cluster, filled in its color, and one of all other objects, as a line.

    Attributes
    ----------
    inside, outside : sequence of float
        Shares of the same bins; `outside` may be None.
    color : str
    low, high : number, date or None
        Ends of the bins, of numbers and dates.
    levels : sequence of str or None
        What the bins are, of anything else.
    """

    inside: Sequence[float]
    outside: Sequence[float] | None
    color: str
    low: Any = None
    high: Any = None
    levels: Sequence[str] | None = None

    @property
    def words(self) -> str:
        """What it shows, for those who cannot see it."""
        sides = [("here", self.inside)] + ([] if self.outside is None else [("elsewhere", self.outside)])
        return "; ".join(f"{name} {self._most(shares)}" for name, shares in sides)

    def _most(self, shares: Sequence[float]) -> str:
        if not sum(shares):
            return "none"
        if self.levels is not None:
            order = np.argsort(-np.asarray(shares), kind="stable")[:2]
            return ", ".join(f"{self.levels[i]} {100 * shares[i]:.0f} %" for i in order if shares[i] > 0)
        if isinstance(self.low, str):
            return f"mostly in part {int(np.argmax(shares)) + 1} of {len(shares)} from {self.low} to {self.high}"
        below = np.concatenate([[0], np.cumsum(shares)]) / sum(shares)
        ends = np.interp([0.25, 0.75], below, np.linspace(self.low, self.high, len(shares) + 1))
        return f"the middle half from {format_number(float(ends[0]))} to {format_number(float(ends[1]))}"


def draw_strip(strip: Strip | None) -> str:
    """The markup of a strip.

    Examples
    --------
    >>> print(draw_strip(Strip([0.5, 0.5], None, "#000000", 0.0, 1.0))[:88])
    <svg class="strip" role="img" aria-label="here the middle half from 0.250 to 0.750" view
    """
    if strip is None:
        return ""
    sides = [strip.inside] if strip.outside is None else [strip.inside, strip.outside]
    top = max(max(side, default=0) for side in sides) or 1
    paths = [_path(side, top, separate=strip.levels is not None) for side in sides]
    drawn = f'<path fill="{html.escape(strip.color, quote=True)}" d="{paths[0]}"/>'
    drawn += "" if len(paths) == 1 else f'<path class="rest-line" d="{paths[1]}"/>'
    words = html.escape(printable(strip.words), quote=True)
    svg = f'<svg class="strip" role="img" aria-label="{words}" viewBox="-1 -1 {WIDE + 2} {HIGH + 2}">{drawn}</svg>'
    if strip.levels is not None or strip.low is None:
        return svg
    ends = (html.escape(_end(end)) for end in (strip.low, strip.high))
    return f'{svg}<span class="ends" aria-hidden="true"><span>{"</span><span>".join(ends)}</span></span>'


def _end(value: Any) -> str:
    if isinstance(value, str):
        return value[:7]  # of a date, year and month
    return f"{value:.3g}".replace("-", "−") if abs(value) < 1000 else f"{value:,.0f}".replace("-", "−")


def _path(shares: Sequence[float], top: float, *, separate: bool) -> str:
    """Steps, or bars apart from each other, from the ground."""
    edges = np.linspace(0, WIDE, len(shares) + 1).round().astype(int)
    heights = [HIGH - round(HIGH * share / top) for share in shares]
    if separate:
        gap = 2 if len(shares) > 1 else 0
        return "".join(
            f"M{a} {HIGH}V{y}H{b - gap}V{HIGH}" for a, b, y in zip(edges, edges[1:], heights, strict=False) if y < HIGH
        )
    return f"M0 {HIGH}" + "".join(f"V{y}H{b}" for b, y in zip(edges[1:], heights, strict=True)) + f"V{HIGH}"
