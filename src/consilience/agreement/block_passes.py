"""What is done to a block of rows, wherever it lies: its part of every table, and moves of its rows by tables of them all.

All functions take a piece of the counts and say nothing of the other pieces, so that they may run anywhere. Sums are exact: counts that
are not whole numbers are rounded to multiples of a power of 2 of which all sums fit a float64, so that tables do not depend on the order in
which they are added up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from consilience._check import InputError
from consilience._run.row_blocks import Piece
from consilience._types import Floats, Ints, Labels
from consilience.agreement.count_blocks import load
from consilience.agreement.local_search import engine_of
from consilience.engine.information import Scoring, move_at_once
from consilience.engine.views import Views, cluster_tables, grouped_views, summed

CHUNK_BIT = 42  # of a stream's number: a chunk's streams are those of the whole table's turn, moved so far


@dataclass(frozen=True)
class Survey:
    """What one look at a piece tells: sums by row and column, non-zero cells, and whether all are whole numbers."""

    rows: Floats
    columns: Floats
    cells: int
    whole: bool


def survey(piece: Piece) -> Survey:
    """Check the counts of a piece, and add them up."""
    table = load(piece)
    if table.nnz and not (np.isfinite(table.data).all() and table.data.min() >= 0):
        raise InputError("a block holds a count that is negative or not finite")
    columns = np.bincount(table.indices, table.data, minlength=table.shape[1]).astype(float)
    return Survey(np.asarray(table.sum(axis=1)).ravel(), columns, table.nnz, bool((table.data % 1 == 0).all()))


@dataclass(frozen=True, eq=False)
class Reading:
    """How rows are seen.

    Attributes
    ----------
    codes : (m, n_columns) int32 array
        Clusterings of the columns, −1 for columns without counts.
    mean : float or None
        The mass that every row is given; None leaves the counts.
    grain : float or None
        Counts are rounded to multiples of it; None if they are whole.
    """

    codes: Labels
    mean: float | None
    grain: float | None

    def table(self, piece: Piece) -> Any:
        """The rows of a piece that have counts, weighted."""
        table = load(piece)
        some = np.diff(table.indptr) > 0
        table = table if some.all() else table[some]
        if self.mean is not None:
            table = sparse.csr_matrix(sparse.diags(self.mean / np.asarray(table.sum(axis=1)).ravel()) @ table)
        if self.grain is not None:
            table.data = np.rint(table.data / self.grain) * self.grain
        return table

    def views(self, piece: Piece) -> Views:
        """The same rows by the clusterings of the columns."""
        return grouped_views(self.table(piece), list(self.codes))


def tables_of(piece: Piece, reading: Reading, labels: list[Labels], sizes: list[int]) -> list[Floats]:
    """The piece's part of the table of every clustering of the rows: clusters × column clusters, side by side."""
    views = summed(reading.views(piece))
    return [cluster_tables(views, mine, k)[0] for mine, k in zip(labels, sizes, strict=True)]


def by_column(piece: Piece, reading: Reading, labels: list[Labels], sizes: list[int]) -> Any:
    """The piece's part of the table columns × row clusters of all clusterings side by side, as CSR."""
    table = reading.table(piece)
    first = np.concatenate([[0], np.cumsum(sizes)])
    codes = (np.column_stack(labels) + first[:-1]).astype(np.int32)
    shape = table.shape[0], int(first[-1])
    starts = np.arange(len(codes) + 1) * len(labels)
    members = sparse.csr_matrix((np.ones(codes.size), codes.ravel(), starts), shape=shape)
    return sparse.csr_matrix(table.T) @ members


def batch(
    piece: Piece, reading: Reading, labels: list[Labels], scorings: list[Scoring]
) -> tuple[list[Labels], list[Floats], list[Floats]]:
    """All rows of a piece moved at once, in every clustering: labels, how well each row fits, and the tables afterwards."""
    views = summed(reading.views(piece))
    moved = [move_at_once(views, mine, scoring) for mine, scoring in zip(labels, scorings, strict=True)]
    new, fit = [found for found, _ in moved], [score for _, score in moved]
    return new, fit, [cluster_tables(views, mine, len(s[0]))[0] for mine, s in zip(new, scorings, strict=True)]


@dataclass(frozen=True, eq=False)
class Whole:
    """A clustering of all rows: its table, the rows of each cluster, and the stream of the pass over it."""

    table: Floats
    members: Ints
    turn: int


def refine(
    piece: Piece,
    reading: Reading,
    labels: Labels,
    chunks: list[tuple[int, int]],
    whole: Whole,
    seed: int,
    heat: float,
    threads: int,
) -> tuple[Labels, Floats]:
    """Rows of a piece moved one by one, beside what the clusters held elsewhere when the round began.

    `chunks` are number and size of those that make up the piece: each is a search of its own. Returns labels, and what is added to the
    table.
    """
    views, new = reading.views(piece), labels.copy()
    change = np.zeros_like(whole.table)
    begin = 0
    for number, size in chunks:
        part = slice(begin, begin + size)
        new[part] = _refined(views.rows(part), new[part], whole, number, seed, heat, threads, change)
        begin += size
    return new, change


def _refined(
    rows: Views, labels: Labels, whole: Whole, number: int, seed: int, heat: float, threads: int, change: Floats
) -> Labels:
    """One pass over the rows of a chunk; what it changes in the table is added to `change`."""
    k = len(whole.table)
    elsewhere = whole.members - np.bincount(labels, minlength=k)
    held = np.flatnonzero(elsewhere > 0).astype(np.int32)
    rest = (whole.table - cluster_tables(rows, labels, k)[0])[held]
    engine = engine_of(beside(rows, rest), k, threads, fixed=len(held))
    found = np.concatenate([labels, held])
    engine.step(found, whole.turn + (number << CHUNK_BIT), seed=seed, temperature=heat)
    found = found[: len(labels)]
    moved = np.flatnonzero(found != labels)
    some = rows.rows(moved)
    change += cluster_tables(some, found[moved], k)[0] - cluster_tables(some, labels[moved], k)[0]
    return found


def beside(rows: Views, rest: Floats) -> Views:
    """Rows, and below them one for every line of `rest`, which is given in the columns of the views."""
    assert rows.groups is not None
    width, (n, raw) = len(rows.view_of), rows.table.shape
    own = sparse.csr_matrix((rows.table.data, rows.table.indices, rows.table.indptr), shape=(n, raw + width))
    sums = sparse.csr_matrix(rest)
    sums = sparse.csr_matrix((sums.data, sums.indices + raw, sums.indptr), shape=(len(rest), raw + width))
    seen = np.where(rows.view_of == np.arange(rows.n_views)[:, None], np.arange(width), -1)
    return replace(
        rows,
        table=sparse.vstack([own, sums], format="csr"),
        object_weights=np.ones(n + len(rest)),
        groups=np.concatenate([rows.groups, seen.astype(np.int32)], axis=1),
    )
