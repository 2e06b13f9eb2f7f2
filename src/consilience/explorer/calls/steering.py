"""What people wish of new clusterings: some columns to count more or less, some objects together or apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from consilience.explorer.codec import RefusedError
from consilience.explorer.session import Session
from consilience.generation import Guide

STEERED, FEW = 2.0, 15  # by how much a column counts more or less; objects of which all pairs are wished for
COLUMNS, OBJECTS = 200, 1000  # that can be named in one wish


class Wish(NamedTuple):
    """What the new clusterings should be like: factors of columns, and pairs of objects to be together or apart."""

    columns: dict[str, float]
    together: list[tuple[Any, Any]]
    apart: list[tuple[Any, Any]]

    def options(self) -> dict[str, Any]:
        """For :class:`consilience.generation.Variations`."""
        found: dict[str, Any] = {"columns": self.columns} if self.columns else {}
        if self.together or self.apart:
            found["guide"] = Guide(together=self.together or None, apart=self.apart or None)
        return found

    def code(self) -> str:
        """The same in Python."""
        said = f", columns={self.columns!r}" if self.columns else ""
        if self.together or self.apart:
            pairs = {"together": self.together, "apart": self.apart}
            said += f", guide=Guide({', '.join(f'{side}={given!r}' for side, given in pairs.items() if given)})"
        return said


def wish_of(session: Session, more: Sequence[int], less: Sequence[int], together: Any, apart: Any) -> Wish:
    """Columns and objects by their names, from their numbers."""
    columns_and_objects = ((more, len(session.features), "column"), (less, len(session.features), "column"))
    rows = ((together, session.snapshot.n_objects, "object"), (apart, session.snapshot.n_objects, "object"))
    for asked, most, what in columns_and_objects + rows:
        if any(number >= most for number in asked):
            raise RefusedError(400, f"there is no {what} {max(asked)} here: they are numbered 0 to {most - 1}")
    if both := set(more) & set(less) or set(together) & set(apart):
        raise RefusedError(400, f"{min(both)} is wished for both ways: choose one")
    columns = {session.features[i]: STEERED for i in more} | {session.features[i]: 1 / STEERED for i in less}
    ids = None if session.data is None else session.data.ids

    def name(row: int) -> Any:
        return int(row) if ids is None else ids[row].item() if hasattr(ids[row], "item") else ids[row]

    near = [(name(a), name(b)) for a, b in _pairs(together)]
    if together:
        far = [(name(together[i % len(together)]), name(b)) for i, b in enumerate(apart)]
    else:
        far = [(name(a), name(b)) for a, b in _pairs(apart)]
    return Wish(columns, near, far)


def _pairs(rows: Sequence[int]) -> list[tuple[int, int]]:
    """All pairs of a few objects; of many each with the first and the next."""
    if len(rows) <= FEW:
        return list(combinations(rows, 2))
    return [*pairwise(rows), *((rows[0], row) for row in rows[2:])]
