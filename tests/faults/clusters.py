"""Faults of a Dask cluster: a worker killed in the midst of every kind of work, and the scheduler lost."""

import contextlib
import random
import shutil
import socket
import subprocess
import sys
import time

import numpy as np
from sklearn.base import clone

import consilience as cs
from consilience._run.parallel import on_cluster
from consilience.consensus import MCLA, NBCE, SCCC
from dask_cluster import a_worker_dies
from faults import runs
from faults.counts import Count

LATEST = 30.0  # seconds after which a worker is killed at most


def labels(n=1000, m=16):
    """Runs of k-means on a share of the columns, which err alike, so that the confidence takes resamples."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8)) + 2 * rng.normal(size=(6, 8))[rng.integers(0, 6, n)]
    return cs.generate(X, m, (4, 8), "features").labels


def counts():
    """Rows and columns in blocks."""
    rng = np.random.default_rng(0)
    return rng.poisson(np.kron(np.eye(5), np.ones((60, 40))) * 2 + 0.3)


def jobs(n_clusterings=1000):
    """Work to share out, by name; each gives arrays that must come out the same."""
    X = np.random.default_rng(0).normal(size=(1000, 10))
    made = labels()

    def generate():
        found = cs.generate(X, n_clusterings, 8)
        return [found.labels, found.info["unit"].to_numpy()]

    def combine():
        found = cs.combine(made, "auto")
        return [found.labels, found.confidence]

    def fitted(estimator, some=None):
        found = clone(estimator).fit(made[:some])
        return [found.labels_, found.confidence_]

    def agree():
        found = cs.agree(counts(), 5, n_clusterings=6, max_iter=3)
        return [found.after.rows.labels, found.after.columns.labels, found.objective]

    return {
        f"generate {n_clusterings:,}": generate,
        "combine": combine,
        "NBCE-VB": lambda: fitted(NBCE(random_state=0, inference="vb", n_init=4, max_iter=50, n_components=12), 250),
        "MCLA": lambda: fitted(MCLA(6, random_state=0)),
        "SCCC": lambda: fitted(SCCC(6, random_state=0)),
        "CAP": agree,
    }


def worker_killed(client, name, job, times, seed=0):
    """SIGKILL to one of the workers at a random moment of the work, so many times."""
    chance, count = random.Random(f"{seed} {name}"), Count(f"worker killed: {name}")
    want = job()
    with on_cluster(client):
        begin = time.monotonic()
        _check(count, job(), want, "without a fault")
        usual = min(LATEST, time.monotonic() - begin)
    tries, misses = 0, 0
    while count.tried < times:
        tries += 1
        with on_cluster(client), a_worker_dies(client, chance.uniform(0, 0.9 * usual) / 2**misses, tries) as killed:
            begin = time.monotonic()
            try:
                found = job()
            except Exception as error:
                found = [repr(error)]
        count.tried += len(killed)
        misses = 0 if killed else misses + 1
        if not killed:  # it was through before: the next comes sooner, until one strikes
            usual = min(usual, time.monotonic() - begin)
            continue
        _check(count, found, want, f"after kill {count.tried}")
    return count


def _check(count, found, want, when):
    count.finished += 1
    same = len(found) == len(want) and all(np.array_equal(one, other) for one, other in zip(found, want, strict=True))
    count.lose(int(not same), f"{when} it came out otherwise: {found[0] if len(found) == 1 else ''}")


def scheduler_lost(folder, times, n=3000):
    """The scheduler killed; a clear sentence, and the same command with a new one goes on."""
    count, want = Count("scheduler lost"), runs.unbroken(n)
    for i in range(times):
        store, address = folder / f"scheduler-{i}", f"tcp://127.0.0.1:{_free_port()}"
        with _cluster(address, folder) as (scheduler, _):
            run = runs.has_begun(store, n, address)
            scheduler.kill()
            _, said = run.communicate(timeout=runs.LONGEST)
        if run.returncode == 0:  # it was through
            continue
        count.tried += 1
        if run.returncode != 1 or f"the Dask scheduler {address} is lost" not in said:
            count.lose(1, f"it ended in {run.returncode}: {said[-500:]}")
        safe = runs.held(store)
        count.finished += len(safe)
        with _cluster(address, folder):
            runs.finish(store, n, address)
        count.lose(len(safe - runs.held(store)), "clusterings are gone")
        runs.compare(count, store, want)
        shutil.rmtree(store)
    return count


def scheduler_restarted(folder, times, n=3000):
    """The scheduler and its workers killed, and others started at the same address: the run goes on by itself."""
    count, want = Count("scheduler restarted"), runs.unbroken(n)
    for i in range(times):
        store, address = folder / f"restarted-{i}", f"tcp://127.0.0.1:{_free_port()}"
        with _cluster(address, folder):
            run = runs.has_begun(store, n, address)
            through = run.poll() is not None
        with _cluster(address, folder):
            _, said = run.communicate(timeout=runs.LONGEST)
        count.tried += not through
        count.lose(int(run.returncode != 0), f"it ended in {run.returncode}: {said[-500:]}")
        runs.compare(count, store, want)
        shutil.rmtree(store)
    return count


@contextlib.contextmanager
def _cluster(address, folder):
    """The processes of a scheduler and of its worker, killed at the end."""
    port, quiet = address.rpartition(":")[2], {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = ["distributed.cli.dask_scheduler", "--port", port, "--host", "127.0.0.1", "--no-dashboard"]
    how = ["--nworkers=1", "--nthreads=2", "--no-dashboard", "--no-nanny", "--death-timeout=60"]
    worker = ["distributed.cli.dask_worker", address, *how, f"--local-directory={folder}"]
    started = [subprocess.Popen([sys.executable, "-m", *words], **quiet) for words in (scheduler, worker)]
    try:
        yield started
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
