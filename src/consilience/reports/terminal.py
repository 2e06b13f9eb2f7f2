"""Findings on the terminal and in notebooks."""

import base64
import html
import io
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

from rich.console import Console
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from consilience._check import InputError, count, printable
from consilience.reports.figures import PICTURES, draw_to
from consilience.reports.finding import Finding, Sheet
from consilience.reports.words import decimals_of, format_cell

LONGEST = 30  # safeguard: letters of a name that is never folded
ROWS = 20  # safeguard: rows of a table on the terminal; files have all
DOTS = 144  # safeguard: per inch of a notebook's picture, twice as many as are shown, for fine screens
AS_IT_IS: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}


class Terminal(Console):
    """A console that never passes on control characters that stand in names and labels."""

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """The segments, with � for what is not printable."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


def terminal() -> Console:
    """Standard output, text as it is; where it is not a terminal, wide enough that no table is broken into lines."""
    console = Terminal(soft_wrap=True, **AS_IT_IS)
    return console if console.is_terminal else Terminal(soft_wrap=True, width=240, **AS_IT_IS)


def print_finding(
    finding: Finding, *, title: str = "", verbose: bool = False, console: Console | None = None, most: int = ROWS
) -> None:
    """Print a finding, the answer first; its reasons where they are asked for."""
    console = console or terminal()
    width = max((len(term) for term, _ in finding.facts), default=0) + 2
    lines = [f"{title}: {finding.title}" if title else f"\n{finding.title}", *finding.doubts, *finding.sentences]
    for line in [*lines, *(f"{term:<{width}}{text}" for term, text in finding.facts)]:
        console.print(line, **AS_IT_IS)
    for sheet in finding.tables:
        if sheet.most:
            console.print(f"\n{sheet.caption}", **AS_IT_IS)
            print_sheet(console, sheet, most)
    if verbose and finding.reasons is not None:
        print_finding(finding.reasons, verbose=True, console=console, most=most)


def print_sheet(console: Console, sheet: Sheet, most: int = ROWS) -> None:
    whole = sheet.frame if sheet.columns is None else sheet.frame[list(sheet.columns)]
    named = whole.reset_index() if whole.index.name is not None else whole
    frame = named.head(min(most, sheet.most))
    decimals = [decimals_of(frame.iloc[:, place]) for place in range(frame.shape[1])]
    told = (zip(row, decimals, strict=True) for row in frame.itertuples(index=False, name=None))
    rows = [[format_cell(value, places) for value, places in row] for row in told]
    numbers = tuple(place for place, kind in enumerate(frame.dtypes) if kind.kind in "iuf")
    print_table(console, [str(name) for name in frame], rows, numbers)
    if (left := len(whole) - len(frame)) > 0:
        console.print(f"… and {count(left, 'more row')}")


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
    table = Table(box=None, pad_edge=False)
    for i in shown:
        whole = i in numbers or (i == 0 and max((len(row[0]) for row in rows), default=0) <= LONGEST)
        name, justify = Text(printable(names[i]).replace(":", "\n", 1)), "right" if i in numbers else "left"
        table.add_column(name, justify=justify, no_wrap=whole, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(printable(row[i])) for i in shown))
    return table


def _width(console: Console, table: Table) -> int:
    return console.measure(table, options=console.options.update(max_width=10_000)).minimum


def _print(console: Console, table: Table) -> None:
    """On a terminal as it is; elsewhere without spaces at the ends of lines."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as shown:
        console.print(table)
    console.print("\n".join(line.rstrip() for line in shown.get().rstrip().split("\n")), **AS_IT_IS)


def show(result: Any) -> str | None:
    """A result in a notebook: its text and its first picture; None, and so only the text, where nothing can be drawn."""
    if find_spec("matplotlib") is None:
        return None
    make = next(made.make for made in PICTURES.values() if made.main and isinstance(result, made.of))
    try:
        figure = make(result)
    except InputError:  # nothing to draw, such as a single clustering that is compared with none
        return None
    file = io.BytesIO()
    draw_to(figure, file, "png", DOTS, facecolor="white")
    text, width = repr(result), round(DOTS / 2 * figure.get_figwidth())
    picture = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
    title = html.escape(text.partition("\n")[0], quote=True)
    return f'<pre>{html.escape(text)}</pre><img width="{width}" style="max-width: 100%" alt="{title}" src="{picture}">'


def register() -> None:
    """Tell a running IPython how to show results, which know nothing of pictures; without IPython, do nothing."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return
    formatter = shell.display_formatter.formatters["text/html"]
    for kind in {kind for made in PICTURES.values() if made.main for kind in made.of}:
        if kind.__module__.startswith("consilience"):  # a list of maps can be drawn too, but lists stay as they are
            formatter.for_type(kind, show)
