"""What each column of a table of data is: a number, a category, words in an order, a date, a yes or no, or nothing to cluster by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from consilience._check import InputError, count, show
from consilience._types import Array, Floats
from consilience.tables.choices import find_separator_of_choices
from consilience.tables.column_words import DASHES, NO_ANSWER, UNKNOWN, are_money, are_mostly, find_unit, has_signs
from consilience.tables.columns import is_id_name, is_key_name
from consilience.tables.near_ids import nearly_count_rows
from consilience.tables.ordered_columns import column_in_order, ordered_column
from consilience.tables.parse_text import BOUND, sign_evidence, written_dates, written_numbers
from consilience.tables.read_cells import ABSENT, TRUTHS, ColumnError, are_codes, is_postal, numbers_of
from consilience.tables.sheet import Sheet
from consilience.tables.typed_column import MANY, Found, coded, meant_unknown, says_nothing, sizes_of, text_of

#: What a column can be said to be; "log" is a number whose logarithm is taken.
TYPES = ("number", "log", "category", "ordered", "choices", "date", "ignore")
YES = {"true": True, "false": False, "yes": True, "no": False, "y": True, "n": False, "ja": True, "nein": False}
EMPTY = "(empty)"  # what no tick says
YES |= {"+": True} | dict.fromkeys((*DASHES, EMPTY), False)
TICKS = {"x", "✓", "✔", "✗", "•", "yes", "y", "ja", "+"}
REPEATS = 0.5  # different words per cell beyond which text is not a category
RARE, FEWEST, MOST_LEVELS = 0.01, 3, 30  # share and number of objects of a category of its own, and how many there are
COMMON = 0.2  # share of the objects that such categories must have together
LONGEST_NAME, MOST_SPACES = 40, 2  # letters and spaces in what may be the name of an object


def find_kind(
    sheet: Sheet,
    position: int,
    asked: str | tuple[str, ...] | None = None,
    *,
    named: bool = False,
    absent: frozenset[str] = frozenset(),
) -> Found:
    """What a column is, by its cells, or as it was `asked` to be, several words being the levels of an order.

    Where it was `named` to be used, an id is a number.

    Whole numbers under the name of postal codes are a category. The words `absent` count as missing in a category too.

    Raises
    ------
    InputError
        A number is infinite, or no cell is what the column was asked to be.
    """
    name = sheet.column_names()[position]
    if asked == "ignore":
        return Found(name, "ignore", None, "asked for", asked=True)
    column = sheet.column(position)
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered and asked in (None, "ordered"):
        asked = tuple(text_of(level) for level in dtype.categories)
    if isinstance(asked, tuple):
        return column_in_order(sheet, position, name, column, asked)
    if isinstance(dtype, pd.CategoricalDtype) and asked is None:
        asked_kind = "category"
    else:
        asked_kind = asked or ""
    is_code = asked_kind == "" and are_codes(column)
    if is_code:
        asked_kind = "code"
    elif asked_kind == "" and is_postal(name, column):
        asked_kind = "postal"
    if asked_kind in ("", "number", "log") and (numbers := _numbers(sheet, position, column)) is not None:
        found = _number(sheet, position, name, numbers, asked, _is_truths(column), named)
        return replace(found, decimal=_sign_of(sheet, column))
    if asked_kind in ("", "date") and dtype is not None and dtype.kind in "M":
        return _dates(sheet, position, name, _naive(column), asked)
    return _words(sheet, position, name, column, asked, asked_kind, absent)


def _numbers(sheet: Sheet, position: int, column: Any) -> Floats | None:
    """The column as numbers, if it is one throughout; spans of time are days."""
    dtype = getattr(column, "dtype", None)
    if dtype is not None and getattr(dtype, "kind", "") == "m":
        return np.asarray(column.dt.total_seconds() / 86400.0, float)
    if dtype is not None and dtype.kind == "M":
        return None
    try:
        return numbers_of(sheet, position).astype(np.float64, copy=False)
    except ColumnError:
        return None


def _sign_of(sheet: Sheet, column: Any) -> str | None:
    """The decimal sign of a column of plain numbers, where it is not the usual one."""
    return "," if isinstance(column, pa.ChunkedArray) and sheet.decimal == "," else None


def _is_truths(column: Any) -> bool:
    if isinstance(column, pa.ChunkedArray):
        return {word.strip() for word in column.unique().to_pylist()} <= {*TRUTHS, *ABSENT}
    return pd.api.types.is_bool_dtype(column.dtype) or (
        column.dtype == object and all(isinstance(cell, (bool, np.bool_)) for cell in column.dropna().unique())
    )


def _naive(column: pd.Series) -> pd.Series:
    """Moments without a time zone, in UTC where they had one."""
    moments = pd.to_datetime(column, utc=True).dt.tz_localize(None)
    return moments.astype("datetime64[s]").reset_index(drop=True)


def _number(
    sheet: Sheet, position: int, name: str, numbers: Floats, asked: str | None, truths: bool, named: bool = False
) -> Found:
    _refuse_infinite(sheet, position, numbers)
    cells = pd.Series(numbers)
    known = numbers[~np.isnan(numbers)]
    if why := says_nothing(len(known), len(numbers), len(np.unique(known[:1])) if len(known) else 0, known):
        return Found(name, "ignore", None, why)
    if asked is None and not named and _counts_rows(name, known, len(numbers)):
        return Found(name, "ignore", None, "id-like, all different", counts_rows=True)
    if asked is None and not named and (why := nearly_count_rows(sheet, numbers)):
        return Found(name, "ignore", None, why, counts_rows=True)
    if truths:
        return Found(name, "boolean", _truth_words(numbers))
    if asked == "log" and known.min() < 0:
        row = int(np.nanargmin(numbers))
        raise InputError(
            f"{sheet.place(row, position)}: {numbers[row]:g} has no logarithm: leave {name!r} a number, or correct the cell"
        )
    return Found(name, asked or "number", cells, asked=asked is not None)


def _refuse_infinite(sheet: Sheet, position: int, numbers: Floats) -> None:
    infinite = np.isinf(numbers)
    if infinite.any():
        row, n = int(infinite.argmax()), int(infinite.sum())
        raise InputError(
            f"{sheet.place(row, position)}: infinite value ({numbers[row]}), {'the only one' if n == 1 else f'the first of {n}'}: "
            "correct such cells, leave them empty, or leave the column out"
        )


def _counts_rows(name: str, known: Floats, n: int) -> bool:
    """Whether whole numbers name objects: all differ, and they count the rows or stand under a name like an id's."""
    if len(known) < n or n < MANY or (known % 1 != 0).any():
        return False
    if len(np.unique(known)) < n:
        return False
    return bool(known.max() - known.min() == n - 1) or is_id_name(name) or is_key_name(name)


def _words(
    sheet: Sheet, position: int, name: str, column: Any, asked: str | None, kind: str, absent: frozenset[str]
) -> Found:
    """A column that is not numbers throughout: words in an order, numbers or dates as people write them, else categories."""
    if (
        kind == ""
        and (ticks := _ticks(name, *coded(replace(sheet, missing=()), column, frozenset(ABSENT - {""})))) is not None
    ):
        return ticks
    with_none = coded(sheet, column, frozenset({"None"}))  # a word of categories and scales, no number, date or choice
    n, n_known = len(with_none[0]), int((with_none[0] >= 0).sum())
    if why := says_nothing(n_known, n, len(with_none[1])):
        return Found(name, "ignore", None, why)
    if kind in ("", "ordered") and (found := ordered_column(name, *with_none, asked=bool(kind))) is not None:
        return found
    codes, words = coded(sheet, column)
    sizes = sizes_of(codes, words)
    if kind == "ordered":
        some = " and ".join(show(word, 30) for word in words[:2])
        raise InputError(
            f"{sheet.place(None, position)}: the order of its words, such as {some}, is not known: give it from the lowest, as "
            f"types={{{name!r}: ['low', 'medium', 'high']}} (--type '{name}=low<medium<high')"
        )
    if kind in ("", "number", "log"):
        unit, mixed = find_unit(words, sizes)
        if mixed and kind:
            raise InputError(
                f"{sheet.place(None, position)}: has {mixed}: bring them to one unit, or leave the column out"
            )
        values, decimal, unit = written_numbers(words, sheet.decimal, unit=unit)
        if not mixed and are_mostly(~np.isnan(values), words, sizes, asked=bool(kind)):
            spread = np.append(values, np.nan)[codes]
            found = _number(sheet, position, name, spread, asked, False)
            notes = (*_left_out(words, np.isnan(values), sizes, "number"), *_bounds(words, ~np.isnan(values), sizes))
            gone = meant_unknown(words, np.isnan(values))
            return replace(found, notes=notes, asked=bool(kind), decimal=decimal, unit=unit, absent=gone)
        if mixed and (len(words) > MOST_LEVELS or are_money(words)):
            return Found(name, "ignore", None, mixed)
    if kind in ("", "date"):
        dates, month_first, guessed = written_dates(words, asked=kind == "date")
        if are_mostly(~np.isnat(dates), words, sizes, asked=bool(kind)):
            moments = pd.Series(np.append(dates, np.datetime64("NaT", "s"))[codes])
            notes = (f"read with the {guessed}",) if guessed else ()
            notes += _left_out(words, np.isnat(dates), sizes, "date")
            gone = meant_unknown(words, np.isnat(dates))
            return replace(_dates(sheet, position, name, moments, asked, notes), month_first=month_first, absent=gone)
    if kind in ("", "choices"):
        held, said, notes = _without_unknown(codes, words, sizes, absent)
        if sep := find_separator_of_choices(said, sizes_of(held, said), asked=bool(kind)):
            cells = pd.Series(np.array([*said, None], object)[held], dtype=object)
            gone = absent | meant_unknown(words, np.array([word not in said for word in words]))
            return Found(name, "choices", cells, notes=notes, asked=bool(kind), sep=sep, absent=gone)
    if kind == "choices":
        raise InputError(
            f"{sheet.place(None, position)}: no cell holds several choices, separated by a semicolon, a bar or a comma: say another type "
            f"of {name!r} in types= (--type)"
        )
    if kind not in ("", "category", "code", "postal"):
        row = int((codes >= 0).argmax())
        raise InputError(
            f"{sheet.place(row, position)}: no cell is a {'date' if kind == 'date' else 'number'}, such as {show(words[codes[row]], 30)}: "
            f"say another type of {name!r} in types= (--type)"
        )
    notes = ()
    codes, words = with_none
    sizes = sizes_of(codes, words)
    if kind != "category":
        before = words
        codes, words, notes = _without_unknown(codes, words, sizes, absent)
        absent |= meant_unknown(before, np.array([word not in words for word in before]))
        sizes = sizes_of(codes, words)
        if why := says_nothing(int(sizes.sum()), n, len(words)):
            return Found(name, "ignore", None, why)
    return replace(_category(name, codes, words, sizes, kind, notes), absent=absent)


def _ticks(name: str, codes: Array, words: list[str]) -> Found | None:
    """A column of ticks, x or nothing, as yes or no; None where it is another, or hardly anything is ticked."""
    sizes = sizes_of(codes, words)
    n, n_known = len(codes), int(sizes.sum())
    if len({word.casefold() for word in words}) != 1 or words[0].casefold() not in TICKS:
        return None
    if n_known == n or n_known < max(FEWEST, RARE * n):
        return None
    tick = words[int(sizes.argmax())]
    note = f"an empty cell means no, since all others are {show(tick, 30)}"
    return Found(
        name, "boolean", pd.Series(np.where(codes < 0, EMPTY, tick).astype(object), dtype=object), notes=(note,)
    )


def _without_unknown(
    codes: Array, words: list[str], sizes: Array, absent: frozenset[str]
) -> tuple[Array, list[str], tuple[str, ...]]:
    """A column of words without those that say that nothing is known, and a note of them; of yes and no, all that mean so."""
    folded = [word.casefold() for word in words]
    signs = DASHES if has_signs(words) else set()
    rest = {word for word in folded if word not in UNKNOWN - signs}
    meant = (UNKNOWN if len(rest) == 2 and rest <= set(YES) else NO_ANSWER | absent) - signs
    gone = np.array([word in meant for word in folded])
    if not gone.any():
        return codes, words, ()
    n, first = int(sizes[gone].sum()), words[int(np.argmax(np.where(gone, sizes, 0)))]
    place = np.append(np.where(gone, -1, np.cumsum(~gone) - 1), -1)
    note = f"{count(n, 'cell')} such as {show(first, 30)} {'counts' if n == 1 else 'count'} as missing"
    return place[codes], [word for word, lost in zip(words, gone, strict=True) if not lost], (note,)


def _left_out(words: list[str], strange: Array, sizes: Array, what: str) -> tuple[str, ...]:
    if not strange.any():
        return ()
    n, first = int(sizes[strange].sum()), words[int(np.argmax(np.where(strange, sizes, 0)))]
    is_, counts = (f"is no {what}", "counts") if n == 1 else (f"are no {what}s", "count")
    return (f"{count(n, 'cell')} that {is_}, such as {show(first, 30)}, {counts} as missing",)


def _bounds(words: list[str], read: Array, sizes: Array) -> tuple[str, ...]:
    """A note of cells such as <0.5."""
    bounds = read & np.array([BOUND.match(word) is not None for word in words])
    if not bounds.any():
        return ()
    n, first = int(sizes[bounds].sum()), words[int(np.argmax(np.where(bounds, sizes, 0)))]
    return (f"{count(n, 'cell')} such as {show(first, 30)} {'counts' if n == 1 else 'count'} as the number there",)


def _dates(
    sheet: Sheet, position: int, name: str, moments: pd.Series, asked: str | None, notes: tuple[str, ...] = ()
) -> Found:
    known = moments.dropna()
    if why := says_nothing(len(known), len(moments), known.nunique()):
        return Found(name, "ignore", None, why)
    return Found(name, "date", moments, notes=notes, asked=asked is not None)


def _category(name: str, codes: Array, words: list[str], sizes: Array, kind: str, notes: tuple[str, ...] = ()) -> Found:
    n_known, is_asked = int(sizes.sum()), kind == "category"
    cells = pd.Series(np.array([*words, None], object)[codes], dtype=object)
    if len(words) == 2 and {word.casefold() for word in words} <= set(YES):
        return Found(name, "boolean", cells, notes=notes, asked=is_asked)
    if not is_asked and n_known >= MANY and len(words) > REPEATS * n_known:
        what = {"code": "codes with leading zeros", "postal": "postal codes"}.get(kind, "free text")
        why = "id-like, all different" if len(words) == n_known else f"{what}, {len(words):,} different"
        short = all(len(word) <= LONGEST_NAME and word.count(" ") <= MOST_SPACES for word in words)
        is_name = short and len(words) == len(codes) and kind != "postal"
        return Found(name, "ignore", None, why, names_objects=is_name)
    kept = levels_of(dict(zip(words, sizes.tolist(), strict=True)), n_known)
    if not is_asked and sum(sizes[words.index(word)] for word in kept) < COMMON * n_known:
        return Found(name, "ignore", None, f"{len(words):,} categories, hardly one of them common")
    why = {"code": "numbers begin with zeros as codes do", "postal": "name is that of postal codes"}.get(kind, "")
    return Found(
        name, "category", cells, notes=(f"a category, since its {why}", *notes) if why else notes, asked=is_asked
    )


def levels_of(sizes: dict[str, int], n_known: int) -> list[str]:
    """The categories with a column of their own, the largest first: common ones, or all where only one is not."""
    ranked = [word for word, _ in Counter(sizes).most_common()]
    least = max(FEWEST, RARE * n_known) if n_known >= MANY else 1
    kept = [word for word in ranked[:MOST_LEVELS] if sizes[word] >= least]
    return ranked if len(ranked) <= min(len(kept) + 1, MOST_LEVELS) else kept or ranked[:MOST_LEVELS]


def cells_as(
    sheet: Sheet,
    position: int,
    kind: str,
    *,
    decimal: str | None = None,
    unit: str | None = None,
    month_first: bool | None = None,
    levels: tuple[str, ...] = (),
) -> Found:
    """A column of new rows as cells of a `kind` that is known: number, log, log1p, date, category, boolean or ordered by `levels`.

    Numbers and dates are read as those of the first table were; what is None the cells tell. The `notes` count what is neither missing
    nor a number or a date.
    """
    notes: tuple[str, ...] = ()
    name, column = sheet.column_names()[position], sheet.column(position)
    if kind in ("number", "log", "log1p"):
        typed = decimal in (None, sheet.decimal) or not isinstance(column, pa.ChunkedArray)
        numbers = _numbers(sheet, position, column) if typed else None
        if numbers is None:
            codes, words = coded(sheet, column)
            values, decimal, unit = written_numbers(words, sheet.decimal, sign=decimal, unit=unit)
            numbers, notes = np.append(values, np.nan)[codes], _unread(codes, words, np.isnan(values), "number")
        _refuse_infinite(sheet, position, numbers)
        sign = decimal or _sign_of(sheet, column)
        return Found(name, kind, pd.Series(numbers), notes=notes, decimal=sign, unit=unit or "")
    if kind == "date" and getattr(getattr(column, "dtype", None), "kind", "") == "M":
        return Found(name, kind, _naive(column))
    if kind == "boolean" and _is_truths(column) and (numbers := _numbers(sheet, position, column)) is not None:
        return Found(name, kind, _truth_words(numbers))
    ticks = EMPTY in levels
    words_too = ABSENT - {""} if ticks else {"None"} if kind == "category" else set()
    codes, words = coded(sheet, column, frozenset(levels) | frozenset(words_too))
    if kind == "date":
        dates, month_first, _ = written_dates(words, asked=True, month_first=month_first)
        moments = pd.Series(np.append(dates, np.datetime64("NaT", "s"))[codes])
        return Found(name, kind, moments, notes=_unread(codes, words, np.isnat(dates), "date"), month_first=month_first)
    if kind == "boolean":  # yes for Yes, and for another tick
        by_meaning: dict[bool | None, str] = {YES.get(level.casefold(), True): level for level in levels}
        meant = [YES.get(word.casefold(), True if ticks and word.casefold() in TICKS else None) for word in words]
        words = [
            word if word in levels else by_meaning.get(means, word) for word, means in zip(words, meant, strict=True)
        ]
    blank = EMPTY if ticks else None
    return Found(name, kind, pd.Series(np.array([*words, blank], object)[codes], dtype=object))


def other_decimal(sheet: Sheet, columns: Iterable[tuple[int, str, str]]) -> str | None:
    """The decimal sign of new rows where it cannot be that of the first table: some cells of its columns tell, and none against it.

    `columns` are positions, signs and units of columns of numbers as the first table had them.
    """
    against: set[str] = set()
    for position, sign, unit in columns:
        column = sheet.column(position)
        if isinstance(column, pa.ChunkedArray) or column.dtype == object:
            own, other = sign_evidence(coded(sheet, column)[1], sign, unit)
            if own:
                return None
            against |= {"," if sign == "." else "."} if other else set()
    return against.pop() if len(against) == 1 else None


def _unread(codes: Array, words: list[str], strange: Array, what: str) -> tuple[str, ...]:
    return _left_out(words, strange, sizes_of(codes, words), what)


def _truth_words(numbers: Floats) -> pd.Series:
    return pd.Series(np.where(numbers == 1, "true", "false"), dtype=object).where(~np.isnan(numbers), None)
