"""How a command is stopped: SIGTERM ends it with a sentence, and no worker outlives it."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import util
from pathlib import Path
from typing import Any

WAITER = "consilience-sigterm"
WORKERS = (b"loky.backend.popen", b"multiprocessing.spawn", b"consilience._run.time_limit")  # in their command lines
_last_words: list[Callable[[], str]] = []


def when_stopped(*words: Callable[[], str]) -> None:
    """What to say of the work when the command is stopped, beside that it was."""
    _last_words[:] = words


def stopped() -> str:
    with suppress(Exception):  # whatever state the work is in
        return "".join(["stopped", *(f"; {said()}" for said in _last_words)])
    return "stopped"


def wait_for_sigterm(say: Callable[[str], None]) -> None:
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        return
    if any(thread.name == WAITER for thread in threading.enumerate()):
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    signal.signal(signal.SIGTERM, lambda *_: _end(say))  # for after multiprocessing, which unblocks it in this thread
    threading.Thread(target=_wait, args=(say,), name=WAITER, daemon=True).start()


def _wait(say: Callable[[str], None]) -> None:
    signal.sigwait({signal.SIGTERM})
    _end(say)


def _end(say: Callable[[str], None]) -> None:
    with suppress(Exception):
        say(stopped())
    end_workers()
    os._exit(128 + signal.SIGTERM)


def end_workers() -> None:
    """Kill the processes that do the work: they would wait for more work for minutes, and hold the terminal."""
    loky = sys.modules.get("joblib.externals.loky.reusable_executor")
    found = set(getattr(getattr(loky, "_executor", None), "_processes", None) or ())
    # those that are just being started, where the system lists them
    for children in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found |= {int(pid) for pid in children.read_text().split() if _is_worker(int(pid))}
    for pid in found:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    _remove_traces(getattr(loky, "_executor", None))


def _remove_traces(executor: Any) -> None:
    """Remove the folders and locks of the workers: their tracker would too, but complain of them after our sentence."""
    with suppress(Exception):
        executor._temp_folder_manager._clean_temporary_resources(force=True, allow_non_empty=True)
    with suppress(Exception):
        for one in list(util._finalizer_registry.values()):  # type: ignore[attr-defined]
            if getattr(one._callback, "__qualname__", "") == "SemLock._cleanup":
                one()


def _is_worker(pid: int) -> bool:
    """Of joblib, of a Dask cluster that this command started, or of a call with a time limit."""
    words = Path(f"/proc/{pid}/cmdline").read_bytes()
    return any(word in words for word in WORKERS)
