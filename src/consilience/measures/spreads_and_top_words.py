"""What marks groups of objects: the columns on which they differ most from others, with effect sizes and spreads."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from consilience._types import Array, Floats, Labels
from consilience.measures.distinguishing_columns import ColumnEffects, NumberEffects, Z, effect_sizes
from consilience.tables import Table, scale
from consilience.tables.numbers_and_dates import days

TOP_WORDS = 3  # safeguard: display; words that name a cluster of documents


@dataclass
class ComparableTable:
    """A table of data or counts, with the names of its columns, that can be compared between groups of objects."""

    data: Table | None
    features: list[str]

    @property
    def is_counts(self) -> bool:
        return self.data is not None and (self.data.kind == "counts" or self.data.is_counts)

    @cached_property
    def comparable(self) -> Any:
        """The values as they are compared; of counts, square roots in rows of length 1."""
        assert self.data is not None
        return scale(self.data.values, "roots") if self.is_counts else self.data.values


# How a column is spread in every cluster and elsewhere: shares of the same few bins for all, so that pictures can be laid side by side.

BINS, LEVELS = 16, 8  # safeguard: display; of a small histogram
LOOKED_AT = 20_000  # safeguard: time; objects, evenly spaced
COUNTS = (0, 1, 2, 4, 8)  # safeguard: display; where the bins of counts begin
COUNT_NAMES = ["0", "1", "2–3", "4–7", "8 or more"]


class Spreads:
    """Shares of bins in the clusters of one clustering, column by column; of the first `n_clusters`, the others being elsewhere."""

    def __init__(self, data: Table, codes: Labels, n_clusters: int | None = None) -> None:
        known = np.flatnonzero(codes >= 0)
        step = max(1, -(-len(known) // LOOKED_AT))
        self._data, self._rows = data, known[::step]
        self._k = int(codes.max(initial=-1)) + 1 if n_clusters is None else n_clusters
        self._codes = np.minimum(codes[self._rows], self._k)  # the last is what is elsewhere in any case
        self._found: dict[int, tuple[dict[str, Any], Floats]] = {}
        values = data.values
        self._values = values.tocsc() if sparse.issparse(values) else values
        self.is_counts = data.kind == "counts" or data.is_counts

    def of(self, cluster: int, column: int) -> dict[str, Any]:
        """Shares of the bins inside a cluster and outside; `low` and `high` of numbers, or the `levels` of other things."""
        # `column` is one of the table as it came where that has words, and of its values otherwise.
        if column not in self._found:
            self._found[column] = self._count(column)
        bins, table = self._found[column]
        inside, outside = table[cluster], table.sum(axis=0) - table[cluster]
        shares = [np.round(side / max(1.0, side.sum()), 4) for side in (inside, outside)]
        return {**bins, "inside": shares[0], "outside": shares[1]}

    def _count(self, column: int) -> tuple[dict[str, Any], Floats]:
        bins, places = self._binned(column)
        n_bins = BINS if bins["levels"] is None else len(bins["levels"])
        there = places >= 0
        flat = np.bincount(self._codes[there] * n_bins + places[there], minlength=(self._k + 1) * n_bins)
        return bins, flat.reshape(self._k + 1, n_bins).astype(float)

    def _binned(self, column: int) -> tuple[dict[str, Any], Array]:
        if self._data.in_words:
            assert self._data.original is not None
            assert self._data.encoder is not None
            cells = self._data.original.iloc[self._rows, column]
            one = self._data.encoder.columns[column]
            if one.kind == "ordered":
                return {"levels": list(one.levels)}, one.steps(cells)
            if one.is_category:
                counts = cells.value_counts()
                levels = [str(word) for word in counts[counts > 0].index[:LEVELS]]
                named = pd.Categorical(cells.astype(object), levels)
                places = np.where(cells.isna(), -1, np.where(named.codes < 0, len(levels), named.codes))
                more = ["others"] if (places == len(levels)).any() else []
                return {"levels": [*levels, *more]}, places
            if one.kind == "date":
                bins, places = _of_numbers(days(cells))
                for end in ("low", "high"):
                    bins[end] = str((pd.Timestamp(0) + pd.Timedelta(days=bins[end])).date())
                return bins, places
            return _of_numbers(cells.to_numpy(float))
        held, rows = self._values, self._rows
        values = held[:, [column]].toarray()[rows, 0] if sparse.issparse(held) else held[rows, column]
        if self.is_counts:
            return {"levels": COUNT_NAMES}, np.searchsorted(COUNTS, values, side="right") - 1
        return _of_numbers(np.asarray(values, float))


def _of_numbers(values: Floats) -> tuple[dict[str, Any], Array]:
    """Bins of equal width; what lies far outside the others stands in the first or last."""
    there = np.isfinite(values)
    if not there.any():
        return {"low": 0.0, "high": 0.0, "levels": None}, np.full(len(values), -1)
    known = values[there]
    inner, outer = np.quantile(known, [0.01, 0.99])
    low = float(max(known.min(), inner - (outer - inner)))
    high = float(min(known.max(), outer + (outer - inner)))
    if high <= low:
        low, high = float(known.min()), float(known.max())
    width = (high - low) / BINS or 1.0
    places = np.clip((np.where(there, values, low) - low) / width, 0, BINS - 1).astype(np.int64)
    return {"low": low, "high": high, "levels": None}, np.where(there, places, -1)


def marks(
    table: ComparableTable,
    codes: Labels,
    clusters: int,
    top: int,
    step: Callable[[], None] = lambda: None,
    *,
    infinite: bool = False,
) -> list[list[dict[str, Any]]]:
    """For each of the first clusters its columns of the largest |d|: means inside and outside, a 95 % interval of d, the spreads."""
    # Of counts, d is that of their square roots in rows of length 1, and the means are of the counts themselves. `step` is called on the
    # way, and may raise to give up. Columns that vary inside no cluster have no d; `infinite` lists them first, with an infinite one.
    assert table.data is not None
    codes = np.minimum(codes, clusters).astype(np.int32)  # the clusters beyond are only part of the rest
    spreads = Spreads(table.data, codes, clusters)
    step()
    effects: NumberEffects | ColumnEffects
    if table.data.in_words:
        effects = ColumnEffects.of(table.data, codes)
    else:
        inside, outside, d, error = effect_sizes(table.comparable, codes)
        step()
        if table.is_counts:
            inside, outside, _, _ = effect_sizes(table.data.values, codes)
        effects = NumberEffects(table.features, inside, outside, d, error)
    found = []
    for cluster in range(clusters):
        step()
        columns = _strongest(effects.effect[cluster], top, infinite)
        found.append([_mark(effects, spreads, cluster, column) for column in columns])
    return found


def _mark(effects: NumberEffects | ColumnEffects, spreads: Spreads, cluster: int, column: int) -> dict[str, Any]:
    mean, rest = effects.values(cluster, column)
    d, half = effects.effect[cluster, column], Z * effects.error[cluster, column]
    words = effects.words(cluster, column)
    return {
        "feature": effects.name(column),
        "column": column,
        **({} if words is None else {"words": words}),
        "mean": mean,
        "rest": rest,
        "d": d,
        "low": d - half,
        "high": d + half,
        "spread": spreads.of(cluster, column),
    }


def top_words(found: list[list[dict[str, Any]]]) -> list[list[str]]:
    """What names each cluster of documents or cells: the columns of which it has most more than others."""
    return [[one["feature"] for one in some if one["d"] > 0][:TOP_WORDS] for some in found]


def _strongest(d: Any, top: int, infinite: bool) -> list[int]:
    """The columns of the largest |d|; what varies in no cluster has no size."""
    largest = np.inf if infinite else 0.0
    effect = np.abs(np.nan_to_num(d, posinf=largest, neginf=-largest))
    order: list[int] = np.argsort(-effect, kind="stable")[:top].tolist()
    return [i for i in order if effect[i] > 0]
