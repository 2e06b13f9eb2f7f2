"""Where the clusterings of a store lie: in which part, in which row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from consilience._check import InputError
from consilience._types import Array, ArrayLike, Ints
from consilience.store.words import brief


class Index:
    """The parts that were taken in, and where each clustering lies in them.

    Attributes
    ----------
    parts : list of str
        File names of the parts, in the order they were entered; also of those that are gone.
    named : set of int
        Parts with label names.
    where : dict of int to (int, int)
        Part and row of each clustering that can be read, by its number.
    next_number, next_part : int
        The next that are free.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parts: list[str] = []
        self.named: set[int] = set()
        self.where: dict[int, tuple[int, int]] = {}
        self.next_number = 0
        self.next_part = 0
        self._failed: dict[int, Array] = {}  # part -> which of its rows could not be made
        self._dropped: set[int] = set()  # parts that are gone

    def enter(self, name: str, numbers: Ints, has_names: bool, failed: Array | None) -> int | None:
        """Enter a part; a number that is already known keeps its place, and the first such is returned."""
        part, repeated = len(self.parts), None
        self.parts.append(name)
        if has_names:
            self.named.add(part)
        if failed is not None:
            self._failed[part] = failed
        for row, number in enumerate(numbers.tolist()):
            self.next_number = max(self.next_number, number + 1)
            if failed is not None and failed[row]:
                continue
            if self.where.setdefault(number, (part, row)) != (part, row) and repeated is None:
                repeated = number
        return repeated

    def forget(self, part: int) -> None:
        """A part is gone."""
        self._dropped.add(part)
        self.where = {number: place for number, place in self.where.items() if place[0] != part}

    def files(self) -> Iterator[tuple[str, Array | None]]:
        """The parts that are there, each with which of its rows could not be made (None where all could)."""
        for part, name in enumerate(self.parts):
            if part not in self._dropped:
                yield name, self._failed.get(part)

    @property
    def numbers(self) -> Ints:
        """Of the clusterings that can be read, sorted."""
        return np.sort(np.fromiter(self.where, np.int64, len(self.where)))

    def places(self, numbers: ArrayLike) -> Ints:
        """Part and row of each clustering."""
        asked = (self.numbers if numbers is None else np.ravel(numbers)).tolist()
        unknown = [number for number in asked if number not in self.where]
        if unknown:
            raise InputError(f"store {self.path} has no clustering {unknown[0]!r}: `numbers` lists those it has")
        return np.array([self.where[number] for number in asked], dtype=np.int64).reshape(-1, 2)

    def parts_of(self, numbers: ArrayLike) -> list[int]:
        """The parts that hold these clusterings and no others."""
        parts = set(self.places(numbers)[:, 0].tolist())
        asked = set(np.ravel(numbers).tolist())
        kept = sorted(number for number, (part, _) in self.where.items() if part in parts and number not in asked)
        if kept:
            raise InputError(f"clustering {kept[0]} was appended together with some of these: drop it too, or none")
        return sorted(parts)

    def new_numbers(self, numbers: ArrayLike, count: int) -> Ints:
        """What so many new clusterings are to be called: as asked, or the next free ones."""
        if numbers is None:
            if self.next_number + count > 2**63:
                raise InputError(f"store {self.path} has a clustering {self.next_number - 1}: give numbers yourself")
            return np.arange(count, dtype=np.int64) + self.next_number if count else np.empty(0, np.int64)
        array = np.asarray(numbers)
        if array.dtype.kind == "u" and array.size and array.max() >= 2**63:
            raise InputError(f"numbers must be below 2**63; got {array.max()}")
        if array.shape != (count,) or (count and array.dtype.kind not in "iu"):
            raise InputError(f"numbers must be {count} whole numbers, one per clustering; got {brief(numbers)}")
        seen: set[int] = set()
        for number in array.tolist():
            if number in seen or number in self.where:
                raise InputError(f"clustering {number} is already in {self.path}, or given twice: give new numbers")
            seen.add(number)
        return array.astype(np.int64)
