"""Whether the different words of a column are numbers or dates, and in which unit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from consilience._types import Array
from consilience.tables.parse_text import CURRENCIES, units_of

#: Words that say that a number, a date, or a yes or no is not known; of a category only some of them, `NO_ANSWER`.
UNKNOWN = {
    *(
        "unknown",
        "unk",
        "not known",
        "not available",
        "not applicable",
        "missing",
        "no data",
        "no answer",
        "no response",
        "prefer not to say",
        "prefer not to answer",
        "none",
        "nil",
        "empty",
    ),
    *("na", "n.a.", "n/a", "n. a.", "nan", "null", "tbd", "tba", "?", "??", "-", "--", "–", "—", ".", "..", "x", "*"),
    *("unbekannt", "keine angabe", "k.a.", "k. a.", "k.A.", "keine", "fehlt", "inconnu", "desconocido", "onbekend"),
}
#: Those that can be no category: "none" and "unknown" can be one.
NO_ANSWER = {
    *("n/a", "n.a.", "n. a.", "#n/a", "nan", "null", "missing", "no data", "no answer", "not available"),
    *("no response", "prefer not to say", "prefer not to answer"),
    *("k.a.", "k. a.", "keine angabe", "fehlt", "?", "??", "-", "--", "–", "—"),
}
#: Words for unknown that are an answer of some columns though they are none of others: taken for missing in the latter alone.
ANSWERS = {"none", "nil", "empty", "keine", "x", "*", "not applicable", "na"}
DASHES = {"-", "--", "---", "–", "—", "−"}
#: How much of something was found: nothing (1), hardly anything (2), + to +++ (3) or 1+ to 5+ (4), less than nothing (5).
SIGN = re.compile(r"(-|–|—|−|0|neg(?:ative|\.)?)|(\+/-|±|\(\+\)|tr(?:ace|\.)?)|(\++)|([1-5])\+|(--+)")
_PLUS = re.compile(r"\++|\+/-|±")
MOSTLY = 0.9  # share of the cells that must be numbers, or dates, for the others to count as missing
LEAST, FEW_WORDS = 0.7, 5  # the same where the others are at most so many different words, or words for unknown


def has_signs(words: Collection[str]) -> bool:
    """Whether a column holds findings as signs, where a dash says that nothing was found, not that nothing is known.

    Examples
    --------
    >>> has_signs(["-", "+"]), has_signs(["-", "trace", "++"]), has_signs(["-", "1+", "5+"]), has_signs(["-", "+", "7"])
    (True, True, False, False)
    """
    known = [word.casefold() for word in words if word.casefold() not in UNKNOWN - DASHES and word]
    return any(map(_PLUS.fullmatch, known)) and all(map(SIGN.fullmatch, known))


def are_mostly(read: Array, words: list[str], sizes: Array, *, asked: bool) -> bool:
    """Whether so many cells could be read as numbers, or dates, that the others count as missing."""
    n, n_read = int(sizes.sum()), int(sizes[read].sum())
    if asked or n_read >= MOSTLY * n:
        return n_read > 0
    others = [word for word, one in zip(words, read, strict=True) if not one]
    rest = sum(int(size) for word, size in zip(words, sizes, strict=True) if word.casefold() not in UNKNOWN)
    few = len(others) <= FEW_WORDS and int(read.sum()) > len(others)
    return (n_read >= LEAST * n and few) or (n_read >= n / 2 and n_read >= MOSTLY * rest)


def find_unit(words: list[str], sizes: Array) -> tuple[str | None, str]:
    """The unit that nine in ten of the numbers have that have any, None without one; or what units there are where none has so many."""
    held: Counter[str] = Counter()
    for unit, size in zip(units_of(words), sizes.tolist(), strict=True):
        if unit:
            held[unit] += size
    if not held:
        return None, ""
    first, most = held.most_common(1)[0]
    if most >= MOSTLY * held.total():
        return first, ""
    return None, f"mixed units, {' and '.join(unit for unit, _ in held.most_common(2))}"


def are_money(words: list[str]) -> bool:
    """Whether all but a tenth of the words are numbers with a currency or a percent sign."""
    return sum(unit is not None and (unit in CURRENCIES or unit == "%") for unit in units_of(words)) >= MOSTLY * len(
        words
    )
