"""One column of any kind as numbers: a number, its logarithm, days, steps of an order, or a column of 0 and 1 for each word."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from consilience._types import Array, Floats, Ints
from consilience.tables.choices import chosen
from consilience.tables.column_types import EMPTY, YES, levels_of
from consilience.tables.column_words import NO_ANSWER
from consilience.tables.ordered import is_beside, known_steps
from consilience.tables.parse_text import days
from consilience.tables.typed_column import MANY, Found

SKEWED = 2.0  # skewness of a column beyond which its logarithm is taken, if that halves it
VALUES = 10  # different numbers that such a column has at least
OTHER = "other"


@dataclass(frozen=True)
class EncodedColumn:
    """What one of the original columns becomes.

    `kind` is "number", "log" (log x), "log1p" (log (1 + x)), "date" (days), "ordered" (0 for the lowest of `levels`, 1 for the next …),
    "boolean" or "category". `levels` are the categories with a column each; of a yes-or-no column, or one with two categories, the one
    that is 1, and `zero` is the one that is 0. Where `pooled`, all other categories share a column. `usual` are the means of its encoded
    columns, `spread` what their differences are divided by: of numbers their standard deviation, of words what makes the squared distance
    of two different ones 2, that of two numbers on average. `decimal`, `unit` and `month_first` are how its numbers and dates were
    written, so that those of new rows are read in the same way; `absent` are words for unknown that count as missing. Of "choices", each
    cell holds several of the `levels`, with `sep` between them.
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    zero: str | None = None
    pooled: bool = False
    usual: tuple[float, ...] = ()
    spread: float = 1.0
    notes: tuple[str, ...] = ()
    decimal: str | None = None
    unit: str = ""
    month_first: bool | None = None
    absent: tuple[str, ...] = ()
    sep: str = ""

    @property
    def is_category(self) -> bool:
        """Whether its cells are words without an order, which have a column each."""
        return self.kind in ("category", "boolean", "choices")

    @property
    def has_words(self) -> bool:
        """Whether its cells are words."""
        return self.is_category or self.kind == "ordered"

    def steps(self, cells: pd.Series) -> Ints:
        """(n,) which of the levels each cell of words in an order is, as it is written or by what it says; −1 where it is none.

        Examples
        --------
        >>> EncodedColumn("often", "ordered", ("never", "rarely", "often")).steps(pd.Series(["rarely", "Often", None, "daily"])).tolist()
        [1, 2, -1, -1]
        """
        codes, words = pd.factorize(cells.astype(object), use_na_sentinel=True)
        places = known_steps(self.levels, [str(word) for word in words])
        return np.append(np.where(np.isnan(places), -1, places), -1).astype(np.int64)[codes]

    @property
    def all_levels(self) -> tuple[str, ...]:
        """What the encoded columns of a category stand for; the last, where `pooled`, for all others, by a name that no level has.

        Examples
        --------
        >>> EncodedColumn("plan", "category", ("free", "pro"), pooled=True).all_levels
        ('free', 'pro', 'other')
        >>> EncodedColumn("plan", "category", ("free", "Other"), pooled=True).all_levels
        ('free', 'Other', 'other (pooled)')
        """
        if not self.pooled:
            return self.levels
        name, taken = OTHER, {level.casefold() for level in self.levels}
        while name in taken:
            name += " (pooled)"
        return (*self.levels, name)

    @property
    def names(self) -> list[str]:
        """Of its encoded columns."""
        if self.is_category:
            return [f"{self.name}={level}" for level in self.all_levels]
        return [f"{self.name} (log)" if self.kind in ("log", "log1p") else self.name]

    def encode(self, cells: pd.Series) -> tuple[Floats, dict[str, int]]:
        """(n, width) numbers, NaN where missing, and how often each category was met that is not known."""
        if self.kind == "ordered":
            return self._steps(cells)
        if self.kind == "choices":
            return self._choices(cells)
        if not self.is_category:
            return self._numbers(cells)[:, None], {}
        known = [*self.levels, *([] if self.zero is None else [self.zero])]
        codes = pd.Index(known).get_indexer(cells.astype(object))
        gone = cells.isna().to_numpy(copy=True)  # what pandas 3 gives is read-only
        strange = (codes < 0) & ~gone
        if strange.any():  # words for missing, of new rows
            gone[strange] = cells[strange].astype(str).str.casefold().isin(NO_ANSWER.union(self.absent)).to_numpy()
            strange &= ~gone
        unseen = cells[strange].value_counts().to_dict() if strange.any() else {}
        width = len(self.names)
        values = np.zeros((len(cells), width))
        own = (codes >= 0) & (codes < len(self.levels))
        values[np.flatnonzero(own), codes[own]] = 1.0
        if self.pooled:
            values[strange, -1] = 1.0
        values[gone if self.pooled else gone | strange] = np.nan
        return values, {str(word): int(n) for word, n in unseen.items()}

    def holds(self, cells: pd.Series, level: int) -> Array:
        """(n,) whether each cell of several choices has one of them, the last where `pooled` being any other."""
        values = self._choices(cells)[0][:, level]
        return np.nan_to_num(values) > 0

    def _choices(self, cells: pd.Series) -> tuple[Floats, dict[str, int]]:
        codes, choices, holds = chosen(cells, self.sep)
        place = pd.Index(self.levels).get_indexer(pd.Index(choices, dtype=object))
        known = place >= 0
        values = np.zeros((len(holds) + 1, len(self.names)))
        values[:-1, place[known]] = holds[:, known]
        if self.pooled:
            values[:-1, -1] = holds[:, ~known].any(axis=1)
        words = pd.Index(cells.astype(object).dropna().unique())
        gone = np.array([str(word).casefold() in NO_ANSWER.union(self.absent) for word in words], bool)
        values[:-1][(values[:-1].sum(axis=1) == 0) | gone] = np.nan
        values[-1] = np.nan
        sizes = np.bincount(codes[codes >= 0], minlength=len(holds))[~gone] @ holds[~gone]
        unseen = {choices[j]: int(sizes[j]) for j in np.flatnonzero(~known) if sizes[j]}
        return values[codes], unseen

    def _steps(self, cells: pd.Series) -> tuple[Floats, dict[str, int]]:
        steps = self.steps(cells)
        strange = cells[(steps < 0) & cells.notna().to_numpy()]
        unseen = {str(word): int(n) for word, n in strange.value_counts().items() if not is_beside(str(word))}
        return np.where(steps < 0, np.nan, steps)[:, None], unseen

    def _numbers(self, cells: pd.Series) -> Floats:
        if self.kind == "date":
            return days(cells)
        values = cells.to_numpy(float)
        if self.kind not in ("log", "log1p"):
            return values
        least = 0 if self.kind == "log1p" else np.exp(self.usual[0] - 10 * self.spread)
        values = np.maximum(values, least)  # of new rows: below all that was seen
        return np.log1p(values) if self.kind == "log1p" else np.log(values)


def learn_column(found: Found, *, may_log: bool = True) -> EncodedColumn:
    """What a column becomes, by its cells."""
    assert found.cells is not None
    cells, kind = found.cells, found.kind
    if kind in ("category", "boolean"):
        sizes = cells.value_counts().to_dict()
        words = sorted(sizes, key=lambda word: (-sizes[word], str(word)))
        if len(words) == 2:
            meant = [word for word in words if kind == "boolean" and YES.get(str(word).casefold(), EMPTY in words)]
            one = meant[0] if meant else words[1]
            made = EncodedColumn(found.name, kind, (one,), words[1 - words.index(one)], notes=found.notes)
        else:
            kept = levels_of({word: sizes[word] for word in words}, int(cells.notna().sum()))
            made = EncodedColumn(found.name, "category", tuple(kept), None, len(kept) < len(words), notes=found.notes)
    elif kind == "choices":
        codes, choices, holds = chosen(cells, found.sep)
        sizes = np.bincount(codes[codes >= 0], minlength=len(holds)) @ holds
        kept = levels_of(dict(zip(choices, sizes.tolist(), strict=True)), int(cells.notna().sum()))
        pooled = len(kept) < len(choices)
        made = EncodedColumn(found.name, kind, tuple(kept), None, pooled, notes=found.notes, sep=found.sep)
    elif kind == "ordered":
        made = EncodedColumn(found.name, kind, tuple(found.levels.values()), notes=found.notes)
    else:
        if kind == "number" and may_log and not found.asked:
            kind = _logged(cells.to_numpy(float))
        elif kind == "log":
            kind = "log" if np.nanmin(cells) > 0 else "log1p"
        written = {"decimal": found.decimal, "unit": found.unit, "month_first": found.month_first}
        made = EncodedColumn(found.name, kind, notes=found.notes, usual=(0.0,), spread=np.inf, **written)  # type: ignore[arg-type]
    made = replace(made, absent=tuple(sorted(found.absent))) if made.has_words else made
    return _with_size(made, cells)


def _with_size(made: EncodedColumn, cells: pd.Series) -> EncodedColumn:
    values, _ = made.encode(cells)
    spread = float(np.nanstd(values)) if not made.is_category else 1.0 if made.zero is None else np.sqrt(0.5)
    if made.kind == "choices":  # two cells differ in several columns: on average as much as two numbers do
        spread = float(np.sqrt(np.nanvar(values, axis=0).sum()))
    usual = tuple(float(mean) for mean in np.nanmean(values, axis=0))
    return replace(made, usual=usual, spread=spread if spread > 0 else 1.0)


def _logged(values: Floats) -> str:
    """Whether the logarithm of a number is taken: positive numbers, far more of them small than large."""
    known = values[~np.isnan(values)]
    if len(known) < MANY or known.min() < 0 or len(np.unique(known)) < VALUES:
        return "number"
    kind = "log" if known.min() > 0 else "log1p"
    before, after = skewness(known), skewness(np.log(known) if kind == "log" else np.log1p(known))
    return kind if before > SKEWED and abs(after) < before / 2 else "number"


def skewness(values: Floats) -> float:
    """Third standardized moment; 0 for a constant."""
    apart = values - values.mean()
    square = float(np.mean(apart**2))
    return float(np.mean(apart**3)) / square**1.5 if square > 0 else 0.0
