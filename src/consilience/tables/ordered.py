"""Columns of words in an order: answers on a known scale, brackets of numbers, numbered words, and orders that were said."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from consilience._types import Array, Floats
from consilience.tables.column_words import DASHES, MOSTLY, SIGN, UNKNOWN
from consilience.tables.scale_words import CALENDAR, SCALES, degree_of, key_of

FEWEST, MOST = 3, 30  # levels
#: Answers that stand beside a scale and are not on it.
BESIDE = {
    *(
        "dont know",
        "do not know",
        "i dont know",
        "dk",
        "not sure",
        "unsure",
        "no opinion",
        "cant say",
        "cannot say",
        "refused",
    ),
    *(
        "no answer",
        "not applicable",
        "does not apply",
        "prefer not to say",
        "prefer not to answer",
        "weiß nicht",
        "keine angabe",
    ),
}
_N = r"[$€£]?\s*(\d[\d.,]*?)\s*([km]?)\s*[$€£%]?"
_RANGE = re.compile(rf"(?:from |between )?{_N}\s*(?:-|–|—|to|bis|and|< ?)\s*{_N}")
_BELOW = re.compile(rf"(?:<|≤|<=|under|below|less than|up to|younger than|fewer than|unter|bis)\s*{_N}")
_ABOVE = re.compile(
    rf"(?:(?:>|≥|>=|over|above|more than|older than|at least|über|ab)\s*{_N}|"
    rf"{_N}\s*(?:\+|and (?:over|more|above|older|up)|or (?:over|more|above|older)|und mehr|und älter))"
)
_ALONE = re.compile(_N)
_DECIMAL = re.compile(r"(?<![\d.,])0([.,])\d|\d([.,])(?!\d{3}(?!\d))\d")  # no sign between thousands
_UNIT = re.compile(
    r"\s*\b(years?( old)?|yrs?|y|months?|weeks?|days?|hours?|hrs?|h|minutes?|min|km|kg|cm|people|persons?|employees|jahre|stunden)\b\.?"
)
_STAGE = re.compile(r"(stage|grade|level|tier|phase|step|year|stufe|stadium|grad)\s*(\d+|[ivx]+)([a-d]?)")
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}
_FIRST_NUMBER = re.compile(r"[(\[]?(\d+)[)\]]?(?:\s*[-–—:.=)]*\s*((?=.*[^\W\d_]{3})[^\d].*))?")
_SYMBOLS = re.compile(r"([$€£*★])\1*")


@dataclass(frozen=True, eq=False)
class Order:
    """Where each word of a column stands on a scale, NaN for one that is not on it, and which scale that is ("" for one of its own)."""

    places: Floats
    scale: str

    def levels(self, words: Sequence[str], sizes: Array) -> dict[float, str]:
        """The level at every place, lowest first: the word there that most cells have."""
        found: dict[float, tuple[int, str]] = {}
        for place, word, size in zip(self.places.tolist(), words, sizes.tolist(), strict=True):
            if place == place and (place not in found or size > found[place][0]):
                found[place] = (size, word)
        return {place: found[place][1] for place in sorted(found)}


def find_order(words: Sequence[str], sizes: Array, *, asked: bool = False) -> Order | None:
    """The order of the words of a column, by what they say; None where they are in none.

    Nine in ten of the cells, beside answers such as "don't know", must be on one scale, at three levels at least, and no word beside it
    may have three cells and a hundredth of them. Of an order that was `asked` for, all words, which may be days, months, or anything with a
    number in front.

    Examples
    --------
    >>> import numpy as np
    >>> once = np.ones(3, int)
    >>> find_order(["agree", "Strongly agree", "2 - disagree"], once).places.tolist()
    [2.0, 3.0, -2.0]
    >>> find_order(["25-34", "65+", "under 25"], once).places.tolist()
    [25.0, 65.0, -inf]
    >>> find_order(["red", "green", "blue"], once) is None, find_order(["Mon", "Tue", "Wed"], once) is None
    (True, True)
    """
    if not FEWEST <= len(words) <= MOST:
        return None
    keys = [key_of(word) for word in words]
    beside = np.array([is_beside(word) for word in words])
    least = 1.0 if asked else MOSTLY
    best, most = None, 0
    for order in _orders(words, keys, asked):
        on = ~np.isnan(order.places)
        held = int(sizes[on].sum())
        if not asked and (sizes[~on & ~beside] >= max(3, sizes.sum() / 100)).any():
            continue  # a word that many cells have is a category of its own
        if held > most and held >= least * sizes[~beside | on].sum() and len(np.unique(order.places[on])) >= FEWEST:
            best, most = order, held
    return best


def is_beside(word: str) -> bool:
    """Whether an answer is none on any scale: "don't know", and words for unknown."""
    return key_of(word) in BESIDE or word.casefold() in UNKNOWN


def said_order(levels: Sequence[str], words: Sequence[str]) -> Order:
    """The order that was said; a word is found as it is written, else by what it says."""
    exact = {level: float(place) for place, level in enumerate(levels)}
    by_key = {key_of(level): place for level, place in reversed(exact.items())}
    return Order(np.array([exact.get(word, by_key.get(key_of(word), np.nan)) for word in words], float), "")


def known_steps(levels: Sequence[str], words: Sequence[str]) -> Floats:
    """Which of the levels each word is, as it is written, by what it says, or at the same place of their scale; NaN where it is none."""
    steps = said_order(levels, words).places
    for i in np.flatnonzero(np.isnan(steps)).tolist():
        order = find_order([*levels, words[i]], np.array([10] * len(levels) + [1]))
        if order is not None and (np.diff(order.places[:-1]) > 0).all():
            same = np.flatnonzero(order.places[:-1] == order.places[-1])
            steps[i] = same[0] if len(same) else np.nan
    return steps


def _orders(words: Sequence[str], keys: Sequence[str], asked: bool) -> Iterable[Order]:
    for number, scale in enumerate((*SCALES, *(CALENDAR if asked else ()))):
        places = np.array([scale.get(key, np.nan) for key in keys], float)
        if not np.isnan(places).all():
            yield Order(places, f"scale {number}")
    yield from _degrees(keys)
    yield Order(_brackets(words), "")
    yield Order(_counted(words, asked), "")
    found = [_SYMBOLS.fullmatch(word.strip()) for word in words]
    if all(found) and len({match[1] for match in found if match}) == 1:
        yield Order(np.array([len(word.strip()) for word in words], float), "symbols")
    yield Order(_findings(words), "findings")
    if {_ROMAN.get(key) for key in keys} == set(range(1, len(keys) + 1)):
        yield Order(np.array([_ROMAN[key] for key in keys], float), "numerals")
    stages = [_STAGE.fullmatch(word.strip().casefold()) for word in words]
    if len({match[1] for match in stages if match}) == 1:
        yield Order(np.array([_stage(match) for match in stages], float), "stages")


def _degrees(keys: Sequence[str]) -> Iterable[Order]:
    """Degrees of one thing, or of two opposites."""
    told = [degree_of(key) for key in keys]
    for thing in dict.fromkeys(thing for thing, _ in told if thing):
        places = np.array([degree if one in ("", thing) else np.nan for one, degree in told], float)
        if len({place for place in places.tolist() if place == place}) >= FEWEST:
            yield Order(places, thing)


def _brackets(words: Sequence[str]) -> Floats:
    """Where brackets of numbers begin; all NaN where they overlap, or are single numbers."""
    texts = [_UNIT.sub("", word.strip().casefold()).strip() for word in words]
    decimal = {match[1] or match[2] for text in texts for match in _DECIMAL.finditer(text)}
    ends = [_bracket(text, decimal) for text in texts]
    held = [pair for pair in ends if pair is not None]
    alone = {low for low, high in held if low == high}
    above = {(low, np.inf): np.nextafter(low, np.inf) for low in alone}  # 60, and above 60
    places = np.array([np.nan if pair is None else above.get(pair, pair[0]) for pair in ends])
    wide = sum(low < high for low, high in held)
    in_order = sorted(set(held))
    apart = all(high <= low for (_, high), (low, _) in pairwise(in_order))
    whole = all(low % 1 == 0 for low, high in held if low == high)
    return (
        places if apart and whole and wide and (2 * wide >= len(held) or _steps(held)) else np.full(len(words), np.nan)
    )


def _steps(held: Sequence[tuple[float, float]]) -> bool:
    """Whether single numbers count up to an open end: 1, 2, 3, 4 or more."""
    alone = sorted(low for low, high in held if low == high)
    open_ends = sum(high == np.inf for _, high in held)
    return open_ends == 1 and len(alone) == len(held) - 1 and alone[-1] - alone[0] == len(alone) - 1


def _bracket(text: str, decimal: Collection[str]) -> tuple[float, float] | None:
    if match := _RANGE.fullmatch(text):
        low, high = _value(match[1], match[2] or match[4], decimal), _value(match[3], match[4], decimal)
        return (low, high) if low is not None and high is not None and low < high else None
    if (match := _BELOW.fullmatch(text)) and (high := _value(match[1], match[2], decimal)) is not None:
        return -np.inf, high
    if (match := _ABOVE.fullmatch(text)) and (
        low := _value(match[1] or match[3], match[2] or match[4], decimal)
    ) is not None:
        return low, np.inf
    if (match := _ALONE.fullmatch(text)) and (low := _value(match[1], match[2], decimal)) is not None:
        return low, low
    return None


def _value(digits: str, power: str | None, decimal: Collection[str]) -> float | None:
    """A number in which a point or comma before three digits separates thousands, unless it is a decimal sign elsewhere in the column."""
    thousands = "".join({".", ","} - set(decimal))
    text = re.sub(rf"[{thousands}](?=\d{{3}}(?:\D|$))", "", digits) if thousands else digits
    text = text.replace(",", ".").rstrip(".")
    try:
        return float(text) * {"k": 1e3, "m": 1e6}.get(power or "", 1.0)
    except ValueError:
        return None


def _counted(words: Sequence[str], asked: bool) -> Floats:
    """Numbers that stand in front of words, where only the first and the last have words: 1 (not at all), 2, 3, 4, 5 (very)."""
    found = [_FIRST_NUMBER.fullmatch(word.strip()) for word in words]
    if not all(found):
        return np.full(len(words), np.nan)
    numbers = np.array([float(match[1]) for match in found if match])
    told = np.array([bool(match and match[2]) for match in found])
    ends = (numbers == numbers.min()) | (numbers == numbers.max())
    own = len(np.unique(numbers)) == len(words)
    plain = own and told.any() and not told[~ends].any() and not told.all()
    return numbers if plain or (asked and own) else np.full(len(words), np.nan)


def _findings(words: Sequence[str]) -> Floats:
    """How much of something was found: -, +/-, +, ++, or negative, trace, 1+, 2+; with 0 or -- among signs, - is less than nothing."""
    found = [SIGN.fullmatch(word.strip().casefold()) for word in words]
    below = any(match and match[5] for match in found) or (
        "0" in words and not any(match and match[4] for match in found)
    )
    places = np.full(len(words), np.nan)
    for i, match in enumerate(found):
        if match is not None:
            nothing = -1.0 if below and match[0] in DASHES else 0.0
            more = len(match[3]) if match[3] else match[4]
            places[i] = nothing if match[1] else 0.5 if match[2] else -len(match[5]) if match[5] else float(more)
    return places


def _stage(match: re.Match[str] | None) -> float:
    if match is None:
        return np.nan
    number = float(match[2]) if match[2].isdigit() else float(_ROMAN.get(match[2], np.nan))
    return number + ("abcd".index(match[3]) + 1) / 10 if match[3] else number


def shared_levels(columns: Iterable[tuple[str, dict[float, str]]]) -> list[tuple[str, ...]]:
    """The levels of columns on given scales, lowest first: those of all columns on the same one, in each by its own words.

    Examples
    --------
    >>> shared_levels([("often", {0.0: "Never", 2.0: "Always"}), ("often", {0.0: "never", 1.0: "rarely"}), ("", {0.0: "a"})])
    [('Never', 'rarely', 'Always'), ('never', 'rarely', 'Always'), ('a',)]
    """
    columns = list(columns)
    known: dict[str, dict[float, str]] = defaultdict(dict)
    for scale, levels in columns:
        known[scale] = {**levels, **known[scale]}
    return [
        tuple(levels.get(place, word) for place, word in sorted((known[scale] if scale else levels).items()))
        for scale, levels in columns
    ]
