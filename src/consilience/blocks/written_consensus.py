"""A consensus whose objects were written to Parquet: read again only when they are asked for."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.dataset as ds

from consilience._types import Array, Floats, Ints
from consilience.consensus import Consensus
from consilience.ensemble.results import late

OF_OBJECTS = ("labels", "confidence", "support", "membership", "scale_labels", "scale_confidence", "ids")


def _tallied(name: str) -> Any:
    return property(lambda self: self.tally[name])


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class WrittenConsensus(Consensus):
    """A :class:`Consensus` of labels in blocks, with what concerns single objects on disk.

    `labels`, `confidence`, `support` and `ids` are read from `output` when first asked for, and need room then; `membership` and the
    answers at other scales take another reading of the labels.

    Attributes
    ----------
    output : str
        The folder of Parquet parts: `id`, `cluster` (empty without one), `confidence`, `support`.
    tally : dict
        Of all objects: their number, those without a label and those that float, sizes of the clusters, and means.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import consilience as cs
    >>> import numpy as np
    >>> from consilience.blocks import LabelBlocks
    >>> with TemporaryDirectory() as folder:
    ...     one = cs.combine(LabelBlocks([np.array([[0, 1], [0, 1]]), np.array([[1, 0]])]), 2, output=f"{folder}/consensus")
    ...     one.n_clusters, len(one.labels)
    (2, 3)
    """

    labels: Ints = late()  # noqa: RUF009
    confidence: Floats = late()  # noqa: RUF009
    support: Floats = late()  # noqa: RUF009
    ids: Array | None = late()  # noqa: RUF009
    scale_labels: Ints | None = late()  # noqa: RUF009
    scale_confidence: Floats | None = late()  # noqa: RUF009
    output: str = ""
    tally: dict[str, Any]

    n_objects, n_without_labels, n_floaters = map(_tallied, ("n_objects", "n_without_labels", "n_floaters"))
    mean_confidence, mean_support = map(_tallied, ("mean_confidence", "mean_support"))

    @property
    def sizes(self) -> Ints:
        return np.array(self.tally["sizes"], np.int64)


def fields_of(record: Consensus) -> dict[str, Any]:
    """The fields of a consensus that do not concern single objects; what is made later stays so."""
    return {field.name: vars(record)[field.name] for field in fields(record) if field.name not in OF_OBJECTS}


def read_column(folder: Path, name: str) -> Array:
    """A column of what was written, in the order of the objects; −1 where there is no cluster."""
    files = sorted(str(file) for file in folder.glob("part-*.parquet"))
    column = ds.dataset(files, format="parquet").to_table(columns=[name]).column(name)
    return np.asarray((column.fill_null(-1) if name == "cluster" else column).to_numpy())
