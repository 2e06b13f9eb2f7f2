"""Which columns are values, which names the objects, and which look like neither; tables whose columns are the objects."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from consilience._check import InputError, count, listed
from consilience._types import Array
from consilience.tables.numbers_and_dates import is_number
from consilience.tables.raw_table import Names, RawTable
from consilience.tables.table_kinds import MAYBE_MISSING, ColumnError, check_ids, ids_of, labels_of, numbers_of

Ids: TypeAlias = tuple[int | None, Array | None, list[str]]
FEW = 4  # objects up to which nothing is concluded from labels that all differ
_ID_NAME = re.compile(
    r"(?i)ids?|index|idx|.*[ _.-]id|id[ _.-].*|uuid|guid|key|.+[ _.-](no|nr|num|number|key|uuid)|.+(nr|nummer)"
)
_CAMEL_ID = re.compile(r".*[a-z]I[dD]")  # customerId, but not paid
_OBJECT_NAME = re.compile(r"(cell|barcodes?|(row[ _.]?)?names?|unnamed: 0)?", re.IGNORECASE)
_TOTAL = re.compile(r"(grand |overall |sub ?)?totals?|sum|mean|average|gesamt|summe", re.IGNORECASE)
_CLASS_NAME = re.compile(
    r"class|classes|label|target|truth|ground[ _-]?truth|true[ _-]?labels?|species|cell[ _-]?types?", re.IGNORECASE
)


def is_id_name(name: str) -> bool:
    return bool(_ID_NAME.fullmatch(name) or _CAMEL_ID.fullmatch(name))


def find_ids(raw: RawTable, id_column: str | int | None, taken: Sequence[int], *, likely: str | None = None) -> Ids:
    """Position of the ids (None for an index), the ids themselves, and a notice where they were found unasked."""
    # Unasked are taken an index that names objects, a column of the `likely` name, or the first that is named like an id (or, as the
    # first, not at all); its values must differ, and it is not `taken` for something else.
    by_index = id_column in ("index", raw.index_name) and id_column not in raw.column_names
    if raw.index is not None and (by_index or (id_column is None and raw.index_is_ids)):
        check_ids(raw, raw.index)
        return None, raw.index, []
    if id_column is not None:
        position = raw.find(id_column, "id_column")
        return position, ids_of(raw, position, unique=True), []
    names = raw.names or []
    if likely in names and (place := names.index(likely)) not in taken:
        which = raw.column_words(place)
        if _names_objects(raw, place):
            return place, ids_of(raw, place), [f"{which} names the objects, as it did at first"]
        return None, None, [f"{which} named the objects at first, but its values repeat or are missing here"]
    for position, name in enumerate(names):
        looks = bool(name or position == 0) and (is_id_name(name) or _OBJECT_NAME.fullmatch(name))
        bare = not name  # it has to name the objects, as the moments 1962.25, 1962.5 of R's time series do
        if looks and position not in taken and raw.n_rows > 1 and _names_objects(raw, position, fractions=bare):
            which = raw.column_words(position) if name else "the first column, which has no name,"
            keep = "; name it in columns= (--columns) to cluster by it" if name else ""
            return position, ids_of(raw, position), [f"{which} names the objects, since all its values differ{keep}"]
    return None, None, []


def find_row_names(raw: RawTable, taken: Sequence[int]) -> Ids:
    """As :func:`find_ids`, of distances, which are all numbers: a first column of words that all differ names the objects."""
    if 0 in taken or not isinstance(raw.body, (pa.Table, pd.DataFrame)) or not _names_objects(raw, 0):
        return None, None, []
    try:
        numbers_of(raw, 0)
    except ColumnError:
        return 0, ids_of(raw, 0), [f"{raw.column_words(0)} names the objects, since its words all differ"]
    return None, None, []


def _names_objects(raw: RawTable, position: int, *, fractions: bool = False) -> bool:
    """Whether a column has one value per object, all different, text or whole numbers, or numbers with fractions too."""
    column = raw.column(position)
    if isinstance(column, pa.ChunkedArray):
        cells = pc.utf8_trim_whitespace(column)
        if pc.any(pc.equal(cells, "")).as_py():
            return False
        if not fractions and pc.any(pc.match_substring_regex(cells, r"^[+-]?\d*[.,]\d+$")).as_py():
            return False
        return pc.count_distinct(cells).as_py() == raw.n_rows
    if column.isna().any() or not column.is_unique:
        return False
    return fractions or not pd.api.types.is_float_dtype(column.dtype) or bool((column % 1 == 0).all())


def _is_blank(raw: RawTable, position: int) -> bool:
    """Whether a column has neither a name nor any cell, as separators too many in every line make them."""
    if raw.names is None or raw.names[position]:
        return False
    return not any(pd.notna(cell) and str(cell).strip() for cell in raw.column(position).unique().tolist())


def choose(raw: RawTable, columns: Names | None, aside: Sequence[int | None]) -> list[int]:
    own = [] if columns is not None else [raw.column_names.index(name) for name in raw.answers]
    if columns is None:
        chosen = [j for j in range(raw.width) if j not in own and not _is_blank(raw, j)]
    else:
        chosen = raw.find_all(columns, "columns")
    kept = [position for position in chosen if position not in aside]
    if not kept:
        raise raw.error("no column is left: set fewer aside with known= (--known) and id_column= (--id)")
    if max(kept) >= raw.width:
        what = f"{raw.column_words(max(kept))} stands beside the matrix and is not part of it"
        raise raw.error(f"{what}: name it in known= (--known) instead")
    for position in kept if raw.names is not None else ():
        if not raw.column_names[position]:
            ids = f"if it holds ids that all differ, say id_column={position} (--id {position})"
            others = "name it, leave it out with columns= (--columns), or delete rows above the names of the columns"
            raise raw.error(f"{raw.column_words(position)} has no name: {ids}, else {others}")
    return kept


def label_frame(
    raw: RawTable, positions: Sequence[int], *, asked: bool = True, has_ids: bool = True
) -> tuple[pd.DataFrame, list[str]]:
    """Columns of labels, and notices; what cannot be labels, and unless `asked` for does not look like it, is refused together."""
    found, doubts, errors = {}, [], []
    notices: list[str] = []
    for position in positions:
        name = raw.column_names[position]
        try:
            labels = labels_of(raw, position)
        except ColumnError as error:
            errors.append(error)
            doubts.append((name, "other", error.brief))
            continue
        found[name], words = labels, _different(labels)
        if not asked and (doubt := _doubt(name, len(words), len(labels), len(positions))):
            doubts.append(doubt)
        for word in [word for word in MAYBE_MISSING if word in words]:
            held = f"column {name!r} has the label {word!r} ({count(int((labels == word).sum()), 'object')})"
            remedy = f"if it means missing, say missing={word!r} (--missing {word!r})"
            notices.append(Doubt(f"{held}, a cluster of its own: {remedy}"))
    if len(errors) == len(doubts) == 1:
        raise InputError(str(errors[0])) from None
    _refuse_doubtful(raw.source, doubts, len(positions), has_ids=has_ids)
    frame = pd.concat(found, axis=1)
    frame.columns = pd.Index(list(found))
    return frame, notices


def check_clusterings(source: str, n_labels: Mapping[str, int | None], n_objects: int, *, has_ids: bool) -> None:
    """Refuse columns that do not look like clusterings, by how many different labels each has; None passes."""
    counted = [(name, k) for name, k in n_labels.items() if k is not None]
    doubts = [doubt for name, k in counted if (doubt := _doubt(name, k, n_objects, len(n_labels)))]
    _refuse_doubtful(source, doubts, len(n_labels), has_ids=has_ids)


def _doubt(name: str, k: int, n: int, n_columns: int) -> tuple[str, str, str] | None:
    """A column of k different labels, what it may be instead of a clustering, and why; None where it looks like one."""
    if 2 * k > n > FEW:
        return name, ("id" if k == n else "other"), f"{k:,} different values for {count(n, 'object')}"
    return (name, "known", "by its name a known class") if n_columns > 1 and _CLASS_NAME.fullmatch(name) else None


def split_ids(raw: RawTable, frame: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray | None]:
    """A frame of clusterings without the column that names the objects, and those names; other columns are asked about as a file's."""
    position, ids, _ = find_ids(raw, None, ())
    kept = [j for j in range(frame.shape[1]) if j != position]
    columns = {str(frame.columns[j]): frame.iloc[:, j].reset_index(drop=True) for j in kept}
    # measurements are refused by value, with their place
    n_labels = {name: None if column.dtype.kind == "f" else len(_different(column)) for name, column in columns.items()}
    check_clusterings(raw.source, n_labels, len(frame), has_ids=ids is not None)
    return (frame, None) if position is None else (frame.iloc[:, kept], ids)


def _different(labels: pd.Series) -> set[Any]:
    """The different labels; empty where integers are too close together to be more than half as many as the objects."""
    is_whole = isinstance(labels.dtype, np.dtype) and labels.dtype.kind in "iu"
    if is_whole and 2 * (int(labels.max()) - int(labels.min()) + 1) <= len(labels):
        return set()
    found = pd.unique(labels)
    return {label for label in found[~pd.isna(found)] if label != -1}


def _refuse_doubtful(source: str, doubts: list[tuple[str, str, str]], n: int, *, has_ids: bool) -> None:
    if not doubts:
        return
    advice, briefs = [], [f"{name!r} ({why})" for name, _, why in doubts]
    if ids := [name for name, what, _ in doubts if what == "id" and not has_ids]:
        advice.append(f"if {ids[0]!r} names the objects say id_column={ids[0]!r} (--id {ids[0]})")
    if known := [name for name, what, _ in doubts if what == "known"]:
        advice.append(f"if {known[0]!r} is known say known={known[0]!r} (--known {known[0]})")
    rest = "choose the clusterings with columns= (--columns), which takes whatever it names"
    these = f"{len(briefs)} of {count(n, 'column')} {'does' if len(briefs) == 1 else 'do'} not look like clusterings"
    raise InputError(f"{source}: {these}, {listed(briefs)}: {'; '.join([*advice, rest])}")


class Doubt(str):
    """A notice that may change the answer: functions warn of it."""

    __slots__ = ()


def class_names(names: Sequence[str]) -> list[str]:
    """A notice for every column of data that by its name is a known class."""
    said = "column {0!r} is clustered by as any other: if it is a class that is known, say known={0!r} (--known {0})"
    return [said.format(name) for name in names if _CLASS_NAME.fullmatch(name)]


def total_of(raw: RawTable) -> str:
    """The word for a total that the last row begins with; empty where it is none."""
    if not isinstance(raw.body, (pa.Table, pd.DataFrame)) or not raw.width:
        return ""
    column = raw.column(0)
    cell = str(column[raw.n_rows - 1].as_py() if isinstance(column, pa.ChunkedArray) else column.iloc[-1])
    return cell if _TOTAL.fullmatch(cell.strip()) else ""


def transposed(raw: RawTable, id_column: str | int | None) -> RawTable:
    """A raw table whose objects are the columns of another: its names become ids, and a column of it that names the rows their names."""
    # That column is `id_column`, an index of names, the first one if it has no name or is named like ids, or the first without a
    # number. Others without a number are left out, which is said.
    if raw.beside is not None:
        what = "has vectors beside its matrix that belong to its rows, so these are the objects"
        raise raw.error(f"{what}: leave transpose= (--transpose) out")
    if not isinstance(raw.body, (pa.Table, pd.DataFrame)):
        turned = raw.body.T
        turned = turned.tocsr() if hasattr(turned, "tocsr") else np.ascontiguousarray(turned)
        return replace(raw, body=turned, line=None, index=None, index_is_ids=False)
    words = [position for position in range(raw.width) if not _has_numbers(raw, position)]
    own, names = None, [""] * raw.n_rows
    named = raw.index_is_ids if id_column is None else id_column in ("index", raw.index_name)
    if named and raw.index is not None:
        names = [str(name) for name in raw.index]
    elif id_column is not None:
        own = raw.find(id_column, "id_column")
    elif not raw.column_names[0] or is_id_name(raw.column_names[0]):
        own = 0
    elif words:
        own = words[0]
    if own is not None:
        names = [str(cell or "").strip() for cell in _cells(raw, own)]
    names = [name or f"row {row + 1}" for row, name in enumerate(names)]
    left = [raw.column_names[position] for position in words if position != own]
    kept = [position for position in range(raw.width) if position != own and position not in words]
    if not kept:
        raise raw.error("no column holds numbers, so none is an object: leave transpose= (--transpose) out")
    notices = [*raw.notices, f"turned, so that its {count(len(kept), 'column')} are the objects"]
    if left:
        notices.append(f"left out {listed(left)}, which {'tells' if len(left) == 1 else 'tell'} of the rows")
    ids: Array = np.array([raw.column_names[position] for position in kept], object)
    rows: dict[str, Any] = {"index": ids, "index_name": "index", "index_is_ids": True}
    return replace(raw, body=_body(raw, kept, names), names=names, line=None, notices=tuple(notices), **rows)


def _body(raw: RawTable, kept: list[int], names: list[str]) -> Any:
    """Numbers where all cells are, else text as it stands, whose columns are looked at one by one later."""
    try:
        return pd.DataFrame(np.stack([numbers_of(raw, position) for position in kept]))
    except ColumnError:
        cells = np.array([_cells(raw, position) for position in kept], object)
    if not isinstance(raw.body, pa.Table):
        return pd.DataFrame(cells).infer_objects()
    return pa.table({str(j): pa.array(cells[:, j], pa.string()) for j in range(len(names))})


def _cells(raw: RawTable, position: int) -> list[Any]:
    column = raw.column(position)
    return column.to_pylist() if isinstance(column, pa.ChunkedArray) else column.tolist()


def _has_numbers(raw: RawTable, position: int) -> bool:
    column = raw.column(position)
    if not isinstance(column, pa.ChunkedArray) and column.dtype.kind in "biuf":
        return True
    return any(is_number(str(cell)) for cell in column.unique().tolist())
