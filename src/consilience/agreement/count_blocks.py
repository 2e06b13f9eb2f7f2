"""Counts in row blocks, wherever they lie: each block is read where it is worked on, and the whole table never is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from consilience._check import InputError, count, kind_of
from consilience._run.row_blocks import Held, Piece, RowBlocks, dask_parts, delayed_parts, is_remote
from consilience.agreement.triples import TripleFiles


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


def load(piece: Piece) -> Any:
    """The counts of some rows as CSR of floats, without zeros."""
    read = piece.read()
    table = read[0] if len(read) == 1 else sparse.vstack(read, format="csr")
    table = sparse.csr_matrix(table, dtype=np.float64, copy=True)
    table.sum_duplicates()
    table.eliminate_zeros()
    return table


class CountBlocks(RowBlocks):
    """A count table in row blocks, for :func:`agree`, :class:`DataLoom` and :class:`CAP`.

    Parameters
    ----------
    source : sequence of sparse or dense matrices, Dask array, Dask bag or list of delayed matrices, or path
        The blocks, one below the other, all with the same columns. A path is a folder with npz files of
        :func:`scipy.sparse.save_npz`, in the order of their names, or a Parquet file or folder of (row, column, count) triples sorted by
        row, which are whole numbers from 0.
    shape : (int, int), optional
        Of the whole table, for triples whose last rows or columns have no counts; blocks of another kind must have it.

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
        super().__init__(*_parts_of(source, shape))
        if shape is not None and (self.n_rows, self.n_columns) != tuple(shape):
            raise InputError(
                f"{self.source}: the blocks have {count(self.n_rows, 'row')} and {count(self.n_columns, 'column')}, and shape={shape} says "
                "otherwise: leave it out, or check that all blocks are there"
            )

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


def _parts_of(source: Any, shape: tuple[int, int] | None) -> tuple[Sequence[Any], list[int], list[int], str]:
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
        return dask_parts(source, csr, "counts")
    if not isinstance(source, Sequence) or not len(source):
        raise InputError(f"row blocks are a list of matrices, a Dask array or bag, or a folder; got {kind_of(source)}")
    if hasattr(source[0], "__dask_graph__"):
        remote = any(is_remote(one) for one in source)
        return delayed_parts(source, csr, remote, count(len(source), "block"))
    held = [Held(csr(one)) for one in source]
    shapes = [one.table.shape for one in held]
    return held, [n for n, _ in shapes], [d for _, d in shapes], count(len(held), "block")


def csr(block: Any) -> Any:
    """A block, or a list of blocks, as CSR; its numbers stay as they are stored."""
    if isinstance(block, list):
        return sparse.vstack([csr(one) for one in block], format="csr")
    table = sparse.csr_matrix(block.tocsr() if hasattr(block, "tocsr") else np.asarray(block))
    if table.dtype.kind not in "biuf":
        raise InputError(f"a block holds {table.dtype}, and counts are numbers")
    return table
