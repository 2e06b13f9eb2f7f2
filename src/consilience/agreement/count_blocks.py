"""Counts in row blocks, wherever they lie: each block is read where it is worked on, and the whole table never is."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from consilience._check import InputError, check_count, count, kind_of
from consilience._run.row_blocks import Held, Piece, RowBlocks, Shape, dask_parts, delayed_parts
from consilience._whole_files import open_parquet
from consilience.tables.check_matrix import check_matrix


@dataclass(frozen=True, eq=False)
class File:
    path: Path

    def rows(self, first: int, last: int) -> Any:
        return sparse.csr_matrix(sparse.load_npz(self.path))[first:last]


def _shape(path: Path) -> tuple[int, int]:
    """Of the matrix in an npz file, whose counts are not read."""
    with np.load(path, allow_pickle=False) as file:
        if "shape" not in file.files:
            raise InputError(f"{path} is not a sparse matrix: write it with scipy.sparse.save_npz")
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
            has = f"the blocks have {count(self.n_rows, 'row')} and {count(self.n_columns, 'column')}, and {shape=} says otherwise"
            raise InputError(f"{self.source}: {has}: leave it out, or check that all blocks are there")

    def __repr__(self) -> str:
        return f"CountBlocks({self.source!r}, {count(self.n_rows, 'row')} × {count(self.n_columns, 'column')})"


def are_blocks(source: Any) -> bool:
    """Whether counts come in row blocks: as such, by Dask, as a list of sparse matrices, or in a folder."""
    if isinstance(source, CountBlocks) or hasattr(source, "__dask_graph__"):
        return True
    if isinstance(source, (str, Path)):
        return Path(source).is_dir()
    matrices = isinstance(source, (list, tuple)) and bool(len(source))
    return matrices and all(sparse.issparse(one) or hasattr(one, "__dask_graph__") for one in source)


def _parts_of(source: Any, shape: Shape | None) -> tuple[Sequence[Any], list[Shape], str]:
    """The blocks, their shapes, and what to call them."""
    if isinstance(source, (str, Path)):
        path = Path(source)
        files = sorted(path.glob("*.npz"))
        if not files:
            triples = triple_parts(path, shape)
            return triples, [(part.last - part.first, part.width) for part in triples], path.name
        return [File(file) for file in files], [_shape(file) for file in files], path.name
    if hasattr(source, "__dask_graph__"):
        return dask_parts(source, csr, "counts")
    if not isinstance(source, Sequence) or not len(source):
        raise InputError(f"row blocks are a list of matrices, a Dask array or bag, or a folder; got {kind_of(source)}")
    if hasattr(source[0], "__dask_graph__"):
        return delayed_parts(source, csr, count(len(source), "block"))
    held = [Held(csr(one)) for one in source]
    return held, [one.table.shape for one in held], count(len(held), "block")


def csr(block: Any) -> Any:
    """A block, or a list of blocks, as CSR; its numbers stay as they are stored."""
    if isinstance(block, list):
        return sparse.vstack([csr(one) for one in block], format="csr")
    if np.ma.is_masked(block):  # NumPy would take what lies under the mask
        check_matrix(block, what="a block")
    table = sparse.csr_matrix(block.tocsr() if hasattr(block, "tocsr") else np.asarray(block))
    if table.dtype.kind not in "biuf":
        raise InputError(f"a block holds {table.dtype}, and counts are numbers")
    return table


# (row, column, count) triples in Parquet files, sorted by row, of which a task reads the row groups that it needs.

TRIPLE = ("row", "column", "count")


@dataclass(frozen=True, eq=False)
class Triples:
    """The rows `first` … `last` − 1 of a table, in the files that hold them."""

    files: tuple[str, ...]
    names: tuple[str, ...]
    first: int
    last: int
    width: int

    def rows(self, first: int, last: int) -> Any:
        low, high = self.first + first, self.first + last
        found: list[Any] = [np.empty(0, np.int64)] * len(self.names)
        if self.files:
            from pyarrow import dataset

            here = (dataset.field(TRIPLE[0]) >= low) & (dataset.field(TRIPLE[0]) < high)
            read = dataset.dataset(list(self.files)).to_table(list(self.names), filter=here, use_threads=False)
            found = [values.to_numpy() for values in read.columns]
        row, column, *counts = found
        values = counts[0] if counts else np.ones(len(row))
        return sparse.csr_matrix((values, (row - low, column)), shape=(high - low, self.width))


def triple_parts(path: Path, shape: tuple[int, int] | None) -> list[Triples]:
    """Blocks of a file, or of the files of a folder in the order of their names; they begin with the row groups."""
    files = sorted([*path.glob("*.parquet"), *path.glob("*.pq")]) if path.is_dir() else [path]
    if not files or not files[0].exists():
        raise InputError(
            f"{path} holds no counts: a folder of npz files of scipy.sparse.save_npz, or of Parquet files of triples"
        )
    names: tuple[str, ...] = ()
    groups: list[tuple[Path, int, int, int]] = []  # file, first and last row, last column
    for file in files:
        held = open_parquet(file)
        have = held.schema_arrow.names
        names = names or (TRIPLE[:2] if set(have) == set(TRIPLE[:2]) else TRIPLE)  # pairs alone count 1 each
        if missing := [name for name in names if name not in have]:
            raise InputError(f"{file} has no column {missing[0]!r}: triples have the columns {', '.join(TRIPLE)}")
        numbers = [i for i in range(held.num_row_groups) if held.metadata.row_group(i).num_rows]
        groups += [(file, *_ends(file, held, i, "row"), _ends(file, held, i, "column")[1]) for i in numbers]
    if not groups:
        raise InputError(f"{path} holds no counts")
    for (_, _, last, _), (file, first, *_) in pairwise(groups):
        if first < last:
            raise InputError(f"{file}: row {first} comes after row {last}: sort the triples by row")
    height, width = groups[-1][2] + 1, max(widest for *_, widest in groups) + 1
    if shape is not None:
        rows, columns = (check_count("shape", size) for size in shape)
        if rows < height or columns < width:
            ends = f"row {height - 1} and column {width - 1}"
            raise InputError(f"{path} has counts in {ends}: shape={shape} is too small")
        height, width = rows, columns
    parts = []
    for first, end in pairwise(sorted({0, height, *(group[1] for group in groups)})):
        mine = dict.fromkeys(str(file) for file, low, high, _ in groups if low < end and high >= first)
        parts.append(Triples(tuple(mine), names, first, end, width))
    return parts


def _ends(path: Path, held: Any, group: int, name: str) -> tuple[int, int]:
    """The least and the largest number of a column of a row group, from its statistics, or where these are missing from itself."""
    about = held.metadata.row_group(group)
    known = {about.column(j).path_in_schema: about.column(j).statistics for j in range(about.num_columns)}[name]
    if known is None or not known.has_min_max:
        values = held.read_row_group(group, [name]).column(0).to_numpy()
        low, high = values.min(), values.max()
    else:
        low, high = known.min, known.max
    if not isinstance(low, (int, np.integer)) or low < 0:
        raise InputError(f"{path}: {name} holds {low!r}, and rows and columns are whole numbers from 0")
    return int(low), int(high)
