"""Objects that a client picked: their numbers as a list, or as the bits of a text where they are many."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from consilience._types import Ints
from consilience.explorer.replies import RefusedError
from consilience.explorer.snapshot import EDITED, REF

LISTED = 5000  # safeguard: objects of a list; more come as bits
BITS = 500_000  # safeguard: characters of a text of bits: 3,000,000 objects
BODY = 2**16  # safeguard: bytes of the body of a call
PICKS = 2**20  # safeguard: bytes of a body with two picks, and what is asked of them


def picked_rows(value: Any) -> Ints:
    """The numbers of the objects, in increasing order, each once; ValueError says what they must be.

    A text is base64 of bytes whose bit j (from the lowest) of byte i stands for object 8 i + j.

    Examples
    --------
    >>> picked_rows([4, 2, 2]), picked_rows("BQE=")
    (array([2, 4]), array([0, 2, 8]))
    """
    if isinstance(value, list) and len(value) <= LISTED:
        if all(type(one) is int and 0 <= one < 10**9 for one in value):
            return np.unique(np.array(value, np.int64))
    elif isinstance(value, str) and len(value) <= BITS:
        try:
            data = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            pass
        else:
            return np.flatnonzero(np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little"))
    raise ValueError(f"a list of at most {LISTED:,} numbers of objects, or at most {BITS:,} characters of base64")


# What clients send, checked: a query of small words, or a JSON object with exactly the keys of its call.

NAME, SCORE, SEARCH = 80, 200, 200  # safeguard: letters of a name, of a score, and of what is searched for
ITEMS, COUNT, ROWS = 64, 1000, 500  # safeguard: clusterings of an export and of a job; objects of one answer
ALL = -2  # safeguard: what `cluster` says for all of them; −1 is missing
FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json; charset=utf-8",
    "h5ad": "application/x-hdf5",
    "python": "text/x-python",
}
ORDERS = ("index", "id", "cluster", "confidence", "support", "known", "column")
WHOLE = re.compile(r"-?[0-9]{1,9}")
Check = Callable[[Any], Any]
Keys = Mapping[str, tuple[Check, Any]]  # of each key its check, and what stands for it; ... if it must be there


def export_body(body: bytes) -> dict[str, Any]:
    """The format, the refs with their names, and whether confidence and support, and labels that were saved, are wanted."""
    keys = {"format": (_format, ...), "items": (_items, ...), "assessed": (_flag, False), "saved": (_flag, False)}
    return check_keys(json_object(body), keys)


def json_object(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise RefusedError(400, "the body is not JSON") from None
    if not isinstance(content, dict):
        raise RefusedError(400, "the body must be a JSON object")
    return content


def check_keys(content: dict[str, Any], keys: Keys) -> dict[str, Any]:
    """Every key's value, or its default; unknown keys are refused."""
    if unknown := sorted(set(content) - set(keys)):
        raise RefusedError(400, f"this call knows no {unknown[0][:40]!r}: {', '.join(keys)}")
    asked = {}
    for name, (check, usual) in keys.items():
        if name not in content and usual is ...:
            raise RefusedError(400, f"{name} is missing")
        try:
            asked[name] = check(content[name]) if name in content else usual
        except ValueError as error:
            raise RefusedError(400, f"{name} must be {error}") from None
    return asked


def checked(what: str, fits: Callable[[Any], bool]) -> Check:
    """A value that fits, as it is; what it must be is said of any other."""

    def check(value: Any) -> Any:
        if not fits(value):
            raise ValueError(what)
        return value

    return check


def whole(low: int, high: int) -> Check:
    return checked(f"a whole number from {low} to {high}", lambda value: type(value) is int and low <= value <= high)


def real(low: float, high: float) -> Check:
    check = checked(
        f"a number from {low} to {high}", lambda value: type(value) in (int, float) and low <= value <= high
    )
    return lambda value: float(check(value))


def numbers(most: int) -> Check:
    """A list of at most so many whole numbers from 0, each once."""
    return checked(
        f"a list of at most {most} different whole numbers from 0",
        lambda value: (
            isinstance(value, list)
            and len(value) <= most
            and all(type(one) is int and 0 <= one < 10**9 for one in value)
            and len(set(value)) == len(value)
        ),
    )


def text(most: int) -> Check:
    """A text of so many characters at most; halves of characters, which JSON can smuggle in, are not text."""
    return checked(
        f"a text of at most {most} characters",
        lambda value: isinstance(value, str) and len(value) <= most and not re.search("[\ud800-\udfff]", value),
    )


_order = checked(f"one of {', '.join(ORDERS)}", lambda value: value in ORDERS)
_place = whole(0, 10**9 - 1)
OBJECTS: Keys = {
    "start": (_place, 0),
    "count": (whole(1, ROWS), 50),
    "cluster": (whole(ALL, 65535), ALL),
    "order": (_order, "index"),
    "at": (_place, 0),
    "falling": (whole(0, 1), 0),
    "text": (text(SEARCH), ""),
}


def query_of(query: Mapping[str, str], keys: Keys) -> dict[str, Any]:
    """A query, its whole numbers as numbers where its keys want them."""
    texts = {name for name, (_, usual) in keys.items() if isinstance(usual, str)}
    asked = {
        name: int(value) if WHOLE.fullmatch(value) and name not in texts else value for name, value in query.items()
    }
    return check_keys(asked, keys)


def objects_query(query: Mapping[str, str]) -> dict[str, Any]:
    """Which rows of the table of objects are asked for."""
    return {**query_of(query, OBJECTS), "rows": None}


def objects_body(body: bytes) -> dict[str, Any]:
    return check_keys(json_object(body), {**OBJECTS, "rows": (picked_rows, ...)})


ref_text = checked(
    "a node of the tree and m or c, such as 17m",
    lambda value: isinstance(value, str) and bool(REF.fullmatch(value) or EDITED.fullmatch(value)),
)
_format = checked(f"one of {', '.join(FORMATS)}", lambda value: isinstance(value, str) and value in FORMATS)
_flag = checked("true or false", lambda value: isinstance(value, bool))


def _items(value: Any) -> list[tuple[str, str]]:
    if not isinstance(value, list) or not 1 <= len(value) <= ITEMS:
        raise ValueError(f"a list of 1 to {ITEMS} clusterings")
    items = []
    for item in value:
        if not isinstance(item, dict) or not set(item) <= {"ref", "name"}:
            raise ValueError("a list of objects with ref and name")
        items.append((ref_text(item.get("ref")), text(NAME)(item.get("name", "")).strip()))
    return items
