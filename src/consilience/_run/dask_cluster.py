"""Tasks on a Dask cluster: their large arrays travel once, and what a worker's death takes away is done again."""

# joblib's own Dask backend loses tasks whose data lay on the worker that died. Here this process holds the arrays, too, and sends them
# again with the tasks that need them. A task's result depends on its arguments alone, wherever and however often it runs.

import contextlib
import logging
import queue
import re
import time
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import joblib
import numpy as np

from consilience._check import InputError, fingerprint, show
from consilience._run.parallel import AGAIN, OUT_OF_MEMORY, ClusterError, Task, Workers, pack, run_call, unpack
from consilience._run.progress import worker_name
from consilience._types import Array

try:
    from dask.base import is_dask_collection
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
AHEAD = 3  # safeguard: tasks of every core that are under way, or whose results wait for one before them
POLL = 0.5  # safeguard: seconds after which futures are looked at that no message came of
PATIENCE = 30.0  # safeguard: seconds without a scheduler, or until it is said that there is no worker
UNHEARD = 30  # safeguard: times that a call is made again while the scheduler is there, 0.1 seconds apart


class ClusterWarning(UserWarning):
    """The cluster keeps the work waiting."""


ADDRESSES: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # of clients; one that lost its scheduler has forgotten it


def address_of(client: Any) -> str:
    if address := getattr(client.scheduler, "address", None):
        ADDRESSES[client] = str(address)
    return ADDRESSES.get(client, "of Dask")


def await_scheduler(client: Any) -> None:
    address_of(client)  # while it is known
    begin = time.monotonic()
    while client.status != "running":
        if client.status in ("closed", "closing") or time.monotonic() - begin > PATIENCE:
            raise ClusterError(f"the Dask scheduler {address_of(client)} is lost; start it, and the same call again")
        time.sleep(POLL / 5)


def asked(client: Any, call: Callable[[], T]) -> T:
    # All calls to a client go through here, since the scheduler may go between any look at it and the call that follows.
    tries = 0
    while True:
        await_scheduler(client)
        try:
            return call()
        except UNANSWERED as error:
            tries += 1
            if tries > UNHEARD:
                if isinstance(error, RuntimeError):  # the pools of a client that runs are open: it is of the work
                    raise
                raise ClusterError(f"nothing can be sent to the cluster {address_of(client)}: {error}") from error
            time.sleep(POLL / 5)


def n_cores(client: Any) -> int:
    return int(sum(asked(client, client.ncores).values()))


def outcome(future: Any) -> tuple[bool, Any]:
    """Whether a future has a result, and the result; it has none where a worker or the scheduler took it along."""
    try:
        return (False, None) if future.status in ("lost", "cancelled") else (True, future.result())
    except KilledWorker as error:
        ended = f"a task ended each of the workers that took it, {OUT_OF_MEMORY}"
        raise ClusterError(f"{ended}: give the workers more, or less data at a time") from error
    except (FutureCancelledError, *UNANSWERED):
        if future.status == "error":  # what the task itself raised
            raise
        return False, None


class ClusterWorkers(Workers):
    def __init__(self, client: Any, **form: bool) -> None:
        super().__init__(**form)
        self._client = client
        self._there: dict[int, tuple[Any, str, Any]] = {}  # arrays that live here, by id: fingerprints, and futures

    def _results(self, tasks: Iterable[Task]) -> Iterator[tuple[int, Any]]:
        # Tasks of a task, one after the other: waiting for others would hold a worker that they may need.
        if worker_name():
            yield from ((place, run_call(task)) for place, task in enumerate(tasks))
            return
        self._forget_changed()
        ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        out: dict[Any, tuple[int, Task]] = {}  # by future
        rest, left, drawn = enumerate(tasks), True, 0
        room, tries, looked = 0, 0, -POLL
        try:
            while left or out:
                if time.monotonic() - looked >= 10 * POLL:
                    room, looked = AHEAD * max(2, self._cores()), time.monotonic()
                while left and self._n_waiting(out, drawn) < room:
                    one = next(rest, None)
                    left = one is not None
                    if one is not None:
                        out[self._submit(one[1], ended)] = one
                        drawn += 1
                for future in self._ended(ended, out):
                    place, task = out.pop(future)
                    done, result = outcome(future)
                    if done:
                        tries = 0
                        yield place, result
                        continue
                    tries += 1
                    if tries > AGAIN * max(1, len(out) + 1):
                        sound = f"is the cluster {address_of(self._client)} sound, and are all parts of the data still there?"
                        raise ClusterError(f"tasks were lost {tries} times in a row: {sound}")
                    out[self._submit(task, ended)] = place, task
        finally:
            if out and self._client.status == "running":
                with contextlib.suppress(Exception):  # it must not hide why the work stopped
                    self._client.cancel(list(out), reason="consilience stopped")

    def _n_waiting(self, out: dict[Any, tuple[int, Task]], drawn: int) -> int:
        return drawn - min((place for place, _ in out.values()), default=drawn) if self.lazily else len(out)

    def _cores(self) -> int:
        begin, said = time.monotonic(), False
        while not (cores := n_cores(self._client)):
            if not said and time.monotonic() - begin > PATIENCE:
                said = True
                without = f"the cluster {address_of(self._client)} has no worker: waiting for one"
                warnings.warn(ClusterWarning(without), stacklevel=4)
            time.sleep(POLL)
        return cores

    def _submit(self, task: Task, ended: queue.SimpleQueue[Any]) -> Any:
        """A future of the task, which is put into `ended` when it is."""
        data, apart = pack(task)
        kind = getattr(task[0], "__name__", type(task[0]).__name__).partition(",")[0]
        key = "consilience-" + re.sub(r"\W+", "_", kind.strip("<>"))

        def submit() -> Any:
            there = [self._sent(one) for one in apart]
            future = self._client.submit(run_packed, data, *there, key=f"{key}-{uuid.uuid4().hex}", pure=False)
            future.add_done_callback(ended.put)
            return future

        return asked(self._client, submit)

    def _sent(self, value: Any) -> Any:
        """The future of an array, of which one is there as long as it lives here, or of what Dask is to make; futures as they are."""
        if not isinstance(value, np.ndarray):
            return self._client.compute(value) if is_dask_collection(value) else value
        if (known := self._there.get(id(value))) is not None and known[2].status == "finished":
            return known[2]
        future = self._client.scatter(Sent(value), hash=False)
        key = id(value)
        self._there[key] = weakref.ref(value, lambda _: self._there.pop(key, None)), fingerprint(value), future
        return future

    def _forget_changed(self) -> None:
        for key, (array, then, _) in list(self._there.items()):
            if (value := array()) is None or fingerprint(value) != then:
                self._there.pop(key, None)

    def _ended(self, ended: queue.SimpleQueue[Any], out: dict[Any, Any]) -> list[Any]:
        # Once each; waits for one, but not long.
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

    def __setstate__(self, state: dict[str, Array]) -> None:
        self.array = state["array"].copy(order="K")


def run_packed(data: bytes, *sent: Any) -> Any:
    return run_call(unpack(data, [one.array if isinstance(one, Sent) else one for one in sent]))


@contextlib.contextmanager
def connect(address: str) -> Iterator[Any]:
    """A client of the scheduler at an address, or with "local" or "local:4" of worker processes on this machine."""
    for name in ("distributed", "distributed.client"):  # what matters is said in our own words
        logging.getLogger(name).setLevel(logging.CRITICAL)
    word, colon, number = address.strip().partition(":")
    if word == "local":
        if colon and not re.fullmatch(r"[1-9]\d*", number):
            form = "local:N is N worker processes on this machine, such as local:4; N is 1 or more"
            raise InputError(f"{show(address)}: {form}")
        how = {"n_workers": int(number) if colon else joblib.cpu_count(), "threads_per_worker": 1}
        dashboard = ":0" if find_spec("bokeh") else None
        with SteadyCluster(**how, dashboard_address=dashboard, preload=[DEAF]) as cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(address, timeout=10)
    except ValueError as error:
        wrong = f"{show(address)} is not the address of a Dask scheduler, such as tcp://host:8786"
        raise InputError(f"{wrong}: {error}") from error
    except OSError as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: is it running, and the address right?") from error
    with client:
        yield client


class SteadyCluster(LocalCluster):
    """Dask's local cluster, which also closes where a worker was killed before the cluster had heard of it."""

    def _update_worker_status(self, op: str, msg: Any) -> None:
        # Dask takes every worker that went for one that it knows: a KeyError, then, in the midst of closing.
        if op != "remove" or msg in self.scheduler_info["workers"]:
            super()._update_worker_status(op, msg)
