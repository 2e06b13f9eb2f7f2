"""What marks groups of objects: the columns on which they differ most from others, with effect sizes and spreads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from consilience.measures.column_effects import ColumnEffects
from consilience.measures.effect_sizes import Z, effect_sizes
from consilience.measures.intervals import Spreads
from consilience.tables import Table, scale

TOP_WORDS = 3  # that name a cluster of documents


class Comparable(Protocol):
    """A table whose columns can be compared between groups of objects; the explorer's session is one too."""

    data: Table | None
    features: list[str]

    @property
    def is_counts(self) -> bool:
        """Whether it holds counts."""

    @property
    def comparable(self) -> Any:
        """The values as they are compared; of counts, square roots in rows of length 1."""


@dataclass
class ComparableTable:
    """A table of data or counts with the names of its columns.

    Examples
    --------
    >>> from consilience.tables import read_table
    >>> ComparableTable(read_table(np.eye(3), kind="data"), ["a", "b", "c"]).is_counts
    False
    """

    data: Table | None
    features: list[str]

    @property
    def is_counts(self) -> bool:
        """Whether it holds counts."""
        return self.data is not None and (self.data.kind == "counts" or self.data.is_counts)

    @cached_property
    def comparable(self) -> Any:
        """The values as they are compared; of counts, square roots in rows of length 1."""
        assert self.data is not None
        return scale(self.data.values, "roots") if self.is_counts else self.data.values


def marks(
    table: Comparable,
    codes: NDArray[np.int32],
    clusters: int,
    top: int,
    step: Callable[[], None] = lambda: None,
    *,
    infinite: bool = False,
) -> list[list[dict[str, Any]]]:
    """For each of the first clusters its columns of the largest |d|: means inside and outside, a 95 % interval of d, the spreads.

    Of counts, d is that of their square roots in rows of length 1, and the means are of the counts themselves. `step` is called on the
    way, and may raise to give up. Columns that vary inside no cluster have no d; `infinite` lists them first, with an infinite one.
    """
    assert table.data is not None
    codes = np.minimum(codes, clusters).astype(np.int32)  # the clusters beyond are only part of the rest
    spreads = Spreads(table.data, codes, clusters)
    step()
    if table.data.in_words:
        return _of_columns(table, codes, clusters, top, spreads, infinite)
    inside, outside, d, error = effect_sizes(table.comparable, codes)
    step()
    if table.is_counts:
        inside, outside, _, _ = effect_sizes(table.data.values, codes)
    found = []
    for cluster in range(clusters):
        step()
        found.append(
            [
                {
                    "feature": table.features[i],
                    "column": i,
                    "mean": inside[cluster, i],
                    "rest": outside[cluster, i],
                    **_effect(d[cluster, i], error[cluster, i]),
                    "spread": spreads.of(cluster, i),
                }
                for i in _strongest(d[cluster], top, infinite)
            ]
        )
    return found


def top_words(found: list[list[dict[str, Any]]]) -> list[list[str]]:
    """What names each cluster of documents or cells: the columns of which it has most more than others."""
    return [[one["feature"] for one in some if one["d"] > 0][:TOP_WORDS] for some in found]


def _of_columns(
    table: Comparable, codes: NDArray[np.int32], clusters: int, top: int, spreads: Spreads, infinite: bool
) -> list[list[dict[str, Any]]]:
    """The same of the columns as they came, in words."""
    assert table.data is not None
    effects, found = ColumnEffects.of(table.data, codes), []
    for cluster in range(clusters):
        some = []
        for i in _strongest(effects.effect[cluster], top, infinite):
            mean, rest = effects.values(cluster, i)
            some.append(
                {
                    "feature": effects.name(i),
                    "column": i,
                    "words": effects.words(cluster, i),
                    "mean": mean,
                    "rest": rest,
                    **_effect(effects.effect[cluster, i], effects.error[cluster, i]),
                    "spread": spreads.of(cluster, i),
                }
            )
        found.append(some)
    return found


def _effect(d: float, error: float) -> dict[str, float]:
    return {"d": d, "low": d - Z * error, "high": d + Z * error}


def _strongest(d: Any, top: int, infinite: bool) -> list[int]:
    """The columns of the largest |d|; what varies in no cluster has no size."""
    largest = np.inf if infinite else 0.0
    effect = np.abs(np.nan_to_num(d, posinf=largest, neginf=-largest))
    order: list[int] = np.argsort(-effect, kind="stable")[:top].tolist()
    return [i for i in order if effect[i] > 0]
