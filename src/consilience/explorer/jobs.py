"""Long work, one at a time: it runs beside the calls, says how far it is, and can be asked to stop."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from consilience._check import InputError
from consilience.explorer.replies import RefusedError

BUSY = "a job is running: wait for it, or cancel it first"
PATIENCE, ENDING = 60.0, 10.0  # safeguard: seconds in which a job ends that gives way, and the last one at the close
KEPT = 32  # safeguard: jobs that can still be asked about
log = logging.getLogger("consilience.explorer")


class StoppedError(Exception):
    """The job was asked to stop."""


class Job:
    def __init__(self, number: int, kind: str, total: int, work: Callable[["Job"], Any], gives_way: bool) -> None:
        self.id, self.kind, self.total, self.gives_way = number, kind, total, gives_way
        self.state, self.done, self.message, self.stopping = "running", 0, "", False
        self.result: dict[str, Any] | None = None
        self.thread = threading.Thread(target=_run, args=(self, work), name=f"{kind} {number}", daemon=True)

    def ask_to_stop(self) -> None:
        self.stopping = True

    def step(self) -> None:
        if self.stopping:
            raise StoppedError

    def advance(self) -> None:
        """One step of those that are counted; the last is done when the work is."""
        self.step()
        self.done = min(self.done + 1, self.total - 1)

    def summary(self) -> dict[str, Any]:
        names = ("id", "kind", "state", "done", "total", "message", "result")
        return {name: getattr(self, name) for name in names}


class Jobs:
    def __init__(self) -> None:
        self._jobs: dict[int, Job] = {}
        self._lock, self._held = threading.Lock(), False

    def start(self, kind: str, total: int, work: Callable[[Job], Any], *, gives_way: bool = False) -> Job:
        """Start ``work(job)`` in a thread of its own; refused while another runs, unless that one gives way."""
        with self._lock:
            self._check_free()
            job = Job(max(self._jobs, default=0) + 1, kind, total, work, gives_way)
            self._jobs[job.id] = job
            for old in list(self._jobs)[:-KEPT]:
                del self._jobs[old]
            job.thread.start()
        return job

    @contextmanager
    def held(self) -> Iterator[None]:
        """None may run, nor be started, as long as this lasts; refused while one does."""
        with self._lock:
            self._check_free()
            self._held = True
        try:
            yield
        finally:
            self._held = False

    def _check_free(self) -> None:
        last = self._last()
        if last is not None and last.gives_way:
            last.ask_to_stop()
            last.thread.join(PATIENCE)
        if self._held or (last is not None and last.state == "running"):
            raise RefusedError(409, BUSY)

    def get(self, number: int) -> Job:
        if number not in self._jobs:
            raise RefusedError(404, "there is no such job")
        return self._jobs[number]

    def running(self) -> Job | None:
        with self._lock:
            last = self._last()
        return last if last is not None and last.state == "running" else None

    def _last(self) -> Job | None:
        return next(reversed(self._jobs.values()), None)

    def close(self) -> None:
        with self._lock:
            last = self._last()
        if last is not None:
            last.ask_to_stop()
            last.thread.join(ENDING)


def _run(job: Job, work: Callable[[Job], dict[str, Any] | None]) -> None:
    """The work itself, and how it ended; the state comes last, since those who wait look at it."""
    state = "failed"
    try:
        job.result = work(job)
        state = "canceled" if job.stopping and job.done < job.total else "done"
    except StoppedError:
        state = "canceled"
    except InputError as error:
        job.message = str(error)
    except Exception:
        log.exception("the job %s failed", job.kind)
        job.message = "it failed for a reason that the explorer's terminal shows"
    finally:
        job.state = state
