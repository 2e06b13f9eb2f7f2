"""Tables for people, on the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from consilience._check import count
from consilience.measures import Comparison

SHOWN = 20  # clusterings listed; beyond, the first and a note
LONGEST = 30  # letters of a name that is never folded


def terminal() -> Console:
    """Standard output, text as it is; where it is no terminal, wide enough that no table is broken into lines."""
    plain: dict[str, Any] = {"soft_wrap": True, "markup": False, "emoji": False, "highlight": False}
    console = Console(**plain)
    return console if console.is_terminal else Console(**plain, width=240)


def print_comparison(result: Comparison, *, title: str, console: Console | None = None) -> None:
    """Print the stability of an ensemble and a row for every clustering."""
    console = console or terminal()
    rows = result.clusterings
    low, high = int(rows["clusters"].min()), int(rows["clusters"].max())
    several = count(low, "cluster") if low == high else f"{low} to {high} clusters"
    what = f": {count(len(rows), 'clustering')} of {count(result.n_objects, 'object')}, {several}"
    console.print(Text.assemble((title, "bold"), what))
    known = any(":" in column for column in rows.columns)
    if result.stability:
        console.print("\nAgreement over all pairs")
        print_table(console, ["measure", "mean ± s.e.", "most alike", "least alike"], _stability_rows(result), (1,))
        console.print(f"\nClusterings: mean with the others{' and with known labels' if known else ''}")
    else:
        alone = "" if known else ": nothing to compare it with; name known labels with --truth (known= in Python)"
        console.print(f"\nClusterings{alone}")
    numbers = tuple(range(1, len(rows.columns)))
    print_table(console, list(rows.columns), _clustering_rows(rows.head(SHOWN)), numbers)
    if len(rows) > SHOWN:
        console.print(f"… and {count(len(rows) - SHOWN, 'more clustering')}: --json lists them all")


def print_table(console: Console, names: list[str], rows: list[list[str]], numbers: tuple[int, ...]) -> None:
    """A table without a frame; too wide, its header is folded at underscores, and then its columns come in groups."""
    if _width(console, _table(names, rows, numbers)) > console.width:
        names = [name.replace("_", "_\n") for name in names]
    group = [0]
    for i in range(1, len(names)):
        if len(group) > 1 and _width(console, _part(names, rows, numbers, [*group, i])) > console.width:
            _print(console, _part(names, rows, numbers, group))
            console.print()
            group = [0]
        group.append(i)
    _print(console, _part(names, rows, numbers, group))


def _part(names: list[str], rows: list[list[str]], numbers: tuple[int, ...], group: list[int]) -> Table:
    """Some columns of a table."""
    chosen = tuple(k for k, i in enumerate(group) if i in numbers)
    return _table([names[i] for i in group], [[row[i] for i in group] for row in rows], chosen)


def _table(names: list[str], rows: list[list[str]], numbers: tuple[int, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    for i, name in enumerate(names):
        whole = i in numbers or (i == 0 and max((len(row[0]) for row in rows), default=0) <= LONGEST)
        justify: Any = "right" if i in numbers else "left"
        table.add_column(Text(name.replace(":", "\n", 1)), justify=justify, no_wrap=whole, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
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


def _stability_rows(result: Comparison) -> list[list[str]]:
    rows = []
    for name, s in result.stability.items():
        ends = [f"{a}, {b} ({value:.3f})" for a, b, value in result.extremes(name)]
        rows.append([name, s.words(3) if s.n_pairs else "–", *(ends or ["no two share an object", ""])])
    return rows


def _clustering_rows(rows: pd.DataFrame) -> list[list[str]]:
    return [
        [_cell(name, value) for name, value in zip(rows.columns, row, strict=True)]
        for row in rows.itertuples(index=False)
    ]


def _cell(column: str, value: Any) -> str:
    if column == "labeled":
        return f"{100 * value:.3g} %"
    if isinstance(value, float):
        return "–" if np.isnan(value) else f"{value:.3f}"
    return str(value)
