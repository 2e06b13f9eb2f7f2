"""How far to trust each clustering of an ensemble: drawn, and in a report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience._check import InputError, count
from consilience.consensus import Consensus
from consilience.consensus.result import describe_drops
from consilience.reports.figures import new_figure, open_frame, save_figure, short_name
from consilience.reports.html import Block, Picture, Sheet, Text
from consilience.reports.palette import ACCENT, PALETTE, QUIET
from consilience.reports.terminal import DEFINITIONS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMED = 40  # clusterings whose names a picture has room for


def draw_members(result: Consensus, path: str | Path) -> None:
    """Draw the reliability and the weight of every clustering, the least reliable first; those to drop are marked.

    Parameters
    ----------
    result : Consensus
        With a table of its clusterings: from :func:`consilience.combine`.
    path : file ending in .png, .svg or .pdf

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from consilience.datasets import load_beads_labels
    >>> import consilience as cs
    >>> from consilience.reports import draw_members
    >>> with TemporaryDirectory() as folder:
    ...     draw_members(cs.combine(load_beads_labels(), 3), f"{folder}/members.svg")
    """
    save_figure(path, members_figure, result)


def members_figure(one: Consensus) -> Figure:
    """The picture of :func:`draw_members`.

    Examples
    --------
    >>> import consilience as cs
    >>> one = cs.combine([[0, 0, 1, 1, 2, 2]] * 4 + [[0, 1, 0, 1, 0, 1]], 3)
    >>> [text.get_text() for text in members_figure(one).axes[0].get_yticklabels()]
    ['4', '0', '1', '2', '3']
    """
    if not isinstance(one, Consensus) or one.members is None:
        raise InputError("there is no table of the clusterings: combine(ens) makes one")
    table = one.members.sort_values("reliability", kind="stable")
    n, drop = len(table), table["better_without"].to_numpy(bool) & (not one.families)
    named, at = n <= NAMED, np.arange(n)
    figure = new_figure(9, float(np.clip(1.3 + 0.2 * n, 2.6, 9)) if named else 4.5)
    left, right = figure.subplots(1, 2, sharey=True)
    for axis, name in ((left, "reliability"), (right, "weight")):
        values = table[name].to_numpy(float)
        axis.hlines(at, 0, np.nan_to_num(values), color=QUIET, linewidth=1 if named else 0.5)
        for mask, color, word in ((~drop, PALETTE[0], "kept"), (drop, ACCENT, "better left out")):
            if mask.any():
                look: dict[str, Any] = {"color": color, "s": 24 if named else 9, "zorder": 3, "label": word}
                axis.scatter(values[mask], at[mask], marker="X" if word != "kept" else "o", **look)
        axis.axvline(0, color=QUIET, linewidth=0.8)
        open_frame(axis)
    left.set(xlabel="reliability (0 is chance, 1 is the most)", xlim=(None, 1.03), ylim=(n - 0.4, -0.6))
    right.set(xlabel="weight")
    left.set_title("How well does it agree with the others?", loc="left", fontsize=10)
    right.set_title("How much does it say?", loc="left", fontsize=10)
    if named:
        left.set_yticks(at, [short_name(name) for name in table["clustering"]], fontsize=8)
    else:
        left.set(yticks=[], ylabel=f"{count(n, 'clustering')}, the least reliable on top")
    if drop.any():
        figure.legend(*left.get_legend_handles_labels(), frameon=False, fontsize=8, loc="outside lower left", ncols=2)
    return figure


def describe_members(one: Consensus) -> Iterator[Block]:
    """How far to trust each clustering, the least reliable first."""
    if one.members is None:
        return
    table = one.members.set_index("clustering").sort_values("reliability", kind="stable")
    if len(table) > 1:
        drops = describe_drops(one)
        words = (
            f"All are in this answer; better left out of another: {drops}."
            if drops
            else "A low one says here that a clustering is of a smaller family, not that it should go."
            if one.families
            else "No clustering is so far from the others that it should go."
        )
        yield Text(f"Reliability: {DEFINITIONS['reliability']}. Weight: {DEFINITIONS['weight']}.")
        yield Text(words)
        yield Picture(
            "members",
            members_figure(one),
            f"Reliability and weight of {count(len(table), 'clustering')}, the least reliable on top. {words}",
            "How far to trust each clustering, the least reliable on top."
            + (" A cross marks one that is better left out." if drops else ""),
        )
    yield Sheet("members", table, "How far to trust each clustering, the least reliable first", most=12)
