"""Labels in row blocks: of Parquet files, Dask collections, and parts in memory or elsewhere."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from consilience._check import InputError, check_count, count, kind_of
from consilience._run.parallel import is_elsewhere
from consilience._run.row_blocks import computed
from consilience._types import Columns, Ints, PathLike
from consilience._whole_files import open_parquet
from consilience.blocks.distinct_rows import DistinctRows, Layout, ParquetPart, check_once
from consilience.blocks.reading_and_writing import Reading
from consilience.consensus.left_out import members_of_runs
from consilience.consensus.result import Consensus
from consilience.consensus.rows.problem import spread_evenly
from consilience.ensemble import Ensemble
from consilience.ensemble.from_sources import is_saved
from consilience.inputs import as_ensemble
from consilience.tables.column_roles import check_clusterings, choose, find_ids
from consilience.tables.in_memory import frame_of, is_frame, raw_frame

Column = str | int | None  # the name or position of one
BLOCK_ROWS = 2**20  # safeguard: of a block; the answer does not depend on it
HEAD_ROWS = 10_000  # safeguard: for time, rows by which it is found what the columns are


class LabelBlocks:
    """Labels of many objects, cut into blocks of rows that need not fit into memory together.

    Parameters
    ----------
    parts : sequence
        Arrays of objects × clusterings or data frames, futures or delayed values of these; one after the other they are all rows.
    columns : sequence of str, optional
        Names of the clusterings; needed for data frames, and the columns of theirs that are taken.
    id_column : str, optional
        The column of the objects' ids, which are not looked at, only written beside the answer.
    by_index : bool
        Whether the index of the data frames holds the ids instead, and `id_column` is only its name.
    source : str
        What messages call it.
    block_rows : int
        Rows at a time; the answer does not depend on it.

    Attributes
    ----------
    parts : list
    names : list of str or None
    even : bool
        Whether the clusterings were spread evenly over numbers of clusters, as those of an ensemble may have been.
    notices : list of str
        What was noticed of the columns, as which of them was taken for the ids.
    n_objects, n_clusterings : int
        Found by reading all labels once, when first asked for.
    n_clusters : (n_clusterings,) int array

    Examples
    --------
    >>> import numpy as np
    >>> blocks = LabelBlocks([np.array([[0, 0], [0, 1]]), np.array([[1, 1], [1, 1], [0, 0]])])
    >>> blocks.n_objects, blocks.n_clusters.tolist()
    (5, [2, 2])
    >>> blocks.distinct().counts.tolist()
    [2, 1, 2]
    """

    in_row_blocks = True

    def __init__(
        self,
        parts: Sequence[Any],
        *,
        columns: Sequence[str] | None = None,
        id_column: str | None = None,
        by_index: bool = False,
        source: str = "blocks",
        block_rows: int = BLOCK_ROWS,
    ) -> None:
        self.parts = list(parts) if isinstance(parts, (list, tuple)) else []
        if not self.parts:
            raise InputError(f"there are no blocks of labels: give a list of at least one; got {kind_of(parts)}")
        if columns is None and not is_elsewhere(self.parts[0]) and is_frame(self.parts[0]):
            columns = [str(name) for name in getattr(self.parts[0], "column_names", None) or self.parts[0].columns]
        self.names = None if columns is None else list(columns)
        check_once(self.names or (), source)
        self.even, self.are_run, self._check = False, False, False
        self.notices: list[str] = []
        rows = check_count("block_rows", block_rows)
        id_column = "id" if by_index and id_column is None else id_column
        self.layout = Layout(None if columns is None else tuple(columns), id_column, source, rows, by_index)

    @classmethod
    def from_parquet(
        cls, path: PathLike, *, columns: Columns = None, id_column: Column = None, block_rows: int = BLOCK_ROWS
    ) -> "LabelBlocks":
        """Of a Parquet file, or of a folder of them in the order of their names; row groups are the parts.

        `columns` and `id_column` as in :func:`consilience.combine`; ids are also found by their name.
        """
        files = _parquet_files(Path(path))
        source = Path(path).name or str(path)
        schema = _schema(files[0])
        for file in files[1:]:
            if _schema(file).names != schema.names:
                raise InputError(f"{file} has other columns than {files[0].name}: give all files of {path} the same")
        head = next((_head(file) for file in files if pq.read_metadata(file).num_rows), None)
        if head is None:
            raise InputError(f"{path}: has no rows: give at least one")
        names, ids, _, notices = _layout_of(head, source, columns, id_column)
        ids = ids if ids in schema.names else None  # numbers that pandas counts are in no column
        rows = check_count("block_rows", block_rows)
        parts = [part for file in files for part in _parts(file, rows)]
        found = cls(parts, columns=names, id_column=ids, source=source, block_rows=rows)
        found._check, found.notices = columns is None, notices
        return found

    @classmethod
    def from_dask(
        cls, labels: Any, *, columns: Columns = None, id_column: Column = None, block_rows: int = BLOCK_ROWS
    ) -> "LabelBlocks":
        """Of a Dask array of objects × clusterings, or a Dask dataframe; its chunks of rows are the parts."""
        source = f"Dask {type(labels).__name__}"
        if hasattr(labels, "npartitions") and hasattr(labels, "columns"):
            (head,) = computed([labels.head(HEAD_ROWS, npartitions=-1, compute=False)])
            names, ids, by_index, notices = _layout_of(head, source, columns, id_column)
            how: dict[str, Any] = {"columns": names, "id_column": ids, "by_index": by_index, "source": source}
            found = cls(labels.to_delayed(), **how, block_rows=block_rows)
            found._check, found.notices = columns is None, notices
            return found
        if not hasattr(labels, "rechunk") or labels.ndim not in (1, 2):
            kind = kind_of(labels)
            raise InputError(f"labels in blocks cannot be {kind}: give a Dask array of objects × clusterings")
        if columns is not None or id_column is not None:
            raise InputError("columns= and id_column= are of tables with named columns: choose columns of the array")
        table = labels.reshape(-1, 1) if labels.ndim == 1 else labels.rechunk({1: -1})
        return cls(table.to_delayed().ravel().tolist(), source=source, block_rows=block_rows)

    def distinct(self, room: int | None = None, n_jobs: int | None = None) -> DistinctRows:
        """The distinct rows with their counts, by one reading of all labels; kept.

        Parameters
        ----------
        room : int, optional
            Bytes for combining them; more rows than there is room for are an error.
        n_jobs : int, optional
            Threads that read.
        """
        found: DistinctRows | None = vars(self).get("_distinct")
        if found is None:
            found = Reading(self.parts, self.layout, n_jobs).distinct(room)
            if not found.n_objects:
                raise InputError(f"{self.layout.source}: has no rows: give at least one")
            if self._check and self.names is not None:
                n_labels = {name: found.n_labels(j) for j, name in enumerate(self.names)}
                has_ids = self.layout.id_column is not None
                check_clusterings(self.layout.source, n_labels, found.n_objects, has_ids=has_ids)
            self._distinct = found
        return found.check_room(room)

    def only(self, columns: Ints) -> "LabelBlocks":
        found = copy(self)
        vars(found).pop("_distinct", None)
        found.names = [str(j) if self.names is None else self.names[j] for j in columns]
        found.layout, found._check = replace(self.layout, kept=tuple(columns.tolist())), False
        return found

    def combine(self, **asked: Any) -> Consensus:
        """What :func:`consilience.combine` gives for them; it calls this, with all that it was asked."""
        from consilience.blocks.combining import combine_blocks

        return combine_blocks(self, **asked)

    @property
    def n_objects(self) -> int:
        """Number of rows."""
        return self.distinct().n_objects

    @property
    def n_clusterings(self) -> int:
        """Number of columns of labels."""
        return len(self.names) if self.names is not None else len(self.distinct().labels)

    @property
    def n_clusters(self) -> Any:
        """Number of clusters of every clustering."""
        found = self.distinct()
        return np.array([found.n_labels(j) for j in range(len(found.labels))])

    def __repr__(self) -> str:
        known = vars(self).get("_distinct")
        size = "" if known is None else f" of {count(known.n_objects, 'object')}"
        what = "clusterings" if self.names is None else count(len(self.names), "clustering")
        return f"LabelBlocks: {what}{size} in {count(len(self.parts), 'block')} ({self.layout.source})"


def as_blocks(source: Any, *, columns: Columns = None, id_column: Column = None) -> "LabelBlocks":
    """Whatever holds labels, in row blocks: Parquet, a Dask collection, blocks as they are, or anything that makes an ensemble.

    Examples
    --------
    >>> from consilience.blocks import as_blocks
    >>> len(as_blocks([[0, 0, 1], [1, 1, 0]]).parts)
    1
    """
    chosen: dict[str, Any] = {"columns": columns, "id_column": id_column}
    if isinstance(source, LabelBlocks):
        if columns is not None or id_column is not None:
            raise InputError("columns= and id_column= say how to read a table: give them to LabelBlocks itself")
        return source
    if type(source).__module__.partition(".")[0] == "dask":
        return LabelBlocks.from_dask(source, **chosen)
    if isinstance(source, (str, Path)):
        path = Path(source)
        is_parquet = path.suffix.lower() == ".parquet" and path.is_file()
        if is_parquet or (path.is_dir() and not is_saved(path)):
            return LabelBlocks.from_parquet(path, **chosen)
    return _of_ensemble(as_ensemble(source, **chosen))


def _of_ensemble(ens: Ensemble) -> "LabelBlocks":
    frame = pd.DataFrame(dict(enumerate(ens.labels.T)), copy=False)
    for j, names in enumerate(ens.label_names):
        if names is not None:
            frame[j] = pd.Categorical.from_codes(ens.labels[:, j], pd.Index(names, dtype=object))
    if ens.ids is not None:
        frame.index = pd.Index(ens.ids)
    parts = [frame.iloc[i : i + BLOCK_ROWS] for i in range(0, len(frame), BLOCK_ROWS)]
    found = LabelBlocks(parts, by_index=ens.ids is not None, source="ensemble")
    found.names, found.even = ens.names if "name" in ens.info else None, spread_evenly(ens)
    found.are_run = bool(members_of_runs(ens).all())
    return found


def _parquet_files(path: Path) -> list[Path]:
    if not path.exists():
        raise InputError(f"there is no file or folder {path}: check the path")
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise InputError(f"{path} is a folder without .parquet files: check the path")
    return files


def _schema(file: Path) -> pa.Schema:
    with open_parquet(file) as opened:
        return opened.schema_arrow


def _parts(file: Path, rows: int) -> list[ParquetPart]:
    about, found = pq.read_metadata(file), []
    groups: list[int] = []
    size = 0
    for group in range(about.num_row_groups):
        n = about.row_group(group).num_rows
        if groups and size + n > rows:
            found.append(ParquetPart(str(file.resolve()), tuple(groups)))
            groups, size = [], 0
        groups, size = [*groups, group], size + n
    return [*found, ParquetPart(str(file.resolve()), tuple(groups))] if size else found


def _head(file: Path) -> pd.DataFrame:
    with pq.ParquetFile(file, memory_map=True) as opened:
        return frame_of(pa.Table.from_batches([next(opened.iter_batches(HEAD_ROWS))]))


def _layout_of(
    head: pd.DataFrame, source: str, columns: Columns, id_column: Column
) -> tuple[list[str], str | None, bool, list[str]]:
    """Names of the clusterings and of the ids, by the first rows; whether the ids are the index, and what to say of them."""
    check_once([str(name) for name in head.columns], source)
    raw = raw_frame(source, head)
    raw.check_shape()
    asked = columns is not None
    position, ids, said = find_ids(raw, id_column, raw.named(columns) if asked else [])  # type: ignore[arg-type]
    names = raw.column_names
    kept = [names[i] for i in choose(raw, columns, [position])]
    if position is not None:
        return kept, names[position], False, [f"{source}: {one}" for one in said]
    return kept, None if ids is None else str(head.index.name or "__index_level_0__"), ids is not None, []
