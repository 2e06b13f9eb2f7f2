"""A writer killed at any moment loses at most the part in hand; CONSILIENCE_KILLS=200 kills that many times."""

import os
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from consilience.ensemble.store import Store
from store_writer import RUN, labels_of

WRITER = Path(__file__).with_name("store_writer.py")


def kill_a_writer(folder: Path, delay: float, from_start: bool) -> list[int]:
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


@pytest.mark.slow
def test_nothing_finished_is_lost_when_the_writer_is_killed(tmp_path):
    """Kills and resumes in sequence, with a fresh store every 20 kills."""
    random_ = random.Random(0)
    for kill in range(int(os.environ.get("CONSILIENCE_KILLS", "8"))):
        if kill % 20 == 0:
            finished, run = set(), tmp_path / str(kill)
        # Every fourth kill may hit the start: import, creation of the store, or taking it over.
        from_start = kill % 4 == 0
        said = kill_a_writer(run, random_.uniform(0.2, 1) if from_start else random_.uniform(0, 0.15), from_start)
        assert from_start or said, "it had written a part"
        finished.update(said)
        if (run / "manifest.json").exists():
            check(run, finished)
        else:
            assert not finished
    with Store.resume(run, **RUN) as store:
        new = store.append(labels_of([store.n_clusterings]))
    assert not list(run.glob(".unfinished-*"))
    check(run, finished | set(new.tolist()))
