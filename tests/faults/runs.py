"""Faults of a run of `generate`: its process killed, stopped, out of disk; its files cut; two at once; the clock."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from pyarrow.parquet import read_metadata

from consilience.ensemble.store import Store
from consilience.ensemble.store.store import StoreWarning
from faults.counts import Count
from faults.run_generate import generate

SCRIPT = Path(__file__).with_name("run_generate.py")
LONGEST = 1800  # seconds that a run may take, also where others have the cores


def start(store, n, *more, **environment):
    """A run, at its beginning."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    words = [sys.executable, str(SCRIPT), str(store), str(n), *more]
    process = subprocess.Popen(words, **pipes, env={**os.environ, **environment})
    assert process.stdout.readline() == "ready\n", process.communicate()[1]
    return process


def finish(store, n, *more):
    """The same command again, to the end."""
    process = start(store, n, *more)
    out, err = process.communicate(timeout=LONGEST)
    assert process.returncode == 0, err
    assert "done" in out


def parts(store):
    """Files of finished clusterings."""
    return {path.name for path in store.glob("part-*.parquet")}


def has_begun(store, n, *more, **environment):
    """A run of which a part is written, or that is through."""
    process = start(store, n, *more, **environment)
    while not parts(store) and process.poll() is None:
        time.sleep(0.01)
    return process


def held(store):
    """Numbers of the clusterings that can be read; no file may be refused."""
    if not (store / "manifest.json").exists():
        return set()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return set(Store.open(store).numbers.tolist())


def compare(count, store, want):
    """That the store ends as the unbroken run does, with nothing left lying about."""
    found = Store.open(store)
    labels = found.labels(np.arange(want.shape[1])) if len(found.numbers) == want.shape[1] else np.empty((0, 0))
    count.finished += want.shape[1]
    count.lose(int(not np.array_equal(labels, want)), f"the labels of {store.name} are not those of the unbroken run")
    left = [path.name for path in store.iterdir() if path.name.startswith(".unfinished")]
    count.lose(len(left), f"temporary files are left: {left}")


def unbroken(n):
    """Labels without any fault."""
    return generate(None, n).labels


def killed(folder, kills, n=400, seed=0):
    """SIGKILL at random moments; resumed, and killed again, until it is through; then from the start."""
    chance, count, want = random.Random(seed), Count("main process killed (SIGKILL)"), unbroken(n)
    turn = 0
    while count.tried < kills:
        store = folder / f"killed-{turn}"
        turn += 1
        safe = set()
        for _ in range(12):
            process = start(store, n)
            known = parts(store)
            if chance.random() < 0.75:  # in the midst of it, else also before the first part
                while parts(store) <= known and process.poll() is None:
                    time.sleep(0.002)
            time.sleep(chance.uniform(0, 0.25))
            before = parts(store)
            ended = process.poll() is not None
            process.kill()
            process.communicate()
            if ended:
                break
            count.tried += 1
            now = held(store)
            count.lose(len(before - parts(store)), f"parts of {store.name} are gone")
            count.lose(len(safe - now), f"clusterings of {store.name} are gone")
            count.finished += len(now - safe)
            safe = now
            if count.tried == kills:
                break
        finish(store, n)
        compare(count, store, want)
        shutil.rmtree(store)
    return count


def stopped(folder, times, n=3000, seed=0):
    """SIGTERM and Ctrl-C."""
    chance, count, want = random.Random(seed), Count("stopped (SIGTERM, Ctrl-C)"), unbroken(n)
    for i in range(times):
        number, status = ((signal.SIGTERM, 143), (signal.SIGINT, 130))[i % 2]
        store = folder / f"stopped-{i}"
        process = has_begun(store, n)
        time.sleep(chance.uniform(0, 0.2))
        process.send_signal(number)
        _, said = process.communicate(timeout=LONGEST)
        if process.returncode == 0:  # it was through
            continue
        count.tried += 1
        if process.returncode != status or "Traceback" in said:
            count.lose(1, f"{number.name} ended in {process.returncode}: {said[-300:]}")
        count.finished += len(held(store))
        finish(store, n)
        compare(count, store, want)
    return count


def cut(folder, times, n=400, seed=0):
    """A part cut short, at any length."""
    chance, count, want = random.Random(seed), Count("part cut short"), unbroken(n)
    store = folder / "whole"
    finish(store, n)
    for i in range(times):
        broken = folder / f"cut-{i}"
        shutil.copytree(store, broken)
        victim = chance.choice(sorted(broken.glob("part-*.parquet")))
        os.truncate(victim, chance.randrange(victim.stat().st_size))
        count.tried += 1
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", StoreWarning)
            others = Store.open(broken)
        if not any(victim.name in str(one.message) for one in said):
            count.lose(1, f"{victim.name} was cut, and nothing says so")
        lost = Store.open(store).n_clusterings - others.n_clusterings
        rows = read_metadata(store / victim.name).num_rows
        count.lose(max(0, lost - rows), "more than the cut part is lost")
        finish(broken, n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StoreWarning)  # the damaged part stays, and is named
            compare(count, broken, want)
    return count


def two_writers(folder, times, n=3000):
    """The same command while the first runs."""
    count, want = Count("two writers on one store"), unbroken(n)
    for i in range(times):
        store = folder / f"two-{i}"
        first = has_begun(store, n)
        os.kill(first.pid, signal.SIGSTOP)  # it holds the store, however quick it is
        second = start(store, n)
        _, said = second.communicate(timeout=LONGEST)
        count.tried += 1
        if second.returncode != 1 or "is being written to: wait for that writer, or stop it" not in said:
            count.lose(1, f"the second writer ended in {second.returncode}: {said[-300:]}")
        os.kill(first.pid, signal.SIGCONT)
        _, said = first.communicate(timeout=LONGEST)
        count.lose(int(first.returncode != 0), f"the first writer was disturbed: {said[-300:]}")
        compare(count, store, want)
    return count


def clock_jumps(folder, times, n=400):
    """Dates that go forth and back by a year, and files of the future."""
    count, want = Count("clock jumps"), unbroken(n)
    for i in range(times):
        store = folder / f"clock-{i}"
        process = has_begun(store, n, CLOCK=str(365 * 86400.0))
        process.kill()
        process.communicate()
        count.tried += 1
        safe = held(store)
        for path in store.iterdir():
            os.utime(path, (4e9, 4e9) if i % 2 else (0, 0))
        count.lose(len(safe - held(store)), "clusterings are gone")
        finish(store, n)
        compare(count, store, want)
    return count


@contextlib.contextmanager
def small_disk(folder, size):
    """A file system of its own; None where this user may not have one."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def full_disk(folder, times, n=3000):
    """No space left, and then some."""
    count, want = Count("disk full (ENOSPC)"), unbroken(n)
    for i in range(times):
        with small_disk(folder / f"disk-{i}", f"{150 + 50 * i}k") as disk:
            if disk is None:
                count.notes.append("not tried: mounting a small file system is not allowed here")
                return count
            process = start(disk / "run", n)
            _, said = process.communicate(timeout=LONGEST)
            count.tried += 1
            is_said = "No space left on device" in said and "the same command goes on" in said
            count.lose(int(process.returncode != 1 or not is_said), f"it ended in {process.returncode}: {said[-300:]}")
            safe = held(disk / "run")
            count.lose(int(not safe), "nothing was kept before the disk was full")
            count.finished += len(safe)
            subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
            finish(disk / "run", n)
            count.lose(len(safe - held(disk / "run")), "clusterings are gone")
            compare(count, disk / "run", want)
    return count
