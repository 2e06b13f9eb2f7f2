"""Decimal signs: whether commas or points are, of a whole file, of one cell, of the words of a column, and of new rows."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consilience._check import count
from consilience._types import Floats, Ints

DECIMAL_COMMA = r"^\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*$"
_SURE_POINT = r"^\s*[+-]?(0?\.\d+|\d+\.(\d{1,2}|\d{4,}))\s*$"  # 1.234 may be a thousand
_POINT = r"^\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*$"
# A group of thousands begins with 1 to 9: 0.100 is a decimal.
_GROUPED = re.compile(r"[1-9]\d{0,2}(?P<mark>[.,])\d{3}(?:(?P=mark)\d{3})*")


def sign_of_file(body: pa.Table) -> tuple[str | None, bool]:
    """The decimal sign that some cell of a text file tells, and whether commas are, and nowhere a point."""
    commas, points = _has(body, DECIMAL_COMMA), _has(body, _SURE_POINT)
    return "." if points else "," if commas else None, commas and not (points or _has(body, _POINT))


def _has(body: pa.Table, pattern: str) -> bool:
    return any(pc.any(pc.match_substring_regex(column, pattern)).as_py() for column in body.columns)


def sign_of_words(texts: Sequence[str], decimal: str | None) -> str:
    """The decimal sign for which most words speak; those that could be either, as 1.234, speak as the other columns do."""
    votes: Counter[str] = Counter()
    other = {",": ".", ".": ","}
    for text in texts:
        marks = [mark for mark in text if mark in ",."]
        if len(set(marks)) == 2:
            votes[marks[-1]] += len(texts)  # 1,234.5 leaves no doubt
        elif len(marks) > 1:
            votes[other[marks[0]]] += 1
        elif marks and not _GROUPED.fullmatch(text):
            votes[marks[0]] += 1
        elif marks and decimal is not None:
            votes[decimal] += 1
    return "," if votes[","] > votes["."] else "."


def doubtful_sign(words: Sequence[str], digits: Sequence[str], sizes: Ints) -> tuple[str, ...]:
    """A notice where commas are decimal signs by fewer cells than those, such as 1.100, that points as decimal signs would read too."""
    either = np.array(["," not in text and text.count(".") == 1 and bool(_GROUPED.fullmatch(text)) for text in digits])
    tells = np.array(["," in text and not _GROUPED.fullmatch(text) for text in digits])
    if not sizes[either].sum() > sizes[tells].sum():
        return ()
    told = f"{count(int(sizes[tells].sum()), 'cell')} such as {words[int(tells.argmax())]}"
    said = f"by {told}, commas are decimal signs and {words[int(either.argmax())]} is read without its point"
    return (f"{said}; decimal='.' (--decimal .) says otherwise",)


def sign_evidence(read: Callable[..., tuple[Floats, str | None, str]], sign: str) -> tuple[bool, bool]:
    """Whether some words are numbers only with this decimal sign, and whether some are only with the other (`written_numbers`)."""
    here, there = (~np.isnan(read(sign=one)[0]) for one in (sign, "." if sign == "," else ","))
    return bool((here & ~there).any()), bool((there & ~here).any())
