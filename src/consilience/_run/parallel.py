"""Independent tasks side by side: in threads or processes by joblib, or on a Dask cluster."""

# ``n_jobs=None`` is whatever ``joblib.parallel_config`` says, and one job without it. Where that says ``backend="dask"``, or a verb is
# given a ``client=``, all tasks go to the cluster (:mod:`consilience._run.dask_cluster`), whatever `n_jobs` is.

import contextlib
import functools
import inspect
import io
import pickle
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any, Self, TypeVar

import cloudpickle
import joblib
import numpy as np
from joblib.parallel import delayed, get_active_backend
from threadpoolctl import ThreadpoolController

from consilience._check import InputError, show
from consilience._run.progress import is_logging, logging_to, record, whereabouts

LOCAL = ("SequentialBackend", "ThreadingBackend", "LokyBackend", "MultiprocessingBackend")
MOST_JOBS = 2**20  # safeguard: more are no number of jobs
AGAIN = 3  # safeguard: times that tasks are given out again after a worker died, with none finished in between
ROUND = 16  # safeguard: tasks of every job that are given out before the results of all of them are taken
LARGE = 1 << 16  # safeguard: bytes from which on an array travels by itself
OUT_OF_MEMORY = "as the system does when memory runs out"
Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]  # what joblib.delayed makes
F = TypeVar("F", bound=Callable[..., Any])


class ClusterError(ConnectionError):
    """The cluster cannot do the work: it is lost, or a task ended its workers."""


def check_n_jobs(n_jobs: int | None) -> int | None:
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
    return int(n_jobs) if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + int(n_jobs))


def n_tasks(n_jobs: int | None) -> int:
    """Tasks that run at the same time: threads of this process, or cores of the cluster."""
    client = active_client()
    if client is None:
        return n_threads(n_jobs)
    from consilience._run.dask_cluster import n_cores

    return max(1, n_cores(client))


def own_threads(limit: int | None = 1, of: str | None = None) -> Any:
    """Within, the libraries that compute (`of` them "blas" or "openmp", or both) have so many threads; with one, sums stay the same."""
    return _controller(len(sys.modules)).limit(limits=limit, user_api=of)


@functools.lru_cache(maxsize=1)
def _controller(modules: int) -> ThreadpoolController:
    """Of the libraries of this process, which take longer to find than a small clustering: only imports bring new ones."""
    return ThreadpoolController()


def active_client() -> Any:
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
    """A verb with the keywords `client`, where its tasks go, and `log`, a file that they are written to; BLAS has `n_jobs` threads."""

    @functools.wraps(verb)
    def with_its_workers(*args: Any, **options: Any) -> Any:
        client, log, threads = options.get("client"), options.get("log"), n_threads(options.get("n_jobs"))
        with on_cluster(client), logging_to(log, verb.__name__), own_threads(threads, "blas"):
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
) -> "Workers":
    """Workers for independent tasks: call it with ``joblib.delayed(function)(…)`` tasks, or hold it open with ``with``."""
    # `lazily` yields results as soon as they and those before them are there, `as_they_come` (place, result) as they end;
    # else they are a list. `prefer` holds where a context does not say otherwise: "threads" for kernels, "processes" for Python code.
    jobs, client = check_n_jobs(n_jobs), active_client()
    form = {"lazily": lazily, "as_they_come": as_they_come, "logged": logged}
    if client is not None:
        from consilience._run.dask_cluster import ClusterWorkers

        return ClusterWorkers(client, **form)
    return _LocalWorkers(jobs, prefer, **form)


class Workers:
    def __init__(self, *, lazily: bool = False, as_they_come: bool = False, logged: bool = True) -> None:
        self.lazily, self.as_they_come = lazily, as_they_come
        self._logged = logged and is_logging()
        self._held: Any = contextlib.nullcontext()  # what is kept between calls

    def __call__(self, tasks: Iterable[Task]) -> Any:
        measured = map(delayed(_measured), tasks)
        found = self._log(self._results(measured)) if self._logged else self._results(tasks)
        if self.as_they_come:
            return found
        return _in_order(found) if self.lazily else list(_in_order(found))

    def _results(self, tasks: Iterable[Task]) -> Iterator[tuple[int, Any]]:
        raise NotImplementedError

    def _log(self, found: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        for place, (result, name, seconds, where) in found:
            record("task", seconds, where, name=name)
            yield place, result

    def __enter__(self) -> Self:
        self._held.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._held.__exit__(*error)


def _measured(task: Task) -> tuple[Any, str, float, dict[str, Any]]:
    """The result of a task, and what the log says of it: a name, seconds, and where it ran."""
    begin = time.perf_counter()
    result = run_call(task)
    function = task[0]
    while isinstance(function, functools.partial):
        function = function.func
    return result, getattr(function, "__name__", "task"), time.perf_counter() - begin, whereabouts()


def _in_order(found: Iterator[tuple[int, Any]]) -> Iterator[Any]:
    place, early = 0, {}
    for one, result in found:
        early[one] = result
        while place in early:
            yield early.pop(place)
            place += 1


class _LocalWorkers(Workers):
    # joblib loses all tasks when one of its processes dies; here those are given out again. It goes on whether results are taken or not,
    # so where they are taken one by one, tasks are given out in rounds.

    def __init__(self, n_jobs: int | None, prefer: str, **form: Any) -> None:
        super().__init__(**form)
        self._round = ROUND * n_threads(n_jobs) if self.lazily or self.as_they_come else None
        backend = get_active_backend(prefer=prefer)[0]
        gives = backend.supports_return_generator or type(backend).__name__ == "SequentialBackend"
        how = {"return_as": "generator_unordered" if gives else "list", "prefer": prefer}
        self._held = joblib.Parallel(n_jobs=n_jobs, **how)
        self._turn = 0

    def _results(self, tasks: Iterable[Task]) -> Iterator[tuple[int, Any]]:
        rest, deaths = enumerate(tasks), 0
        while waiting := dict(islice(rest, self._round)):
            while waiting:
                try:
                    for place, result in self._until_death(waiting):
                        deaths = 0
                        del waiting[place]
                        yield place, result
                except BrokenProcessPool as error:
                    deaths += 1
                    if deaths > AGAIN:
                        killed = f"worker processes were killed {deaths} times in a row, {OUT_OF_MEMORY}"
                        raise ClusterError(f"{killed}: use fewer jobs, or less data at a time") from error

    def _until_death(self, tasks: Mapping[int, Task]) -> Iterator[tuple[int, Any]]:
        self._turn += 1
        _ignore_lost_tasks()
        found = self._held((_run_numbered, (self._turn, *one), {}) for one in list(tasks.items()))
        try:
            for turn, place, result in found:
                # joblib still has batches of a turn that ended early, and runs them in the next.
                if turn == self._turn:
                    yield place, result
        finally:
            if hasattr(found, "close"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # that tasks were canceled, as they should be
                    found.close()


@functools.cache
def _ignore_lost_tasks() -> None:
    # A task given out just as joblib ends its processes is one that loky's thread no longer finds: it dies of that, and nobody need know.
    hook = threading.excepthook

    def report(args: threading.ExceptHookArgs) -> None:
        is_over = getattr(getattr(args.thread, "executor_flags", None), "kill_workers", False)
        if not (is_over and args.exc_type is KeyError):
            hook(args)

    threading.excepthook = report


def _run_numbered(turn: int, place: int, task: Task) -> tuple[int, int, Any]:
    return turn, place, run_call(task)


def run_call(task: Task) -> Any:
    function, args, options = task
    return function(*args, **options)


# A call as bytes, its large arrays apart, so that what many calls share travels to a process once; what is there already stays there.


def is_elsewhere(value: Any) -> bool:
    """Whether a value is one that Dask is to make, or that one of its workers has."""
    of_dask = type(value).__module__.partition(".")[0] in ("dask", "distributed")
    return of_dask and (hasattr(value, "__dask_graph__") or hasattr(value, "key"))


class _Packer(cloudpickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.apart: list[Any] = []
        self._places: dict[int, int] = {}

    def persistent_id(self, value: Any) -> int | None:
        """The place of a large array, or of what is elsewhere, among those of the call; all else is pickled."""
        is_large = type(value) is np.ndarray and value.nbytes >= LARGE and not value.dtype.hasobject
        if not is_large and not is_elsewhere(value):
            return None
        if id(value) not in self._places:
            self._places[id(value)] = len(self.apart)
            self.apart.append(value)
        return self._places[id(value)]


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, apart: Sequence[Any]) -> None:
        super().__init__(file)
        self.apart = apart

    def persistent_load(self, place: Any) -> Any:
        return self.apart[place]


def pack(call: Any) -> tuple[bytes, list[Any]]:
    """Bytes, and the large arrays and Dask's values anywhere in `call` that they refer to by their place."""
    file = io.BytesIO()
    packer = _Packer(file)
    packer.dump(call)
    return file.getvalue(), packer.apart


def unpack(data: bytes, apart: Sequence[Any]) -> Any:
    return _Unpacker(io.BytesIO(data), apart).load()
