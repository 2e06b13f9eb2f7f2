"""The objects of a clustering, page by page, and what they look like."""

import operator
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import rankdata

from consilience._types import Array, Floats, Ints
from consilience.explorer.calls.call import Call, kept
from consilience.explorer.checks import ROWS, SEARCH, Keys, one_of, picked_rows, text, whole
from consilience.explorer.object_images import Look
from consilience.explorer.replies import RefusedError, Reply, binary_reply
from consilience.explorer.session import Session
from consilience.explorer.snapshot import DisplayedClustering
from consilience.measures.distinguishing_columns import effect_sizes

COLUMNS, WORDS = 8, 8  # safeguard: columns of the data, and words of a document, that a row has room for

ALL = -2  # safeguard: what `cluster` says for all of them; −1 is missing
ORDERS = ("index", "id", "cluster", "confidence", "support", "known", "column")
_place = whole(0, 10**9 - 1)
TABLE_KEYS: Keys = {
    "start": (_place, 0),
    "count": (whole(1, ROWS), 50),
    "cluster": (whole(ALL, 65535), ALL),
    "order": (one_of(ORDERS), "index"),
    "at": (_place, 0),
    "falling": (whole(0, 1), 0),
    "text": (text(SEARCH), ""),
}


def objects_page(call: Call) -> Reply:
    return _page(call, {**call.asked(TABLE_KEYS), "rows": None})


def objects_among(call: Call) -> Reply:
    asked = call.json({**TABLE_KEYS, "rows": (picked_rows, ...)})
    call.objects(asked["rows"], 0)
    return _page(call, asked)


def _page(call: Call, asked: dict[str, Any]) -> Reply:
    session, one = call.session, call.clustering()
    chosen = _chosen(session, one, asked, call.step)
    rows = chosen[asked["start"] : asked["start"] + asked["count"]]
    columns = call.snapshot.cache.get(("columns", str(one.ref)), lambda: shown_columns(session, one))
    every = _column_names(session)
    names = [every[i] for i in columns]
    values = _values(session, rows, columns)
    words = _words(session, rows)
    known = {name: [*labels.classes, None] for name, labels in session.labelings.items()}
    trust = {"confidence": one.confidence, "support": one.support}
    told = [
        {
            "index": i,
            "id": session.name_of(i),
            "cluster": one.codes[i],
            "name": one.name_of(one.codes[i]),
            **{name: None if of is None or one.codes[i] < 0 else of[i] for name, of in trust.items()},
            "known": {name: classes[session.labelings[name].codes[i]] for name, classes in known.items()},
            "values": dict(zip(names, row, strict=True)),
            "words": said,
        }
        for i, row, said in zip(rows, values, words, strict=True)
    ]
    return call.reply(ref=str(one.ref), total=len(chosen), names=one.names, columns=names, places=columns, rows=told)


def shown_columns(session: Session, one: DisplayedClustering) -> Ints:
    """The columns that the table shows: all of a few, and of many those on which the clusters differ most; of counts none.

    Those of a table with words are its own, not what they became.
    """
    width = len(_column_names(session))
    if width <= COLUMNS:
        return np.arange(width)
    if session.compared.is_counts:
        return np.arange(0)
    if one.clusters < 2:
        return np.arange(COLUMNS)
    _, _, d, _ = effect_sizes(session.compared.comparable, one.codes)
    strength, groups = np.zeros(width), None if session.data is None else session.data.groups
    own = np.arange(width) if groups is None else groups
    np.maximum.at(strength, own, np.abs(np.nan_to_num(d, posinf=0, neginf=0)).max(axis=0))
    return np.sort(np.argsort(-strength, kind="stable")[:COLUMNS])


def _chosen(session: Session, one: DisplayedClustering, asked: dict[str, Any], step: Callable[[], None]) -> Ints:
    """The objects that are asked for, in the order asked for; what has no value there comes last."""
    chosen = np.arange(len(one.codes)) if asked["rows"] is None else asked["rows"]
    if asked["cluster"] != ALL:
        chosen = chosen[one.codes[chosen] == asked["cluster"]]
    if asked["text"].strip():
        chosen = chosen[search(session, asked["text"], step)[0][chosen]]
    values = _sorted_by(session, one, asked["order"], asked["at"])
    if values is None:
        return chosen[::-1] if asked["falling"] else chosen
    some = values[chosen].astype(float)
    return chosen[np.lexsort((-some if asked["falling"] else some, np.isnan(some)))]


def _sorted_by(session: Session, one: DisplayedClustering, order: str, at: int) -> Array | None:
    """A number for every object to sort by, NaN where it has none; None for the order of the table."""
    if order == "id":
        return None if session.ids is None else rankdata([str(name) for name in session.ids], "dense")
    if order == "cluster":
        return np.where(one.codes >= 0, one.codes.astype(float), np.nan)
    if order in ("confidence", "support"):
        values = getattr(one, order)
        return None if values is None else np.where(one.codes >= 0, values, np.nan)
    if order == "known":
        labels = list(session.labelings.values())
        if at >= len(labels):
            raise RefusedError(404, f"there is no label {at}: there are {len(labels)}")
        return np.append(rankdata(labels[at].classes, "dense"), np.nan)[labels[at].codes]
    if order == "column":
        width = len(_column_names(session))
        if session.data is None or at >= width:
            raise RefusedError(404, f"there is no column {at}: there are {width}")
        if (original := _original(session)) is not None:
            return _ranks(session, original.iloc[:, at], at)
        return _number_column(session, at)
    return None


def _number_column(session: Session, at: int) -> Array:
    assert session.data is not None
    column = session.data.values[:, [at]]
    return np.asarray(column.toarray() if sparse.issparse(column) else column)[:, 0]


def _original(session: Session) -> pd.DataFrame | None:
    """The columns of a table with words as they came; None where its numbers are those."""
    return session.data.original if session.data is not None and session.data.in_words else None


def _column_names(session: Session) -> list[str]:
    original = _original(session)
    return session.features if original is None else [str(name) for name in original.columns]


def _ranks(session: Session, cells: pd.Series, at: int) -> Array:
    """Numbers to sort one column by as it came: its own, steps on a scale, or the order of the alphabet."""
    if cells.dtype.kind in "iufb":
        return cells.to_numpy(float)
    assert session.data is not None
    assert session.data.encoder is not None
    column = session.data.encoder.columns[at]
    if column.kind == "ordered":
        return column.encode(cells)[0][:, 0]
    words = cells if cells.dtype.kind == "M" else cells.astype("string").str.casefold()
    return words.rank(method="dense").to_numpy(float)


def _values(session: Session, rows: Ints, columns: Ints) -> list[list[Any]]:
    if not len(columns) or session.data is None:
        return [[] for _ in rows]
    if (original := _original(session)) is not None:
        cells = zip(*(original.iloc[rows, i].tolist() for i in columns), strict=True)
        return [[_without_midnight(cell) for cell in row] for row in cells]
    some = session.data.values[rows][:, columns]
    table: list[list[Any]] = (some.toarray() if sparse.issparse(some) else some).tolist()
    return table


def _without_midnight(cell: Any) -> Any:
    return cell.date() if isinstance(cell, pd.Timestamp) and cell == cell.normalize() else cell


def _words(session: Session, rows: Ints) -> list[list[str] | None]:
    """The words of which documents have most, rare ones first among equals; None where the data are no counts."""
    if not session.compared.is_counts:
        return [None] * len(rows)
    found: list[list[str] | None] = []
    for row in sparse.csr_matrix(session.rare_words[rows]):
        best = row.indices[np.argsort(-row.data, kind="stable")[:WORDS]]
        found.append([session.features[j] for j in best])
    return found


# What objects look like: pixels or curves of some of them, the average of every cluster, and images from files.

PICTURES, AVERAGED, EXAMPLES = 100, 100, 12  # safeguard: objects of one answer; clusters and their objects in a display
LOOK_KEYS = {"rows": (picked_rows, ...)}
BAND = (10, 90)  # safeguard: percentiles of the band that is displayed around an average curve


def _look(call: Call) -> Look:
    if call.session.look is None:
        raise RefusedError(404, "objects have no picture here: --images or --curves gives them one")
    return call.session.look


def looks(call: Call) -> Reply:
    look, rows = _look(call), call.objects(call.json(LOOK_KEYS)["rows"])
    if look.values is None:
        raise RefusedError(404, "these pictures are files: ask for them one by one")
    if len(rows) > PICTURES:
        raise RefusedError(400, f"ask for at most {PICTURES} objects at a time")
    return binary_reply(look.summary(), {"rows": rows.astype(np.uint32), "values": look.rows(rows)})


@kept
def averages(call: Call) -> Reply:
    look, one = _look(call), call.clustering()
    members = [np.flatnonzero(one.codes == cluster) for cluster in range(min(one.clusters, AVERAGED))]
    examples = [typical(look, one, rows) for rows in members]
    header = {**look.summary(), "ref": str(one.ref), "examples": examples, "band": BAND}
    if look.values is None:
        return binary_reply(header, {})
    arrays = {"mean": np.stack([np.nanmean(look.values[rows], axis=0) for rows in members])}
    if look.kind == "curves":
        low, high = np.stack([np.nanpercentile(look.values[rows], BAND, axis=0) for rows in members], axis=1)
        arrays |= {"low": low, "high": high}
    return binary_reply(header, {name: values.astype(np.float32) for name, values in arrays.items()})


def image(call: Call) -> Reply:
    look, row = _look(call), call.parts[0]
    call.objects(np.array([row]))
    found = look.image(row) if look.kind == "files" else None
    if found is None:
        raise RefusedError(404, "this object has no image to show: PNG, JPEG, GIF, WebP or BMP of at most 4 MB")
    return Reply(200, *found, {"Cache-Control": "private, max-age=3600"})


def typical(look: Look, one: DisplayedClustering, rows: Ints) -> Ints:
    """Of the objects of a cluster those of the largest support, or nearest to its mean where there is no support."""
    away: Floats = np.zeros(len(rows))
    if one.support is not None:
        away = -one.support[rows]
    elif look.values is not None:
        values = np.nan_to_num(look.values[rows])
        away = np.square(values - values.mean(axis=0)).sum(axis=1)
    return rows[np.argsort(away, kind="stable")[:EXAMPLES]]


# Objects found by what is known of them: ids, words of a text column or of counts, labels, numbers compared.

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
    names = {name.casefold(): name for name in reversed(columns(session))}
    if found and (name := names.get(found[1].casefold())) is not None:
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
    names = columns(session)
    if not found or found[1].casefold() in map(str.casefold, names):
        return ""
    near = [name for name in names if found[1].casefold() in name.casefold()] or get_close_matches(found[1], names)
    return f"there is no column {found[1]!r}" + (f": {', '.join(near[:3])}?" if near else "")


def columns(session: Session) -> list[str]:
    return list(dict.fromkeys([session.source.id_name, *session.labelings, *_column_names(session)]))


def _compared(session: Session, name: str, sign: str, wanted: str) -> Array | None:
    """Cells of one column beside a value; None where they cannot be compared so."""
    cells = cells_of(session, name)
    if sign == ":" or (sign == "=" and cells.dtype == object):
        return _holds(cells, wanted, whole=sign == "=")
    if cells.dtype.kind not in "iufM":
        return None
    try:
        value: Any = _time(wanted) if cells.dtype.kind == "M" else float(wanted)
    except ValueError:
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
        return session.labelings[name].labels
    original = _original(session)
    return _number_column(session, session.features.index(name)) if original is None else _plain(original[name])


def _plain(cells: pd.Series) -> Array:
    """A column as it came; of words None where missing."""
    if not isinstance(cells.dtype, pd.CategoricalDtype):
        return np.asarray(cells.to_numpy())
    return np.array([*cells.cat.categories, None], object)[cells.cat.codes]


def _anywhere(session: Session, text: str, step: Callable[[], None]) -> tuple[Array, list[str]]:
    mask, where = np.zeros(session.snapshot.n_objects, bool), list[str]()
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
    data, original = session.data, _original(session)
    if data is not None and original is not None and data.encoder is not None:
        for place, column in enumerate(data.encoder.columns):
            if column.has_words:
                step()
                add(_holds(_plain(original.iloc[:, place]), text), column.name)
    elif session.compared.is_counts and data is not None:
        word, names = text.casefold(), [name.casefold() for name in session.features]
        places = [i for i, name in enumerate(names) if name == word]
        places = places or [i for i, name in enumerate(names) if name.startswith(word)]
        if places:
            step()
            with_counts = np.asarray((data.values[:, places] > 0).sum(axis=1)).ravel() > 0
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
    wanted = call.asked(SEARCH_KEYS)["text"]
    mask, where = search(call.session, wanted, call.step)
    rows = np.flatnonzero(mask)
    hint = "" if len(rows) else unknown_column(call.session, wanted)
    first = [{"index": i, "id": call.session.name_of(i)} for i in rows[:NAMED_FIRST]]
    header = {"revision": call.snapshot.revision, "total": len(rows), "where": where, "hint": hint, "first": first}
    return binary_reply(header, {"rows": rows.astype(np.uint32)})
