"""Who does the work on blocks: this process, in threads, or the workers of a Dask cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from joblib import delayed

from consilience._run.parallel import ClusterError, Form, There, active_client, measured, pack, unpack, workers
from consilience._run.progress import Where, is_logging, record
from consilience._types import Array
from consilience.blocks.distinct_rows import Beside, collapse_part

T = TypeVar("T")
TOGETHER = 4  # safeguard: neighbors that are merged at a time: more read rows less often, and need more memory
ATTEMPTS = 5  # safeguard: times that the same is tried, of which workers may have lost some


class Workers(Protocol):
    """What blocks are given to. Functions and arguments must survive pickling; `what` is what the run log calls the work."""

    def fold(self, what: str, function: Callable[..., T], parts: Sequence[Any], merge: Callable[[Sequence[T]], T]) -> T:
        """``function(part)`` of all parts, some neighbors at a time merged."""

    def each(
        self, what: str, function: Callable[..., T], parts: Sequence[Any], shared: Any, more: Iterable[Any]
    ) -> Iterator[T]:
        """``function(part, shared, one of more)`` of every part, in their order."""


class Here:
    """This process, in threads."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def fold(self, what: str, function: Callable[..., T], parts: Sequence[Any], merge: Callable[[Sequence[T]], T]) -> T:
        """As they come; only a few results wait on each level of the tree."""
        levels: list[list[T]] = [[]]
        tasks = (delayed(step)(part) for step, part in zip(steps(what, function, parts), parts, strict=True))
        for result in workers(self.n_jobs, lazily=True)(tasks):
            levels[0].append(result)
            for level, waiting in enumerate(levels):
                if len(waiting) == TOGETHER:
                    if level + 1 == len(levels):
                        levels.append([])
                    levels[level + 1].append(merge(waiting))
                    waiting.clear()
        whole: list[T] = []
        for waiting in levels:  # those of higher levels come before
            whole = [*waiting, *whole]
            whole = [merge(whole)] if len(whole) > 1 else whole
        return whole[0]

    def each(
        self, what: str, function: Callable[..., T], parts: Sequence[Any], shared: Any, more: Iterable[Any]
    ) -> Iterator[T]:
        """In order, as they are done."""
        each = zip(steps(what, function, parts), parts, more, strict=True)
        yield from workers(self.n_jobs, lazily=True)(delayed(step)(part, shared, one) for step, part, one in each)


class Step:
    """A function of a part, which is fetched first if it is elsewhere, under a name that the run log has."""

    def __init__(self, what: str, function: Callable[..., Any], number: int, n_parts: int) -> None:
        self.function, self.kind = function, what
        self.__name__ = f"{what}, part {number:,} of {n_parts:,}"

    def __call__(self, part: Any, *more: Any) -> Any:
        """The function's result."""
        return self.function(_here(part), *more)


def steps(what: str, function: Callable[..., Any], parts: Sequence[Any]) -> Iterator[Step]:
    """The function as a step of every part."""
    return (Step(what, function, number, len(parts)) for number in range(1, len(parts) + 1))


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
        from consilience._run.cluster import ClusterWorkers

        self.client = client
        self._side = ClusterWorkers(client, Form(lazily=True, logged=is_logging()))

    def fold(self, what: str, function: Callable[..., T], parts: Sequence[Any], merge: Callable[[Sequence[T]], T]) -> T:
        """A tree of tasks, always the same for as many parts, so that only one result comes back."""
        from consilience._run.cluster import asked, outcome

        for _ in range(ATTEMPTS):
            done, result = outcome(asked(self.client, lambda: self._tree(what, function, parts, merge)))
            if done:
                whole, lines = result
                for name, seconds, where in lines:
                    record("task", seconds, where, name=name)
                return whole
        raise ClusterError(
            f"blocks were lost {ATTEMPTS} times in a row: is the cluster sound, and are its parts still there?"
        )

    def _tree(
        self, what: str, function: Callable[..., T], parts: Sequence[Any], merge: Callable[[Sequence[T]], T]
    ) -> Any:
        submit = partial(self.client.submit, pure=False)
        each = zip(steps(what, function, parts), parts, strict=True)
        level = [submit(_measured_part, step, _there(self.client, part)) for step, part in each]
        while len(level) > 1:
            groups = [level[i : i + TOGETHER] for i in range(0, len(level), TOGETHER)]
            level = [submit(_merged, merge, *group) for group in groups]
        return level[0]

    def each(
        self, what: str, function: Callable[..., T], parts: Sequence[Any], shared: Any, more: Iterable[Any]
    ) -> Iterator[T]:
        """In order; a few more than there are workers are under way at a time, and what is shared travels once."""
        data, arrays = pack(shared)
        packed = np.frombuffer(data, np.uint8), arrays
        yield from self._side(
            delayed(_Shared(step))(There(part, partial(_there, part=part)) if elsewhere(part) else part, packed, one)
            for step, part, one in zip(steps(what, function, parts), parts, more, strict=True)
        )


def _measured_part(function: Callable[..., T], part: Any) -> tuple[T, list[Any]]:
    result, *line = measured((function, (part,), {}))
    return result, [line]


def _merged(merge: Callable[[Sequence[T]], T], *some: tuple[T, list[Any]]) -> tuple[T, list[Any]]:
    if len(some) == 1:
        return some[0]
    lines = [line for _, before in some for line in before]
    begin = time.perf_counter()
    result = merge([one for one, _ in some])
    return result, [*lines, ["merging parts", time.perf_counter() - begin, Where.here()]]


class _Shared:
    """A step with what all of them share, as it travels."""

    def __init__(self, step: Step) -> None:
        self.step, self.kind, self.__name__ = step, step.kind, step.__name__

    def __call__(self, part: Any, packed: tuple[Array, list[Array]], one: Any) -> Any:
        return self.step(part, unpack(packed[0].tobytes(), packed[1]), one)


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
