"""Calls that may hang or crash: each in a process of its own kind, which is killed when its time is over."""

# Python cannot stop a kernel, or another library's code, within a process. So a call with a time limit runs in a child, which is kept for
# the next one: it has the large arrays that it was sent already, and its imports done. Neither counts against the limit. One that nobody
# asks any more is ended after a while, since the workers of a cluster are not told when a run is over.

import atexit
import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from consilience._check import fingerprint
from consilience._run.parallel import pack, unpack

START = 120.0  # safeguard: seconds that a child may take to start, or to read what it is sent
IDLE = 30.0  # safeguard: seconds that it waits for another call
_idle: "list[Child]" = []
_lock = threading.Lock()


class CallError(Exception):
    """Why a call has no result: it took too long, its process ended, or what it raised."""


def call_within(seconds: float, function: Callable[..., Any], *args: Any) -> Any:
    """The result of a call in another process, or CallError where there is none after so many seconds."""
    with _lock:
        child = _idle.pop() if _idle else None
        if child is not None:
            child.end.cancel()
    child = child or Child()
    try:
        result = child.call(seconds, (function, args, {}))
    except BaseException as error:
        if isinstance(error, CallError) and child.is_sound:  # it raised something, and can take the next call
            _keep(child)
        else:
            child.kill()
        raise
    _keep(child)
    return result


def _keep(child: "Child") -> None:
    child.end = threading.Timer(IDLE, _end_idle, [child])
    child.end.daemon = True
    with _lock:
        _idle.append(child)
        child.end.start()


def _end_idle(child: "Child") -> None:
    with _lock:
        if child not in _idle:  # it was asked again
            return
        _idle.remove(child)
    child.kill()


@atexit.register
def end_children() -> None:
    with _lock:
        children, _idle[:] = list(_idle), []
    for child in children:
        child.end.cancel()
        child.kill()


class Child:
    def __init__(self) -> None:
        code = f"import sys; sys.path[:] = {sys.path!r}; from consilience._run.time_limit import answer; answer()"
        command = [sys.executable, "-W", "ignore", "-c", code]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._sent: dict[int, tuple[Any, str]] = {}  # arrays that it has, by id here, and their fingerprints
        self.is_sound, self.end = True, threading.Timer(IDLE, self.kill)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while (frame := _read(self._process.stdout)) is not None:
                self._answers.put(_loaded(frame))
        self._answers.put(None)

    def call(self, seconds: float, task: Any) -> Any:
        data, arrays = pack(task)
        gone = [key for key, (array, _) in self._sent.items() if array() is None]
        for key in gone:
            del self._sent[key]
        now = {id(array): (weakref.ref(array), fingerprint(array)) for array in arrays}
        known = {key: print_ for key, (_, print_) in self._sent.items()}
        new = {id(array): array for array in arrays if known.get(id(array)) != now[id(array)][1]}  # or written to since
        self._send(pickle.dumps((gone, new, [id(array) for array in arrays], data), protocol=5))
        self._sent |= now
        if self._answer(START) != "begun":
            raise self._late()
        kind, value = self._answer(seconds) or (None, None)
        if kind == "result":
            return value
        if kind == "raised":
            raise CallError(value)
        raise CallError(f"it took longer than its limit of {seconds:g} seconds, and was stopped")

    def _send(self, message: bytes) -> None:
        """Write a message that is read in time, or end the process."""
        assert self._process.stdin is not None
        began, late = time.monotonic(), threading.Timer(START, self._process.kill)
        late.daemon = True
        late.start()
        try:
            _write(self._process.stdin, message)
        except OSError:
            raise (self._late() if time.monotonic() - began >= START else self._ended()) from None
        finally:
            late.cancel()

    def _late(self) -> CallError:
        self.is_sound = False
        return CallError("its process did not start in time")

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
        try:
            call = unpack(data, [arrays[key] for key in keys])
        except Exception as error:
            call = (_raise, (error,), {})
        _write(replies, pickle.dumps("begun"))
        _write(replies, _reply(*call))


def _raise(error: Exception) -> None:
    raise error


def _reply(function: Callable[..., Any], args: Any, options: Any) -> bytes:
    """What a call gives, or why it gives nothing, as bytes."""
    try:
        result = function(*args, **options)
    except Exception as error:
        return pickle.dumps(("raised", f"{type(error).__name__}: {error}"))
    try:
        return pickle.dumps(("result", result), protocol=5)
    except Exception as error:
        return pickle.dumps(("raised", f"its result cannot leave its process: {type(error).__name__}: {error}"))


def _loaded(frame: bytes) -> Any:
    try:
        return pickle.loads(frame)
    except Exception as error:
        return "raised", f"its result cannot be read: {type(error).__name__}: {error}"


def _watch(parent: int) -> None:
    """End with the parent, also in the middle of a call."""
    while os.name == "posix" and os.getppid() == parent:
        time.sleep(1.0)
    if os.name == "posix":
        os._exit(1)


def _write(stream: Any, data: bytes) -> None:
    pickle.dump(data, stream, protocol=5)
    stream.flush()


def _read(stream: Any) -> Any:
    """The next message, as bytes: where its contents cannot be read, the next one can. None at the end."""
    try:
        return pickle.load(stream)
    except (EOFError, pickle.UnpicklingError):  # the other side ended, perhaps within a message
        return None
