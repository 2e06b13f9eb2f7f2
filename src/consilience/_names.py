"""Names that differ from each other."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd


def unique_names(names: Iterable[Any], *, taken: Iterable[str] = (), suffixes: Sequence[str] = ("",)) -> list[str]:
    """Names as text, all different: one that comes again gets a number, one that is missing or empty its position."""
    # None is in `taken`, also not with one of the `suffixes`, such as ("", " confidence") where a column stands beside each.
    used, found = set(taken), []
    free: dict[str, int] = {}  # the next number of a name: counting from 2 each time would be quadratic
    for position, name in enumerate(names):
        text = new = str(position) if pd.isna(name) or name == "" else str(name)
        number = free.get(text, 2)
        while used & {f"{new}{suffix}" for suffix in suffixes}:
            new, number = f"{text} ({number})", number + 1
        free[text] = number
        used |= {f"{new}{suffix}" for suffix in suffixes}
        found.append(new)
    return found
