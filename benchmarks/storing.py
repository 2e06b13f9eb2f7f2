"""The store: what writing, opening and reading cost (wall seconds, since the disk is part of it)."""

import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.timing import random_labels
from consilience.ensemble.store import Store


def _store(m, n, parts):
    labels = np.asfortranarray(random_labels(n, m, 15))
    with tempfile.TemporaryDirectory() as folder:
        times = [time.perf_counter()]
        with Store.create(Path(folder) / "run", n_objects=n) as store:
            for some in np.array_split(labels, parts, axis=1):
                store.append(some, {"seed": list(range(some.shape[1]))})
        times.append(time.perf_counter())
        store = Store.open(Path(folder) / "run")
        times.append(time.perf_counter())
        back = store.labels()
        times.append(time.perf_counter())
        store.info()
        times.append(time.perf_counter())
        size = sum(path.stat().st_size for path in store.path.iterdir())
    written, opened, read, known = (round(x, 3) for x in np.diff(times))
    same = bool((back == labels).all())
    return {
        "mb": round(size / 1e6, 1),
        "write_s": written,
        "open_s": opened,
        "labels_s": read,
        "info_s": known,
        "ok": same,
    }


def store_50_parts():
    """5,000 clusterings × 1,000 objects, 100 clusterings a part."""
    return _store(5000, 1000, 50)


def store_5000_parts():
    """The same, a part for every clustering."""
    return _store(5000, 1000, 5000)


def store_wide():
    """1,000 clusterings × 100,000 objects in one part."""
    return _store(1000, 100_000, 1)


CASES = [store_50_parts, store_5000_parts, store_wide]
