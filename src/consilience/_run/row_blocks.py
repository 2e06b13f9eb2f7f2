"""Tables in row blocks, wherever they lie: in memory, computed by Dask, or in files. A block is read where it is worked on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import delayed

from consilience._check import InputError, kind_of
from consilience._run.parallel import is_elsewhere, open_client
from consilience._run.progress import worker_name

Span = tuple[int, int]  # rows from the first to before the second
Shape = tuple[int, int]
Form = Callable[[Any], Any]  # a block as the kind of array that is worked on


@dataclass(frozen=True, eq=False)
class Held:
    table: Any

    def rows(self, first: int, last: int) -> Any:
        return self.table[first:last]


@dataclass(frozen=True, eq=False)
class Lazy:
    """A block that Dask makes, or has made where a worker of a cluster runs this."""

    value: Any
    form: Form

    def rows(self, first: int, last: int) -> Any:
        return self.form(here(self.value))[first:last]


@dataclass(frozen=True, eq=False)
class Piece:
    """Consecutive rows, of one block or of several: what a task is given."""

    parts: tuple[tuple[Any, int, int], ...]  # a block, and which of its rows
    width: int

    def read(self) -> list[Any]:
        read = [part.rows(first, last) for part, first, last in self.parts]
        for table in read:
            if table.shape[1] != self.width:
                raise InputError(f"a block has {table.shape[1]} columns, and the first has {self.width}")
        return read


class RowBlocks:
    """Blocks of rows, one below the other: objects with ``rows(first, last)``, how many rows and columns each has, and their name."""

    def __init__(self, parts: Sequence[Any], shapes: Sequence[Shape], source: str) -> None:
        sizes, widths = zip(*shapes, strict=True)
        if len(set(widths)) > 1:
            raise InputError(f"{source}: the blocks differ in their number of columns: {sorted(set(widths))[:5]}")
        self._parts, self.source = list(parts), source
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.n_rows, self.n_columns = int(self._starts[-1]), int(widths[0])
        if not self.n_rows:
            raise InputError(f"{source} without a row: give at least one row")

    def spans(self, step: int) -> list[Span]:
        """Spans of rows that begin at multiples of `step`, one for about every block; those in memory are parted further."""
        ends = {0, self.n_rows}
        for part, (first, last) in zip(self._parts, pairwise(self._starts.tolist()), strict=True):
            ends.add(first // step * step)
            if isinstance(part, Held):
                ends.update(range(first // step * step, last, step))
        return list(pairwise(sorted(ends)))

    def piece(self, span: Span) -> Piece:
        low, high = span
        parts: list[tuple[Any, int, int]] = []
        touched = np.searchsorted(self._starts, low, side="right") - 1, np.searchsorted(self._starts, high)
        for j in range(*map(int, touched)):
            part, begin = self._parts[j], int(self._starts[j])
            first, last = max(low - begin, 0), min(high, int(self._starts[j + 1])) - begin
            if first < last:
                held = isinstance(part, Held)
                parts.append((Held(part.rows(first, last)), 0, last - first) if held else (part, first, last))
        return Piece(tuple(parts), self.n_columns)


def dask_parts(source: Any, form: Form, what: str) -> tuple[list[Lazy], list[Shape], str]:
    """Blocks of a Dask array, data frame or bag of matrices: the blocks, their shapes, and what to call them."""
    name = f"Dask {type(source).__name__.lower()}"
    if getattr(source, "ndim", 2) != 2:
        raise InputError(f"a {name} of {what} has two dimensions, rows and columns; got {source.ndim}")
    if hasattr(source, "rechunk"):
        source = source.rechunk({1: -1})
    if not hasattr(source, "to_delayed"):
        raise InputError(f"row blocks of {what} are a Dask array, data frame or bag of matrices; got {kind_of(source)}")
    values = np.ravel(source.to_delayed()).tolist()
    if hasattr(source, "chunks") and not np.isnan([*source.chunks[0], source.shape[1]]).any():
        shapes = [(int(n), int(source.shape[1])) for n in source.chunks[0]]
        return [Lazy(one, form) for one in values], shapes, name
    return delayed_parts(values, form, name)


def delayed_parts(values: Sequence[Any], form: Form, name: str) -> tuple[list[Lazy], list[Shape], str]:
    """Blocks that are delayed values, or partitions of a bag, which are lists of matrices; their shapes are asked for."""
    from dask.delayed import delayed as later

    shapes = computed([later(_shape)(value, form) for value in values])
    return [Lazy(value, form) for value in values], shapes, name


def _shape(block: Any, form: Form) -> Shape:
    n, d = form(block).shape
    return int(n), int(d)


def computed(values: Sequence[Any]) -> list[Any]:
    """What Dask makes of lazy values, or has made: on the cluster where one is open, in this process otherwise."""
    client = None if worker_name() else open_client()
    if client is None:
        from dask.base import compute

        return list(compute(*values))
    from consilience._run.dask_cluster import ClusterWorkers

    return list(ClusterWorkers(client, logged=False)(delayed(_itself)(value) for value in values))


def _itself(value: Any) -> Any:
    return value


def here(value: Any) -> Any:
    """A value, which is computed or fetched first if it is elsewhere."""
    return computed([value])[0] if is_elsewhere(value) else value
