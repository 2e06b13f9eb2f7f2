"""One record of what was found in a result, and the blocks that it is made of.

A result describes itself once, as a :class:`Finding`; the terminal (`terminal.py`), the page (`html.py`) and notebooks render it.
Blocks hold plain text and numbers; each renderer escapes them on its own way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from consilience.reports.words import format_number


@dataclass(frozen=True)
class Link:
    """Words that lead to another place of the page ("figure-tiles", "table-groups", a row); plain words where there is no such place."""

    to: str
    words: str


@dataclass(frozen=True)
class See:
    """Figures and tables by their names, cited by their numbers: " (Figure 2, Table 1)". What is not there is left out."""

    figures: Sequence[str] = ()
    tables: Sequence[str] = ()


Words = str | Sequence[str | Link | See]


@dataclass(frozen=True)
class Text:
    """A paragraph; a note is set off.

    Examples
    --------
    >>> from consilience.reports import Text
    >>> Text("Three clusters.", note=True).note
    True
    """

    text: Words
    note: bool = False


@dataclass(frozen=True)
class Items:
    items: Sequence[Words]


@dataclass(frozen=True)
class Heading:
    text: str
    anchor: str


@dataclass(frozen=True)
class Facts:
    """Terms, each with what there is to say.

    Examples
    --------
    >>> from consilience.reports import Facts
    >>> Facts([("source", "labels.csv")]).rows
    [('source', 'labels.csv')]
    """

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code:
    """Lines to type.

    Examples
    --------
    >>> from consilience.reports import Code
    >>> Code("cs.combine(ens, 3)").text
    'cs.combine(ens, 3)'
    """

    text: str


@dataclass(frozen=True, eq=False)
class Strip:
    """Shares of the same bins inside a cluster and, as a line, of all other objects (None for none)."""

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


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table with a fixed name. A file has all of it; the page shows its first `most` rows, some columns if they are named.

    A table without rows to show (`most` is 0) is only for the file.

    Attributes
    ----------
    on_page : bool
        Whether it is for the page alone, since another table has the same in the file.
    colors : sequence of str, optional
        A color for each row, shown before its name.
    anchors, links : sequence of str, optional
        For each row the name to link to it by, and what its own name leads to.
    strips : mapping of str to sequence of Strip or None
        More columns on the page, of small pictures.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience.reports import Sheet
    >>> Sheet("sizes", pd.DataFrame({"size": [3, 2]}), "Sizes").name
    'sizes'
    """

    name: str
    frame: pd.DataFrame
    caption: str
    most: int = 30  # safeguard: rows that a page shows; files have all
    columns: Sequence[str] | None = None
    on_page: bool = False
    colors: Sequence[str] | None = None
    anchors: Sequence[str] | None = None
    links: Sequence[str] | None = None
    strips: Mapping[str, Sequence[Strip | None]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure with a fixed name, what it shows in words for those who cannot see it, and a caption.

    Examples
    --------
    >>> from consilience.reports import Picture
    >>> from matplotlib.figure import Figure
    >>> Picture("sizes", Figure((4, 2)), alt="Bars.", caption="Sizes of clusters.").caption
    'Sizes of clusters.'
    """

    name: str
    figure: Any
    alt: str
    caption: Words


Block = Text | Items | Heading | Facts | Code | Sheet | Picture


@dataclass(frozen=True, eq=False)
class Section:
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True, eq=False)
class Finding:
    """What there is to say of a result, said once: the terminal, the page of a report and notebooks render it.

    Attributes
    ----------
    title : str
        The answer in a few words, such as "3 clusters of 300 objects".
    facts : sequence of (term, text)
    tables : sequence of Sheet
    sentences : sequence of str
    doubts : sequence of str
        What to know before one trusts the answer; it is said first.
    reasons : Finding, optional
        How the answer came about: always on a page, on the terminal with ``--verbose``.

    Examples
    --------
    >>> from consilience.reports import Finding
    >>> found = Finding("3 clusters of 300 objects", [("method", "walk")], doubts=["the confidence is low"])
    >>> found.doubts
    ['the confidence is low']
    """

    title: str
    facts: Sequence[tuple[str, str]] = ()
    tables: Sequence[Sheet] = ()
    sentences: Sequence[str] = ()
    doubts: Sequence[str] = ()
    reasons: "Finding | None" = None
