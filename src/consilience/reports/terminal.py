"""Tables for people, on the terminal, and what their words mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from consilience._check import printable

LONGEST = 30  # letters of a name that is never folded
DEFINITIONS = {
    "confidence": "probability that an independent ensemble of the same kind puts the object in the same cluster",
    "support": "share of an object's clusterings whose label for it is, by plurality, a label of its cluster",
    "floater": "an object with a support of at most one half",
    "stability": "adjusted Rand index of the answers of two halves of the clusterings. The null is what chance gives, where there are no "
    "clusters: beyond null_high a number of clusters is real",
    "nesting": "how far the clusterings refine the answer, or are refined by it: 1 where none tears a cluster of the other. Beyond "
    "nesting_high, what chance gives, a number of clusters is real too, whatever its stability",
    "recurrence": "of a cluster: mean over clusterings of its largest Jaccard index with one of theirs",
    "nearest": "of a cluster: the one that most clusterings which disagree on its objects put them in",
    "confused": "of a cluster: the share of all clusterings' votes on its objects that go to the nearest cluster",
    "reliability": "of a clustering: how well it agrees with what the others say, however fine; 0 is chance, 1 if one refines the other",
    "weight": "how much a clustering says: the purer the other clusterings' labels are inside its clusters, the nearer to 1",
    "medoid": "the clustering with the least mean distance to the others of its group",
    "height": "of the tree, at which a group is complete: how far apart its clusterings are",
    "bend": "by how much the compactness of the groups jumps more at this number of groups than before it",
    "null": "what the best group reaches by chance: groups of the same sizes with shuffled members, combined in the same way",
    "stable component": "a set of objects that every clustering keeps together",
    "redundancy": "what the new clusters share with what was given, as mutual information I(C;Z)",
    "shared": "information about the objects that the new clusters and the given groups both tell",
    "compactness": "mean distance between objects of the same cluster: small is compact",
    "guide": "how well a clustering keeps to the pairs and labels that guided it: 0 by chance, 1 at most",
}


class Terminal(Console):
    """A console that never passes on control characters that stand in names and labels."""

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """The segments, with � for what is not printable."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


def terminal() -> Console:
    """Standard output, text as it is; where it is not a terminal, wide enough that no table is broken into lines.

    Examples
    --------
    >>> from consilience.reports import terminal
    >>> terminal().print("3 clusters")
    3 clusters
    """
    plain: dict[str, Any] = {"soft_wrap": True, "markup": False, "emoji": False, "highlight": False}
    console = Terminal(**plain)
    return console if console.is_terminal else Terminal(**plain, width=240)


def print_doubt(console: Console, doubt: str) -> None:
    """First of all, that an answer is weak, where it is."""
    if doubt:
        console.print(f"A weak answer: {doubt}.", markup=False)


def print_lines(console: Console, lines: Mapping[str, str]) -> None:
    """Terms and what there is to say, in two columns."""
    width = max(map(len, lines), default=0) + 2
    for name, text in lines.items():
        console.print(f"{name:<{width}}{text}", markup=False)


def print_definitions(console: Console, *terms: str) -> None:
    """Say once, under the output, what its words mean."""
    console.print()
    for term in terms:
        console.print(f"{term}: {DEFINITIONS[term]}", markup=False)


def print_table(console: Console, names: list[str], rows: list[list[str]], numbers: tuple[int, ...]) -> None:
    """A table without a frame; too wide, its header is folded at underscores, and then its columns come in groups."""
    if _width(console, _table(names, rows, numbers, range(len(names)))) > console.width:
        names = [name.replace("_", "_\n") for name in names]
    group = [0]
    for i in range(1, len(names)):
        if len(group) > 1 and _width(console, _table(names, rows, numbers, [*group, i])) > console.width:
            _print(console, _table(names, rows, numbers, group))
            console.print()
            group = [0]
        group.append(i)
    _print(console, _table(names, rows, numbers, group))


def _table(names: list[str], rows: list[list[str]], numbers: tuple[int, ...], shown: Sequence[int]) -> Table:
    """Some columns of a table."""
    table = Table(box=None, pad_edge=False)
    for i in shown:
        whole = i in numbers or (i == 0 and max((len(row[0]) for row in rows), default=0) <= LONGEST)
        name, justify = Text(printable(names[i]).replace(":", "\n", 1)), "right" if i in numbers else "left"
        table.add_column(name, justify=justify, no_wrap=whole, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(printable(row[i])) for i in shown))
    return table


def _width(console: Console, table: Table) -> int:
    """The least width at which no word is broken."""
    return console.measure(table, options=console.options.update(max_width=10_000)).minimum


def _print(console: Console, table: Table) -> None:
    """On a terminal as it is; elsewhere without spaces at the ends of lines."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as shown:
        console.print(table)
    text = "\n".join(line.rstrip() for line in shown.get().rstrip().split("\n"))
    console.print(text, markup=False, emoji=False, highlight=False)
