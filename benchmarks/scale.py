"""A consensus of label tables in Parquet that are read in row blocks: time, memory, workers, and growth with the number of rows.

``python -m benchmarks.scale growth`` fits the exponent of the growth of time over 1, 4, 16 and 50 million rows; ``speedup`` takes
50 million rows with one worker process and with two, and prints the ratio of the medians of three runs each, beside what
the main process does alone and what this machine can give at most: how much more of the same tasks two processes do than one, with nothing
else between them (two cores of a virtual machine may be one); ``labels`` is what it costs to label numbers in row blocks. ``--rows`` gives
other sizes, ``--table`` a table that is there. A cluster stands, and all processes have worked once, before the clock starts: starting is
no part of what grows or is shared.
"""

import argparse
import json
import multiprocessing
import resource
import shutil
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
SIZES = (10**6, 4 * 10**6, 16 * 10**6, 50 * 10**6)
REPEATS = 3
CEILING_SECONDS = 5.0


def plant(path, n, seed=0):
    """Write n rows of noisy copies of one clustering, a million at a time."""
    writer = None
    for i, begin in enumerate(range(0, n, CHUNK)):
        labels = noisy_labels(min(CHUNK, n - begin), CLUSTERINGS, CLUSTERS, NOISE, seed=[seed, i])
        table = pa.table({f"run{j}": column.astype(np.int8) for j, column in enumerate(labels.T)})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=CHUNK)
    writer.close()


def measure(path, out, n_workers, repeats=1):
    """A consensus, in this process (0 workers) or with worker processes: median seconds, and the peak memory of every process."""
    import consilience as cs

    small = Path(f"{out}-small.parquet")
    plant(small, 100_000)
    if not n_workers:
        cs.combine(small, output=f"{out}-small", memory_limit="4GB")
        runs = [_one(path, f"{out}-{i}") for i in range(repeats)]
        return _figures(runs, [])
    from distributed import Client

    from consilience._run.dask_cluster import SteadyCluster

    peaks = {}
    with (
        SteadyCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        pids = list(client.run(_warm, str(small)).values())
        cs.combine(small, output=f"{out}-small", memory_limit="4GB", client=client)
        stop = threading.Event()
        watch = threading.Thread(target=_watch, args=(pids, peaks, stop))
        watch.start()
        runs = [_one(path, f"{out}-{i}", client) for i in range(repeats)]
        stop.set()
        watch.join()
    return _figures(runs, list(peaks.values()))


def _one(path, out, client=None):
    """The consensus, its seconds, and what the run log says of them."""
    import consilience as cs

    log = Path(f"{out}.jsonl")
    start = time.perf_counter()
    found = cs.combine(path, output=out, memory_limit="4GB", client=client, log=log)
    seconds = time.perf_counter() - start
    shutil.rmtree(out)
    tasks = [line for line in map(json.loads, log.read_text().splitlines()) if line["what"] == "task"]
    first, second = ([one for one in tasks if one["name"].startswith(what)] for what in ("distinct", "writing"))
    alone = min(one["at"] - one["seconds"] for one in second) - max(one["at"] for one in first)
    cpu = {
        "distinct rows": first,
        "writing answers": second,
        "merging": [t for t in tasks if t["name"].startswith("merging")],
    }
    parts = {name: round(sum(one["seconds"] for one in some), 2) for name, some in cpu.items()}
    return found, seconds, parts | {"main process alone": round(alone, 2)}


def _warm(path):
    import os

    from consilience.blocks import LabelBlocks

    LabelBlocks.from_parquet(path).distinct()
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


def _figures(runs, peaks):
    found, (seconds, parts) = runs[-1][0], sorted((one[1:] for one in runs), key=lambda one: one[0])[len(runs) // 2]
    mine = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "seconds": round(seconds, 2),
        "all_seconds": [round(one[1], 2) for one in runs],
        "parts": parts,
        "peak_gb": round(mine + sum(peaks), 2),
        "method": found.method,
        "mean_confidence": found.mean_confidence,
        "sizes": found.sizes.tolist(),
        "n_objects": found.n_objects,
    }


def apart(path, folder, n_workers, repeats=1):
    """:func:`measure` in a process of its own."""
    out = Path(folder) / f"out-{n_workers}-{time.time_ns()}"
    command = [sys.executable, "-m", "benchmarks.scale", "measure", str(path), str(out), str(n_workers), str(repeats)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def run(sizes, workers, folder=None, repeats=1, table=None):
    """Every size with every number of workers; the answers must not depend on it. A table that is there is taken as it is."""
    found = {}
    with tempfile.TemporaryDirectory(dir=folder) as there:
        for n in sizes:
            path = Path(there) / "labels.parquet" if table is None else Path(table)
            if table is None:
                plant(path, n)
            found[n] = {k: apart(path, there, k, repeats) for k in workers}
            answers = [(one["sizes"], one["mean_confidence"]) for one in found[n].values()]
            assert all(answer == answers[0] for answer in answers), "workers must not matter"
    return found


def ceiling(path, folder, seconds=CEILING_SECONDS):
    """How many times as many blocks two processes read and write in the same time as one does: the most that a second worker can bring."""
    context = multiprocessing.get_context("spawn")
    rates = []
    for n in (1, 2):
        together, found = context.Barrier(n), context.Queue()
        some = [
            context.Process(target=_work, args=(str(path), str(folder), seconds, together, found)) for _ in range(n)
        ]
        for one in some:
            one.start()
        rates.append(sum(found.get() for _ in some))
        for one in some:
            one.join()
    return rates[1] / rates[0]


def _work(path, folder, seconds, together, found):
    """Blocks a second that this process reads, finds the distinct rows of, and writes answers for."""
    from consilience.blocks import LabelBlocks
    from consilience.blocks.distinct_rows import RowTable, of_part
    from consilience.blocks.reading_and_writing import _write_part

    blocks = LabelBlocks.from_parquet(path)
    parts = blocks.parts[:8]
    ens = LabelBlocks(parts, columns=blocks.names).distinct().ensemble(blocks.names)
    values = {"cluster": ens.labels[:, 0].astype(np.int32)} | {
        name: np.round(np.random.default_rng(0).random(ens.n_objects), 4) for name in ("confidence", "support")
    }
    table = RowTable.of(ens, values)
    with tempfile.TemporaryDirectory(dir=folder) as there:
        done = 0
        together.wait()
        start = time.perf_counter()
        while time.perf_counter() < start + seconds:
            part = parts[done % len(parts)]
            of_part(part, None, None, blocks.layout)
            _write_part(part, table, ("part", 0), blocks.layout, there)
            done += 1
        found.put(done / (time.perf_counter() - start))


def label_cost(n=10**6, n_columns=10, k=10, together=(1, 10), folder=None):
    """CPU-seconds to label a million rows of numbers in row blocks by a clustering, by itself and with others that share the pass."""
    import consilience as cs
    from consilience.generation import NumberBlocks

    figures = {}
    with tempfile.TemporaryDirectory(dir=folder) as there:
        rng, names = np.random.default_rng(0), [f"x{j}" for j in range(n_columns)]
        with pq.ParquetWriter(Path(there) / "a.parquet", pa.schema([(name, pa.float64()) for name in names])) as writer:
            for begin in range(0, n, 250_000):
                columns = rng.random((n_columns, min(250_000, n - begin)))
                writer.write_table(pa.table(dict(zip(names, columns, strict=True))))
        for m in together:
            start = time.process_time()
            cs.generate(NumberBlocks(there, sample_size=1000), m, k, methods="minima", progress=False)
            figures[m] = (time.process_time() - start) / m / n * 1e6
    return figures


def exponent(found):
    """Of the growth of time with the number of rows: the slope of a line through the logarithms."""
    sizes = sorted(found)
    times = [found[n][0]["seconds"] for n in sizes]
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0]) if len(sizes) > 1 else float("nan")


def blocks_fifty_million():
    """50,000,000 × 10 labels (k = 10, 5 % noise) in Parquet, within 4 GB and 15 minutes; growth from a million; one and two workers."""
    found = run(SIZES[:-1], (0,), repeats=REPEATS) | run(SIZES[-1:], (0, 1, 2), repeats=REPEATS)
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
    parser.add_argument("what", choices=["growth", "speedup", "labels", "measure"])
    parser.add_argument("more", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--rows", nargs="*", type=int, help="numbers of rows")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="runs of which the median counts")
    parser.add_argument("--folder", help="where the tables go while they are needed")
    parser.add_argument("--table", help="a Parquet file of labels, for speedup")
    given = parser.parse_args()
    if given.what == "measure":
        path, out, n_workers, repeats = given.more
        print(json.dumps(measure(path, out, int(n_workers), int(repeats))))
    elif given.what == "labels":
        for m, cost in label_cost(*(given.rows or [])[:1], folder=given.folder).items():
            print(
                f"labels of 10 columns by 10 clusters, {m} together: {cost:.3f} CPU-s for a million rows and a clustering"
            )
    elif given.what == "growth":
        found = run(given.rows or SIZES, (0,), given.folder, given.repeats)
        show(found)
        print(f"exponent {exponent(found):.3f}")
    else:
        size = (given.rows or SIZES[-1:])[0]
        with tempfile.TemporaryDirectory(dir=given.folder) as there:
            table = given.table or Path(there) / "labels.parquet"
            if given.table is None:
                plant(table, size)
            most = [ceiling(table, there)]
            found = run([size], (1, 2), given.folder, given.repeats, table)
            most.append(ceiling(table, there))
        show(found)
        (large,) = found.values()
        print(f"speed-up from one worker to two {large[1]['seconds'] / large[2]['seconds']:.2f}")
        print(
            f"of the same tasks two processes do {most[0]:.2f} times (before) and {most[1]:.2f} times (after) as many as one"
        )


def show(found):
    """A line for every size and number of workers."""
    for one in found.values():
        for k, figures in one.items():
            parts = ", ".join(f"{name} {seconds}" for name, seconds in figures["parts"].items())
            print(
                f"{figures['n_objects']:>12,} rows, {k} workers: {figures['seconds']:8.2f} s of {figures['all_seconds']}, peak "
                f"{figures['peak_gb']:.2f} GB; seconds of tasks: {parts}"
            )


if __name__ == "__main__":
    main()
