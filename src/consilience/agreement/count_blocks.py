"""Counts in row blocks, wherever they lie: each block is read where it is worked on, and the whole table never is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from consilience._check import InputError, count, kind_of
from consilience.agreement.triples import TripleFiles

Span = tuple[int, int]  # rows from the first to before the second


@dataclass(frozen=True, eq=False)
class Held:
    """A block in memory."""

    table: Any

    def rows(self, first: int, last: int) -> Any:
        """Some of its rows, as CSR."""
        return self.table[first:last]

    def slice(self, first: int, last: int) -> Held:
        """The same, not read yet."""
        return Held(self.table[first:last])


@dataclass(frozen=True, eq=False)
class File:
    """A block in an npz file of :func:`scipy.sparse.save_npz`."""

    path: Path

    def rows(self, first: int, last: int) -> Any:
        """Some of its rows, as CSR."""
        return sparse.csr_matrix(sparse.load_npz(self.path))[first:last]

    def shape(self) -> tuple[int, int]:
        """Without its counts being read."""
        with np.load(self.path, allow_pickle=False) as file:
            if "shape" not in file.files:
                raise InputError(f"{self.path} is not a sparse matrix: write it with scipy.sparse.save_npz")
            n, d = (int(size) for size in file["shape"])
        return n, d


@dataclass(frozen=True, eq=False)
class Lazy:
    """A block that Dask computes: a sparse or dense matrix; `remote` if a cluster holds what it is made of."""

    value: Any
    remote: bool

    def rows(self, first: int, last: int) -> Any:
        """Some of its rows, as CSR."""
        return _csr(self.value.compute(scheduler="synchronous"), "a block")[first:last]

    def held(self) -> Held | Lazy:
        """The block itself if it is remote: a task cannot ask for it there."""
        return Held(_csr(self.value.compute(), "a block")) if self.remote else self


@dataclass(frozen=True, eq=False)
class Piece:
    """Consecutive rows, of one block or of several: what a task is given."""

    parts: tuple[tuple[Any, int, int], ...]  # a block, and which of its rows
    width: int

    def load(self) -> Any:
        """The counts as CSR of floats, without zeros."""
        read = [part.rows(first, last) for part, first, last in self.parts]
        table = read[0] if len(read) == 1 else sparse.vstack(read, format="csr")
        table = sparse.csr_matrix(table, dtype=np.float64, copy=True)
        if table.shape[1] != self.width:
            raise InputError(f"a block has {count(table.shape[1], 'column')}, and the first has {self.width}")
        table.sum_duplicates()
        table.eliminate_zeros()
        return table


class CountBlocks:
    """A count table in row blocks, for :func:`agree`, :class:`DataLoom` and :class:`CAP`.

    Parameters
    ----------
    source : sequence of sparse or dense matrices, Dask array, Dask bag or list of delayed matrices, or path
        The blocks, one below the other, all with the same columns. A path is a folder with npz files of
        :func:`scipy.sparse.save_npz`, in the order of their names, or a Parquet file or folder of (row, column, count) triples sorted by
        row, which are whole numbers from 0.
    shape : (int, int), optional
        Of the whole table, for triples whose last rows or columns have no counts.

    Attributes
    ----------
    n_rows, n_columns : int
    source : str

    Notes
    -----
    Blocks of some ten million non-zero cells serve well: several for every core, and two for every core in memory. Answers depend
    neither on how rows are parted into blocks nor on the number of workers.

    Examples
    --------
    >>> from scipy import sparse
    >>> from consilience.agreement import CountBlocks
    >>> CountBlocks([sparse.eye(4, 3, format="csr"), sparse.csr_matrix([[0, 2, 5]])])
    CountBlocks('2 blocks', 5 rows × 3 columns)
    """

    def __init__(self, source: Any, *, shape: tuple[int, int] | None = None) -> None:
        self._parts, sizes, widths, self.source = _parts_of(source, shape)
        if len(set(widths)) > 1:
            raise InputError(f"{self.source}: the blocks differ in their number of columns: {sorted(set(widths))[:5]}")
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.n_rows, self.n_columns = int(self._starts[-1]), widths[0]

    def spans(self, step: int) -> list[Span]:
        """Spans of rows that begin at multiples of `step`, one for about every block; those in memory are parted further."""
        ends = {0, self.n_rows}
        for part, (first, last) in zip(self._parts, pairwise(self._starts.tolist()), strict=True):
            ends.add(first // step * step)
            if isinstance(part, Held):
                ends.update(range(first // step * step, last, step))
        return list(pairwise(sorted(ends)))

    def piece(self, span: Span) -> Piece:
        """The rows of a span, not read yet."""
        low, high = span
        first = int(np.searchsorted(self._starts, low, side="right")) - 1
        parts = []
        for j in range(first, len(self._parts)):
            begin, end = (int(x) for x in self._starts[j : j + 2])
            if begin >= high:
                break
            a, b = max(low - begin, 0), min(high, end) - begin
            if b > a:
                part = self._parts[j]
                part = part.held() if isinstance(part, Lazy) else part
                parts.append((part.slice(a, b), 0, b - a) if isinstance(part, Held) else (part, a, b))
        return Piece(tuple(parts), self.n_columns)

    def __repr__(self) -> str:
        return f"CountBlocks({self.source!r}, {count(self.n_rows, 'row')} × {count(self.n_columns, 'column')})"


def are_blocks(source: Any) -> bool:
    """Whether counts come in row blocks: as such, by Dask, as a list of sparse matrices, or in a folder."""
    if isinstance(source, CountBlocks) or hasattr(source, "__dask_graph__"):
        return True
    if isinstance(source, (str, Path)):
        return Path(source).is_dir()
    return isinstance(source, (list, tuple)) and bool(len(source)) and all(_is_matrix(one) for one in source)


def _is_matrix(value: Any) -> bool:
    return sparse.issparse(value) or hasattr(value, "__dask_graph__")


def _parts_of(source: Any, shape: tuple[int, int] | None) -> tuple[list[Any], list[int], list[int], str]:
    """The blocks, their numbers of rows and of columns, and what to call them."""
    if isinstance(source, (str, Path)):
        path = Path(source)
        files = sorted(path.glob("*.npz"))
        if not files:
            triples = TripleFiles.of(path, shape)
            return triples.parts(), triples.sizes(), [triples.width] * len(triples.sizes()), path.name
        read = [File(file) for file in files]
        sizes = [file.shape() for file in read]
        return read, [n for n, _ in sizes], [d for _, d in sizes], path.name
    if hasattr(source, "__dask_graph__"):
        return _of_dask(source)
    if not isinstance(source, Sequence) or not len(source):
        raise InputError(f"row blocks are a list of matrices, a Dask array or bag, or a folder; got {kind_of(source)}")
    if hasattr(source[0], "__dask_graph__"):
        remote = any(_is_remote(one) for one in source)
        return _of_delayed(list(source), remote, count(len(source), "block"))
    held = [Held(_csr(one, f"block {i}")) for i, one in enumerate(source)]
    shapes = [one.table.shape for one in held]
    return held, [n for n, _ in shapes], [d for _, d in shapes], count(len(held), "block")


def _csr(block: Any, what: str) -> Any:
    """A block as CSR; its numbers stay as they are stored."""
    table = sparse.csr_matrix(block.tocsr() if hasattr(block, "tocsr") else np.asarray(block))
    if table.dtype.kind not in "biuf":
        raise InputError(f"{what} holds {table.dtype}, and counts are numbers")
    return table


def _of_dask(source: Any) -> tuple[list[Any], list[int], list[int], str]:
    if hasattr(source, "chunks") and getattr(source, "ndim", 0) != 2:
        raise InputError(f"a Dask array of counts has two dimensions, rows and columns; got {source.ndim}")
    if hasattr(source, "rechunk"):
        source = source.rechunk({1: -1})
    if not hasattr(source, "to_delayed"):
        raise InputError(f"row blocks are a Dask array or a Dask bag of matrices; got {kind_of(source)}")
    remote, delayed = _is_remote(source), np.ravel(source.to_delayed()).tolist()
    if hasattr(source, "chunks"):
        sizes, widths = source.chunks[0], [source.shape[1]] * len(delayed)
        if not np.isnan([*sizes, *widths]).any():
            return (
                [Lazy(one, remote) for one in delayed],
                [int(n) for n in sizes],
                [int(d) for d in widths],
                "Dask array",
            )
        return _of_delayed(delayed, remote, "Dask array")
    from dask.delayed import delayed as later

    stacked = [later(_stacked)(one) for one in delayed]  # a partition of a bag is a list of matrices
    return _of_delayed(stacked, remote, "Dask bag")


def _stacked(blocks: Any) -> Any:
    return sparse.vstack([_csr(block, "a block") for block in blocks], format="csr")


def _is_remote(source: Any) -> bool:
    from distributed import futures_of

    return bool(futures_of(source))


def _of_delayed(values: list[Any], remote: bool, name: str) -> tuple[list[Any], list[int], list[int], str]:
    from dask.base import compute
    from dask.delayed import delayed as later

    shapes = compute(*(later(np.shape)(value) for value in values))
    return [Lazy(value, remote) for value in values], [int(n) for n, _ in shapes], [int(d) for _, d in shapes], name
