"""Independent tasks side by side, by joblib; ``n_jobs=None`` is whatever ``joblib.parallel_config`` says, and one job without it."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
from joblib.parallel import get_active_backend

from consilience._check import InputError, show

LOCAL = ("SequentialBackend", "ThreadingBackend", "LokyBackend", "MultiprocessingBackend")
MOST = 2**20


def check_n_jobs(n_jobs: int | None) -> int | None:
    """The number of jobs, or one sentence."""
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, (int, np.integer)) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise InputError(f"n_jobs must be a whole number other than 0, or None; got {show(n_jobs)}")
    return min(int(n_jobs), MOST)


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


def workers(n_jobs: int | None, *, lazily: bool = False, **options: Any) -> Any:
    """Workers for tasks whose time is spent in kernels, that is in threads unless a context says otherwise.

    A :class:`joblib.Parallel`: call it with ``delayed(function)(…)`` tasks, or hold it open with ``with``. `lazily` yields results as
    they come, in order.
    """
    options = {"prefer": "threads"} | options
    return joblib.Parallel(n_jobs=check_n_jobs(n_jobs), return_as="generator" if lazily else "list", **options)
