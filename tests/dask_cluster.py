"""A Dask cluster of this machine for tests, and workers of it that die."""

import contextlib
import gc
import logging
import os
import random
import signal
import threading
import time

import pytest

# A cluster at rest looks at itself all the time, which takes 7 % of a core.
SETTINGS = {"worker.profile.enabled": False, "admin.system-monitor.interval": "5s", "admin.tick.interval": "1s"}
SETTINGS |= {"scheduler.allowed-failures": 10}


@contextlib.contextmanager
def local_cluster(n_workers=2):
    """A client of worker processes of its own, with one thread each, which may die."""
    with worker_processes(n_workers) as cluster, connected(cluster) as client:
        yield client


@contextlib.contextmanager
def worker_processes(n_workers=2, processes=True):
    """A cluster of workers with one thread each; without `processes` within this one."""
    pytest.importorskip("distributed")
    import dask

    from consilience._run.dask_cluster import SteadyCluster

    how = {"threads_per_worker": 1, "processes": processes, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with dask.config.set({f"distributed.{name}": value for name, value in SETTINGS.items()}), quiet():
        cluster = SteadyCluster(n_workers=n_workers, **how)
    with cluster:
        yield cluster
    gc.collect()  # what Dask leaves open is said now, and not in the test that happens to run when it is collected


@contextlib.contextmanager
def connected(cluster):
    """A client of a cluster."""
    distributed = pytest.importorskip("distributed")
    with quiet(), distributed.Client(cluster) as client:
        yield client


@contextlib.contextmanager
def quiet():
    """Without what Dask logs: deaths of workers are what we are after."""
    levels = {name: logging.getLogger(name).level for name in ("distributed", "distributed.scheduler")}
    for name in levels:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def worker_pids(client, n_workers=2):
    """Processes of the workers, once all are there and settled: Dask does not replace one that dies while it starts."""
    try:
        client.wait_for_workers(n_workers, timeout=20)
    except TimeoutError:  # Dask does not replace one that dies while it is replaced
        client.cluster.scale(0)
        client.cluster.scale(n_workers)
        client.wait_for_workers(n_workers, timeout=120)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if all(_is_settled(nanny) for nanny in client.cluster.workers.values()):
            pids = client.run(os.getpid, on_error="ignore")  # one may end meanwhile
            if len(pids) == n_workers:
                break
        time.sleep(0.05)
    return sorted(pids.values())


def _is_settled(nanny):
    return nanny.status.name == "running" and nanny.process is not None and nanny.process.status.name == "running"


@contextlib.contextmanager
def a_worker_dies(client, after, seed=0):
    """SIGKILL to one worker `after` seconds; yields the list that its process id comes into."""
    pids, killed = worker_pids(client), []
    one = random.Random(seed).choice(pids)

    def kill():
        os.kill(one, signal.SIGKILL)
        killed.append(one)

    timer = threading.Timer(after, kill)
    timer.start()
    try:
        yield killed
    finally:
        timer.cancel()
        timer.join()
