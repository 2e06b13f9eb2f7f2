"""How a column is spread in every cluster and elsewhere: shares of the same few bins for all, so that pictures can be laid side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from consilience._types import Array, Floats
from consilience.tables import Table

BINS, LEVELS = 16, 8
LOOKED_AT = 20_000  # objects, evenly spaced
COUNTS = (0, 1, 2, 4, 8)  # where the bins of counts begin
COUNT_NAMES = ["0", "1", "2–3", "4–7", "8 or more"]


class Spreads:
    """Shares of bins in the clusters of one clustering, column by column.

    Parameters
    ----------
    data : Table
        Of data or counts.
    codes : (n_objects,) int array
        −1 is left out.
    n_clusters : int, optional
        Of which shares are asked for; what lies in others is elsewhere.

    Examples
    --------
    >>> from consilience.tables import read_table
    >>> table = read_table(np.array([[0.0], [1.0], [2.0], [3.0]]), kind="data")
    >>> found = Spreads(table, np.array([0, 0, 1, 1])).of(0, 0)
    >>> found["low"], found["high"], found["inside"].nonzero()[0].tolist()
    (0.0, 3.0, [0, 5])
    """

    def __init__(self, data: Table, codes: NDArray[np.int32], n_clusters: int | None = None) -> None:
        known = np.flatnonzero(codes >= 0)
        step = max(1, -(-len(known) // LOOKED_AT))
        self._rows = known[::step]
        self._data, self._codes = data, codes[self._rows]
        self._k = int(codes.max(initial=-1)) + 1 if n_clusters is None else n_clusters
        self._codes = np.where(self._codes < self._k, self._codes, self._k)  # the last is what is elsewhere in any case
        self._found: dict[int, tuple[dict[str, Any], Floats]] = {}
        values = data.values
        self._values = values.tocsc() if sparse.issparse(values) else values
        self.is_counts = data.kind == "counts" or data.is_counts

    def of(self, cluster: int, column: int) -> dict[str, Any]:
        """Shares of the bins inside a cluster and outside; `low` and `high` of numbers, or the `levels` of other things.

        `column` is one of the table as it came where that has words, and of its values otherwise.
        """
        if column not in self._found:
            self._found[column] = self._count(column)
        bins, table = self._found[column]
        inside, outside = table[cluster], table.sum(axis=0) - table[cluster]
        shares = (side / max(1.0, side.sum()) for side in (inside, outside))
        return {**bins, **dict(zip(("inside", "outside"), (np.round(side, 4) for side in shares), strict=True))}

    def _count(self, column: int) -> tuple[dict[str, Any], Floats]:
        """The bins, and how many objects of each cluster and of others are in each; of several choices, in all that they made."""
        if self._data.in_words:
            assert self._data.original is not None
            assert self._data.encoder is not None
            one = self._data.encoder.columns[column]
            if one.kind == "choices":
                made = np.nan_to_num(one.encode(self._data.original.iloc[self._rows, column])[0])
                table = np.zeros((self._k + 1, made.shape[1]))
                np.add.at(table, self._codes, made)
                return {"levels": list(one.all_levels)}, table
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
                levels = [str(one) for one in cells.value_counts().index[:LEVELS]]
                named = pd.Categorical(cells.where(cells.isna(), cells.astype(str)), levels)
                places = np.where(cells.isna(), -1, np.where(named.codes < 0, len(levels), named.codes))
                more = ["others"] if (places == len(levels)).any() else []
                return {"levels": [*levels, *more]}, places
            if one.kind == "date":
                moments = pd.to_datetime(cells)
                days = (moments - pd.Timestamp(0)) / pd.Timedelta(days=1)
                bins, places = _of_numbers(days.to_numpy(float))
                ends = (str((pd.Timestamp(0) + pd.Timedelta(days=bins[end])).date()) for end in ("low", "high"))
                return {**bins, **dict(zip(("low", "high"), ends, strict=True))}, places
            return _of_numbers(cells.to_numpy(float))
        values = self._values[:, [column]] if sparse.issparse(self._values) else self._values[self._rows, column]
        if sparse.issparse(values):
            values = values.toarray()[self._rows, 0]
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
