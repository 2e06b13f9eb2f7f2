"""A count table in row blocks as the searches see it: passes over all blocks whose parts add up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import delayed

from consilience._check import InputError, check_choice
from consilience._run.parallel import n_threads, workers
from consilience._run.row_blocks import Span
from consilience._types import Floats, Labels
from consilience.agreement.block_passes import Reading, Survey, Whole, batch, by_column, refine, survey, tables_of
from consilience.agreement.count_blocks import CountBlocks, are_blocks
from consilience.agreement.count_table import WEIGHTINGS, Counts, Objects, check_counts
from consilience.engine.information import Scoring
from consilience.engine.views import Views

CHUNK = 4096  # rows that are searched one by one, beside the tables of all others
ROUNDS = 16  # of a pass: chunks of a round do not see each other's moves


def counts_of(counts: Any, weighting: str, n_jobs: int | None = None) -> Counts | BlockCounts:
    """A table of counts ready for the searches: in memory, or where it comes in row blocks, block by block."""
    if isinstance(counts, BlockCounts):
        return counts
    if are_blocks(counts):
        blocks = counts if isinstance(counts, CountBlocks) else CountBlocks(counts)
        return BlockCounts.of(blocks, weighting, n_jobs)
    return check_counts(counts, weighting)


@dataclass(frozen=True, eq=False)
class BlockCounts:
    """Counts in row blocks.

    Attributes
    ----------
    rows, columns : Objects
    source : str
    blocks : CountBlocks
    mean, grain : float or None
        See :class:`~consilience.agreement.block_passes.Reading`.
    mean_entry : float
    n_jobs : int, optional
        Blocks at a time on this machine; with a Dask client as many as it has cores.
    """

    rows: Objects
    columns: Objects
    source: str
    blocks: CountBlocks
    mean: float | None
    grain: float | None
    mean_entry: float
    n_jobs: int | None

    @classmethod
    def of(cls, blocks: CountBlocks, weighting: str, n_jobs: int | None) -> BlockCounts:
        """Look at all blocks once."""
        check_choice(weighting, WEIGHTINGS, "weighting")
        tasks = (delayed(survey)(blocks.piece(span)) for span in blocks.spans(CHUNK))
        found: list[Survey] = list(workers(n_jobs, lazily=True)(tasks))
        length = np.concatenate([one.rows for one in found])
        columns, cells = sum(one.columns for one in found), sum(one.cells for one in found)
        if not cells:
            raise InputError(f"{blocks.source}: all counts are 0, so that nothing can be clustered")
        kept, seen = np.flatnonzero(length > 0), np.flatnonzero(columns > 0)
        uniform, total = weighting == "uniform", float(length.sum())
        whole = not uniform and all(one.whole for one in found)
        return cls(
            Objects(kept, blocks.n_rows, None),
            Objects(seen, blocks.n_columns, None),
            blocks.source,
            blocks,
            float(length[kept].mean()) if uniform else None,
            None if whole else 2.0 ** (np.ceil(np.log2(total)) - 51),
            total / cells,
            n_jobs,
        )

    def reading(self, columns: Sequence[Labels] = ()) -> Reading:
        """How rows are seen by clusterings of the columns."""
        codes = [self.columns.to_all(mine) for mine in columns]
        return Reading(np.array(codes, np.int32).reshape(len(codes), self.columns.n_objects), self.mean, self.grain)

    def _pass(
        self,
        task: Callable[..., Any],
        labels: list[Labels],
        reading: Reading,
        *common: Any,
        spans: Sequence[Span] | None = None,
    ) -> Iterator[Any]:
        """The place of a span's rows among those with counts, and what a task gives for them, span after span."""
        spans = self.blocks.spans(CHUNK) if spans is None else spans
        places = self._places(spans)
        tasks = (
            delayed(task)(self.blocks.piece(span), reading, [mine[at] for mine in labels], *common)
            for span, at in zip(spans, places, strict=True)
        )
        return zip(places, workers(self.n_jobs, lazily=True)(tasks), strict=True)

    def _places(self, spans: Sequence[Span]) -> list[slice]:
        ends = np.searchsorted(self.rows.kept, [[low, high] for low, high in spans])
        return [slice(int(first), int(last)) for first, last in ends]

    def row_tables(self, labels: list[Labels], columns: Sequence[Labels]) -> list[Floats]:
        """(clusters × all column clusters) of every clustering of the rows."""
        sizes = [int(mine.max()) + 1 for mine in labels]
        width = sum(int(mine.max()) + 1 for mine in columns)
        found = [np.zeros((k, width)) for k in sizes]
        for _, parts in self._pass(tables_of, labels, self.reading(columns), sizes):
            for table, part in zip(found, parts, strict=True):
                table += part
        return found

    def column_views(self, labels: list[Labels]) -> Views:
        """The columns as rows, summed by the clusterings of the rows: columns × all row clusters, in this process."""
        from scipy import sparse

        sizes = [int(mine.max()) + 1 for mine in labels]
        table = np.zeros((self.columns.n_objects, sum(sizes)))
        for _, part in self._pass(by_column, labels, self.reading(), sizes):
            lines = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
            table[lines, part.indices] += part.data
        view_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        kept = sparse.csr_matrix(table[self.columns.kept])
        return Views(kept, view_of, np.ones(len(sizes)), np.ones(kept.shape[0]), mean_entry=self.mean_entry)

    def batch_pass(
        self, labels: list[Labels], columns: Sequence[Labels], scorings: list[Scoring]
    ) -> tuple[list[Labels], list[Floats], list[Floats]]:
        """All rows moved at once: labels, how well each row fits, and the tables."""
        new, fit = [np.empty_like(mine) for mine in labels], [np.empty(len(mine)) for mine in labels]
        tables = [np.zeros_like(scoring[0]) for scoring in scorings]
        for at, found in self._pass(batch, labels, self.reading(columns), scorings):
            for i, (mine, score, table) in enumerate(zip(*found, strict=True)):
                new[i][at], fit[i][at] = mine, score
                tables[i] += table
        return new, fit, tables

    def moved(self, before: Labels, after: Labels, columns: Sequence[Labels], n_clusters: int) -> Floats:
        """What a table gains where few rows move; only blocks that hold one of them are read."""
        width = sum(int(mine.max()) + 1 for mine in columns)
        change = np.zeros((n_clusters, width))
        rows = self.rows.kept[before != after]
        if not len(rows):
            return change
        spans = [span for span in self.blocks.spans(CHUNK) if np.diff(np.searchsorted(rows, span))[0]]
        sizes = [n_clusters, n_clusters]
        for _, (old, new) in self._pass(tables_of, [before, after], self.reading(columns), sizes, spans=spans):
            change += new - old
        return change

    def refine_pass(
        self,
        labels: list[Labels],
        columns: Sequence[Labels],
        tables: list[Floats],
        turns: Sequence[int],
        seed: int,
        heat: float = 0.0,
    ) -> tuple[list[Labels], list[Floats]]:
        """Rows moved one by one: labels and tables.

        Chunks of rows are searched each by itself, beside what the clusters hold elsewhere. After every round, of which there are at most
        :data:`ROUNDS`, the tables are brought up to date; up to that number of chunks a pass is a search like any other.
        """
        new, tables = [mine.copy() for mine in labels], list(tables)
        reading, spans = self.reading(columns), self.blocks.spans(CHUNK)
        for low, high in _rounds(self.blocks.n_rows):
            inside = [(max(a, low), min(b, high)) for a, b in spans if a < high and b > low]
            wholes = [
                Whole(table, np.bincount(mine, minlength=len(table)), turn)
                for mine, table, turn in zip(new, tables, turns, strict=True)
            ]
            before, changed = [mine.copy() for mine in new], [table.copy() for table in tables]
            jobs = [
                (i, span, at) for span, at in zip(inside, self._places(inside), strict=True) for i in range(len(new))
            ]
            threads = max(1, n_threads(self.n_jobs) // len(jobs))
            tasks = (
                delayed(refine)(
                    self.blocks.piece(span), reading, before[i][at], self._chunks(span), wholes[i], seed, heat, threads
                )
                for i, span, at in jobs
            )
            for (i, _, at), (mine, change) in zip(jobs, workers(self.n_jobs, lazily=True)(tasks), strict=True):
                new[i][at] = mine
                changed[i] += change
            for mine, old, table in zip(new, before, changed, strict=True):
                found = mine.copy()
                if take_back(old, mine, len(table)):
                    table += self.moved(found, mine, columns, len(table))
            tables = changed
        return new, tables

    def _chunks(self, span: Span) -> list[tuple[int, int]]:
        """Numbers of the chunks of a span, and how many rows with counts each has."""
        ends = [*range(span[0], span[1], CHUNK), span[1]]
        sizes = np.diff(np.searchsorted(self.rows.kept, ends))
        return [(span[0] // CHUNK + j, int(size)) for j, size in enumerate(sizes)]


def take_back(before: Labels, after: Labels, n_clusters: int) -> bool:
    """Where chunks that did not see each other emptied a cluster, its first row goes back there; whether any did."""
    changed = False
    while len(empty := np.flatnonzero(np.bincount(after, minlength=n_clusters) == 0)):
        for cluster in empty:
            after[np.flatnonzero(before == cluster)[0]] = cluster
        changed = True
    return changed


def _rounds(n_rows: int) -> list[Span]:
    """Rows of the rounds of a pass: whole chunks, about as many in each."""
    chunks = -(-n_rows // CHUNK)
    ends = np.linspace(0, chunks, min(ROUNDS, chunks) + 1).astype(int) * CHUNK
    return list(pairwise(np.minimum(ends, n_rows).tolist()))
