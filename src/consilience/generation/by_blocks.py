"""Generation on numbers in row blocks: a sample of the rows is clustered, and each clustering labels the other rows block by block."""

# Up to `sample_size` rows the sample is the whole table, so that the clusterings are those of the table in memory.

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed

from consilience._check import CHUNK, InputError, chunk_digest, fingerprint_of_chunks
from consilience._run.parallel import own_threads, workers
from consilience._run.random import stream
from consilience._run.row_blocks import Piece
from consilience._types import Floats, Ints, Labels
from consilience.ensemble import Ensemble
from consilience.ensemble.opening import in_blocks
from consilience.generation.number_blocks import NumberBlocks, chunks_of, rows_of
from consilience.generation.plan import Plan, Spec
from consilience.generation.predict import Labeler
from consilience.generation.runner import Runner
from consilience.generation.spaces import Preparation
from consilience.generation.tasks import Made
from consilience.tables.scaling import FAR

# safeguard: labels that are held while a pass over the blocks fills them in, a gigabyte.
LABELS_IN_MEMORY = 2**28


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows that are clustered: their numbers, rising, their values, and the fingerprint of the whole table."""

    rows: Ints
    values: Floats
    fingerprint: str


def draw_sample(blocks: NumberBlocks, seed: int, n_jobs: int | None = None) -> Sample:
    """The sample of a seed, in one pass over the blocks, which also looks at every cell."""
    n = blocks.n_rows
    rows = np.arange(n)
    if n > blocks.sample_size:
        draws = stream(seed, "generation.block_sample", 0)
        rows = np.sort(draws.choice(n, blocks.sample_size, replace=False, shuffle=False))
    spans = blocks.spans(CHUNK)
    tasks = (delayed(_look)(blocks.piece(span), rows[slice(*np.searchsorted(rows, span))] - span[0]) for span in spans)
    parts, digests = [], []
    for part, seen, largest in workers(n_jobs, lazily=True)(tasks):
        if not np.isfinite(largest):
            raise InputError(f"{blocks.source}: some cells are missing or not finite: fill them, or leave them out")
        if largest > FAR:
            raise InputError(f"{blocks.source}: a number is larger than {FAR:g}: scale its column")
        parts.append(part)
        digests += seen
    # The digest of chunks is that of the table in memory: a store knows its data in either form.
    known = fingerprint_of_chunks((n, blocks.n_columns), np.float64, digests)
    return Sample(rows, np.concatenate(parts), str(known))


def _look(piece: Piece, rows: Ints) -> tuple[Floats, list[bytes], float]:
    """Some rows, the digests of all, and the largest number, NaN where one is missing."""
    table = rows_of(piece)
    return table[rows], [chunk_digest(chunk) for chunk in chunks_of(table)], float(np.abs(table).max(initial=0))


class BlockRunner(Runner):
    def __init__(
        self,
        blocks: NumberBlocks,
        sample: Sample,
        plan: Plan,
        base: Any = None,
        n_jobs: int | None = None,
        *,
        time_limit: float | None = None,
    ) -> None:
        if plan.sample_size != blocks.n_sampled:
            sizes = plan.sample_size, blocks.n_sampled
            made, given = ("all rows" if size is None else f"{size:,} rows" for size in sizes)
            wanted = f"NumberBlocks(source, sample_size={plan.sample_size or blocks.n_rows})"
            raise InputError(
                f"the clustering was made from {made}, and of these blocks {given} are taken: give {wanted}"
            )
        keeps = plan.sample_size is not None  # only rows beyond the sample are labeled by them
        super().__init__(sample.values, plan, base, n_jobs, keeps_predictors=keeps, time_limit=time_limit)
        self.blocks, self.sample, self.objects = blocks, sample, blocks
        self.most_waiting = max(1, LABELS_IN_MEMORY // blocks.n_rows)

    def _fingerprint(self) -> str:
        return self.sample.fingerprint

    def table_of(self, batch: Sequence[tuple[Spec, Made]]) -> tuple[Labels, pd.DataFrame]:
        labels, info = super().table_of(batch)
        if self.plan.sample_size is None:
            return labels, info
        begin = time.perf_counter()
        every = self._label_all(labels, info)
        self.scoring += time.perf_counter() - begin
        return every, info

    def _label_all(self, labels: Labels, info: pd.DataFrame) -> Labels:
        """Labels of all rows in one pass over the blocks, whatever clusterings share it."""
        made = np.flatnonzero((labels >= 0).any(axis=1))
        # Each clustering by itself: what it keeps to label by must not depend on those that happen to be made beside it.
        parts = [Labeler.of(self, Ensemble.from_codes(labels[[j]].T, info=info.iloc[[j]])).parts[0] for j in made]
        self.predictors.clear()
        every = np.full((len(labels), self.blocks.n_rows), -1, np.int32)
        spans = self.blocks.spans(CHUNK) if len(made) else []
        tasks = (delayed(_label)(self.blocks.piece(span), self.spaces.preparation, parts) for span in spans)
        for (first, last), found in zip(spans, workers(self.n_jobs, lazily=True)(tasks), strict=True):
            every[made, first:last] = found
        every[:, self.sample.rows] = labels  # as they were clustered, those without a label too
        return every


def _label(piece: Piece, preparation: Preparation, parts: Sequence[Any]) -> Labels:
    found = []
    with own_threads():  # the same numbers whatever the number of threads
        for chunk in chunks_of(rows_of(piece)):  # and, by chunks of fixed rows, whatever the blocks
            table, labels = preparation.apply(chunk), np.full((len(chunk), len(parts)), -1, np.int32)
            for j, part in enumerate(parts):
                part.label(table, labels[:, j : j + 1])
            found.append(labels.T)
    return np.concatenate(found, axis=1)


def blocks_of(X: Any, **reading: Any) -> NumberBlocks | None:
    """Numbers in row blocks; None for what is read as a whole. Of all that says how to read it they know `columns` and `id_column`."""
    if not isinstance(X, NumberBlocks) and not in_blocks(X):
        return None
    given = {name: value for name, value in reading.items() if value is not None}
    known = () if isinstance(X, NumberBlocks) else ("columns", "id_column")
    if odd := [name for name in given if name not in known]:
        raise InputError(
            f"{odd[0]}= is for tables that are read as a whole: row blocks have NumberBlocks(source, columns=, id_column=)"
        )
    return X if isinstance(X, NumberBlocks) else NumberBlocks(X, **given)


def runner_of(
    X: Any,
    plan: Plan,
    base: Any,
    n_jobs: int | None,
    *,
    seed: int,
    time_limit: float | None = None,
    sample: Sample | None = None,
) -> Runner:
    """The runner that makes the clusterings of a seed; the sample of row blocks may be drawn already."""
    if (blocks := blocks_of(X)) is not None:
        sample = sample or draw_sample(blocks, seed, n_jobs)
        return BlockRunner(blocks, sample, plan, base, n_jobs, time_limit=time_limit)
    if plan.sample_size is not None:
        size = plan.sample_size
        raise InputError(f"the clustering was made from row blocks (sample_size={size}): give the same NumberBlocks")
    return Runner(X, plan, base, n_jobs, time_limit=time_limit)
