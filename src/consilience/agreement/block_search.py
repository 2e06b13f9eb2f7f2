"""The searches of :class:`DataLoom` and :class:`CAP` on counts in row blocks: passes over all blocks whose parts add up.

Rows are moved where their blocks lie, by tables as small as clusters × clusters. The other side needs no more than the table columns × row
clusters, a sum over the blocks, on which the columns are searched as in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from joblib import delayed
from scipy import sparse

from consilience._check import InputError, check_choice
from consilience._run.parallel import n_threads, workers
from consilience._run.row_blocks import Piece, Span
from consilience._types import Floats, Ints, Labels
from consilience.agreement.co_clustering import CoSearch, engine_of
from consilience.agreement.comraf import Clusterings, take_turns
from consilience.agreement.count_blocks import CountBlocks, are_blocks, load
from consilience.agreement.count_table import WEIGHTINGS, Counts, Objects, check_counts
from consilience.engine.objective import objective_of
from consilience.engine.search import STILL, Search
from consilience.engine.views import Views, cluster_tables, grouped_views, summed

CHUNK = 4096  # rows that are searched one by one, beside the tables of all others
ROUNDS = 16  # of a pass: chunks of a round do not see each other's moves


def sizes_of(clusterings: Sequence[Labels]) -> list[int]:
    return [int(labels.max()) + 1 for labels in clusterings]


def side_by_side(table: Floats, sizes: Sequence[int], mean_entry: float | None = None) -> Views:
    """Rows whose columns are the clusters of clusterings with so many clusters, one after the other."""
    view_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return Views(sparse.csr_matrix(table), view_of, np.ones(len(sizes)), np.ones(len(table)), mean_entry=mean_entry)


def take_back(before: Labels, after: Labels, n_clusters: int) -> bool:
    """Where chunks that did not see each other emptied a cluster, its first row goes back there; whether any did."""
    changed = False
    while len(empty := np.flatnonzero(np.bincount(after, minlength=n_clusters) == 0)):
        for cluster in empty:
            after[np.flatnonzero(before == cluster)[0]] = cluster
        changed = True
    return changed


# What is done to a piece of the counts, wherever it lies. Sums are exact: counts that are not whole numbers are rounded to multiples of
# a power of 2 of which all sums fit a float64, so that tables do not depend on the order in which they are added up.

CHUNK_BIT = 42  # safeguard: of a stream's number: a chunk's streams are those of the whole table's turn, moved so far


def survey(piece: Piece) -> tuple[Floats, Floats, int, bool]:
    """Sums of a piece by row and by column, its non-zero cells, and whether all are whole numbers; refused where they are no counts."""
    table = load(piece)
    if table.nnz and not (np.isfinite(table.data).all() and table.data.min() >= 0):
        raise InputError("a block holds a count that is negative or not finite")
    columns = np.bincount(table.indices, table.data, minlength=table.shape[1]).astype(float)
    return np.asarray(table.sum(axis=1)).ravel(), columns, table.nnz, bool((table.data % 1 == 0).all())


@dataclass(frozen=True, eq=False)
class Reading:
    codes: Labels  # (m, n_columns) clusterings of the columns, −1 for columns without counts
    mean: float | None  # the mass that every row is given; None leaves the counts
    grain: float | None  # counts are rounded to multiples of it; None if they are whole

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


def refine(
    piece: Piece,
    reading: Reading,
    labels: Labels,
    chunks: list[tuple[int, int]],
    table: Floats,
    members: Ints,
    *,
    n_jobs: int,
    **how: Any,
) -> tuple[Labels, Floats]:
    """Rows of a piece moved one by one, and what that adds to the table."""
    # Chunks (stream and number of rows) are a search each, beside what the clusters held elsewhere when the round began: their `table`
    # less the chunk's part. `members` are the rows of each cluster then.
    views, new, k = reading.views(piece), labels.copy(), len(table)
    change, begin = np.zeros_like(table), 0
    for stream, size in chunks:
        part = slice(begin, begin + size)
        begin += size
        rows, old = views.rows(part), labels[part]
        held = np.flatnonzero(members > np.bincount(old, minlength=k)).astype(np.int32)
        rest = (table - cluster_tables(rows, old, k)[0])[held]
        engine = engine_of(beside(rows, rest), k, n_jobs, fixed=len(held))
        found = np.concatenate([old, held])
        engine.step(found, stream, **how)
        new[part] = found[:size]
        moved = np.flatnonzero(new[part] != old)
        some = rows.rows(moved)
        change += cluster_tables(some, new[part][moved], k)[0] - cluster_tables(some, old[moved], k)[0]
    return new, change


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


@dataclass(frozen=True, eq=False)
class BlockCounts:
    rows: Objects
    columns: Objects
    source: str
    blocks: CountBlocks
    mean: float | None
    grain: float | None
    mean_entry: float
    n_jobs: int | None  # blocks at a time on this machine; with a Dask client as many as it has cores

    @classmethod
    def of(cls, blocks: CountBlocks, weighting: str, n_jobs: int | None) -> Self:
        check_choice(weighting, WEIGHTINGS, "weighting")
        tasks = (delayed(survey)(blocks.piece(span)) for span in blocks.spans(CHUNK))
        lengths, columns, cells, whole = zip(*workers(n_jobs, lazily=True)(tasks), strict=True)
        length = np.concatenate(lengths)
        if not sum(cells):
            raise InputError(f"{blocks.source}: all counts are 0, so that nothing can be clustered")
        kept, seen = np.flatnonzero(length > 0), np.flatnonzero(sum(columns) > 0)
        uniform, total = weighting == "uniform", float(length.sum())
        return cls(
            Objects(kept, blocks.n_rows, None),
            Objects(seen, blocks.n_columns, None),
            blocks.source,
            blocks,
            float(length[kept].mean()) if uniform else None,
            None if all(whole) and not uniform else 2.0 ** (np.ceil(np.log2(total)) - 51),
            total / sum(cells),
            n_jobs,
        )

    def reading(self, columns: Sequence[Labels] = ()) -> Reading:
        codes = [self.columns.to_all(mine) for mine in columns]
        return Reading(np.array(codes, np.int32).reshape(len(codes), self.columns.n_objects), self.mean, self.grain)

    def _pass(
        self,
        task: Callable[..., Any],
        labels: list[Labels],
        columns: Sequence[Labels],
        sizes: Sequence[int],
        spans: Sequence[Span] | None = None,
    ) -> Iterable[Any]:
        """What a task gives for all rows, or some spans of them, span after span."""
        reading = self.reading(columns)
        tasks = (
            delayed(task)(self.blocks.piece(span), reading, [mine[self._place(span)] for mine in labels], sizes)
            for span in (self.blocks.spans(CHUNK) if spans is None else spans)
        )
        return workers(self.n_jobs, lazily=True)(tasks)

    def _place(self, span: Span) -> slice:
        first, last = np.searchsorted(self.rows.kept, span)
        return slice(int(first), int(last))

    def row_tables(
        self,
        labels: list[Labels],
        columns: Sequence[Labels],
        sizes: Sequence[int] | None = None,
        spans: Sequence[Span] | None = None,
    ) -> list[Floats]:
        """(clusters × all column clusters) of every clustering of the rows, or of some spans of them."""
        sizes = sizes_of(labels) if sizes is None else sizes
        tables = [np.zeros((k, sum(sizes_of(columns)))) for k in sizes]
        for parts in self._pass(tables_of, labels, columns, sizes, spans):
            for table, part in zip(tables, parts, strict=True):
                table += part
        return tables

    def column_views(self, labels: list[Labels]) -> Views:
        """The columns as rows, summed by the clusterings of the rows: columns × all row clusters, in this process."""
        sizes = sizes_of(labels)
        table = np.zeros((self.columns.n_objects, sum(sizes)))
        for part in self._pass(by_column, labels, [], sizes):
            lines = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
            table[lines, part.indices] += part.data
        return side_by_side(table[self.columns.kept], sizes, self.mean_entry)

    def moved(self, before: Labels, after: Labels, columns: Sequence[Labels], n_clusters: int) -> Floats:
        """What a table gains where few rows move; only blocks that hold one of them are read."""
        rows = self.rows.kept[before != after]
        spans = [span for span in self.blocks.spans(CHUNK) if np.diff(np.searchsorted(rows, span))[0]]
        old, new = self.row_tables([before, after], columns, [n_clusters] * 2, spans)
        return new - old

    def refine_pass(
        self,
        labels: list[Labels],
        columns: Sequence[Labels],
        tables: list[Floats],
        turns: Sequence[int],
        seed: int,
        heat: float = 0.0,
    ) -> tuple[list[Labels], list[Floats]]:
        """Rows moved one by one: labels and tables, which are brought up to date after every round."""
        new, tables = [mine.copy() for mine in labels], list(tables)
        reading, spans = self.reading(columns), self.blocks.spans(CHUNK)
        chunks = -(-self.blocks.n_rows // CHUNK)
        # whole chunks, about as many in each
        rounds = np.linspace(0, chunks, min(ROUNDS, chunks) + 1).astype(int) * CHUNK
        for low, high in pairwise(np.minimum(rounds, self.blocks.n_rows).tolist()):
            inside = [(max(a, low), min(b, high)) for a, b in spans if a < high and b > low]
            members = [np.bincount(mine, minlength=len(table)) for mine, table in zip(new, tables, strict=True)]
            before, changed = [mine.copy() for mine in new], [table.copy() for table in tables]
            jobs = [(i, span) for span in inside for i in range(len(new))]
            how = {"seed": seed, "temperature": heat, "n_jobs": max(1, n_threads(self.n_jobs) // len(jobs))}
            tasks = (
                delayed(refine)(
                    self.blocks.piece(span),
                    reading,
                    before[i][self._place(span)],
                    self._chunks(span, turns[i]),
                    tables[i],
                    members[i],
                    **how,
                )
                for i, span in jobs
            )
            for (i, span), (mine, change) in zip(jobs, workers(self.n_jobs, lazily=True)(tasks), strict=True):
                new[i][self._place(span)] = mine
                changed[i] += change
            for mine, old, table in zip(new, before, changed, strict=True):
                found = mine.copy()
                if take_back(old, mine, len(table)):
                    table += self.moved(found, mine, columns, len(table))
            tables = changed
        return new, tables

    def _chunks(self, span: Span, turn: int) -> list[tuple[int, int]]:
        """Streams of the chunks of a span in a turn, and how many rows with counts each has."""
        ends = [*range(span[0], span[1], CHUNK), span[1]]
        sizes = np.diff(np.searchsorted(self.rows.kept, ends))
        return [(turn + (span[0] // CHUNK + j << CHUNK_BIT), int(size)) for j, size in enumerate(sizes)]


def counts_of(counts: Any, weighting: str, n_jobs: int | None = None) -> Counts | BlockCounts:
    """A table of counts ready for the searches: in memory, or where it comes in row blocks, block by block."""
    if are_blocks(counts):
        blocks = counts if isinstance(counts, CountBlocks) else CountBlocks(counts)
        return BlockCounts.of(blocks, weighting, n_jobs)
    return check_counts(counts, weighting)


# Σ I(X̃; Ỹ_j) of a clustering of the rows from its table.
def value_of(table: Floats, sizes: Sequence[int]) -> float:
    return objective_of(side_by_side(table, sizes), np.arange(len(table)), len(table))


@dataclass
class RowSearch:
    """Clusterings of the rows that are searched together, each for itself, while those of the columns are fixed."""

    counts: BlockCounts
    columns: list[Labels]
    labels: list[Labels]
    tables: list[Floats]
    seed: int
    units: Sequence[int]  # streams of the clusterings

    def __post_init__(self) -> None:
        self.sizes = sizes_of(self.columns)

    def values(self) -> list[float]:
        return [value_of(table, self.sizes) for table in self.tables]

    def search(self, max_iter: int, heat: float = 0.0) -> list[Search]:
        """A noisy pass, then plain ones; where noise ends lower than it began, without it."""
        before = self.values()
        plain, cold = [0.0] * max_iter, list(range(len(before)))
        if heat > 0:
            labels, tables = list(self.labels), list(self.tables)
            self._one_by_one(cold, [heat, *plain])
            cold = [i for i, value in enumerate(self.values()) if value <= before[i]]
            for i in cold:
                self.labels[i], self.tables[i] = labels[i], tables[i]
        self._one_by_one(cold, plain)
        ends = zip(self.labels, before, self.values(), strict=True)
        return [Search(mine, last, [first, last], []) for mine, first, last in ends]

    def _one_by_one(self, which: Sequence[int], heats: Sequence[float]) -> None:
        """Passes over the rows at given temperatures; a clustering that rests, or that a plain pass made worse, is left as it is."""
        active = list(which)
        for t, heat in enumerate(heats):
            if not active:
                return
            labels, tables = [self.labels[i] for i in active], [self.tables[i] for i in active]
            turns = [(self.units[i] << 20) + t for i in active]
            new, now = self.counts.refine_pass(labels, self.columns, tables, turns, self.seed, heat)
            still = []
            for i, mine, table, old in zip(active, new, now, labels, strict=True):
                gain = value_of(table, self.sizes) - value_of(self.tables[i], self.sizes)
                if heat > 0 or gain > 0:
                    self.labels[i], self.tables[i] = mine, table
                    if heat > 0 or np.count_nonzero(mine != old) > STILL * len(mine):
                        still.append(i)
            active = still


class BlockSearch(CoSearch):
    counts: BlockCounts

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._joint: Floats | None = None  # row clusters × column clusters

    def improve(self, side: str, max_iter: int, *, by_single: bool = False, **noise: Any) -> None:
        assert not by_single
        assert not noise
        self.unit += 1
        if side == "rows":
            rows = [self.labels["rows"]], [self._table("rows")]
            search = RowSearch(self.counts, [self.labels["columns"]], *rows, self.seed, [self.unit])
            found = search.search(max_iter)[0]
            self._joint = search.tables[0]
        else:
            views = self.counts.column_views([self.labels["rows"]])
            k = self.n_clusters("columns")
            engine = engine_of(views, k, self.n_jobs)
            found = engine.search(self.labels["columns"], max_iter=max_iter, seed=self.seed, unit=self.unit)
            self._joint = cluster_tables(views, found.labels, k)[0].T
        self.labels[side] = found.labels
        self.history.append((self.n_clusters("rows"), self.n_clusters("columns"), found.objective))

    def merge(self, side: str, target: int, rule: str) -> None:
        table, before = self._table(side), self.labels[side]
        super().merge(side, target, rule)
        k = self.n_clusters(side)
        new = np.empty(len(table), np.int64)
        new[before] = self.labels[side]
        merged = np.zeros((k, table.shape[1]))
        np.add.at(merged, new, table)
        self._joint = merged if side == "rows" else merged.T

    def _table(self, side: str) -> Floats:
        if self._joint is None:
            self._joint = self.counts.row_tables([self.labels["rows"]], [self.labels["columns"]])[0]
        return self._joint if side == "rows" else self._joint.T


def infer_blocks(
    counts: BlockCounts,
    names: Sequence[Sequence[str]],
    labels: Clusterings,
    *,
    heats: Sequence[float],
    max_iter_local: int,
    tol: float,
    seed: int,
    n_jobs: int | None,
) -> Iterator[tuple[Clusterings, list[float]]]:
    """:func:`~consilience.agreement.comraf.infer` of all row clusterings joined to all column clusterings, `names` of each."""
    tables: list[Floats] = []

    def improve(which: int, labels: Clusterings, heat: float, units: Sequence[int]) -> list[Search]:
        nonlocal tables
        rows, columns = ([labels[name] for name in side] for side in names)
        if which == 0:
            tables = tables or counts.row_tables(rows, columns)
            search = RowSearch(counts, columns, rows, tables, seed, units)
            found = search.search(max_iter_local, heat)
            tables = search.tables
            return found
        views = counts.column_views(rows)
        found = [
            engine_of(views, k, n_jobs).search(mine, max_iter=max_iter_local, seed=seed, unit=unit)
            for mine, k, unit in zip(columns, sizes_of(columns), units, strict=True)
        ]
        joint = [cluster_tables(views, one.labels, int(one.labels.max()) + 1)[0].T for one in found]
        ends = np.cumsum(sizes_of(rows))[:-1]
        parts = [np.split(table, ends) for table in joint]  # of every column clustering, by row clustering
        tables = [np.concatenate([part[i] for part in parts], axis=1) for i in range(len(rows))]
        return found

    def start(_: Clusterings, found: Mapping[str, Search]) -> float:
        return sum(search.history[0] for search in found.values())  # the rows' part is the whole: all edges are theirs

    yield from take_turns(names, labels, improve, start, heats=heats, tol=tol)


def information_on_columns(counts: Counts | BlockCounts, labels: Labels) -> float:
    """I(X̃; Y) of row clusters and single columns."""
    if isinstance(counts, Counts):
        return engine_of(counts.rows.views, int(labels.max()) + 1).value(labels)
    views = counts.column_views([labels])
    return value_of(np.asarray(views.table.T.todense()), [views.n_objects])
