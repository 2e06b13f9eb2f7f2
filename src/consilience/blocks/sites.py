"""Clusterings of the same objects that live apart: every site sends one number per object and the rows that its numbers stand for.

A site collapses its own columns: objects that none of its clusterings tell apart get one number. Numbers of several sites side by side are
rows of labels like any others, and the joint distinct rows follow from them and the sites' tables. What its labels are called, and
who has them, a site tells only in its table of distinct rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from consilience.blocks.coding import Layout, SitePart, read_part
from consilience.blocks.distinct import DistinctRows, of_block


@dataclass(frozen=True, eq=False)
class Beside:
    """The parts that the sites have of the same objects, and how each is laid out."""

    parts: tuple[Any, ...]
    layouts: tuple[Layout, ...]


def collapse_part(part: Any, layout: Layout) -> SitePart:
    """A site's part, collapsed where it is."""
    found: DistinctRows | None = None
    numbers, ids = [], []
    for block in read_part(part, layout):
        mine = of_block(block)
        found = mine if found is None else found.merge(mine)
        numbers.append(found.places(block))
        ids.append(block.ids)
    assert found is not None
    joined = None if layout.id_column is None else pa.concat_arrays(ids)
    return SitePart(np.concatenate(numbers).astype(np.int32), found.rows, found.labels, joined)
