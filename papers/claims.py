"""What a paper claims, what was found here, and whether the claim holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HOLDS, PART, NOT = "holds", "holds in part", "does not hold"
BESIDE = "beside"  # no claim of the paper: what else was measured on the same data


@dataclass(frozen=True)
class Claim:
    """A row of the page of results.

    Attributes
    ----------
    said : str
        What the paper says, in our words, and where.
    found : str
        The numbers found, rendered from the tables.
    verdict : str
        "holds", "holds in part" or "does not hold"; "beside" for what the paper does not claim.
    tables : str or sequence of str
        Names of the CSV files that the numbers are from.
    why : str
        Where we differ, and why.
    """

    said: str
    found: str
    verdict: str
    tables: str | Sequence[str]
    why: str = ""


@dataclass(frozen=True)
class TableFolder:
    """The tables of a paper's report, read from their CSV files."""

    path: Path

    def __call__(self, name: str) -> pd.DataFrame:
        """A table by its name, without ``.csv``."""
        table = pd.read_csv(self.path / f"{name}.csv", dtype=str, keep_default_na=False)
        return table.apply(_typed)

    def __contains__(self, name: str) -> bool:
        return (self.path / f"{name}.csv").is_file()


def _typed(cells: pd.Series) -> pd.Series:
    """Numbers where all cells are, as they are written to the last digit in any version of pandas; NaN where one is empty."""
    texts, truths = cells.tolist(), {"True": True, "False": False}
    made: list[Any]
    if all(text.lstrip("-").isdigit() for text in texts):
        made = [int(text) for text in texts]
    elif set(texts) <= set(truths):
        made = [truths[text] for text in texts]
    else:
        try:
            made = [float(text or "nan") for text in texts]
        except ValueError:
            return pd.Series([text or float("nan") for text in texts], index=cells.index, dtype=object)
    return pd.Series(made, index=cells.index)


Claims = Callable[[TableFolder], Sequence[Claim]]


def verdict(held: Any) -> str:
    """Of a claim with several parts: all, some or none of them hold.

    Examples
    --------
    >>> verdict([True, False]), verdict([True]), verdict([False, False])
    ('holds in part', 'holds', 'does not hold')
    """
    parts = np.asarray(held, bool)
    return HOLDS if parts.all() else PART if parts.any() else NOT


def among(names: Any, chosen: Any) -> str:
    """Which of the names are chosen, in words.

    Examples
    --------
    >>> among(["a", "b", "c"], [True, False, True]), among(["a"], [False])
    ('a, c', 'none')
    """
    return ", ".join(str(name) for name, one in zip(names, chosen, strict=True) if one) or "none"
