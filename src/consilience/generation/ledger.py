"""What is finished of a run, and where new clusterings go: memory, or a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience.ensemble import Ensemble
from consilience.store import Store

Labels = NDArray[np.int32]


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
        return set() if self.store is None else set(series.rows(self.store.info())["unit"].astype(int))

    def add(self, labels: Labels, info: pd.DataFrame) -> None:
        """Keep the clusterings that succeeded; in a store, under the number of their unit where that is free."""
        made = (labels >= 0).any(axis=1)
        labels, info = labels[made], info[made].reset_index(drop=True)
        if self.store is None:
            self._labels.append(labels)
            self._info.append(info)
        elif len(labels):
            wanted = info["unit"].to_numpy(np.int64)
            free = "around" not in info or info["around"].isna().all()
            free = free and not np.isin(wanted, self.store.finished).any()
            self.store.append(labels, info, ids=wanted if free else None)

    def ensemble(self, series: Series, n: int) -> Ensemble:
        """The clusterings of a series, up to unit n − 1."""
        if self.store is None:
            info, labels = pd.concat(self._info, ignore_index=True), np.concatenate(self._labels)
        else:
            info = series.rows(self.store.info())
            info = info[info["unit"] < n]
            labels = self.store.labels(info.index.to_numpy())
            if series.around is not None:
                info = info.reset_index(names="id")
        info = info.dropna(axis=1, how="all").reset_index(drop=True)
        numbers = ("seed", "unit", "n_clusters", "around", "steps")
        whole = {name: "Int64" if info[name].isna().any() else "int64" for name in numbers if name in info}
        return Ensemble._made(labels.T, info.astype(whole), self.ids)

    def close(self) -> None:
        """Let go of the store."""
        if self.store is not None:
            self.store.close()
