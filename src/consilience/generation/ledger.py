"""What is finished of a run, and where new clusterings go: memory, or a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from consilience._types import Labels
from consilience.ensemble import Ensemble
from consilience.store import Store


@dataclass(frozen=True)
class Series:
    """Clusterings that share a stream: those of a run, or the variations of one of its clusterings."""

    seed: int
    around: int | None = None
    spread: float | None = None

    def rows(self, info: pd.DataFrame) -> pd.DataFrame:
        """The rows of `info` that belong to it, in the order of their units."""
        if info.empty:
            return info.assign(unit=pd.Series(dtype=int))
        own = info["seed"] == self.seed
        for name in ("around", "spread"):
            column, value = info.get(name, pd.Series(np.nan, info.index)), getattr(self, name)
            own &= column.isna() if value is None else column == value
        return info[own.fillna(False).astype(bool)].sort_values("unit", kind="stable")


@dataclass
class Ledger:
    """Clusterings as they are made."""

    ids: Any = None
    store: Store | None = None
    _labels: list[Labels] = field(default_factory=list)
    _info: list[pd.DataFrame] = field(default_factory=list)

    def finished(self, series: Series) -> set[int]:
        """Units that need not be made."""
        columns = ("seed", "unit", "around", "spread")
        return set() if self.store is None else set(series.rows(self.store.info(columns))["unit"].astype(int))

    def add(self, labels: Labels, info: pd.DataFrame) -> None:
        """Keep the clusterings that succeeded; in a store, under the number of their unit where that is free."""
        made = (labels >= 0).any(axis=1)
        labels, info = labels[made], info[made].reset_index(drop=True)
        if self.store is None:
            self._labels.append(labels)
            self._info.append(info)
        elif len(labels):
            wanted = info["unit"].to_numpy(np.int64)
            free = info["around"].isna().all() and not np.isin(wanted, self.store.finished).any()
            self.store.append(labels, info, ids=wanted if free else None)

    def ensemble(self, series: Series, n: int) -> Ensemble:
        """The clusterings of a series, up to unit n − 1; where their ids in the store are not 0 … m − 1, with these."""
        if self.store is None:
            info, labels = pd.concat(self._info, ignore_index=True), np.concatenate(self._labels)
        else:
            info = series.rows(self.store.info())
            info = info[info["unit"] < n]
            labels = self.store.labels(info.index.to_numpy())
            if not np.array_equal(info.index, np.arange(len(info))):
                info = info.reset_index(names="id")
        return Ensemble.from_codes(labels.T, info=typed(info.reset_index(drop=True)), ids=self.ids)

    def close(self) -> None:
        """Let go of the store."""
        if self.store is not None:
            self.store.close()


WHOLE = ("id", "n_clusters", "seed", "unit", "steps", "around", "from_seed", "from_unit")
FRACTIONS = ("alpha", "sigma_divisor", "spread", "stress", "inertia", "seconds", "compactness")
SOMETIMES = ("around", "spread", "from_seed", "from_unit", "stress")  # columns that most runs have no use for


def typed(info: pd.DataFrame) -> pd.DataFrame:
    """`info` with the same columns and types wherever it comes from."""
    unused = [name for name in SOMETIMES if name in info and info[name].isna().all()]
    info = info.drop(columns=unused)
    for name in info.columns:
        if name in WHOLE:
            info[name] = info[name].astype("Int64" if info[name].isna().any() else "int64")
        elif name in FRACTIONS:
            info[name] = info[name].astype(float)
        elif info[name].isna().any():
            info[name] = pd.Series([None if np.ndim(x) == 0 and pd.isna(x) else x for x in info[name]], dtype=object)
    return info
