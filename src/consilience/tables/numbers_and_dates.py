"""Numbers, dates and ranges as people write them: thousands separators, decimal commas, a unit, days before months, 18-24."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from consilience._types import Array, Floats
from consilience.tables.decimal_signs import sign_of_words

_CURRENCY_NAMES = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹"}
_CURRENCIES = "$€£¥₹₽₩"
# Only units that are known: any other word behind digits is a name (1960 Jan, 970 Evo).
_UNITS = "kg g mg lb lbs oz km cm mm m in ft mi s sec min h hr hrs d day days week weeks month months year years yr yrs l ml kWh kW W"
#: Digits with points, commas, apostrophes or spaces among them, a currency before or a unit behind.
_WRITTEN = re.compile(
    rf"(?P<minus>[+-]?)\s*(?:(?P<before>[{_CURRENCIES}]|{'|'.join(_CURRENCY_NAMES)})\s*)?(?P<sign>[+-]?)"
    r"(?P<digits>\d[\d.,'’\u00a0\u202f ]*|[.,]\d+)(?P<power>[eE][+-]?\d+)?"
    rf"\s*(?P<unit>[%‰{_CURRENCIES}]|°[CF]?|(?<=\s)(?:{'|'.join([*_CURRENCY_NAMES, *_UNITS.split()])}))?"
)
#: Where thousands separators may stand, by whether commas are decimal signs.
_PLACED = {
    True: re.compile(r"(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+)?(?:,\d+)?"),
    False: re.compile(r"(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)?(?:\.\d*)?"),
}
_BY_MONTH = ["jan", "feb", "mar mär", "apr", "may mai", "jun", "jul", "aug", "sep", "oct okt", "nov", "dec dez"]
_MONTHS = {name: month for month, names in enumerate(_BY_MONTH, 1) for name in names.split()}
_TIME = r"(?:[ T]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?\s*(?P<half>[AaPp][Mm])?)?"
_YEAR_FIRST = re.compile(
    rf"(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})(?:[-/.](?P<day>\d{{1,2}}))?{_TIME}(?:\s*(?P<zone>Z|[+-]\d\d:?\d\d))?"
)
_YEAR_LAST = re.compile(rf"(?P<one>\d\d?)(?P<mark>[-/.])(?P<two>\d\d?)(?P=mark)(?P<year>\d{{4}}|\d\d){_TIME}")
_NAMED = re.compile(
    rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?[ -]+)?(?P<name>[^\W\d]{{3,9}})\.?[ -]+(?:(?P<after>\d{{1,2}})(?:st|nd|rd|th)?,?[ -]+)?"
    rf"(?P<year>\d{{4}}|\d{{2}}){_TIME}"
)
_MONTH_BEHIND = re.compile(r"(?P<year>\d{4})[ -]+(?:(?P<name>[^\W\d]{3,9})\.?|[Qq](?P<quarter>[1-4]))")
_PLAIN_DAY = re.compile(r"(?:19|20)\d{2}(?:[01]\d[0-3]\d)?")


def written_numbers(
    words: Sequence[str], decimal: str | None = None, *, sign: str | None = None, unit: str | None = None
) -> tuple[Floats, str | None, str]:
    """The number that each word is (NaN where it is none), the decimal sign (None where no word tells it), and the unit that most have."""
    # What commas and points mean is decided by all words together, and by `decimal`, the sign of the other columns, where 1,234 could be
    # either; `sign` and `unit` are those that the words are known to have.
    found = [_WRITTEN.fullmatch(word.strip().replace("\u2212", "-")) for word in words]
    units = [_unit_of(match) for match in found]
    if unit is None:
        # one 50% among plain numbers is another quantity
        unit = next((one for one, _ in Counter(one for one in units if one is not None).most_common(1)), "")
    digits = [re.sub(r"['’\u00a0\u202f ]", "", match["digits"]) if match else "" for match in found]
    if sign is None and any(mark in text for text in digits for mark in ",."):
        sign = sign_of_words(digits, decimal)
    comma = sign == ","
    values = np.full(len(words), np.nan)
    for i, (match, text) in enumerate(zip(found, digits, strict=True)):
        if match is None or units[i] not in ("", unit) or (match["minus"] and match["sign"]):
            continue  # 5 cm among 3 kg, and --5, are no numbers
        if _in_groups(match["digits"]) and _PLACED[comma].fullmatch(text):
            text = text.replace(".", "").replace(",", ".") if comma else text.replace(",", "")
            value = float(text + (match["power"] or ""))
            values[i] = -value if "-" in (match["minus"], match["sign"]) else value
    return values, sign, unit


def is_number(cell: str) -> bool:
    return _WRITTEN.fullmatch(cell.strip()) is not None


def digits_of(word: str) -> str:
    """What stands between a number's currency and its unit; empty where the word is no number."""
    return match["digits"] if (match := _WRITTEN.fullmatch(word.strip())) else ""


def _unit_of(match: re.Match[str] | None) -> str | None:
    """A currency before the digits, or what stands behind them, in the singular."""
    if match is None:
        return None
    unit = match["before"] or match["unit"] or ""
    return _CURRENCY_NAMES.get(unit, unit[:-1] if len(unit) > 2 and unit.endswith("s") else unit)


def _in_groups(digits: str) -> bool:
    """Whether spaces and apostrophes, if any, stand between groups of three digits."""
    parts = re.split(r"['’\u00a0\u202f ]", re.split(r"[.,](?=\d*$)", digits.strip())[0])
    return len(parts) == 1 or (len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:]))


def written_dates(
    words: Sequence[str], *, asked: bool = False, month_first: bool | None = None
) -> tuple[Array, bool | None, str]:
    """The date that each word is (datetime64[s], NaT where it is none), whether months stand first, and what was guessed of that."""
    # Moments with a time zone become UTC. Plain years and 20240403 are dates only if `asked` for.
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
        elif (match := _MONTH_BEHIND.fullmatch(text)) and (match["quarter"] or match["name"][:3].casefold() in _MONTHS):
            month = 3 * int(match["quarter"]) - 2 if match["quarter"] else _MONTHS[match["name"][:3].casefold()]
            parts = match["year"], month, 1
        elif asked and (match := _PLAIN_DAY.fullmatch(text)):
            parts = text[:4], int(text[4:6] or 1), int(text[6:] or 1)
        else:
            continue
        dates[i] = _moment(_year(parts[0]), parts[1], parts[2], match.groupdict())
    return dates, month_first, guessed


def _month_first(matches: Sequence[re.Match[str]]) -> tuple[bool | None, str]:
    # All words together decide: a first number above 12 is a day. Where nothing tells, 3.4.2024 has the day first, 3/4/2024 the month.
    if any(int(match["one"]) > 12 for match in matches):
        return False, ""
    if any(int(match["two"]) > 12 for match in matches):
        return True, ""
    if not matches:
        return None, ""
    return (True, "month first") if matches[0]["mark"] == "/" else (False, "day first")


def _year(text: str) -> int:
    return int(text) + (0 if len(text) == 4 else 2000 if int(text) < 70 else 1900)


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
    """How far a zone such as +05:30 is ahead of UTC; NaT where it is none."""
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


# Words in an order: ranges of numbers (18-24, 65+), and orders that were given.

_N = r"[$€£]?\s*(\d[\d.,]*k?)\s*[$€£%]?"
_RANGE = re.compile(rf"(?:from |between )?{_N}\s*(?:-|–|—|to|bis|and|<)\s*{_N}")
_BELOW = re.compile(
    rf"(?:[<≤]=?|under|below|less than|up to|younger than|fewer than|unter|bis)\s*{_N}|"
    rf"{_N} (?:and|or) (?:under|less|below|younger|fewer)"
)
_ABOVE = re.compile(
    rf"(?:[>≥]=?|over|above|more than|older than|at least|über|ab)\s*{_N}|"
    rf"{_N}\s*(?:\+|(?:and|or) (?:over|more|above|older|up)|und (?:mehr|älter))"
)
_ALONE = re.compile(_N)
_SPAN = re.compile(
    r"\s*\b(years?( old)?|yrs?|y|months?|weeks?|days?|hours?|h|minutes?|min|km|kg|cm|people|employees|jahre)\b"
)


def range_places(words: Sequence[str]) -> Floats | None:
    """Where each range of numbers begins, NaN of a word that is none; None where fewer than three, or where they overlap."""
    ends = [_range(_SPAN.sub("", word.strip().casefold())) for word in words]
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
    known = {level.strip().casefold(): step for step, level in reversed(list(enumerate(levels)))}
    known |= {level: step for step, level in enumerate(levels)}
    steps = np.array([known.get(word, known.get(word.strip().casefold(), np.nan)) for word in words], float)
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


def _range(text: str) -> tuple[float, float] | None:
    text = text.strip()
    if match := _RANGE.fullmatch(text):
        low, high = match.groups()
        ends = _end(f"{low}k" if high.endswith("k") and not low.endswith("k") else low), _end(high)
        return ends if ends[0] < ends[1] else None
    for pattern, other in ((_BELOW, -np.inf), (_ABOVE, np.inf), (_ALONE, None)):
        if match := pattern.fullmatch(text):
            end = _end(next(filter(None, match.groups())))
            found = sorted((end, end if other is None else other))
            return None if np.isnan(end) else (found[0], found[1])
    return None


def _end(digits: str) -> float:
    """A number; a point or comma before three digits separates thousands, unless a 0 stands before it."""
    plain = re.sub(r"(?<=\d)(?<!\b0)[.,](?=\d{3}(?!\d))", "", digits.removesuffix("k")).replace(",", ".").rstrip(".")
    try:
        return float(plain) * (1e3 if digits.endswith("k") else 1)
    except ValueError:
        return np.nan
