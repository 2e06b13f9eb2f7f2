"""Tables for people, on the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from consilience.comparison import MEASURES, Comparison

SHOWN = 20  # clusterings listed; beyond, the first and a note


def terminal() -> Console:
    """Standard output; where it is no terminal, wide enough that no table is broken into lines."""
    console = Console(soft_wrap=True)
    return console if console.is_terminal else Console(soft_wrap=True, width=240)


def print_comparison(result: Comparison, *, title: str, console: Console | None = None) -> None:
    """Print the stability of an ensemble and a row for every clustering."""
    console = console or terminal()
    rows = result.clusterings
    low, high = rows["clusters"].min(), rows["clusters"].max()
    several = f"{low} clusters" if low == high else f"{low} to {high} clusters"
    console.print(f"[bold]{title}[/]: {_count(len(rows), 'clustering')} of {result.n_objects:,} objects, {several}")
    if result.stability:
        console.print("\nAgreement over all pairs")
        console.print(_stability_table(result))
    known = " and with known labels" if any(":" in column for column in rows.columns) else ""
    console.print(f"\nClusterings: mean with the others{known}" if result.stability else "\nClusterings")
    console.print(_clustering_table(rows.head(SHOWN)))
    if len(rows) > SHOWN:
        console.print(f"… and {len(rows) - SHOWN:,} more clusterings: --json lists them all")


def _stability_table(result: Comparison) -> Table:
    table = Table(box=None, pad_edge=False)
    for name, justify in (
        ("measure", "left"),
        ("mean ± s.e.", "right"),
        ("most alike", "left"),
        ("least alike", "left"),
    ):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for name, s in result.stability.items():
        ends = _extremes(result, name)
        table.add_row(name, f"{s.mean:.3f} ± {s.sem:.3f}", *(ends if not MEASURES[name].distance else ends[::-1]))
    return table


def _extremes(result: Comparison, measure: str) -> tuple[str, str]:
    """The pairs with the largest and the smallest value, in words."""
    matrix, names = result.matrices[measure], list(result.clusterings["name"])
    values = np.where(np.triu(np.ones(matrix.shape, bool), 1), matrix, np.nan)
    if np.isnan(values).all():
        return "no two share an object", ""
    pairs = [np.unravel_index(f(values), values.shape) for f in (np.nanargmax, np.nanargmin)]
    high, low = (f"{names[i]}, {names[j]} ({matrix[i, j]:.3f})" for i, j in pairs)
    return high, low


def _clustering_table(rows: pd.DataFrame) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in rows.columns:
        table.add_column(column.replace(":", "\n"), justify="left" if column == "name" else "right")
    for row in rows.itertuples(index=False):
        table.add_row(*(_cell(name, value) for name, value in zip(rows.columns, row, strict=True)))
    return table


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _cell(column: str, value: Any) -> str:
    if column == "labelled":
        return f"{100 * value:.3g} %"
    if isinstance(value, float):
        return "–" if np.isnan(value) else f"{value:.3f}"
    return str(value)
