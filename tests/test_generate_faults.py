"""Clusterings that raise, hang or crash cost themselves alone, in processes and on a cluster; the run log tells of all."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import consilience as cs
from command_line import log_lines
from consilience._run import time_limit as _child
from consilience._run.time_limit import CallError, call_within, end_children
from consilience.datasets import load_beads
from consilience.ensemble.store import Store
from consilience.generation.spaces import GenerationWarning
from explorer_cases import until
from moody_clusterers import Moody
from samples import refuses, same_runs

BEADS = load_beads()
N_MOODY = 6  # of which two hang

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")


def test_generate_on_a_cluster_is_that_of_one_process(client, tmp_path):
    how = {"methods": "zipf+pca+objects+landmarks", "n_landmarks": 50}
    there = cs.generate(BEADS, 40, 4, store=tmp_path / "run", log=tmp_path / "log", client=client, **how)
    same_runs(there, cs.generate(BEADS, 40, 4, **how))
    assert Store.open(tmp_path / "run").numbers.tolist() == list(range(40))
    made = [line for line in log_lines(tmp_path / "log") if line["what"] == "clustering"]
    assert sorted(line["unit"] for line in made) == list(range(40))
    assert {line["status"] for line in made} == {"done"}
    assert all(line["worker"].startswith("tcp://") and line["peak_mb"] > 10 for line in made)
    assert len({line["pid"] for line in made}) == 2, "both workers take part"


@pytest.fixture
def child():
    """Its calls in a process of its own, which is ended afterwards."""
    yield partial(call_within, 300)
    end_children()


def test_a_child_answers_and_is_kept(child):
    table = np.arange(20_000.0)
    assert child(np.sum, table) == table.sum()
    first = child(os.getpid)
    assert first != os.getpid()
    assert child(os.getpid) == first
    with pytest.raises(CallError, match="ZeroDivisionError"):
        child(divmod, 1, 0)
    assert child(os.getpid) == first, "an error does not end it"
    with pytest.raises(CallError, match=r"longer than its limit of 0\.2 seconds"):
        call_within(0.2, __import__("time").sleep, 60)
    with pytest.raises(CallError, match="SIGKILL"):
        child(lambda: os.kill(os.getpid(), 9))
    assert child(os.getpid) != first


def test_a_child_has_arrays_as_they_are_at_the_call(child):
    """Those it has already are sent again where they were written to."""
    table, other = np.zeros(20_000), np.ones(20_000)
    assert child(np.sum, table) == 0
    table[5] = 7
    assert child(np.sum, table) == 7
    table[5], table[6] = 0, 7
    assert child(lambda x, y: (x.argmax(), y.sum()), table, other) == (6, 20_000)


@pytest.mark.slow
def test_results_that_cannot_travel_are_said_and_the_child_is_kept(child):
    first = child(os.getpid)
    with pytest.raises(CallError, match=r"its result cannot leave its process: .*lambda"):
        child(lambda: lambda: 0)
    with pytest.raises(CallError, match=r"its result cannot be read: ZeroDivisionError"):
        child(lambda: Rigged(divmod))
    with pytest.raises(CallError, match="ZeroDivisionError"):
        child(len, Rigged(divmod))
    assert child(os.getpid) == first


class Rigged:
    """What raises where it is unpickled."""

    def __init__(self, function):
        self.function = function

    def __reduce__(self):
        return self.function, (1, 0)


def test_a_child_that_reads_nothing_is_given_up(child, monkeypatch):
    """Whether what it is sent fits a pipe or not."""
    for size in (10, 10**6):
        pid = child(os.getpid)
        with monkeypatch.context() as patch:
            patch.setattr(_child, "START", 0.5)
            os.kill(pid, signal.SIGSTOP)
            with pytest.raises(CallError, match="did not start in time"):
                child(np.sum, np.zeros(size))
        until(partial(is_gone, pid))
    assert child(np.sum, np.ones(3)) == 3


def is_gone(pid):
    """Whether a process is there no more."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.01)
    return os.getpid()


@pytest.mark.slow
def test_children_that_nobody_asks_are_ended(client, monkeypatch, tmp_path):
    """Here and on the workers of a cluster; one that is at work is not idle, however long that takes."""
    usual, go = _child.IDLE, tmp_path / "go"
    first = call_within(300, os.getpid)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(call_within, 300, wait_for, str(go))
        until(lambda: not _child._idle)
        monkeypatch.setattr(_child, "IDLE", 0.0)
        go.touch()
        assert answer.result(300) == first
    until(lambda: is_gone(first))
    client.run(setattr, _child, "IDLE", 0.0)
    try:
        child = client.submit(call_within, 300, os.getpid, pure=False).result()
        until(lambda: is_gone(child))
    finally:
        client.run(setattr, _child, "IDLE", usual)


@pytest.mark.slow
def test_what_hangs_or_raises_costs_itself_alone(tmp_path):
    run, log, sound = tmp_path / "run", tmp_path / "log", tmp_path / "sound"
    base = Moody(mood="hang", until=str(sound))
    with pytest.warns(GenerationWarning, match="could not be made .*longer than its limit of 10 seconds"):
        some = cs.generate(BEADS, N_MOODY, 3, base=base, store=run, time_limit=10, n_jobs=2, log=log)
    failed = Store.open(run).failures()
    assert 0 < len(failed) < N_MOODY
    assert set(failed["unit"]) | set(some.info["unit"]) == set(range(N_MOODY))
    assert {line["unit"] for line in log_lines(log) if line.get("status") == "failed"} == set(failed["unit"])
    loaded = cs.Ensemble.load(run)  # the failed ones are no clusterings of the run
    np.testing.assert_array_equal(loaded.labels, some.labels)
    sound.touch()
    with pytest.warns(GenerationWarning, match="could not be made"):  # not tried again, and nothing else is new
        again = cs.generate(BEADS, N_MOODY, 3, base=base, store=run)
    assert again.n_clusterings == some.n_clusterings
    whole = cs.generate(BEADS, N_MOODY, 3, base=base, store=run, retry_failed=True)
    same_runs(whole, cs.generate(BEADS, N_MOODY, 3, base=base))
    assert Store.open(run).failures().empty
    assert Store.open(run).numbers.tolist() == list(range(N_MOODY))


def test_a_time_limit_does_not_change_what_is_made():
    how = {"methods": "zipf+objects"}
    same_runs(cs.generate(BEADS, 6, 4, time_limit=600, **how), cs.generate(BEADS, 6, 4, **how))


@pytest.mark.slow
def test_what_crashes_its_process_costs_itself_alone(client):
    how = {"base": Moody(mood="crash"), "time_limit": 300}
    with pytest.warns(GenerationWarning, match=r"SIGKILL"):
        here = cs.generate(BEADS, 8, 3, **how)
    with pytest.warns(GenerationWarning, match=r"SIGKILL"):
        same_runs(cs.generate(BEADS, 8, 3, client=client, **how), here)


def test_the_log_has_steps_and_tasks_and_how_it_ended(tmp_path):
    log = tmp_path / "log"
    cs.combine(np.random.default_rng(0).integers(0, 3, (50, 6)), "auto", log=log)
    found = log_lines(log)
    assert found[0]["what"] == "start"
    assert found[0]["verb"] == "combine"
    assert {"step", "task"} <= {line["what"] for line in found}
    assert found[-1]["status"] == "done"
    assert all(line["seconds"] >= 0 and line["pid"] == os.getpid() for line in found if line["what"] == "task")
    refuses("lower n_clusters", cs.generate, BEADS, 5, 10_000, log=log)
    end = log_lines(log)[-1]
    assert (end["verb"], end["status"]) == ("generate", "failed")
    assert "clusters" in end["note"]


PROGRAM = """
import sys, threading, numpy as np, consilience as cs
from consilience.ensemble.store import Store

append = Store.append

def append_and_stop(store, *args, **how):
    append(store, *args, **how)
    print("a part is written", flush=True)
    threading.Event().wait()

Store.append = append_and_stop
cs.generate(np.random.default_rng(0).normal(size=(300, 5)), 60, 4, "zipf+pca+objects", random_state=5, store=sys.argv[1])
"""


def test_a_killed_run_goes_on_and_ends_the_same(tmp_path):
    """Killed after its first part, however fast the machine is; at random moments: `make faults`."""
    run, X = tmp_path / "run", np.random.default_rng(0).normal(size=(300, 5))
    with subprocess.Popen([sys.executable, "-c", PROGRAM, run], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("a part")
        process.kill()
    assert 0 < Store.open(run).n_clusterings < 60
    resumed = cs.generate(X, 60, 4, "zipf+pca+objects", random_state=5, store=run)
    whole = cs.generate(X, 60, 4, "zipf+pca+objects", random_state=5)
    np.testing.assert_array_equal(resumed.labels, whole.labels)
