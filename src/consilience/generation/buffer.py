"""What a run has made so far: in memory, or in a store to which about a second's work is added at a time; and what is in one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from consilience._check import InputError
from consilience._run.run_log import record
from consilience._types import Labels
from consilience.ensemble.store import Store
from consilience.ensemble.store.info import STREAM
from consilience.generation.clustering_spec import Spec
from consilience.generation.tasks import Made, One

if TYPE_CHECKING:
    from consilience.generation.runner import Runner

BATCH_SECONDS = 1.0  # work that a killed run loses at most, about
GIVE_UP = 20  # failures, with nothing made, after which a clusterer is taken to be wrong for the data


class Kept:
    """Clusterings as they come; a context manager, at whose end all are kept, however it ends."""

    def __init__(self, runner: Runner, store: Store | None, *, any_before: bool) -> None:
        self._runner, self._store, self._any = runner, store, any_before
        self._waiting: list[tuple[Spec, One]] = []
        self._parts: list[tuple[Labels, pd.DataFrame]] = []
        self._last = -np.inf  # the first is kept at once
        self.failed: list[str] = []

    def __enter__(self) -> Kept:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        full = isinstance(error, OSError) and error.errno is not None  # the disk is, or is away: it would fail again
        if error is None or (self._store is not None and not full):
            self._keep()
        if kind is None and self.failed and not self._any:
            self._give_up()

    def add(self, specs: Sequence[Spec], made: Made) -> None:
        """Keep what a task made, now or with what comes soon."""
        for spec, one in zip(specs, made.each(self._runner.spaces.n_objects), strict=True):
            self._waiting.append((spec, one))
            self._any |= one.is_made
            if not one.is_made:
                self.failed.append(str(one.note))
            about = {"unit": spec.unit, "method": spec.method, "n_clusters": spec.n_clusters, "note": one.note}
            record("clustering", one.seconds, one.where, status="done" if one.is_made else "failed", **about)
        if not self._any and len(self.failed) >= GIVE_UP:
            self._give_up()
        if time.monotonic() - self._last >= max(BATCH_SECONDS, self._runner.scoring):
            self._keep()

    def _give_up(self) -> None:
        self._waiting.clear()
        raise InputError(f"none of the first {len(self.failed)} clusterings could be made: {self.failed[0]}")

    def _keep(self) -> None:
        """Score what waits, and add it to the store, or to what is in memory."""
        some, self._waiting = sorted(self._waiting, key=lambda one: one[0].unit), []
        if some:
            made = np.array([one.is_made for _, one in some])
            labels, info = self._runner.table_of([spec for spec, _ in some], [one for _, one in some])
            if self._store is None:
                self._parts.append((labels[made], info[made]))
            else:
                _append(self._store, labels, info, made)
        self._last = time.monotonic()

    def in_order(self) -> tuple[Labels, pd.DataFrame]:
        """Labels and info of all in memory, by their units."""
        info = pd.concat([info for _, info in self._parts], ignore_index=True)
        order = np.argsort(info["unit"].to_numpy(np.int64), kind="stable")
        labels = np.concatenate([labels for labels, _ in self._parts])
        return labels[order], info.iloc[order].reset_index(drop=True)


def _append(store: Store, labels: Labels, info: pd.DataFrame, made: np.ndarray) -> None:
    """Under the numbers of their units where these are free."""
    wanted = info["unit"].to_numpy(np.int64)
    free = info["around"].isna().all() and not np.isin(wanted, store.numbers).any()
    store.append(labels.T, info, numbers=wanted if free else None, failed=~made)


def rows_of(info: pd.DataFrame, stream: Spec) -> pd.DataFrame:
    """The rows of `info` of a seed, or of the variations of a clustering, in the order of their units."""
    if info.empty:
        return info.assign(unit=pd.Series(dtype=int))
    own = info["seed"] == stream.seed
    for name in ("around", "jitter"):
        column, value = info.get(name, pd.Series(np.nan, info.index)), getattr(stream, name)
        own &= column.isna() if value is None else column == value
    return info[own.fillna(False).astype(bool)].sort_values("unit", kind="stable")


def units_of(store: Store | None, stream: Spec, n: int) -> tuple[set[int], dict[int, str]]:
    """The units of a stream that a store has, and those that failed, with the reasons, up to n − 1."""
    if store is None:
        return set(), {}
    done = set(rows_of(store.info(STREAM), stream)["unit"].astype(int))
    lost = rows_of(store.failures([*STREAM, "note"]), stream)
    notes = lost["note"] if "note" in lost else [""] * len(lost)
    return done, {int(u): str(note) for u, note in zip(lost["unit"], notes, strict=True) if u < n and u not in done}
