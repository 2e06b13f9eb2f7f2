"""Tasks on a Dask cluster: their large arrays travel once, and what a worker's death takes away is done again.

joblib's own Dask backend loses tasks whose data lay on the worker that died. Here this process holds the arrays, too, and sends them
again with the tasks that need them. A task's result depends on its arguments alone, wherever and however often it runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import pickle
import queue
import re
import time
import uuid
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import joblib
import numpy as np

from consilience._check import InputError, nearest, show
from consilience._run.parallel import AGAIN, AHEAD, ClusterError, Form, Task, There, pack, unpack
from consilience._run.progress import worker_name
from consilience._types import Array

try:
    from distributed import Client, KilledWorker, LocalCluster
    from distributed.client import ClosedClientError, FutureCancelledError
except ModuleNotFoundError as error:
    raise ImportError("a Dask cluster needs Dask: pip install 'consilience[dask]'") from error

T = TypeVar("T")
# Ctrl-C in a terminal reaches the workers, too: this process alone answers it, and cancels their tasks; heartbeats under way fail.
DEAF = """import logging, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
logging.getLogger("distributed.worker").setLevel(logging.CRITICAL)
logging.getLogger("distributed.worker.state_machine").setLevel(logging.ERROR)
logging.getLogger("distributed.worker.memory").setLevel(logging.WARNING)
"""
UNANSWERED = OSError, TimeoutError, RuntimeError, ClosedClientError  # what Dask raises where the other side is gone
POLL = 0.5  # safeguard: seconds after which futures are looked at that no message came of
PATIENCE = 30.0  # safeguard: seconds without a scheduler, or until it is said that there is no worker
UNHEARD = 30  # safeguard: times that a call is made again while the scheduler is there, 0.1 seconds apart


class ClusterWarning(UserWarning):
    """The cluster keeps the work waiting."""


ADDRESSES: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # of clients; one that lost its scheduler has forgotten it


def address_of(client: Any) -> str:
    """Of the scheduler, for messages."""
    if address := getattr(client.scheduler, "address", None):
        ADDRESSES[client] = str(address)
    return ADDRESSES.get(client, "of Dask")


def await_scheduler(client: Any) -> None:
    """Wait for a scheduler that is away for a moment; an error if it is lost."""
    address_of(client)  # while it is known
    begin = time.monotonic()
    while client.status != "running":
        if client.status in ("closed", "closing") or time.monotonic() - begin > PATIENCE:
            raise ClusterError(f"the Dask scheduler {address_of(client)} is lost; start it, and the same call again")
        time.sleep(POLL / 5)


def asked(client: Any, call: Callable[[], T]) -> T:
    """What a call to the client gives: made again where it failed on the way, and one sentence where the scheduler is lost.

    All calls to a client go through here, since the scheduler may go between any look at it and the call that follows.
    """
    tries = 0
    while True:
        await_scheduler(client)
        try:
            return call()
        except UNANSWERED as error:
            tries += 1
            if tries > UNHEARD:
                raise ClusterError(f"nothing can be sent to the cluster {address_of(client)}: {error}") from error
            time.sleep(POLL / 5)


def n_cores(client: Any) -> int:
    """Cores of the cluster now; 0 without a worker."""
    return int(sum(asked(client, client.ncores).values()))


def outcome(future: Any) -> tuple[bool, Any]:
    """Whether a future has a result, and the result; it has none where a worker or the scheduler took it along."""
    try:
        return (False, None) if future.status in ("lost", "cancelled") else (True, future.result())
    except KilledWorker as error:
        raise ClusterError(
            "a task ended each of the workers that took it, as the system does when memory runs out: give the workers more, or "
            "less data at a time"
        ) from error
    except (FutureCancelledError, *UNANSWERED):
        if future.status == "error":  # what the task itself raised
            raise
        return False, None


def settled(client: Any, submit: Callable[[], Sequence[Any]]) -> list[Any]:
    """Results of the futures that are submitted; all are submitted again where the cluster lost one."""
    for _ in range(AGAIN + 1):
        outcomes = [outcome(future) for future in asked(client, submit)]
        if all(done for done, _ in outcomes):
            return [result for _, result in outcomes]
    raise ClusterError(
        f"blocks were lost {AGAIN + 1} times in a row: is the cluster {address_of(client)} sound, and are its parts still there?"
    )


class ClusterWorkers:
    """Workers (:class:`consilience._run.parallel.Workers`) of a Dask client."""

    def __init__(self, client: Any, form: Form) -> None:
        self._client, self._form = client, form
        self._there: dict[str, Any] = {}  # futures of arrays, by digest
        self._digests: dict[int, tuple[Any, str]] = {}  # of arrays that still live, by id
        self._n_tasks: Counter[str] = Counter()  # that took an array so far, by digest

    def __enter__(self) -> ClusterWorkers:
        return self

    def __exit__(self, *error: Any) -> None:
        self._there.clear()
        self._n_tasks.clear()

    def __call__(self, tasks: Iterable[Task]) -> Any:
        return self._form.give(tasks, _in_worker if worker_name() else self._results)

    def _results(self, tasks: Iterable[Task], early: dict[int, Any]) -> Iterator[tuple[int, Any]]:
        """(place, result) as they come; for every core, at most some tasks are out or wait in `early` at any time."""
        self._digests.clear()  # an array may have been written to since
        ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        out: dict[Any, tuple[int, Task, set[str]]] = {}  # by future; with the digests of the arrays
        rest, left = enumerate(tasks), True
        room, tries, looked = 0, 0, -POLL
        try:
            while left or out:
                if time.monotonic() - looked >= 10 * POLL:
                    room, looked = AHEAD * max(2, self._cores()), time.monotonic()
                while left and len(out) + len(early) * self._form.lazily < room:
                    one = next(rest, None)
                    left = one is not None
                    if one is not None:
                        future, digests = self._submit(one[1], ended)
                        self._n_tasks.update(digests)
                        out[future] = *one, digests
                for future in self._ended(ended, out):
                    place, task, digests = out.pop(future)
                    done, result = outcome(future)
                    if done:
                        tries = 0
                        for digest in digests:
                            if self._n_tasks[digest] == 1:  # not shared: the cluster need not keep it
                                self._there.pop(digest, None)
                        yield place, result
                        continue
                    tries += 1
                    if tries > AGAIN * max(1, len(out) + 1):
                        raise ClusterError(
                            f"tasks were lost {tries} times in a row: is the cluster {address_of(self._client)} sound?"
                        )
                    again, digests = self._submit(task, ended)
                    out[again] = place, task, digests
        finally:
            if out and self._client.status == "running":
                with contextlib.suppress(Exception):  # it must not hide why the work stopped
                    self._client.cancel(list(out), reason="consilience stopped")
            used = {digest for _, digest in self._digests.values()}
            self._there = {digest: future for digest, future in self._there.items() if digest in used}

    def _cores(self) -> int:
        """Cores of the cluster; waits for a worker."""
        begin, said = time.monotonic(), False
        while not (cores := n_cores(self._client)):
            if not said and time.monotonic() - begin > PATIENCE:
                said = True
                without = f"the cluster {address_of(self._client)} has no worker: waiting for one"
                warnings.warn(ClusterWarning(without), stacklevel=4)
            time.sleep(POLL)
        return cores

    def _submit(self, task: Task, ended: queue.SimpleQueue[Any]) -> tuple[Any, set[str]]:
        """A future of the task, which is put into `ended` when it is, and the digests of its arrays."""
        data, apart = pack(task)
        digests = {id(one): self._digest(one) for one in apart if not isinstance(one, There)}
        kind = getattr(task[0], "kind", getattr(task[0], "__name__", type(task[0]).__name__))
        name = re.sub(r"\W+", "_", kind.strip("<>"))

        def submit() -> Any:
            there = [
                one.send(self._client) if isinstance(one, There) else self._scattered(one, digests[id(one)])
                for one in apart
            ]
            future = self._client.submit(
                run_task, data, *there, key=f"consilience-{name}-{uuid.uuid4().hex}", pure=False
            )
            future.add_done_callback(ended.put)
            return future

        return asked(self._client, submit), set(digests.values())

    def _digest(self, array: Array) -> str:
        known = self._digests.get(id(array))
        if known is None or known[0]() is not array:
            known = weakref.ref(array), _digest(array)
            self._digests[id(array)] = known
        return known[1]

    def _scattered(self, array: Array, digest: str) -> Any:
        """The future of an array, which is sent only if no copy of it is there."""
        future = self._there.get(digest)
        if future is None or future.status != "finished":
            future = self._client.scatter(Sent(array), hash=False)
            self._there[digest] = future
        return future

    def _ended(self, ended: queue.SimpleQueue[Any], out: dict[Any, Any]) -> list[Any]:
        """Futures that came to an end, once each; waits for one, but not long."""
        try:
            found = [ended.get(timeout=POLL)]
        except queue.Empty:
            await_scheduler(self._client)
            return [future for future in list(out) if future.status != "pending"]
        while not ended.empty():
            found.append(ended.get())
        return [future for future in dict.fromkeys(found) if future in out]


class Sent:
    """An array that travels. Memory as Dask receives it need not be aligned, and sums over such an array are rounded otherwise."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __sizeof__(self) -> int:
        return int(self.array.nbytes)

    def __reduce__(self) -> tuple[Any, ...]:
        order = "F" if self.array.flags.f_contiguous and not self.array.flags.c_contiguous else "C"
        flat = np.ascontiguousarray(self.array.T if order == "F" else self.array)
        return _receive, (pickle.PickleBuffer(flat.data), self.array.dtype, self.array.shape, order)


def _receive(data: Any, dtype: Any, shape: tuple[int, ...], order: Any) -> Sent:
    array = np.empty(shape, dtype, order)
    flat = array.T if order == "F" else array
    flat.reshape(-1).view(np.uint8)[:] = np.frombuffer(data, np.uint8)
    return Sent(array)


def run_task(data: bytes, *sent: Any) -> Any:
    """Run a task in a worker."""
    function, args, options = unpack(data, [one.array if isinstance(one, Sent) else one for one in sent])
    return function(*args, **options)


def _in_worker(tasks: Iterable[Task], early: dict[int, Any]) -> Iterator[tuple[int, Any]]:
    """Tasks of a task: one after the other, since waiting for others would hold a worker that they may need."""
    for place, (function, args, options) in enumerate(tasks):
        yield place, function(*args, **options)


@contextlib.contextmanager
def connect(address: str) -> Iterator[Any]:
    """A client of the scheduler at an address, or with "local" or "local:4" of worker processes on this machine."""
    for name in ("distributed", "distributed.client"):  # what matters is said in our own words
        logging.getLogger(name).setLevel(logging.CRITICAL)
    word, colon, number = address.strip().partition(":")
    if word == "local" and colon and not re.fullmatch(r"[1-9]\d*", number):
        raise InputError(
            f"{show(address)}: local:N is N worker processes on this machine, such as local:4; N is 1 or more"
        )
    if word != "local" and re.fullmatch(r"[1-9]\d{0,2}", number) and nearest(word, ["local"]):
        raise InputError(f"{show(address)} is not the address of a Dask scheduler: did you mean 'local:{number}'?")
    if word == "local":
        how = {"n_workers": int(number) if colon else joblib.cpu_count(), "threads_per_worker": 1}
        dashboard = ":0" if find_spec("bokeh") else None
        with SteadyCluster(**how, dashboard_address=dashboard, preload=[DEAF]) as cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(address, timeout=10)
    except ValueError as error:
        raise InputError(
            f"{show(address)} is not the address of a Dask scheduler, such as tcp://host:8786: {error}"
        ) from error
    except OSError as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: is it running, and the address right?") from error
    with client:
        yield client


def _digest(array: Array) -> str:
    data = np.ascontiguousarray(array)
    found = hashlib.blake2b(f"{data.dtype.str} {data.shape} ".encode(), digest_size=16)
    found.update(data.reshape(-1).view(np.uint8).data)
    return found.hexdigest()


class SteadyCluster(LocalCluster):
    """Dask's local cluster, which also closes where a worker was killed before the cluster had heard of it."""

    def _update_worker_status(self, op: str, msg: Any) -> None:
        # Dask takes every worker that went for one that it knows: a KeyError, then, in the midst of closing.
        if op != "remove" or msg in self.scheduler_info["workers"]:
            super()._update_worker_status(op, msg)
