"""Checks at the door: what users pass becomes arrays the rest can trust, or one clear sentence."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse


class InputError(ValueError):
    """What was given cannot be used; the message says what, where, and what to do."""


def check_choice(value: str, choices: Iterable[str], what: str) -> str:
    """Return `value` if it is one of `choices`; otherwise say which there are, and the nearest."""
    choices = list(choices)
    if value in choices:
        return value
    import difflib

    near = difflib.get_close_matches(str(value), choices, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"unknown {what} {value!r}: {hint}choose from {', '.join(choices)}")


def check_threads(n_jobs: int | None) -> int:
    """Number of threads for `n_jobs`: None means 1, -1 all cores this process may use (joblib's rule)."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, (int, np.integer)) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise InputError(f"n_jobs must be a whole number other than 0, or None; got {n_jobs!r}")
    if n_jobs > 0:
        return int(n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores + 1 + int(n_jobs))


def check_seed(random_state: Any) -> int:
    """A 63-bit seed for `random_state`: None draws fresh entropy, an int is itself, generators give their next."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1)
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise InputError(f"random_state must not be negative; got {random_state}")
        return int(random_state) & (2**63 - 1)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**63 - 1, dtype=np.int64))
    raise InputError(f"random_state must be None, a whole number or a NumPy generator; got {random_state!r}")


def fingerprint(*arrays: Any) -> str:
    """SHA-256 of shapes, types and values of dense or sparse arrays: equal data, equal fingerprint."""
    digest = hashlib.sha256()
    for array in arrays:
        parts = [array]
        if sparse.issparse(array):
            csr = sparse.csr_matrix(array)
            csr.sum_duplicates()
            digest.update(repr(("csr", csr.shape)).encode())
            parts = [csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)]
        for part in parts:
            part = np.ascontiguousarray(part)
            digest.update(repr((part.shape, part.dtype.str)).encode())
            # Objects have no bytes of their own worth hashing: their text does.
            digest.update("\0".join(map(str, part.ravel())).encode() if part.dtype == object else part.data)
    return digest.hexdigest()
