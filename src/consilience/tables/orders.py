"""Words in an order: ranges of numbers (18-24, 65+), and orders that were given."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np

from consilience._types import Floats

_N = r"[$€£]?\s*(\d[\d.,]*?)\s*([km]?)\s*[$€£%]?"
_RANGE = re.compile(rf"(?:from |between )?{_N}\s*(?:-|–|—|to|bis|and|< ?)\s*{_N}")
_BELOW = re.compile(
    rf"(?:<|≤|<=|under|below|less than|up to|younger than|fewer than|unter|bis)\s*{_N}|"
    rf"{_N}\s*(?:and|or) (?:under|less|below|younger|fewer)"
)
_ABOVE = re.compile(
    rf"(?:(?:>|≥|>=|over|above|more than|older than|at least|über|ab)\s*{_N}|"
    rf"{_N}\s*(?:\+|and (?:over|more|above|older|up)|or (?:over|more|above|older)|und mehr|und älter))"
)
_ALONE = re.compile(_N)
_DECIMAL = re.compile(r"(?<![\d.,])0([.,])\d|\d([.,])(?!\d{3}(?!\d))\d")  # no sign between thousands
_UNIT = re.compile(
    r"\s*\b(years?( old)?|yrs?|y|months?|weeks?|days?|hours?|hrs?|h|minutes?|min|km|kg|cm|people|persons?|employees|jahre|stunden)\b\.?"
)


def range_places(words: Sequence[str]) -> Floats | None:
    """Where each range of numbers begins, NaN of a word that is none; None where fewer than three, or where they overlap."""
    texts = [_UNIT.sub("", word.strip().casefold()).strip() for word in words]
    decimal = {match[1] or match[2] for text in texts for match in _DECIMAL.finditer(text)}
    ends = [_range(text, decimal) for text in texts]
    held = [pair for pair in ends if pair is not None]
    alone = {low for low, high in held if low == high}
    above = {(low, np.inf): np.nextafter(low, np.inf) for low in alone}  # 60, and above 60
    places = np.array([np.nan if pair is None else above.get(pair, pair[0]) for pair in ends])
    wide = sum(low < high for low, high in held)
    apart = all(high <= low for (_, high), (low, _) in pairwise(sorted(set(held))))
    whole = all(low % 1 == 0 for low in alone)
    are_ranges = wide and (2 * wide >= len(held) or _counts_up(held))
    return places if len(set(held)) >= 3 and apart and whole and are_ranges else None


def given_steps(levels: Sequence[str], words: Sequence[str]) -> Floats:
    """Which of the levels each word is: as it is written, in any case, or as the same range; NaN where it is none."""
    exact = {level: float(place) for place, level in enumerate(levels)}
    folded = {level.strip().casefold(): place for level, place in reversed(exact.items())}
    steps = np.array([exact.get(word, folded.get(word.strip().casefold(), np.nan)) for word in words], float)
    if np.isnan(steps).any() and (ranges := range_places([*levels, *words])) is not None:
        ranks = {place: step for step, place in reversed(list(enumerate(ranges[: len(levels)].tolist())))}
        same = np.array([ranks.get(place, np.nan) for place in ranges[len(levels) :].tolist()], float)
        steps = np.where(np.isnan(steps), same, steps)
    return steps


def _counts_up(held: Sequence[tuple[float, float]]) -> bool:
    """Whether single numbers count up between open ends: 1, 2, 3, 4 or more."""
    alone = sorted(low for low, high in held if low == high)
    open_ends = sum(bool(np.isinf(low) or np.isinf(high)) for low, high in held)
    return 1 <= open_ends <= 2 and len(alone) == len(held) - open_ends > 0 and alone[-1] - alone[0] == len(alone) - 1


def _range(text: str, decimal: Collection[str]) -> tuple[float, float] | None:
    if match := _RANGE.fullmatch(text):
        low, high = _value(match[1], match[2] or match[4], decimal), _value(match[3], match[4], decimal)
        return (low, high) if low is not None and high is not None and low < high else None
    if match := _BELOW.fullmatch(text):
        high = _value(match[1] or match[3], match[2] or match[4], decimal)
        return None if high is None else (-np.inf, high)
    if match := _ABOVE.fullmatch(text):
        low = _value(match[1] or match[3], match[2] or match[4], decimal)
        return None if low is None else (low, np.inf)
    if (match := _ALONE.fullmatch(text)) and (low := _value(match[1], match[2], decimal)) is not None:
        return low, low
    return None


def _value(digits: str, power: str | None, decimal: Collection[str]) -> float | None:
    """A number in which a point or comma before three digits separates thousands, unless it is a decimal sign elsewhere in the column."""
    thousands = "".join({".", ","} - set(decimal))
    text = re.sub(rf"[{thousands}](?=\d{{3}}(?:\D|$))", "", digits) if thousands else digits
    try:
        return float(text.replace(",", ".").rstrip(".")) * {"k": 1e3, "m": 1e6}.get(power or "", 1.0)
    except ValueError:
        return None
