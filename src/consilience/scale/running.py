"""Who does the work on blocks: this process, in threads, or the workers of a Dask cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from joblib import delayed

from consilience._parallel import ClusterError, active_client, workers
from consilience.scale.sites import Beside, collapse_part

T = TypeVar("T")
ATTEMPTS = 5  # at what is shared with workers, of which some may be lost


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
        self.client = client

    def fold(self, function: Callable[..., T], parts: Sequence[Any], merge: Callable[[T, T], T]) -> T:
        """A tree of tasks, always the same for as many parts, so that only one result comes back."""
        level = [self.client.submit(function, self._there(part), pure=False) for part in parts]
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2], strict=False)
            merged = [self.client.submit(merge, one, other, pure=False) for one, other in pairs]
            level = merged + level[2 * len(merged) :]
        return self._result(level[0])

    def each(self, function: Callable[..., T], parts: Sequence[Any], shared: Any, more: Iterable[Any]) -> Iterator[T]:
        """In order; a few more than there are workers are under way at a time."""
        from concurrent.futures import CancelledError

        waiting: deque[tuple[Any, Any, Any]] = deque()
        tasks, there, lost = iter(zip(parts, more, strict=True)), self._share(shared), 0
        while True:
            while len(waiting) < 2 * self._threads() and (task := next(tasks, None)) is not None:
                waiting.append((*task, self.client.submit(function, self._there(task[0]), there, task[1], pure=False)))
            if not waiting:
                return
            try:
                found: T = self._result(waiting[0][2])
            except CancelledError:  # every worker that had what is shared is gone
                lost += 1
                if lost > ATTEMPTS:
                    raise
                there = self._share(shared)
                again = [(part, one) for part, one, _ in waiting]
                waiting = deque(
                    (part, one, self.client.submit(function, self._there(part), there, one, pure=False))
                    for part, one in again
                )
                continue
            waiting.popleft()
            yield found

    @staticmethod
    def _result(future: Any) -> Any:
        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker as error:
            raise ClusterError(
                "a block ended each of the workers that took it, as the system does when memory runs out: give the workers more, or "
                "less rows at a time"
            ) from error

    def _share(self, value: Any) -> Any:
        return self.client.scatter(value, broadcast=True, hash=False)

    def _threads(self) -> int:
        return max(1, sum(self.client.nthreads().values()))

    def _there(self, part: Any) -> Any:
        """A part of a Dask collection as what will be there, parts of sites as what each will send; any other as it is."""
        if isinstance(part, Beside):
            each = zip(part.parts, part.layouts, strict=True)
            return [self.client.submit(collapse_part, self._there(one), layout, pure=False) for one, layout in each]
        return self.client.compute(part) if elsewhere(part) == "dask" else part


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
