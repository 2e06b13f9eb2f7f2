"""Generation on numbers in row blocks: a sample of the rows is clustered, and each clustering labels the other rows block by block."""

# Up to `sample_size` rows the sample is the whole table, so that the clusterings are those of the table in memory.

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed

from consilience._check import CHUNK, InputError, check_count, chunk_digest, count, fingerprint_of_chunks, kind_of, show
from consilience._run.parallel import own_threads, workers
from consilience._run.random import stream
from consilience._run.row_blocks import Held, Piece, RowBlocks, Shape, computed, dask_parts
from consilience._types import Floats, Ints, Labels
from consilience._whole_files import open_parquet
from consilience.ensemble import Ensemble
from consilience.ensemble.from_sources import in_blocks
from consilience.generation.plan import Plan, Spec
from consilience.generation.predict import Labeler
from consilience.generation.runner import Runner
from consilience.generation.spaces import Preparation
from consilience.generation.tasks import Made
from consilience.tables.check_matrix import check_matrix
from consilience.tables.in_memory import raw_frame
from consilience.tables.scaling_and_counts import FAR
from consilience.tables.table_kinds import ids_of

LABELS_IN_MEMORY = 2**28  # safeguard: labels that are held while a pass over the blocks fills them in, a gigabyte
Parts = tuple[Sequence[Any], list[Shape], str]  # blocks, their shapes, and what to call them


@dataclass(frozen=True, eq=False)
class RowGroup:
    path: Path
    number: int
    names: tuple[str, ...]

    def rows(self, first: int, last: int) -> Floats:
        import pyarrow.parquet as pq

        # A row group is the least that Parquet reads: a task that wants some rows of it reads them all.
        table = pq.ParquetFile(self.path).read_row_group(self.number, list(self.names))
        return dense(table.slice(first, last - first).to_pandas())


class NumberBlocks(RowBlocks):
    """A table of numbers in row blocks, for :func:`consilience.generate`.

    Parameters
    ----------
    source : Dask array or data frame, path of a Parquet file or folder, or sequence of arrays
        All columns are numbers, and no cell is missing.
    columns : sequence of str, optional
        The columns to take, by name, of Parquet files and data frames; all but that of the ids by default.
    id_column : str, optional
        The column that names the objects, of Parquet files and data frames: read whole, and kept with the clusterings.
    sample_size : int
        Rows that are clustered, drawn at random where there are more; the others are labeled as new objects are, at the nearest mean say.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.generation import NumberBlocks
    >>> NumberBlocks([np.eye(3), np.ones((2, 3))])
    NumberBlocks('2 blocks', 5 rows × 3 columns)
    """

    treatment = None

    def __init__(
        self,
        source: Any,
        *,
        columns: Sequence[str] | None = None,
        id_column: str | None = None,
        sample_size: int = 100_000,
    ) -> None:
        blocks = _blocks_of(source)
        names = (columns,) if isinstance(columns, str) else None if columns is None else tuple(columns)
        are_names = all(isinstance(name, str) for name in names or ())
        if names is not None and (not names or not are_names or len(set(names)) < len(names)):
            raise InputError(f"columns of row blocks are named, each once: got {show(columns)}")
        if names is not None and id_column in names:
            raise InputError(f"{id_column!r} names the objects (id_column=, --id): leave it out of columns=")
        if names is None and (id_column is not None or isinstance(blocks[0], Path)):
            names = tuple(name for name in _names_in(blocks[0]) if name != id_column)
            if not names:
                raise InputError(f"there is no column but {id_column!r}: row blocks need numbers beside the names")
        for block in blocks:
            wanted = [*(names or ()), *(() if id_column is None else (id_column,))]
            if missing := [name for name in wanted if name not in _names_in(block)]:
                where = block if isinstance(block, Path) else f"a block, {kind_of(block)},"
                lacks = f"{where} has no column {missing[0]!r}"
                raise InputError(f"{lacks}: check columns= (--columns) and id_column= (--id)")
        self.ids = None if id_column is None else _ids_of(blocks, id_column)
        super().__init__(*_parts_of(source, blocks, names))
        self.id_heading = "id" if id_column is None else id_column
        self.sample_size = check_count("sample_size", sample_size, least=2)

    @property
    def n_objects(self) -> int:
        return self.n_rows

    @property
    def n_sampled(self) -> int | None:
        """Rows that are clustered, where these are not all."""
        return None if self.n_rows <= self.sample_size else self.sample_size

    def __repr__(self) -> str:
        return f"NumberBlocks({self.source!r}, {count(self.n_rows, 'row')} × {count(self.n_columns, 'column')})"


def _blocks_of(source: Any) -> Sequence[Any]:
    if isinstance(source, (str, Path)):
        folder = Path(source)
        source = sorted(folder.glob("*.parquet")) if folder.is_dir() else [folder]
    elif hasattr(source, "__dask_graph__"):
        source = [source]
    if not isinstance(source, (list, tuple)) or not source:
        kind = kind_of(source)
        raise InputError(f"row blocks are a list of arrays, a Dask array or data frame, or Parquet; got {kind}")
    return source


def _names_in(block: Any) -> list[str]:
    names = open_parquet(block).schema_arrow.names if isinstance(block, Path) else getattr(block, "columns", ())
    return [str(name) for name in names]


def _ids_of(blocks: Sequence[Any], name: str) -> Any:
    # Read whole: a store keeps them in one column, and that each occurs once is not seen block by block.
    parts = [open_parquet(one).read([name]).to_pandas() if isinstance(one, Path) else one[[name]] for one in blocks]
    parts = [computed([part])[0] if hasattr(part, "compute") else part for part in parts]
    return ids_of(raw_frame("row blocks", pd.concat(parts, ignore_index=True)), 0, unique=True)


def _parts_of(source: Any, blocks: Sequence[Any], names: tuple[str, ...] | None) -> Parts:
    if isinstance(blocks[0], Path) and names is not None:
        return _of_parquet(Path(source), blocks, names)
    chosen = blocks if names is None else [block[list(names)] for block in blocks]
    if hasattr(source, "__dask_graph__"):
        return dask_parts(chosen[0], dense, "numbers")
    # What is in memory is made dense at once, so that it is refused before any work is done.
    held = [Held(dense(one)) for one in chosen]
    return held, [one.table.shape for one in held], count(len(held), "block")


def _of_parquet(path: Path, files: Sequence[Path], names: tuple[str, ...]) -> Parts:
    import pyarrow as pa

    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    parts: dict[RowGroup, Shape] = {}
    for file in files:
        held = open_parquet(file)
        for name in names:
            kind = held.schema_arrow.field(name).type
            if not any(is_kind(kind) for is_kind in kinds):
                odd = f"{file}: column {name!r} holds {kind}, and row blocks are tables of numbers"
                raise InputError(f"{odd}: columns= (--columns) takes some by name")
        for number in range(held.num_row_groups):
            parts[RowGroup(file, number, names)] = held.metadata.row_group(number).num_rows, len(names)
    if not parts:
        raise InputError(f"{path} holds no rows")
    return list(parts), list(parts.values()), path.name


def dense(block: Any) -> Floats:
    if np.ma.is_masked(block):  # NumPy would take what lies under the mask
        check_matrix(block, what="a block")
    # One type for all blocks: the digest of a table must not depend on that of a part.
    found = block.to_numpy() if hasattr(block, "to_numpy") else np.asarray(block)
    if found.ndim != 2 or found.dtype.kind not in "biuf":
        held = f"a block holds {found.dtype} in {found.ndim} dimensions"
        raise InputError(f"{held}: row blocks are tables of numbers; columns= takes some by name")
    return np.ascontiguousarray(found, np.float64)


def rows_of(piece: Piece) -> Floats:
    read = piece.read()
    return read[0] if len(read) == 1 else np.concatenate(read)


def chunks_of(table: Floats) -> list[Floats]:
    # A piece begins at a multiple of `CHUNK`: results by chunk do not depend on the blocks.
    return [table[first : first + CHUNK] for first in range(0, len(table), CHUNK)]


@dataclass(frozen=True, eq=False)
class Sample:
    rows: Ints
    values: Floats
    fingerprint: str


def draw_sample(blocks: NumberBlocks, seed: int, n_jobs: int | None = None) -> Sample:
    # The sample of a seed, in one pass over the blocks, which also looks at every cell.
    n, rows = blocks.n_rows, np.arange(blocks.n_rows)
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
    return Sample(rows, np.concatenate(parts), fingerprint_of_chunks((n, blocks.n_columns), np.float64, digests))


def _look(piece: Piece, rows: Ints) -> tuple[Floats, list[bytes], float]:
    # Some rows, the digests of all, and the largest number, NaN where one is missing.
    table = rows_of(piece)
    return table[rows], [chunk_digest(chunk) for chunk in chunks_of(table)], float(np.abs(table).max(initial=0))


class BlockRunner(Runner):
    def __init__(self, blocks: NumberBlocks, sample: Sample, plan: Plan, **how: Any) -> None:
        if plan.sample_size != blocks.n_sampled:
            sizes = plan.sample_size, blocks.n_sampled
            made, given = ("all rows" if size is None else f"{size:,} rows" for size in sizes)
            wanted = f"give NumberBlocks(source, sample_size={plan.sample_size or blocks.n_rows})"
            raise InputError(f"the clustering was made from {made}, and of these blocks {given} are taken: {wanted}")
        keeps = plan.sample_size is not None  # only rows beyond the sample are labeled by them
        super().__init__(sample.values, plan, keeps_predictors=keeps, **how)
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
        # In one pass over the blocks, whatever clusterings share it.
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
    # Numbers in row blocks; None for what is read as a whole. Of all that says how to read it they know `columns` and `id_column`.
    if not isinstance(X, NumberBlocks) and not in_blocks(X):
        return None
    given = {name: value for name, value in reading.items() if value is not None}
    known = () if isinstance(X, NumberBlocks) else ("columns", "id_column")
    if odd := [name for name in given if name not in known]:
        ours = "row blocks have NumberBlocks(source, columns=, id_column=)"
        raise InputError(f"{odd[0]}= is for tables that are read as a whole: {ours}")
    return X if isinstance(X, NumberBlocks) else NumberBlocks(X, **given)


def runner_of(X: Any, plan: Plan, *, seed: int, sample: Sample | None = None, **how: Any) -> Runner:
    """The runner that makes the clusterings of a seed; the sample of row blocks may be drawn already."""
    if (blocks := blocks_of(X)) is not None:
        return BlockRunner(blocks, sample or draw_sample(blocks, seed, how["n_jobs"]), plan, **how)
    if plan.sample_size is not None:
        size = plan.sample_size
        raise InputError(f"the clustering was made from row blocks (sample_size={size}): give the same NumberBlocks")
    return Runner(X, plan, **how)
