"""A writer killed at any moment loses at most the part in hand.

`python tests/test_store_kills.py 200`, or CONSILIENCE_KILLS=200 under pytest, kills that many times.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from consilience.ensemble.store import Store
from store_writer import RUN, labels_of

WRITER = Path(__file__).with_name("store_writer.py")


def kill_a_writer(folder: Path, delay: float, *, from_start: bool) -> list[int]:
    """Start a writer, which never ends by itself, kill it after `delay` seconds, and return the ids it had said were finished."""
    process = subprocess.Popen([sys.executable, WRITER, folder], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = ""
    if not from_start:
        said = process.stdout.readline() + process.stdout.readline()  # ready, and the numbers of a first part
    time.sleep(delay)
    process.kill()
    with process.stdout as rest:
        said += rest.read()  # not communicate, which does not see what readline has taken in
    assert process.wait() == -signal.SIGKILL, "the writer stopped by itself"
    whole = said[: said.rfind("\n") + 1].replace("ready", "")
    return [int(word) for word in whole.split()]


def check(folder: Path, finished: set[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store = Store.open(folder)
    assert store.refused == []
    assert finished <= set(store.numbers.tolist())
    np.testing.assert_array_equal(store.numbers, np.arange(store.n_clusterings))
    np.testing.assert_array_equal(store.labels(), labels_of(store.numbers))


DROPPER = f"""
import os, signal, sys
from pathlib import Path
from consilience.ensemble.store import Store

left, unlink = int(sys.argv[2]), Path.unlink

def unlink_or_die(path, *how):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    unlink(path, *how)

with Store.resume(sys.argv[1], **{RUN}) as store:
    Path.unlink = unlink_or_die
    store.drop([4, 5, 6, 7])
"""


@pytest.mark.parametrize("unlinked", [0, 1])
def test_a_drop_killed_between_two_parts_loses_nothing_else(tmp_path, unlinked):
    run = tmp_path / "run"
    with Store.create(run, **RUN) as store:
        for first in (0, 2, 4, 6):
            store.append(labels_of(np.arange(first, first + 2)), numbers=np.arange(first, first + 2))
    ended = subprocess.run([sys.executable, "-c", DROPPER, run, str(unlinked)], timeout=60)
    assert ended.returncode == -9, "it was killed on the way"
    left = set(range(8 - 2 * unlinked))
    check(run, left)
    with Store.resume(run, **RUN) as store:
        assert set(store.numbers.tolist()) == left
        store.drop(sorted(left - {0, 1, 2, 3}))
        store.append(labels_of(np.arange(4, 6)), numbers=np.arange(4, 6))
    check(run, set(range(6)))


def kill_many(folder: Path, kills: int, seed: int) -> dict[str, int]:
    """Kill and resume in sequence, a fresh store every 20 kills; counts of what happened."""
    random_ = random.Random(seed)
    counts = {"kills": 0, "finished": 0, "unfinished parts left behind": 0, "killed before the first part": 0}
    finished: set[int] = set()
    for kill in range(kills):
        if kill % 20 == 0:
            finished = set()
            run = folder / str(kill)
        # Every fourth kill may hit the start: import, creation of the store, or taking it over.
        from_start = kill % 4 == 0
        delay = random_.uniform(0.2, 1.0) if from_start else random_.uniform(0, 0.15)
        said = kill_a_writer(run, delay, from_start=from_start)
        finished.update(said)
        counts["kills"] += 1
        counts["finished"] += len(said)
        counts["killed before the first part"] += not said
        counts["unfinished parts left behind"] += len(list(run.glob(".unfinished-*")))
        if (run / "manifest.json").exists():
            check(run, finished)
        else:
            assert not finished
    with Store.resume(run, **RUN) as store:
        new = store.append(labels_of([store.n_clusterings]))
    assert not list(run.glob(".unfinished-*"))
    check(run, finished | set(new.tolist()))
    return counts


@pytest.mark.slow
def test_nothing_finished_is_lost_when_the_writer_is_killed(tmp_path):
    kills = int(os.environ.get("CONSILIENCE_KILLS", "12"))
    counts = kill_many(tmp_path, kills, seed=0)
    assert counts["kills"] == kills
    assert counts["finished"] >= kills - kills // 4, "all but every fourth had written a part"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        print(kill_many(Path(temporary), int(sys.argv[1]) if len(sys.argv) > 1 else 12, seed=time.time_ns()))
