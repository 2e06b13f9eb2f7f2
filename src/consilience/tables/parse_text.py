"""Numbers and dates as people write them: thousands separators, decimal commas, percent signs, losses in brackets, days before months."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from consilience._types import Array, Floats

CURRENCIES = "$€£¥₹₽₩"
_NAMES = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹"}  # of currencies
_SIGNS = rf"(?:(?P<before>[{CURRENCIES}]|{'|'.join(_NAMES)})\s*)?"
#: Digits with points, commas, apostrophes or spaces among them, a currency before or a unit behind.
_WRITTEN = re.compile(
    rf"(?P<minus>[+-]?)\s*{_SIGNS}(?P<sign>[+-]?)(?P<digits>\d[\d.,'’\u00a0\u202f ]*|[.,]\d+)(?P<power>[eE][+-]?\d+)?"
    rf"(?P<times>(?<=\d)(?:[kKM]|[mb]n)|\s?(?:Mio|Mrd)\b\.?)?\s*(?P<unit>%|°C?|[{CURRENCIES}]|(?<=\s)[^\W\d]{{1,6}})?"
)
_TIMES = {"k": 1e3, "K": 1e3, "M": 1e6, "mn": 1e6, "bn": 1e9, "Mio": 1e6, "Mrd": 1e9}
#: A bound in place of a number that was too small or too large to measure.
BOUND = re.compile(r"\s*[<>≤≥]=?\s*(?=\S)")
_BRACKETS = re.compile(rf"([{CURRENCIES}]?)\s*\((.*)\)")
_BEHIND = re.compile(r"(.*\d)\s*-")  # a minus, as some programs write it
_AMOUNT = re.compile(r"\d[.,]\d|\d{3}")
_GROUPED = re.compile(r"\d{1,3}(?P<mark>[.,])\d{3}(?:(?P=mark)\d{3})*")
#: Where thousands separators may stand, by whether commas are decimal signs.
_PLACED = {
    True: re.compile(r"(?:\d+|\d{1,3}(?:\.\d{3})+)?(?:,\d+)?"),
    False: re.compile(r"(?:\d+|\d{1,3}(?:,\d{3})+)?(?:\.\d*)?"),
}
_MONTHS = {
    name: month
    for month, names in enumerate(
        ("jan", "feb", "mar mär", "apr", "may mai", "jun", "jul", "aug", "sep", "oct okt", "nov", "dec dez"), 1
    )
    for name in names.split()
}
_TIME = r"(?:[ T]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?\s*(?P<half>[AaPp][Mm])?)?"
_YEAR_FIRST = re.compile(
    rf"(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})(?:[-/.](?P<day>\d{{1,2}}))?{_TIME}(?:\s*(?P<zone>Z|[+-]\d\d:?\d\d))?"
)
_YEAR_LAST = re.compile(
    rf"(?P<one>\d{{1,2}})(?P<mark>[-/.])(?P<two>\d{{1,2}})(?P=mark)(?P<year>\d{{4}}|\d{{2}}){_TIME}"
)
_NAMED = re.compile(
    rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?[ -]+)?(?P<name>[^\W\d]{{3,9}})\.?[ -]+(?:(?P<after>\d{{1,2}})(?:st|nd|rd|th)?,?[ -]+)?"
    rf"(?P<year>\d{{4}}|\d{{2}}){_TIME}"
)
_PLAIN_DAY = re.compile(r"(?:19|20)\d{2}(?:[01]\d[0-3]\d)?")


def written_numbers(
    words: Sequence[str], decimal: str | None = None, *, sign: str | None = None, unit: str | None = None
) -> tuple[Floats, str | None, str]:
    """The number that each word is, NaN where it is none; what commas and points mean is decided by all words together.

    Numbers in brackets are negative, unless all are and nothing is known of them, and so are those with a minus behind them. Of a bound,
    as ``<0.5``, it is the number there.

    Parameters
    ----------
    words : sequence of str
        Different cells of one column.
    decimal : {".", ","}, optional
        The decimal sign that is likely, where ``1,234`` could be either.
    sign : {".", ","}, optional
        The decimal sign that the words are known to have, whatever they look like.
    unit : str, optional
        The unit that the words are known to have, if any; "" for none. What has another one is no number.

    Returns
    -------
    values : (n,) array
    sign : {".", ","} or None
        The decimal sign; None where no word has a comma or a point and nothing was known.
    unit : str
        The unit; "" where there is none.

    Examples
    --------
    >>> values, sign, unit = written_numbers(["1,234.50", "$ 7", "none", "-1e3"])
    >>> values.tolist(), sign, unit
    ([1234.5, 7.0, nan, -1000.0], '.', '$')
    >>> values, sign, unit = written_numbers(["1.234,5 €", "12,25 €"])
    >>> values.tolist(), sign, unit
    ([1234.5, 12.25], ',', '€')
    >>> written_numbers(["($1,200.50)", "$3", "7.25-", "<0.5"])[0].tolist()
    [-1200.5, 3.0, -7.25, 0.5]
    >>> written_numbers(["$184k", "$4.6M", "$950"])[0].tolist(), written_numbers(["3,5 Mio. €", "12 €"])[0].tolist()
    ([184000.0, 4600000.0, 950.0], [3500000.0, 12.0])
    >>> written_numbers(["<65", ">=65"])[0].tolist(), written_numbers(["1", "1-", "2"])[0].tolist()  # groups, and marks
    ([nan, nan], [1.0, nan, 2.0])
    >>> written_numbers(["3,125 €", "4 kg"], sign=sign, unit=unit)[0].tolist()
    [3.125, nan]
    """
    less = [_is_loss(word) for word in words]
    found = [_match(word) for word in words] if unit is not None else _likely(words)
    values = np.full(len(words), np.nan)
    units = [_unit_of(match) for match in found]
    if unit is None:
        if len({one for one in units if one}) > 1:
            return values, sign, ""  # 3 kg and 5 cm are not one measurement
        unit = next((one for one in units if one), "")
    else:
        found = [match if one in ("", unit) else None for match, one in zip(found, units, strict=True)]
    digits = [re.sub(r"['’\u00a0\u202f ]", "", match["digits"]) if match else "" for match in found]
    if sign is None and any(mark in text for text in digits for mark in ",."):
        sign = "," if _decimal_comma([text for text in digits if text], decimal) else "."
    comma = sign == ","
    for i, (match, text) in enumerate(zip(found, digits, strict=True)):
        if match is not None and _spaced(match["digits"]) and _PLACED[comma].fullmatch(text):
            text = text.replace(".", "").replace(",", ".") if comma else text.replace(",", "")
            value = float(text + (match["power"] or "")) * _TIMES.get((match["times"] or "").strip(" ."), 1.0)
            values[i] = -value if less[i] or "-" in (match["minus"], match["sign"]) else value
    return values, sign, unit


def sign_evidence(words: Sequence[str], sign: str, unit: str | None = None) -> tuple[bool, bool]:
    """Whether some words are numbers only with this decimal sign, and whether some are only with the other.

    Examples
    --------
    >>> sign_evidence(["5.1", "12", "none"], ","), sign_evidence(["1.234", "12"], ","), sign_evidence(["5.1", "5,1"], ",")
    ((False, True), (False, False), (True, True))
    """
    signs = (sign, "." if sign == "," else ",")
    own, other = (~np.isnan(written_numbers(words, sign=one, unit=unit)[0]) for one in signs)
    return bool((own & ~other).any()), bool((other & ~own).any())


def units_of(words: Sequence[str]) -> list[str | None]:
    """The unit of each word that is a number, "" without one; None where it is no number.

    Examples
    --------
    >>> units_of(["$ 5", "5 EUR", "3 days", "1 day", "7", "seven"])
    ['$', '€', 'day', 'day', '', None]
    """
    return [_unit_of(match) for match in _likely(words)]


def is_number(cell: str) -> bool:
    """Whether a cell by itself is a number, with or without a unit."""
    return _match(cell) is not None


def _likely(words: Sequence[str]) -> list[re.Match[str] | None]:
    """Of a column not known yet: bounds are numbers among numbers, a minus stands behind amounts, not behind marks such as 2-."""
    bounds = [bool(BOUND.match(word)) for word in words]
    behind = [bool(_BEHIND.fullmatch(word.strip())) for word in words]
    amounts = any(_AMOUNT.search(word) for word, one in zip(words, behind, strict=True) if one)
    few = 2 * sum(bounds) < len(words)
    return [
        None if (bound and not few) or (minus and not amounts) else _match(word)
        for word, bound, minus in zip(words, bounds, behind, strict=True)
    ]


def _match(word: str) -> re.Match[str] | None:
    """A number, without brackets, a minus behind it, or what says that it is a bound."""
    text = BOUND.sub("", word, count=1).strip().replace("\u2212", "-")
    if brackets := _BRACKETS.fullmatch(text):
        text = brackets[1] + brackets[2]
    elif behind := _BEHIND.fullmatch(text):
        text = behind[1]
    return _WRITTEN.fullmatch(text)


def _is_loss(word: str) -> bool:
    text = word.strip()
    return bool(_BRACKETS.fullmatch(text) or _BEHIND.fullmatch(text))


def _unit_of(match: re.Match[str] | None) -> str | None:
    """A currency before the digits, or what stands behind them, in the singular."""
    if match is None:
        return None
    unit = match["before"] or match["unit"] or ""
    return _NAMES.get(unit, unit[:-1] if len(unit) > 2 and unit.endswith("s") else unit)


def _spaced(digits: str) -> bool:
    """Whether spaces and apostrophes, if any, stand between groups of three digits."""
    parts = re.split(r"['’\u00a0\u202f ]", re.split(r"[.,](?=\d*$)", digits.strip())[0])
    return len(parts) == 1 or (len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:]))


def _decimal_comma(texts: Sequence[str], decimal: str | None) -> bool:
    """Whether commas are decimal signs: one that does not stand before three digits, or behind a point, says so."""
    for text in texts:
        if "," in text and "." in text:
            return text.rindex(",") > text.rindex(".")
    odd = {mark: any(mark in text and not _GROUPED.fullmatch(text) for text in texts) for mark in ",."}
    twice = {mark: any(text.count(mark) > 1 for text in texts) for mark in ",."}
    if odd["."] and not twice["."]:
        return False
    if odd[","] and not twice[","]:
        return True
    return decimal == "," or (twice["."] and not twice[","])


def written_dates(
    words: Sequence[str], *, asked: bool = False, month_first: bool | None = None
) -> tuple[Array, bool | None, str]:
    """The date that each word is (datetime64[s], NaT where it is none), whether months stand first, and what was guessed of that.

    Day or month first, unless known, is decided by all words together: a first number above 12 is a day. Where nothing tells,
    3.4.2024 has the day first and 3/4/2024 the month; where nothing is to be told it is None. Moments with a time zone become
    UTC. Plain years and 20240403 are dates only if `asked` for.

    Examples
    --------
    >>> dates, month_first, _ = written_dates(["2024-02-29", "13.4.2024 10:30", "3 May 24", "2023-02-29"])
    >>> dates.astype(str).tolist()
    ['2024-02-29T00:00:00', '2024-04-13T10:30:00', '2024-05-03T00:00:00', 'NaT']
    >>> written_dates(["3/4/2024"])[1:]
    (True, 'month first')
    >>> written_dates(["3/4/2024"], month_first=month_first)[0].astype(str).tolist()
    ['2024-04-03T00:00:00']
    """
    dates = np.full(len(words), np.datetime64("NaT", "s"), "datetime64[s]")
    numeric = [_YEAR_LAST.fullmatch(word.strip()) for word in words]
    guessed = ""
    if month_first is None:
        month_first, guessed = _month_first([match for match in numeric if match])
    for i, (word, match) in enumerate(zip(words, numeric, strict=True)):
        text = word.strip()
        if match:
            one, two = int(match["one"]), int(match["two"])
            parts = (match["year"], one, two) if month_first else (match["year"], two, one)
        elif match := _YEAR_FIRST.fullmatch(text):
            parts = match["year"], int(match["month"]), int(match["day"] or 1)
        elif (match := _NAMED.fullmatch(text)) and match["name"][:3].casefold() in _MONTHS:
            parts = match["year"], _MONTHS[match["name"][:3].casefold()], int(match["day"] or match["after"] or 1)
        elif asked and (match := _PLAIN_DAY.fullmatch(text)):
            parts = text[:4], int(text[4:6] or 1), int(text[6:] or 1)
        else:
            continue
        time = match.groupdict()
        dates[i] = _moment(_year(parts[0]), parts[1], parts[2], time)
    return dates, month_first, guessed


def _month_first(matches: Sequence[re.Match[str]]) -> tuple[bool | None, str]:
    if any(int(match["one"]) > 12 for match in matches):
        return False, ""
    if any(int(match["two"]) > 12 for match in matches):
        return True, ""
    if not matches:
        return None, ""
    month_first = matches[0]["mark"] == "/"
    return month_first, "month first" if month_first else "day first"


def _year(text: str) -> int:
    year = int(text)
    return year if len(text) == 4 else year + (2000 if year < 70 else 1900)


def _moment(year: int, month: int, day: int, time: dict[str, str | None]) -> np.datetime64:
    hour = int(time.get("hour") or 0)
    if time.get("half"):
        hour = hour % 12 + (12 if str(time["half"]).lower() == "pm" else 0)
    try:
        moment = dt.datetime(year, month, day, hour, int(time.get("minute") or 0), int(time.get("second") or 0))
    except ValueError:
        return np.datetime64("NaT", "s")
    return np.datetime64(moment, "s") - _offset(time.get("zone"))


def _offset(zone: str | None) -> np.timedelta64:
    """How far a zone such as +05:30 is ahead of UTC; NaT where no clock can be."""
    if zone in (None, "Z"):
        return np.timedelta64(0, "s")
    hours, minutes = int(str(zone)[1:3]), int(str(zone)[-2:])
    if hours > 23 or minutes > 59:
        return np.timedelta64("NaT", "s")
    ahead = np.timedelta64(3600 * hours + 60 * minutes, "s")
    return -ahead if str(zone)[0] == "-" else ahead


def days(dates: pd.Series) -> Floats:
    """Days since 1970 of a column of datetime64; NaN where missing."""
    moments = dates.to_numpy("datetime64[s]")
    return np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 86400.0)
