"""How numbers, names and lists are written, the same on the terminal, on the page and in pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import count

LONGEST = 160  # letters of a cell


def is_missing(value: Any) -> bool:
    """Whether there is nothing to show: None, NaN or pandas' NA."""
    return value is None or value is pd.NA or (isinstance(value, float) and bool(np.isnan(value)))


def format_number(value: Any, decimals: int = 3) -> str:
    """A number with so many decimals, none from 1,000 on, and a dash where it is missing; never in powers of ten.

    Examples
    --------
    >>> [format_number(value) for value in (0.12345, 1234567.0, -6.7e-05, None, 12)]
    ['0.123', '1,234,567', '0.000', '–', '12']
    """
    if is_missing(value):
        return "–"
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    text = f"{value:.{decimals}f}" if abs(value) < 1000 else f"{value:,.0f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def format_with_error(value: Any, error: Any) -> str:
    """A mean with its standard error, where there is one, in four decimals."""
    text = format_number(value, 4)
    return text if is_missing(value) or is_missing(error) else f"{text} ± {format_number(error, 4)}"


def decimals_of(values: Iterable[Any]) -> int:
    """Decimals for a column of numbers: three, or as many as its largest needs for three digits.

    Examples
    --------
    >>> decimals_of([0.5, 0.0001]), decimals_of([0.00012, -0.00003, float("nan")])
    (3, 6)
    """
    largest = max(
        (abs(float(x)) for x in values if isinstance(x, (float, np.floating)) and np.isfinite(x)), default=0.0
    )
    return 3 if not 0 < largest < 0.01 else int(min(12, 2 - np.floor(np.log10(largest))))


def format_cell(value: Any, decimals: int = 3) -> str:
    """The text of one cell of a table."""
    if isinstance(value, (list, tuple)):
        return shorten(", ".join(map(str, value)), LONGEST)
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if is_missing(value) or isinstance(value, (float, int, np.floating, np.integer)):
        return format_number(value, decimals)
    return shorten(str(value), LONGEST)


def format_name(name: Any) -> str:
    """A column's name as words: "accuracy:vowel" is the accuracy with vowel.

    Examples
    --------
    >>> format_name("accuracy:vowel_kind"), format_name("rows_sem")
    ('accuracy with vowel kind', 'rows s.e.')
    """
    text = str(name)
    text = f"{text.removesuffix('sem')}s.e." if text == "sem" or text.endswith("_sem") else text
    return text.replace("_", " ").replace(":", " with ", 1)


def format_list(values: Sequence[Any] | np.ndarray[Any, Any], most: int = 12) -> str:
    """The first of some values, and how many more there are.

    Examples
    --------
    >>> format_list([1200, 30, 4], most=2)
    '1,200, 30 … (1 more)'
    """
    shown = ", ".join(format_number(value) if not isinstance(value, str) else value for value in values[:most])
    return shown if len(values) <= most else f"{shown} … ({len(values) - most:,} more)"


def format_range(ends: Sequence[int], noun: str = "") -> str:
    """From the least to the most of something.

    Examples
    --------
    >>> format_range([3, 3], "cluster"), format_range([3, 1200], "cluster"), format_range([3, 5])
    ('3 clusters', '3 to 1,200 clusters', '3 to 5')
    """
    low, high = ends
    if low == high:
        return count(low, noun) if noun else f"{low:,}"
    return f"{low:,} to {high:,}" + (f" {noun}s" if noun else "")


def code_names(labels: Any, codes: Any) -> list[str]:
    """What the codes of labels stand for, in their order."""
    found, first = np.unique(codes, return_index=True)
    return [str(name) for name in np.asarray(labels, object)[first[found >= 0]]]


def shorten(text: str, longest: int) -> str:
    """A text of so many letters at most."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
