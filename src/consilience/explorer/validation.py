"""What clients send, checked: a query of small words, or a JSON object with exactly the keys of its call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from consilience.explorer.codec import RefusedError
from consilience.explorer.export import FORMATS
from consilience.explorer.snapshot import REF

NAME, SCORE, ITEMS = 80, 200, 64
WHOLE = re.compile(r"-?[0-9]{1,9}")
Check = Callable[[Any], Any]


def objects_query(query: Mapping[str, str]) -> dict[str, Any]:
    """Which rows of the table of objects are asked for."""
    usual = {"start": "0", "count": "50", "cluster": "-2", "order": "index"}
    if unknown := sorted(set(query) - set(usual)):
        raise RefusedError(400, f"this call knows no {unknown[0]!r}: {', '.join(usual)}")
    asked = {**usual, **query}
    limits = {"start": (0, 10**9 - 1), "count": (1, 500), "cluster": (-2, 65535)}
    numbers = {name: _whole_text(name, asked[name], *ends) for name, ends in limits.items()}
    if asked["order"] not in ("index", "confidence"):
        raise RefusedError(400, "order is index or confidence")
    return {**numbers, "order": asked["order"]}


def job_body(body: bytes) -> tuple[str, dict[str, Any]]:
    """The kind of a job, and what it is asked to do."""
    content = _object(body)
    kinds: dict[str, dict[str, tuple[Check, Any]]] = {
        "refine": {"ref": (_ref, ...), "count": (_between(1, 1000), 100), "spread": (_real(0.01, 3), 0.3)},
        "null": {"groups": (_between(2, 100), ...), "score": (_short(SCORE), ...), "shuffles": (_between(1, 100), 20)},
    }
    kind = content.pop("kind", None)
    if not isinstance(kind, str) or kind not in kinds:
        raise RefusedError(400, "the kind of a job is refine or null")
    return kind, _checked(content, kinds[kind])


def export_body(body: bytes) -> tuple[str, list[tuple[str, str]], bool]:
    """The format, the refs with their names, and whether confidence is wanted."""
    keys = {"format": (_format, ...), "items": (_items, ...), "confidence": (_flag, False)}
    asked = _checked(_object(body), keys)
    return asked["format"], asked["items"], asked["confidence"]


def _object(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise RefusedError(400, "the body is not JSON") from None
    if not isinstance(content, dict):
        raise RefusedError(400, "the body must be a JSON object")
    return content


def _checked(content: dict[str, Any], keys: Mapping[str, tuple[Check, Any]]) -> dict[str, Any]:
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


def _whole_text(name: str, text: str, low: int, high: int) -> int:
    if not WHOLE.fullmatch(text) or not low <= int(text) <= high:
        raise RefusedError(400, f"{name} must be a whole number from {low} to {high}")
    return int(text)


def _between(low: int, high: int) -> Check:
    def check(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return value

    return check


def _real(low: float, high: float) -> Check:
    def check(value: Any) -> float:
        if type(value) not in (int, float) or not low <= value <= high:
            raise ValueError(f"a number from {low} to {high}")
        return float(value)

    return check


def _short(most: int) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, str) or len(value) > most or not _encodable(value):
            raise ValueError(f"a text of at most {most} characters")
        return value

    return check


def _encodable(text: str) -> bool:
    """Whether it is text at all: JSON can smuggle in halves of characters."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _ref(value: Any) -> str:
    if not isinstance(value, str) or not REF.fullmatch(value):
        raise ValueError("a node of the tree and m or c, such as 17m")
    return value


def _format(value: Any) -> str:
    if not isinstance(value, str) or value not in FORMATS:
        raise ValueError(f"one of {', '.join(FORMATS)}")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _items(value: Any) -> list[tuple[str, str]]:
    if not isinstance(value, list) or not 1 <= len(value) <= ITEMS:
        raise ValueError(f"a list of 1 to {ITEMS} clusterings")
    items = []
    for item in value:
        if not isinstance(item, dict) or not set(item) <= {"ref", "name"}:
            raise ValueError("a list of objects with ref and name")
        items.append((_ref(item.get("ref")), _short(NAME)(item.get("name", "")).strip()))
    return items
