"""Objects found by what is known of them: ids, words of a text column or of counts, labels, numbers compared."""

import operator
import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._types import Array
from consilience.explorer.calls.call import Call
from consilience.explorer.checks import SEARCH, text
from consilience.explorer.replies import Reply, binary_reply
from consilience.explorer.session import Session

COMPARED = re.compile(r"\s*(.+?)\s*(<=|>=|<|>|=|:)\s*(.+?)\s*")
SIGN = re.compile("<=|>=|[<>=:]")
SIGNS = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "=": operator.eq}


def search(session: Session, text: str, step: Callable[[], None] = lambda: None) -> tuple[Array, list[str]]:
    """Which objects a text finds, and where it was found: a mask, and what was looked at.

    `color: red` looks in one column, `width > 3` compares numbers (also ≤ as <=), and any other text is looked for in ids, known labels,
    columns of text, and the names of columns of counts (objects that have a count there). Of several conditions, as in
    `shape: tube color: red`, all must hold. Case does not matter, unless values differ by nothing else and one of them is meant to the
    letter. `step` is called before each of them, and may raise to give up.
    """
    step()
    parts = _conditions(session, text)
    if len(parts) > 1:
        both = [search(session, part, step) for part in parts]
        return np.logical_and.reduce([mask for mask, _ in both]), [name for _, names in both for name in names]
    found = COMPARED.fullmatch(text)
    names = {name.casefold(): name for name in reversed(list(columns(session)))}
    if found and found[1].casefold() in names:
        name = names[found[1].casefold()]
        mask = _compared(session, name, found[2], found[3])
        if mask is not None:
            return mask, [name]
    return _anywhere(session, text.strip(), step)


def _conditions(session: Session, text: str) -> list[str]:
    """A text in its conditions: each begins with a column and a sign, and the word "and" or a comma may stand between."""
    if len(SIGN.findall(text)) < 2:
        return [text]
    names = sorted((re.escape(name) for name in columns(session) if name), key=len, reverse=True)
    begin = re.compile(rf"(?:^|(?:\s*,|\s+and)?\s+)(?=(?:{'|'.join(names)})\s*[<>=:])", re.IGNORECASE)
    return [part for part in begin.split(text.strip()) if part]


def unknown_column(session: Session, text: str) -> str:
    """What is wrong with a text that compares a column that is not there, with those that may be meant; else empty."""
    found = COMPARED.fullmatch(text)
    names = list(dict.fromkeys(columns(session)))
    if not found or found[1].casefold() in map(str.casefold, names):
        return ""
    near = [name for name in names if found[1].casefold() in name.casefold()] or get_close_matches(found[1], names)
    return f"there is no column {found[1]!r}" + (f": {', '.join(near[:3])}?" if near else "")


def columns(session: Session) -> Iterator[str]:
    yield session.source.id_name
    yield from session.labelings
    data = session.data
    if data is not None and data.in_words and data.original is not None:
        yield from map(str, data.original.columns)
    else:
        yield from session.features


def _compared(session: Session, name: str, sign: str, wanted: str) -> Array | None:
    """Cells of one column beside a value; None where they cannot be compared so."""
    cells = cells_of(session, name)
    if sign == ":" or (sign == "=" and cells.dtype == object):
        return _holds(cells, wanted, whole=sign == "=")
    try:
        value: Any = _time(wanted) if cells.dtype.kind == "M" else float(wanted)
    except ValueError:
        return None
    if cells.dtype.kind not in "iufM":
        return None
    with np.errstate(invalid="ignore"):
        mask: Array = np.asarray(SIGNS[sign](cells, value), bool)
    return mask


def _time(text: str) -> pd.Timestamp:
    """A time as columns hold them: without a zone, in UTC where the text has one."""
    time = pd.Timestamp(text)
    return time if time.tz is None else time.tz_convert("UTC").tz_localize(None)


def cells_of(session: Session, name: str) -> Array:
    """One column: ids, labels, or the data as it came."""
    n = session.snapshot.n_objects
    if name == session.source.id_name:
        return np.arange(n) if session.ids is None else np.asarray(session.ids)
    if name in session.labelings:
        known = session.labelings[name]
        return np.array([*known.classes, None], object)[known.codes]
    data = session.data
    assert data is not None
    if data.in_words and data.original is not None:
        return _plain(data.original[name])
    column = data.values[:, [session.features.index(name)]]
    return np.asarray(column.toarray() if sparse.issparse(column) else column)[:, 0]


def _plain(cells: pd.Series) -> Array:
    """A column as it came; of words None where missing."""
    if not isinstance(cells.dtype, pd.CategoricalDtype):
        return np.asarray(cells.to_numpy())
    return np.array([*cells.cat.categories, None], object)[cells.cat.codes]


def _anywhere(session: Session, text: str, step: Callable[[], None]) -> tuple[Array, list[str]]:
    n = session.snapshot.n_objects
    mask = np.zeros(n, bool)
    where: list[str] = []
    if not text:
        return mask, where

    def add(found: Array, name: str) -> None:
        if found.any():
            where.append(name)
            mask[:] |= found

    ids = cells_of(session, session.source.id_name)
    same = _holds(ids, text, whole=True)
    if same.any():
        return same, [session.source.id_name]
    if session.ids is not None:
        add(_holds(ids, text), session.source.id_name)
    for name, known in session.labelings.items():
        step()
        add(_holds(np.array([*known.classes, None], object), text)[known.codes], name)
    data = session.data
    if data is not None and data.in_words and data.original is not None and data.encoder is not None:
        for place, column in enumerate(data.encoder.columns):
            if column.has_words:
                step()
                add(_holds(_plain(data.original.iloc[:, place]), text), column.name)
    elif session.compared.is_counts and data is not None:
        word = text.casefold()
        places = [i for i, name in enumerate(session.features) if name.casefold() == word]
        places = places or [i for i, name in enumerate(session.features) if name.casefold().startswith(word)]
        if places:
            step()
            some = data.values[:, places]
            with_counts = np.asarray((some > 0).sum(axis=1)).ravel() > 0
            add(with_counts, ", ".join(session.features[i] for i in places[:5]) + (" …" if len(places) > 5 else ""))
    return mask, where


def _holds(cells: Array, text: str, whole: bool = False) -> Array:
    """Which cells hold a text in whatever case, or are it; missing cells do not.

    Where some are it to the letter, those that differ from it by case alone are other values.
    """
    given = pd.Series(cells)
    there = given.notna().to_numpy()
    given = given.astype(str)
    words, word = given.str.casefold(), text.casefold()
    fits = words == word if whole else words.str.contains(word, regex=False)
    if (given == text).any():
        fits &= (words != word) | (given == text)
    return np.asarray(fits.to_numpy(bool) & there)


NAMED_FIRST = 20  # safeguard: objects that are named in a display
SEARCH_KEYS = {"text": (text(SEARCH), "")}


def search_objects(call: Call) -> Reply:
    """The numbers of all that were found, and the names of the first."""
    wanted = call.asked(SEARCH_KEYS)["text"]
    mask, where = search(call.session, wanted, call.step)
    rows = np.flatnonzero(mask)
    header = {
        "revision": call.snapshot.revision,
        "total": len(rows),
        "where": where,
        "hint": "" if len(rows) else unknown_column(call.session, wanted),
        "first": [{"index": i, "id": call.session.name_of(i)} for i in rows[:NAMED_FIRST]],
    }
    return binary_reply(header, {"rows": rows.astype(np.uint32)})
