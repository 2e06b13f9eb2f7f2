"""Who does the work on blocks: this process, in threads, or the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from joblib import delayed

from consilience._log import is_logging, record
from consilience._parallel import ClusterError, Form, active_client, measured, workers
from consilience._travel import There, pack, unpack
from consilience._types import Array
from consilience.scale.sites import Beside, collapse_part

T = TypeVar("T")
ATTEMPTS = 5  # at what workers have together, of which some may be lost


class Workers(Protocol):
    """What blocks are given to. Functions and arguments must survive pickling."""

    def fold(self, function: Callable[..., T], parts: Sequence[Any], merge: Callable[[T, T], T]) -> T:
        """``function(part)`` of all parts, neighbors merged pair by pair."""

    def each(self, function: Callable[..., T], parts: Sequence[Any], shared: Any, more: Iterable[Any]) -> Iterator[T]:
        """``function(part, shared, one of more)`` of every part, in their order."""


class Here:
    """This process, in threads."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def fold(self, function: Callable[..., T], parts: Sequence[Any], merge: Callable[[T, T], T]) -> T:
        """As they come; only as many results wait as there are levels of the tree."""
        waiting: list[tuple[int, T]] = []
        tasks = (delayed(_with_part)(function, part) for part in parts)
        for found in workers(self.n_jobs, lazily=True)(tasks):
            level = 0
            while waiting and waiting[-1][0] == level:
                found, level = merge(waiting.pop()[1], found), level + 1
            waiting.append((level, found))
        whole = waiting.pop()[1]
        while waiting:
            whole = merge(waiting.pop()[1], whole)
        return whole

    def each(self, function: Callable[..., T], parts: Sequence[Any], shared: Any, more: Iterable[Any]) -> Iterator[T]:
        """In order, as they are done."""
        tasks = (delayed(_with_part)(function, part, shared, one) for part, one in zip(parts, more, strict=True))
        yield from workers(self.n_jobs, lazily=True)(tasks)


def _with_part(function: Callable[..., T], part: Any, *more: Any) -> T:
    """Call a function with a part, which is fetched first if it is elsewhere."""
    return function(_here(part), *more)


def _here(part: Any) -> Any:
    """A part, fetched if it is elsewhere."""
    if isinstance(part, There):  # of a task that runs where it was given out
        return _here(part.value)
    if isinstance(part, Beside):
        return [collapse_part(_here(one), layout) for one, layout in zip(part.parts, part.layouts, strict=True)]
    kind = elsewhere(part)
    return part.compute() if kind == "dask" else part.result() if kind == "distributed" else part


def elsewhere(part: Any) -> str:
    """The package of a part that is still to be made ("dask") or on a worker ("distributed"); empty if it is here."""
    if isinstance(part, Beside):
        return max(map(elsewhere, part.parts))
    package = type(part).__module__.partition(".")[0]
    return package if package in ("dask", "distributed") else ""


class OnDask:
    """The workers of a cluster; what a worker loses by dying is done again by another."""

    def __init__(self, client: Any) -> None:
        from consilience._dask import ClusterWorkers

        self.client = client
        self._side = ClusterWorkers(client, Form(lazily=True, logged=is_logging()))

    def fold(self, function: Callable[..., T], parts: Sequence[Any], merge: Callable[[T, T], T]) -> T:
        """A tree of tasks, always the same for as many parts, so that only one result comes back."""
        from distributed import KilledWorker
        from distributed.client import ClosedClientError, FutureCancelledError

        from consilience._dask import KILLED

        for _ in range(ATTEMPTS):
            self._side.await_scheduler()
            try:
                found, lines = self._tree(function, parts, merge).result()
            except KilledWorker as error:
                raise ClusterError(KILLED) from error
            except (ClosedClientError, FutureCancelledError):  # the scheduler went, or every worker that had some of it
                continue
            for name, seconds, where in lines:
                record("task", seconds, where, name=name)
            return found
        raise ClusterError(
            f"blocks were lost {ATTEMPTS} times in a row: is the cluster sound, and are its parts still there?"
        )

    def _tree(self, function: Callable[..., T], parts: Sequence[Any], merge: Callable[[T, T], T]) -> Any:
        level = [self.client.submit(_measured_part, function, _there(self.client, part), pure=False) for part in parts]
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2], strict=False)
            merged = [self.client.submit(_merged, merge, one, other, pure=False) for one, other in pairs]
            level = merged + level[2 * len(merged) :]
        return level[0]

    def each(self, function: Callable[..., T], parts: Sequence[Any], shared: Any, more: Iterable[Any]) -> Iterator[T]:
        """In order; a few more than there are workers are under way at a time, and what is shared travels once."""
        data, arrays = pack(shared)
        packed = np.frombuffer(data, np.uint8), arrays
        tasks = (
            delayed(_with_shared)(
                function, There(part, partial(_there, part=part)) if elsewhere(part) else part, packed, one
            )
            for part, one in zip(parts, more, strict=True)
        )
        yield from self._side(tasks)


def _measured_part(function: Callable[..., T], part: Any) -> tuple[T, list[Any]]:
    result, *line = measured((function, (part,), {}))
    return result, [line]


def _merged(merge: Callable[[T, T], T], one: tuple[T, list[Any]], other: tuple[T, list[Any]]) -> tuple[T, list[Any]]:
    return merge(one[0], other[0]), one[1] + other[1]


def _with_shared(function: Callable[..., T], part: Any, packed: tuple[Array, list[Array]], one: Any) -> T:
    return function(_here(part), unpack(packed[0].tobytes(), packed[1]), one)


def _there(client: Any, part: Any) -> Any:
    """A part of a Dask collection as what will be there, parts of sites as what each will send; any other as it is."""
    if isinstance(part, Beside):
        each = zip(part.parts, part.layouts, strict=True)
        return [client.submit(collapse_part, _there(client, one), layout, pure=False) for one, layout in each]
    return client.compute(part) if elsewhere(part) == "dask" else part


def workers_for(parts: Sequence[Any], n_jobs: int | None) -> Workers:
    """Those of the cluster that tasks go to, or of the client that is open where the parts are Dask's; else this process."""
    client = active_client()
    if client is None and any(map(elsewhere, parts)):
        try:
            from distributed import default_client

            client = default_client()
        except (ImportError, ValueError):  # none is open
            client = None
    return Here(n_jobs) if client is None else OnDask(client)
