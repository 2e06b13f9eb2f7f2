"""Cells that hold several choices of a list, as forms write them: Excel, Python; Action|Comedy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from consilience._types import Array

SEPARATORS = ";|,\n"
SHARE = 0.1  # of the cells that hold several choices, at least
FEWEST, MOST = 3, 30  # choices
LONGEST = 60  # letters of one
AGAIN = 0.9  # share of the choices made that are made by several objects


def split_choices(word: str, sep: str) -> list[str]:
    """The choices in a cell, each once.

    Examples
    --------
    >>> split_choices("Excel; Python;;Excel", ";")
    ['Excel', 'Python']
    >>> split_choices("Excel (or Sheets, Numbers), Python", ",")
    ['Excel (or Sheets, Numbers)', 'Python']
    """
    parts = re.split(rf"{re.escape(sep)}(?![^()]*\))", word)  # not inside brackets
    return list(dict.fromkeys(part for part in map(str.strip, parts) if part))


def find_separator_of_choices(words: Sequence[str], sizes: Array, *, asked: bool = False) -> str:
    """What separates the choices of a list in the words of a column; "" where they are none.

    A tenth of the cells must hold several, of 3 to 30 choices that come again in other company, so that there are more different cells
    than choices: of "Berlin, Germany" there are not.

    Examples
    --------
    >>> import numpy as np
    >>> find_separator_of_choices(["a;b", "b;c", "a", "a;c", "a;b;c"], np.full(5, 9))
    ';'
    >>> find_separator_of_choices(["Berlin, Germany", "Bonn, Germany", "Paris, France", "Lyon, France"], np.full(4, 9))
    ''
    """
    for sep in SEPARATORS:
        if not any(sep in word for word in words):
            continue
        parts = [split_choices(word, sep) for word in words]
        several = np.array([len(some) > 1 for some in parts])
        if asked:
            return sep
        made: Counter[str] = Counter()
        company = Counter(choice for some in parts for choice in some)
        for some, size in zip(parts, sizes.tolist(), strict=True):
            made.update(dict.fromkeys(some, size))
        least = max(3, sizes.sum() / 100)
        common = [choice for choice, n in made.items() if n >= least and company[choice] > 1]
        if (
            sizes[several].sum() >= SHARE * sizes.sum()
            and FEWEST <= len(common) <= MOST
            and len(made) < len(words)
            and max(map(len, common)) <= LONGEST
            and sum(made[choice] for choice in common) >= AGAIN * made.total()
        ):
            return sep
    return ""


def chosen(cells: pd.Series, sep: str) -> tuple[Array, list[str], Array]:
    """(n,) code of each cell, −1 where missing; the choices, the most frequent first; and (n_codes, n_choices) which each code holds."""
    codes, words = pd.factorize(cells.astype(object), use_na_sentinel=True)
    parts = [split_choices(str(word), sep) for word in words]
    sizes = np.bincount(codes[codes >= 0], minlength=len(words)).tolist()
    made: Counter[str] = Counter()
    for some, size in zip(parts, sizes, strict=True):
        made.update(dict.fromkeys(some, size))
    choices = sorted(made, key=lambda choice: (-made[choice], choice))
    place = {choice: j for j, choice in enumerate(choices)}
    holds = np.zeros((len(parts), len(choices)), bool)
    for i, some in enumerate(parts):
        holds[i, [place[choice] for choice in some]] = True
    return codes, choices, holds
