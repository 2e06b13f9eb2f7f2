"""What each column of a table of data is: a number, a category (ordered or not), a date, yes or no, or nothing to cluster by."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from consilience._check import InputError, check_choice, count, kind_of, show
from consilience._types import Array, Floats
from consilience.tables.column_roles import Doubt, is_id_name
from consilience.tables.decimal_signs import doubtful_sign, sign_evidence
from consilience.tables.numbers_and_dates import digits_of, given_steps, range_places, written_dates, written_numbers
from consilience.tables.raw_table import RawTable
from consilience.tables.table_kinds import ABSENT, TRUTHS, ColumnError, are_codes, check_finite, missing_of, numbers_of

#: What a column can be said to be; "log" is a number whose logarithm is taken.
TYPES = ("number", "log", "category", "ordered", "date", "ignore")
Asked: TypeAlias = str | tuple[str, ...] | None
YES = {"true": True, "false": False, "yes": True, "no": False, "y": True, "n": False, "ja": True, "nein": False}
#: Words that say that a number, a range, a date, or a yes or no is not known; a category may have them.
UNKNOWN = {
    *("unknown", "unk", "not known", "not available", "not applicable", "missing", "no data", "no answer"),
    *("no response", "prefer not to say", "prefer not to answer", "none", "nil", "empty"),
    *("na", "n.a.", "n/a", "n. a.", "nan", "null", "tbd", "tba", "?", "??", "-", "--", "–", "—", ".", "..", "x", "*"),
    *("unbekannt", "keine angabe", "k.a.", "k. a.", "keine", "fehlt", "inconnu", "desconocido", "onbekend"),
}
MANY = 20  # objects from which on it counts how often words repeat
MOST_ABSENT = 0.8  # share of missing cells beyond which a column says too little
REPEATS = 0.5  # different words per cell beyond which text is not a category
RARE, FEWEST, MOST_LEVELS = 0.01, 3, 30  # share and number of objects of a category of its own, and how many there are
MOST_ODD = 0.1  # share of the cells of a number, or date, that are other words, each of them too rare for a category
COMMON = 0.2  # share of the objects that such categories must have together
LONGEST_NAME = 40  # letters of what may be the name of an object, of three words at most


@dataclass(frozen=True, eq=False)
class TypedColumn:
    name: str
    kind: str  # number, log, category, boolean, ordered, date, ignore
    #: float64 (numbers), datetime64 (dates) or categorical (all others); NaN or NaT where missing
    cells: pd.Series | None
    why: str = ""  # it is set aside
    notes: tuple[str, ...] = ()  # what else was decided
    asked: bool = False
    decimal: str | None = None  # how its numbers and dates are written; None where the cells do not tell
    unit: str = ""
    month_first: bool | None = None
    names_objects: bool = False  # though set aside: short text that differs for all objects
    levels: tuple[str, ...] = ()  # of an order, from the lowest


def find_type(raw: RawTable, position: int, asked: Asked = None, *, named: bool = False) -> TypedColumn:
    """What a column is, by its cells, or as it was `asked` to be, several words being the levels of an order; one `named` is no id."""
    name = raw.column_names[position]
    if asked == "ignore":
        return TypedColumn(name, "ignore", None, "asked for", asked=True)
    column = raw.column(position)
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, pd.CategoricalDtype) and asked in (None, "ordered"):
        asked = tuple(text_of(level) for level in dtype.categories) if dtype.ordered else "category"
        if asked == "category":
            return replace(_words(raw, position, name, column, None, "category"), asked=False)
    if isinstance(asked, tuple):
        return _in_order(raw, position, name, column, asked)
    if asked is None and are_codes(column):
        return _words(raw, position, name, column, None, "code")
    if asked in (None, "number", "log") and (numbers := _numbers(raw, position, column)) is not None:
        found = _number(raw, position, name, numbers, asked, _is_truths(column), named)
        written = isinstance(column, pa.ChunkedArray) and raw.decimal == ","
        return replace(found, decimal="," if written else None)
    if asked in (None, "date") and dtype is not None and dtype.kind in "M":
        return _dates(name, _naive(column), asked)
    return _words(raw, position, name, column, asked, asked or "")


def _numbers(raw: RawTable, position: int, column: Any) -> Floats | None:
    """The column as numbers, if it is one throughout; spans of time are days."""
    kind = getattr(getattr(column, "dtype", None), "kind", "")
    if kind == "m":
        return np.asarray(column.dt.total_seconds() / 86400.0, float)
    if kind == "M":
        return None
    try:
        return numbers_of(raw, position).astype(np.float64, copy=False)
    except ColumnError:
        return None


def _is_truths(column: Any) -> bool:
    if isinstance(column, pa.ChunkedArray):
        return {word.strip() for word in column.unique().to_pylist()} <= {*TRUTHS, *ABSENT}
    if column.dtype != object:
        return bool(pd.api.types.is_bool_dtype(column.dtype))
    return all(isinstance(cell, (bool, np.bool_)) for cell in column.dropna().unique())


def _naive(column: pd.Series) -> pd.Series:
    """Moments without a time zone, in UTC where they had one."""
    moments = pd.to_datetime(column, utc=True).dt.tz_localize(None)
    return moments.astype("datetime64[s]").reset_index(drop=True)


def _number(
    raw: RawTable, position: int, name: str, numbers: Floats, asked: str | None, truths: bool, named: bool = False
) -> TypedColumn:
    known = _finite(raw, position, numbers)
    if why := says_nothing(len(known), len(numbers), 1 + int((known[1:] != known[:1]).any())):
        return TypedColumn(name, "ignore", None, why)
    if asked is None and not named and (why := names_rows(name, numbers)):
        return TypedColumn(name, "ignore", None, why)
    if truths:
        return TypedColumn(name, "boolean", _truth_words(numbers))
    if asked == "log" and known.min() < 0:
        row = int(np.nanargmin(numbers))
        said = f"{numbers[row]:g} has no logarithm: leave {name!r} a number, or correct the cell"
        raise raw.error(said, row, position)
    return TypedColumn(name, asked or "number", pd.Series(numbers), asked=asked is not None)


def _finite(raw: RawTable, position: int, numbers: Floats) -> Floats:
    """Those that are not missing; infinite ones are refused."""
    gone = np.isnan(numbers)
    check_finite(raw, np.where(gone, 0.0, numbers)[:, None], [position])
    return numbers[~gone]


def names_rows(name: str, numbers: Floats) -> str:
    """Why whole numbers name the rows: they count them in their order, or all differ under an id's name; empty where they measure."""
    # Numbers from 1 to n in another order may be ranks, and 1950 to 1999 are years.
    n = len(numbers)
    if n < MANY or not (numbers[:MANY] % 1 == 0).all():
        return ""
    if numbers[0] in (0, 1) and bool((numbers == numbers[0] + np.arange(n)).all()):
        return "counts the rows"
    differ = is_id_name(name) and bool((numbers % 1 == 0).all()) and len(np.unique(numbers)) == n
    return "id-like, all different" if differ else ""


def doubts_of_codes(column: str, numbers: Floats) -> list[str]:
    """A doubt about −99, −999 and the like, where it stands several times far below all other numbers."""
    known = numbers[~np.isnan(numbers)]
    low = known.min(initial=0)
    n = int((known == low).sum())
    if low >= 0 or f"{-low:g}".strip("9") or n < 2 or n == len(known) or known[known > low].min() < low / 2:
        return []
    said = f"{column}: {low:.0f} ({count(n, 'cell')}) is read as a number: if it means missing, say missing='{low:.0f}'"
    return [Doubt(f"{said} (--missing={low:.0f})")]


def _words(raw: RawTable, position: int, name: str, column: Any, asked: str | None, kind: str) -> TypedColumn:
    """A column that is not numbers throughout: ranges, numbers or dates as people write them, else categories."""
    codes, words = coded(raw, column)
    sizes = sizes_of(codes, words)
    if why := says_nothing(int(sizes.sum()), len(codes), len(words)):
        return TypedColumn(name, "ignore", None, why)
    places = range_places(words) if kind in ("", "ordered") else None
    if places is not None and _are_enough(places, words, sizes):
        by_size = reversed(np.argsort(-sizes, kind="stable").tolist())  # where several mean the same, the commonest
        called = dict(sorted((places[code], words[code]) for code in by_size if places[code] == places[code]))
        steps = np.where(np.isnan(places), np.nan, np.searchsorted(list(called), places))
        return _ordered(name, codes, words, steps, tuple(called.values()), asked=bool(kind))
    if kind == "ordered":
        some = " and ".join(show(word, 30) for word in words[:2])
        remedy = f"give it from the lowest, as types={{{name!r}: ['low', 'medium', 'high']}} (--type '{name}=low<medium<high')"
        raise raw.error(f"the order of its words, such as {some}, is not known: {remedy}", None, position)
    if kind in ("", "number", "log"):
        values, decimal, unit = written_numbers(words, raw.told_decimal)
        if _are_enough(values, words, sizes, asked=bool(kind)):
            found = _number(raw, position, name, np.append(values, np.nan)[codes], asked, False)
            notes = doubtful_sign(words, list(map(digits_of, words)), sizes) if decimal == "," != raw.decimal else ()
            notes += _left_out(words, np.isnan(values), sizes, "number")
            return replace(found, notes=notes, asked=bool(kind), decimal=decimal, unit=unit)
    if kind in ("", "date"):
        dates, month_first, guessed = written_dates(words, asked=kind == "date")
        if _are_enough(dates, words, sizes, asked=bool(kind)):
            moments = pd.Series(np.append(dates, np.datetime64("NaT", "s"))[codes])
            notes = (f"read with the {guessed}",) if guessed else ()
            notes += _left_out(words, np.isnat(dates), sizes, "date")
            return replace(_dates(name, moments, asked, notes), month_first=month_first)
    if kind not in ("", "category", "code"):
        row = int((codes >= 0).argmax())
        what = f"no cell is a {'date' if kind == 'date' else 'number'}, such as {show(words[codes[row]], 30)}"
        raise raw.error(f"{what}: say another type of {name!r} in types= (--type)", row, position)
    return _category(name, codes, words, sizes, kind)


def _are_enough(values: Array, words: list[str], sizes: Array, *, asked: bool = False) -> bool:
    """Whether so many cells could be read that the others count as missing: these are words for unknown, or too rare for a category."""
    read = ~(np.isnat(values) if values.dtype.kind == "M" else np.isnan(values))
    n, n_read = int(sizes.sum()), int(sizes[read].sum())
    if asked:
        return n_read > 0
    odd = [int(n) for word, n, ok in zip(words, sizes, read, strict=True) if not ok and word.casefold() not in UNKNOWN]
    too_rare = n >= MANY and max(odd, default=0) < max(FEWEST, RARE * n) and sum(odd) <= MOST_ODD * n
    return 2 * n_read >= n and (too_rare or not odd)


def _left_out(words: list[str], strange: Array, sizes: Array, what: str) -> tuple[str, ...]:
    if not strange.any():
        return ()
    n, first = int(sizes[strange].sum()), words[int(np.argmax(np.where(strange, sizes, 0)))]
    is_, counts = (f"is no {what}", "counts") if n == 1 else (f"are no {what}s", "count")
    return (f"{count(n, 'cell')} that {is_}, such as {show(first, 30)}, {counts} as missing",)


def _ordered(
    name: str, codes: Array, words: list[str], steps: Floats, levels: tuple[str, ...], *, asked: bool
) -> TypedColumn:
    at = np.append(np.where(np.isnan(steps), -1, steps), -1).astype(np.int32)
    notes = _left_out(words, np.isnan(steps), sizes_of(codes, words), "level")
    return TypedColumn(name, "ordered", word_cells(at[codes], levels), "", notes, asked, levels=levels)


def _in_order(raw: RawTable, position: int, name: str, column: Any, levels: tuple[str, ...]) -> TypedColumn:
    """A column whose levels were given, from the lowest; other words are refused, but for those that mean that nothing is known."""
    codes, words = coded(raw, column, frozenset(levels))
    sizes = sizes_of(codes, words)
    if why := says_nothing(int(sizes.sum()), len(codes), len(words)):
        return TypedColumn(name, "ignore", None, why)
    steps = given_steps(levels, words)
    for code, word in enumerate(words):
        if np.isnan(steps[code]) and word.casefold() not in UNKNOWN:
            given = " < ".join(show(level, 30) for level in levels[:5]) + (" < …" if len(levels) > 5 else "")
            what = f"{show(word, 30)} is not in the order that was given, {given}"
            remedy = "add it, or say that it means missing with missing= (--missing)"
            raise raw.error(f"{what}: {remedy}", int((codes == code).argmax()), position)
    return _ordered(name, codes, words, steps, levels, asked=True)


def _dates(name: str, moments: pd.Series, asked: str | None, notes: tuple[str, ...] = ()) -> TypedColumn:
    known = moments.dropna()
    if why := says_nothing(len(known), len(moments), known.nunique()):
        return TypedColumn(name, "ignore", None, why)
    return TypedColumn(name, "date", moments, notes=notes, asked=asked is not None)


def _category(name: str, codes: Array, words: list[str], sizes: Array, kind: str) -> TypedColumn:
    n_known, is_asked = int(sizes.sum()), kind == "category"
    rest = {word.casefold() for word in words} - UNKNOWN
    if len(rest) == 2 and rest <= set(YES):
        said = np.array([word.casefold() in rest for word in words])
        if why := says_nothing(int(sizes[said].sum()), len(codes), 2):
            return TypedColumn(name, "ignore", None, why)
        answers = merged(codes, [word if word.casefold() in rest else None for word in words])
        notes = _left_out(words, ~said, sizes, "answer")
        return TypedColumn(name, "boolean", word_cells(*answers), notes=notes, asked=is_asked)
    if not is_asked and n_known >= MANY and len(words) > REPEATS * n_known:
        what = "codes with leading zeros" if kind == "code" else "free text"
        why = "id-like, all different" if len(words) == n_known else f"{what}, {len(words):,} different"
        short = all(len(word) <= LONGEST_NAME and word.count(" ") <= 2 for word in words)
        return TypedColumn(name, "ignore", None, why, names_objects=short and len(words) == len(codes))
    kept = levels_of(dict(zip(words, sizes.tolist(), strict=True)), n_known)
    if not is_asked and sum(sizes[words.index(word)] for word in kept) < COMMON * n_known:
        return TypedColumn(name, "ignore", None, f"{len(words):,} categories, hardly one of them common")
    notes = ("a category, since its numbers begin with zeros as codes do",) if kind == "code" else ()
    return TypedColumn(name, "category", word_cells(codes, words), notes=notes, asked=is_asked)


def levels_of(sizes: dict[str, int], n_known: int) -> list[str]:
    """The categories with a column of their own, the largest first: common ones, or all where only one is not."""
    ranked = [word for word, _ in Counter(sizes).most_common()]
    least = max(FEWEST, RARE * n_known) if n_known >= MANY else 1
    kept = [word for word in ranked[:MOST_LEVELS] if sizes[word] >= least]
    return ranked if len(ranked) <= min(len(kept) + 1, MOST_LEVELS) else kept or ranked[:MOST_LEVELS]


def cells_as(raw: RawTable, position: int, like: Any, decimal: str | None) -> tuple[pd.Series, tuple[str, ...]]:
    """A column of new rows as cells of the kind that an encoded column is `like`, and notes that count what could not be read."""
    # Read as that column's own were; what it does not tell of numbers and dates the cells tell.
    kind, column = like.kind, raw.column(position)
    if kind in ("number", "log", "log1p"):
        notes: tuple[str, ...] = ()
        sign = decimal or like.decimal
        typed = sign in (None, raw.decimal) or not isinstance(column, pa.ChunkedArray)
        numbers = _numbers(raw, position, column) if typed else None
        if numbers is None:
            codes, words = coded(raw, column)
            values, *_ = written_numbers(words, raw.told_decimal, sign=sign, unit=like.unit)
            strange = np.isnan(values) & ~np.array([word == "None" for word in words], bool)
            numbers = np.append(values, np.nan)[codes]
            notes = _left_out(words, strange, sizes_of(codes, words), "number")
        _finite(raw, position, numbers)
        return pd.Series(numbers), notes
    if kind == "date" and getattr(getattr(column, "dtype", None), "kind", "") == "M":
        return _naive(column), ()
    if kind == "boolean" and _is_truths(column) and (truths := _numbers(raw, position, column)) is not None:
        return _truth_words(truths), ()
    levels = (*like.levels, *([] if like.zero is None else [like.zero]))
    codes, words = coded(raw, column, frozenset(levels))
    if kind == "date":
        dates, *_ = written_dates(words, asked=True, month_first=like.month_first)
        moments = pd.Series(np.append(dates, np.datetime64("NaT", "s"))[codes])
        return moments, _left_out(words, np.isnat(dates), sizes_of(codes, words), "date")
    if kind == "boolean":  # yes for Yes, and a word for unknown is missing
        called = {YES[level.casefold()]: level for level in levels if level.casefold() in YES}
        meant = dict.fromkeys(UNKNOWN) | {word: called.get(truth) for word, truth in YES.items()}
        codes, words = merged(codes, [word if word in levels else meant.get(word.casefold(), word) for word in words])
    return word_cells(codes, words), ()


def other_decimal(raw: RawTable, columns: Iterable[tuple[int, str, str]]) -> str | None:
    """The decimal sign of new rows where it cannot be that of the first table, whose columns had these positions, signs and units."""
    # Some cells tell, and none against it.
    against: set[str] = set()
    for position, sign, unit in columns:
        column = raw.column(position)
        if isinstance(column, pa.ChunkedArray) or column.dtype == object:
            same, other = sign_evidence(partial(written_numbers, coded(raw, column)[1], unit=unit), sign)
            if same:
                return None
            against |= {"," if sign == "." else "."} if other else set()
    return against.pop() if len(against) == 1 else None


def _truth_words(numbers: Floats) -> pd.Series:
    return word_cells(np.where(np.isnan(numbers), -1, numbers == 1).astype(np.int32), ["false", "true"])


def says_nothing(n_known: int, n: int, n_different: int) -> str:
    """Why a column cannot tell objects apart; empty where it can."""
    if n_known == 0 or n_different == 1:
        return "constant" if n_known else "empty"
    if n >= MANY and n_known < (1 - MOST_ABSENT) * n:
        return f"{100 * (1 - n_known / n):.0f} % missing"
    return ""


def coded(raw: RawTable, column: Any, keep: frozenset[str] = frozenset()) -> tuple[Array, list[str]]:
    """Code of each cell (−1 where missing) and the different words; "None" may be a category, and so may words to `keep`."""
    if isinstance(column, pa.ChunkedArray):
        dictionary = column.combine_chunks().dictionary_encode()
        codes, found = dictionary.indices.to_numpy(zero_copy_only=False), dictionary.dictionary.to_pylist()
    elif isinstance(column.dtype, pd.CategoricalDtype):
        codes, found = np.asarray(column.cat.codes), [text_of(word) for word in column.cat.categories]
    else:
        gone = missing_of(raw, column)
        cells = [None if lost else text_of(cell) for lost, cell in zip(gone, column, strict=True)]
        codes, unique = pd.factorize(np.array(cells, object), use_na_sentinel=True)
        found = [str(word) for word in unique]
    there = np.bincount(codes[codes >= 0], minlength=len(found)) > 0
    absent = (ABSENT - {"None"} - keep) | set(raw.missing)
    stripped = [word.strip() for word in found]
    kept = [word if used and word not in absent else None for word, used in zip(stripped, there, strict=True)]
    return merged(codes, kept)


def merged(codes: Array, words: Iterable[str | None]) -> tuple[Array, list[str]]:
    """Codes of words of which some are the same, or None for missing, and the different words."""
    known: dict[str, int] = {}
    place = [-1 if word is None else known.setdefault(word, len(known)) for word in words]
    return np.array([*place, -1], np.int32)[codes], list(known)


def word_cells(codes: Array, words: Iterable[str]) -> pd.Series:
    """Words by their codes, −1 where missing, as pandas keeps them: text is not written out again."""
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index(list(words), dtype=object)))


def text_of(cell: Any) -> str:
    """A cell as a word: whole numbers without a fraction, moments in ISO's form."""
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    return str(cell.isoformat() if hasattr(cell, "isoformat") else cell).strip()


def sizes_of(codes: Array, words: list[str]) -> Array:
    return np.bincount(codes[codes >= 0], minlength=len(words))


def check_types(raw: RawTable, types: Any, kept: Sequence[int]) -> dict[int, str | tuple[str, ...]]:
    """The types that were said, by position, levels of an order as a tuple; those of columns that are not kept are refused."""
    if types is None:
        return {}
    if isinstance(types, str):
        one = None if "<" in types else check_choice(types, (*TYPES, "counts"), "type of columns (--type)")
        return dict.fromkeys(kept, one or _check_levels(types, "all columns"))
    if not isinstance(types, Mapping):
        what = "types must map columns to types, such as {'zip': 'category'}"
        raise InputError(f"{what}; got {kind_of(types)}, {show(types)}")
    asked: dict[int, str | tuple[str, ...]] = {}
    for reference, kind in types.items():
        if isinstance(kind, (list, tuple)) or (isinstance(kind, str) and "<" in kind):
            kind = _check_levels(kind, repr(reference))
        else:
            check_choice(kind, TYPES, f"type of {reference!r} (--type)")
        for position in raw.find_all([reference], "types"):
            if position in kept:
                asked[position] = kind
    return asked


def _check_levels(said: str | Sequence[Any], where: str) -> tuple[str, ...]:
    levels = tuple(str(level).strip() for level in (said.split("<") if isinstance(said, str) else said))
    if len(levels) < 2 or len(set(levels)) < len(levels) or not all(levels):
        what = f"the order of {where} must have two levels or more, all different, from the lowest"
        such = "such as ['low', 'medium', 'high'] (--type NAME='low<medium<high')"
        raise InputError(f"{what}, {such}; got {show(said)}")
    return levels
