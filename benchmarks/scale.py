"""A consensus of label tables in Parquet that are read in row blocks: time, memory, workers, and growth with the number of rows.

``python -m benchmarks.scale 1000000 5000000 --workers 2`` measures other sizes than the cases do.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.timing import noisy_labels

CLUSTERINGS, CLUSTERS, NOISE = 10, 10, 0.05
CHUNK = 10**6
SIZES = (10**6, 5 * 10**6, 50 * 10**6)


def plant(path, n, seed=0):
    """Write n rows of noisy copies of one clustering, a million at a time."""
    writer = None
    for i, begin in enumerate(range(0, n, CHUNK)):
        labels = noisy_labels(min(CHUNK, n - begin), CLUSTERINGS, CLUSTERS, NOISE, seed=[seed, i])
        table = pa.table({f"run{j}": column.astype(np.int8) for j, column in enumerate(labels.T)})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=CHUNK)
    writer.close()


def measure(path, out, n_workers):
    """One consensus, in this process (0 workers) or with worker processes: seconds, and the peak memory of every process."""
    import consilience as cs
    import consilience.scale.combining  # imports are no part of what grows

    if not n_workers:
        start = time.perf_counter()
        found = cs.combine(path, output=out, memory_limit="4GB")
        return _figures(found, time.perf_counter() - start, [])
    from distributed import Client, LocalCluster

    peaks = {}
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        pids = list(client.run(_warm).values())
        stop = threading.Event()
        watch = threading.Thread(target=_watch, args=(pids, peaks, stop))
        watch.start()
        start = time.perf_counter()
        found = cs.combine(path, output=out, memory_limit="4GB", client=client)
        seconds = time.perf_counter() - start
        stop.set()
        watch.join()
    return _figures(found, seconds, list(peaks.values()))


def _warm():
    import os

    import consilience.scale.giving  # noqa: F401

    return os.getpid()


def _watch(pids, peaks, stop):
    while not stop.wait(0.2):
        for pid in pids:
            peaks[pid] = max(peaks.get(pid, 0), _resident(pid))


def _resident(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 2**20
    return 0.0


def _figures(found, seconds, peaks):
    mine = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "seconds": round(seconds, 2),
        "peak_gb": round(mine + sum(peaks), 2),
        "method": found.method,
        "mean_confidence": found.mean_confidence,
        "sizes": found.sizes.tolist(),
        "n_objects": found.n_objects,
    }


def apart(path, folder, n_workers):
    """:func:`measure` in a process of its own."""
    out = Path(folder) / f"out-{n_workers}-{time.time_ns()}"
    command = [sys.executable, "-m", "benchmarks.scale", "--measure", str(path), str(out), str(n_workers)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def run(sizes, workers, folder=None):
    """Every size with every number of workers; the answers must not depend on it."""
    found = {}
    with tempfile.TemporaryDirectory(dir=folder) as there:
        for n in sizes:
            path = Path(there) / "labels.parquet"
            plant(path, n)
            found[n] = {k: apart(path, there, k) for k in workers}
            answers = [(one["sizes"], one["mean_confidence"]) for one in found[n].values()]
            assert all(answer == answers[0] for answer in answers), "workers must not matter"
    return found


def exponent(found):
    """Of the growth of time with the number of rows: the slope of a line through the logarithms."""
    sizes = sorted(found)
    times = [found[n][0]["seconds"] for n in sizes]
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0]) if len(sizes) > 1 else float("nan")


def blocks_fifty_million():
    """50,000,000 × 10 labels (k = 10, 5 % noise) in Parquet, within 4 GB and 15 minutes; growth from a million; one and two workers."""
    found = run(SIZES, (0, 1, 2))
    large = found[SIZES[-1]]
    speedup = large[1]["seconds"] / large[2]["seconds"]
    figures = {f"wall_s_{n // 10**6}m": one[0]["seconds"] for n, one in found.items()}
    figures |= {"peak_gb": large[0]["peak_gb"], "wall_s_two_workers": large[2]["seconds"], "speedup": round(speedup, 2)}
    figures |= {"peak_gb_two_workers": large[2]["peak_gb"], "exponent": round(exponent(found), 3)}
    ok = large[0]["seconds"] <= 900 and max(figures["peak_gb"], figures["peak_gb_two_workers"]) <= 4
    ok = ok and speedup >= 1.7 and figures["exponent"] <= 1.1
    return figures | {"bar": "15 min, 4 GB, speedup 1.7, exponent 1.1", "ok": bool(ok)}


def blocks_million():
    """The same for 1,000,000 and 4,000,000 rows, in this process."""
    found = run((10**6, 4 * 10**6), (0,))
    figures = {f"wall_s_{n // 10**6}m": one[0]["seconds"] for n, one in found.items()}
    return figures | {"exponent": round(exponent(found), 3)}


CASES = [blocks_million, blocks_fifty_million]


def main():
    parser = argparse.ArgumentParser(prog="benchmarks.scale", description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, help="numbers of rows")
    parser.add_argument("--workers", nargs="*", type=int, default=[0], help="numbers of worker processes; 0 is none")
    parser.add_argument("--folder", help="where the tables go while they are needed")
    parser.add_argument("--measure", nargs=3, metavar=("PATH", "OUT", "WORKERS"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        path, out, n_workers = given.measure
        print(json.dumps(measure(path, out, int(n_workers))))
        return
    found = run(given.sizes, given.workers, given.folder)
    for n, one in found.items():
        for k, figures in one.items():
            print(f"{n:>12,} rows, {k} workers: {figures['seconds']:8.2f} s, peak {figures['peak_gb']:.2f} GB")
    print(f"exponent {exponent(found):.3f}" if 0 in given.workers else "")


if __name__ == "__main__":
    main()
