"""Independent tasks side by side: in threads or processes by joblib, or on a Dask cluster.

``n_jobs=None`` is whatever ``joblib.parallel_config`` says, and one job without it. Where that says ``backend="dask"``, or a verb is
given a ``client=``, all tasks go to the cluster (:mod:`consilience._run.cluster`), whatever `n_jobs` is.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import pickle
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, TypeVar

import cloudpickle
import joblib
import numpy as np
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from consilience._check import InputError, show
from consilience._run.progress import Where, is_logging, logging_to, record
from consilience._types import Array

LOCAL = ("SequentialBackend", "ThreadingBackend", "LokyBackend", "MultiprocessingBackend")
MOST_JOBS = 2**20  # safeguard: more are no number of jobs
AGAIN = 3  # safeguard: times that tasks are given out again after a worker died, with none finished in between
AHEAD = 3  # safeguard: tasks of every core that are under way, or whose results wait to be taken
ROUND = 16  # safeguard: the same where tasks go to processes, which joblib hands out without regard to who takes the results
Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]  # what joblib.delayed makes
F = TypeVar("F", bound=Callable[..., Any])


class ClusterError(ConnectionError):
    """The cluster cannot do the work: it is lost, or a task ended its workers."""


class Workers(Protocol):
    """Calls tasks side by side; a context manager that keeps what can be kept between calls."""

    def __call__(self, tasks: Iterable[Task]) -> Any:
        """The tasks' results: a list, or an iterator where they were asked for lazily or as they come."""

    def __enter__(self) -> Workers: ...

    def __exit__(self, *error: Any) -> None: ...


def check_n_jobs(n_jobs: int | None) -> int | None:
    """The number of jobs, or one sentence."""
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, (int, np.integer)) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise InputError(f"n_jobs must be a whole number other than 0, or None; got {show(n_jobs)}")
    return min(int(n_jobs), MOST_JOBS)


def n_threads(n_jobs: int | None) -> int:
    """Threads for a kernel: −1 is all cores this process may use; None is what joblib's context says of this machine."""
    n_jobs = check_n_jobs(n_jobs)
    if n_jobs is None:
        backend, n_jobs = get_active_backend()
        if n_jobs is None or type(backend).__name__ not in LOCAL:
            return 1
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, joblib.cpu_count() + 1 + int(n_jobs))


def n_tasks(n_jobs: int | None) -> int:
    """Tasks that run at the same time: threads of this process, or cores of the cluster."""
    client = active_client()
    if client is None:
        return n_threads(n_jobs)
    from consilience._run.cluster import n_cores

    return max(1, n_cores(client))


def own_threads(limit: int | None = 1, of: str | None = None) -> Any:
    """Within this context the libraries that compute (`of` them "blas" or "openmp", or both) have so many threads of their own.

    With one, their numbers do not depend on how many there are; None leaves them as they are.
    """
    return _controller(len(sys.modules)).limit(limits=limit, user_api=of)


@functools.lru_cache(maxsize=1)
def _controller(modules: int) -> ThreadpoolController:
    """Of the libraries of this process, which take longer to find than a small clustering: only imports bring new ones."""
    return ThreadpoolController()


def active_client() -> Any:
    """The Dask client that tasks go to; None where they stay on this machine."""
    backend, _ = get_active_backend()
    return backend.client if type(backend).__name__ == "DaskDistributedBackend" else None


def open_client() -> Any:
    """The client that tasks go to, or else Dask's own that is open: it holds what was persisted. None without either."""
    distributed = sys.modules.get("distributed")  # else none can be open
    client = active_client()
    if client is None and distributed is not None:
        with contextlib.suppress(ValueError):
            client = distributed.default_client()
    return client


@contextlib.contextmanager
def on_cluster(client: Any) -> Iterator[None]:
    """Within, all tasks go to a Dask client; None changes nothing."""
    if client is None:
        yield
        return
    if not hasattr(client, "ncores") or not hasattr(client, "submit"):
        raise InputError(f"client must be a dask.distributed.Client; got {show(client)}")
    if getattr(client, "status", "running") != "running":
        raise InputError(f"the Dask client is {client.status}: connect one with dask.distributed.Client(address)")
    with joblib.parallel_config(backend="dask", client=client):
        yield


def runs_tasks(verb: F) -> F:
    """A verb with the keywords `client`, where its tasks go, and `log`, a file that they are written to."""

    @functools.wraps(verb)
    def with_its_workers(*args: Any, **options: Any) -> Any:
        with on_cluster(options.get("client")), logging_to(options.get("log"), verb.__name__):
            return verb(*args, **options)

    with_its_workers.__kwdefaults__ = verb.__kwdefaults__  # type: ignore[attr-defined]  # which some verbs ask for
    assert {"client", "log"} <= set(inspect.signature(verb).parameters)
    return with_its_workers  # type: ignore[return-value]


def workers(
    n_jobs: int | None,
    *,
    lazily: bool = False,
    as_they_come: bool = False,
    prefer: str = "threads",
    logged: bool = True,
) -> Workers:
    """Workers for independent tasks: call it with ``joblib.delayed(function)(…)`` tasks, or hold it open with ``with``.

    `lazily` yields results as soon as they and those before them are there, `as_they_come` (place, result) as they end; else they are
    a list. `prefer` holds where a context does not say otherwise: "threads" for kernels, "processes" for Python code. `logged` tasks
    have a line each in the run log, where there is one.
    """
    jobs, client = check_n_jobs(n_jobs), active_client()
    form = Form(lazily, as_they_come, logged and is_logging())
    if client is not None:
        from consilience._run.cluster import ClusterWorkers

        return ClusterWorkers(client, form)
    return _LocalWorkers(jobs, form, prefer)


@dataclass(frozen=True)
class Form:
    """How results are given: see :func:`workers`."""

    lazily: bool = False
    as_they_come: bool = False
    logged: bool = False

    def give(self, tasks: Iterable[Task], run: Callable[[Iterable[Task], dict[int, Any]], Iterator[Any]]) -> Any:
        """The results of ``run(tasks, early)``, which yields (place, result) as they come.

        `early` are the results that wait for one before them; it is what `run` must count among those under way.
        """
        early: dict[int, Any] = {}
        found = self._log(run(map(_measuring, tasks), early)) if self.logged else run(tasks, early)
        if self.as_they_come:
            return found
        if self.lazily:
            return in_order(found, early)
        return list(in_order(found, early))

    def _log(self, found: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        """Write a line for every task as it ends."""
        for place, (result, name, seconds, where) in found:
            record("task", seconds, where, name=name)
            yield place, result


def _measuring(task: Task) -> Task:
    return measured, (task,), {}


def measured(task: Task) -> tuple[Any, str, float, Where]:
    """The result of a task, and what the log says of it: a name, seconds, and where it ran."""
    function, args, options = task
    begin = time.perf_counter()
    result = function(*args, **options)
    while isinstance(function, functools.partial):
        function = function.func
    return result, getattr(function, "__name__", "task"), time.perf_counter() - begin, Where.here()


class _LocalWorkers:
    """joblib's workers, which lose all tasks when one of their processes dies; here those are given out again."""

    def __init__(self, n_jobs: int | None, form: Form, prefer: str) -> None:
        self._form, self._parallel = form, None
        self._one_by_one = form.lazily or form.as_they_come
        gives = "generator" if form.lazily else "generator_unordered" if form.as_they_come or form.logged else "list"
        self._make = functools.partial(joblib.Parallel, n_jobs=n_jobs, return_as=gives, prefer=prefer)
        self._in_threads = bool(getattr(get_active_backend(prefer=prefer)[0], "supports_sharedmem", False))
        self._jobs = n_threads(n_jobs)

    def __enter__(self) -> _LocalWorkers:
        if not self._one_by_one:
            self._parallel = self._make().__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._parallel is not None:
            self._parallel.__exit__(kind, error, trace)
            self._parallel = None

    def __call__(self, tasks: Iterable[Task]) -> Any:
        return self._form.give(tasks, self._results)

    def _results(self, tasks: Iterable[Task], early: dict[int, Any]) -> Iterator[tuple[int, Any]]:
        waiting: dict[int, Task] = {}  # given out, and not back
        rest, drawing, turn, idle, left = enumerate(tasks), threading.Lock(), 0, 0, True
        gate = _Gate(AHEAD * self._jobs if self._one_by_one else None)
        run = gate.run if self._in_threads else _numbered
        most = ROUND * self._jobs if self._form.lazily and not self._in_threads else None

        def given_out(mine: int) -> Iterator[Task]:
            again, new = iter(sorted(waiting.items())), 0
            while True:
                with drawing:  # joblib draws from threads, also those of a turn that broke off
                    one = next(again, None) if mine == turn else None
                    if one is None and mine == turn and new != most:
                        one, new = draw(), new + 1
                    if one is None:
                        return
                    waiting[one[0]] = one[1]
                yield run, one, {}

        def draw() -> tuple[int, Task] | None:
            nonlocal left
            one = next(rest, None)
            left = one is not None
            return one

        found: Any = None
        try:
            while left or waiting:
                parallel = self._make() if self._parallel is None else self._parallel
                try:
                    found = parallel(given_out(turn))
                    for place, result in found:
                        if waiting.pop(place, None) is not None:
                            idle = 0
                            yield place, result
                            gate.take()
                    with drawing:
                        turn += 1
                except BrokenProcessPool as error:
                    if idle == AGAIN:
                        raise ClusterError(
                            f"worker processes were killed {AGAIN + 1} times in a row, as the system does when memory runs out: "
                            "use fewer jobs, or less data at a time"
                        ) from error
                    with drawing:
                        turn, idle = turn + 1, idle + 1
        finally:
            gate.end()
            if found is not None and hasattr(found, "close"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # that tasks were canceled, as they should be
                    found.close()


class _Gate:
    """Keeps tasks waiting in their threads while as many results as there is room for are not taken; None is room for all.

    Tasks start in their order, so that one before all that wait is always under way.
    """

    def __init__(self, room: int | None) -> None:
        self._room, self._taken, self._over, self._changed = room, 0, False, threading.Condition()

    def run(self, place: int, task: Task) -> tuple[int, Any]:
        """The task, when its turn has come; nothing where nobody takes results any more."""
        room = self._room
        if room is not None:
            with self._changed:
                self._changed.wait_for(lambda: self._over or place < self._taken + room)
                if self._over:
                    return place, None
        return _numbered(place, task)

    def take(self) -> None:
        """One more result was taken."""
        with self._changed:
            self._taken += 1
            self._changed.notify_all()

    def end(self) -> None:
        """Let all go that wait."""
        with self._changed:
            self._over = True
            self._changed.notify_all()


def _numbered(place: int, task: Task) -> tuple[int, Any]:
    function, args, options = task
    return place, function(*args, **options)


def in_order(found: Iterator[tuple[int, Any]], early: dict[int, Any]) -> Iterator[Any]:
    """Results in the order of their places; those that wait for one before them are in `early`."""
    place = 0
    for one, result in found:
        early[one] = result
        while place in early:
            yield early.pop(place)
            place += 1


# A call as bytes, its large arrays apart, so that what many calls share travels to a process once; what is there already stays there.

LARGE = 1 << 16  # safeguard: bytes from which on an array travels by itself


@dataclass(frozen=True, eq=False)
class There:
    """A value that another machine has, or is to make."""

    value: Any  # what it is here, such as a future
    send: Callable[[Any], Any]  # of a Dask client: a future of the value, or a list of them


class _Packer(cloudpickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.apart: list[Array | There] = []
        self._places: dict[int, int] = {}

    def persistent_id(self, value: Any) -> int | None:
        """The place of a large array, or of what is elsewhere, among those of the call; all else is pickled."""
        if type(value) is not There and (
            type(value) is not np.ndarray or value.nbytes < LARGE or value.dtype.hasobject
        ):
            return None
        if id(value) not in self._places:
            self._places[id(value)] = len(self.apart)
            self.apart.append(value)
        return self._places[id(value)]


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, arrays: Sequence[Array]) -> None:
        super().__init__(file)
        self.arrays = arrays

    def persistent_load(self, place: Any) -> Array:
        """The array at a place."""
        return self.arrays[place]


def pack(call: Any) -> tuple[bytes, list[Any]]:
    """Bytes, and the large arrays (and :class:`There`) anywhere in `call` that they refer to by their place.

    Functions and classes that the other side cannot import, such as those of a notebook, travel by value.
    """
    file = io.BytesIO()
    packer = _Packer(file)
    packer.dump(call)
    return file.getvalue(), packer.apart


def unpack(data: bytes, arrays: Sequence[Array]) -> Any:
    """What :func:`pack` took."""
    return _Unpacker(io.BytesIO(data), arrays).load()
