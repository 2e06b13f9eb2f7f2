"""What clients send, checked: a query of small words, or a JSON object with exactly the keys of its call."""

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from consilience._types import Ints
from consilience.explorer.replies import RefusedError
from consilience.explorer.snapshot import EDITED, REF

LISTED = 5000  # safeguard: objects of a list; more come as bits
BITS = 500_000  # safeguard: characters of a text of bits: 3,000,000 objects
BODY = 2**16  # safeguard: bytes of the body of a call
PICKS = 2**20  # safeguard: bytes of a body with two picks, and what is asked of them
NAME, SCORE, SEARCH = 80, 200, 200  # safeguard: letters of a name, of a score, and of what is searched for
ITEMS, COUNT, ROWS = 64, 1000, 500  # safeguard: clusterings of an export and of a job; objects of one answer
Check = Callable[[Any], Any]
Keys = Mapping[str, tuple[Check, Any]]  # of each key its check, and what stands for it; ... if it must be there


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


def one_of(values: Iterable[str]) -> Check:
    return checked(f"one of {', '.join(values)}", lambda value: isinstance(value, str) and value in list(values))


def whole(low: int, high: int) -> Check:
    return checked(f"a whole number from {low} to {high}", lambda value: _is_whole(value, low, high))


def real(low: float, high: float) -> Check:
    check = checked(f"a number from {low} to {high}", lambda one: type(one) in (int, float) and low <= one <= high)
    return lambda value: float(check(value))


def list_of(most: int, what: str, fits: Callable[[Any], bool], once: bool = False) -> Check:
    def all_fit(value: Any) -> bool:
        listed = isinstance(value, list) and len(value) <= most and all(map(fits, value))
        return listed and not (once and len(set(value)) < len(value))

    return checked(f"a list of at most {most:,} {what}", all_fit)


def numbers(most: int) -> Check:
    return list_of(most, "different whole numbers from 0", _is_number, once=True)


def text(most: int) -> Check:
    """A text of so many characters at most; halves of characters, which JSON can smuggle in, are not text."""
    return checked(
        f"a text of at most {most} characters",
        lambda value: isinstance(value, str) and len(value) <= most and not re.search("[\ud800-\udfff]", value),
    )


def picked_rows(value: Any) -> Ints:
    """The numbers of objects that a client picked, in increasing order, each once; bit j of byte i stands for object 8 i + j."""
    if isinstance(value, list) and len(value) <= LISTED and all(map(_is_number, value)):
        return np.unique(np.array(value, np.int64))
    if isinstance(value, str) and len(value) <= BITS:
        with suppress(ValueError):
            data = np.frombuffer(base64.b64decode(value, validate=True), np.uint8)
            return np.flatnonzero(np.unpackbits(data, bitorder="little"))
    raise ValueError(f"a list of at most {LISTED:,} numbers of objects, or at most {BITS:,} characters of base64")


def _is_whole(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _is_number(value: Any) -> bool:
    return _is_whole(value, 0, 10**9 - 1)


flag = checked("true or false", lambda value: isinstance(value, bool))
ref_text = checked(
    "a node of the tree and m or c, such as 17m",
    lambda value: isinstance(value, str) and bool(REF.fullmatch(value) or EDITED.fullmatch(value)),
)
