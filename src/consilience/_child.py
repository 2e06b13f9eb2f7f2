"""Calls that may hang or crash: each in a process of its own kind, which is killed when its time is over.

Python cannot stop a kernel, or another library's code, within a process. So a call with a time limit runs in a child, which is kept for the
next one: it has the large arrays that it was sent already, and its imports done. Neither counts against the limit.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from consilience._travel import pack, unpack

START = 120.0  # seconds that a child may take to start, or to read what it is sent
_idle: list[Child] = []
_lock = threading.Lock()


class CallError(Exception):
    """Why a call has no result: it took too long, its process ended, or what it raised."""


def call_within(seconds: float, function: Callable[..., Any], *args: Any) -> Any:
    """The result of a call in another process, or CallError where there is none after so many seconds."""
    with _lock:
        child = _idle.pop() if _idle else None
    child = child or Child()
    try:
        result = child.call(seconds, (function, args, {}))
    except BaseException as error:
        if isinstance(error, CallError) and child.is_sound:  # it raised something, and can take the next call
            with _lock:
                _idle.append(child)
        else:
            child.kill()
        raise
    with _lock:
        _idle.append(child)
    return result


@atexit.register
def end_children() -> None:
    """End those that wait for a call."""
    with _lock:
        children, _idle[:] = list(_idle), []
    for child in children:
        child.kill()


class Child:
    """A process that answers calls."""

    def __init__(self) -> None:
        code = f"import sys; sys.path[:] = {sys.path!r}; from consilience._child import answer; answer()"
        command = [sys.executable, "-W", "ignore", "-c", code]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._sent: dict[int, Any] = {}  # arrays that it has, by id, as long as they live here
        self.is_sound = True
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while (frame := _read(self._process.stdout)) is not None:
                self._answers.put(pickle.loads(frame))
        self._answers.put(None)

    def call(self, seconds: float, task: Any) -> Any:
        """The task's result."""
        data, arrays = pack(task)
        gone = [key for key, array in self._sent.items() if array() is None]
        for key in gone:
            del self._sent[key]
        new = {id(array): array for array in arrays if id(array) not in self._sent}
        try:
            assert self._process.stdin is not None
            _write(self._process.stdin, pickle.dumps((gone, new, [id(array) for array in arrays], data), protocol=5))
        except OSError:
            raise self._ended() from None
        self._sent |= {key: weakref.ref(array) for key, array in new.items()}
        if self._answer(START) != "begun":
            raise CallError("its process did not start in time")
        kind, value = self._answer(seconds) or (None, None)
        if kind == "result":
            return value
        if kind == "raised":
            raise CallError(value)
        raise CallError(f"it took longer than its limit of {seconds:g} seconds, and was stopped")

    def _answer(self, seconds: float) -> Any:
        try:
            found = self._answers.get(timeout=seconds)
        except queue.Empty:
            self.is_sound = False
            return None
        if found is None:
            raise self._ended()
        return found

    def _ended(self) -> CallError:
        self.is_sound = False
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        code = self._process.returncode
        how = f"by signal {-code} ({signal.Signals(-code).name})" if code and code < 0 else f"with status {code}"
        return CallError(f"its process ended {how}")

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]


def answer() -> None:
    """What a child does: read calls, answer them, until nobody asks any more."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what clusterers print must not get into the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to act on
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()
    arrays: dict[int, Any] = {}
    while (frame := _read(sys.stdin.buffer)) is not None:
        gone, new, keys, data = pickle.loads(frame)
        for key in gone:
            arrays.pop(key, None)
        arrays |= new
        function, args, options = unpack(data, [arrays[key] for key in keys])
        _write(replies, pickle.dumps("begun"))
        try:
            reply = ("result", function(*args, **options))
        except Exception as error:
            reply = ("raised", f"{type(error).__name__}: {error}")
        _write(replies, pickle.dumps(reply, protocol=5))


def _watch(parent: int) -> None:
    """End with the parent, also in the middle of a call."""
    while os.name == "posix" and os.getppid() == parent:
        time.sleep(1.0)
    if os.name == "posix":
        os._exit(1)


def _write(stream: Any, data: bytes) -> None:
    stream.write(struct.pack("<Q", len(data)))
    stream.write(data)
    stream.flush()


def _read(stream: Any) -> bytes | None:
    """The next message; None at the end."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    (size,) = struct.unpack("<Q", head)
    data = stream.read(size)
    return data if len(data) == size else None
