"""How many tasks are under way, or have results that nobody took yet; and when the run log hears of them."""

import json
import threading
import time

import joblib
import pytest
from joblib import delayed

from consilience._run.parallel import AHEAD, ROUND, on_cluster, workers
from consilience._run.progress import logging_to


def slow_first(i):
    time.sleep(0.6 if i == 0 else 0)
    return i


def drawn_before(taken, make, n=200):
    """Tasks that were drawn when `taken` results had been taken, and some time later, by someone who takes no more."""
    drawn = []

    def tasks():
        for i in range(n):
            drawn.append(i)
            yield delayed(slow_first)(i)

    found = make()(tasks())
    for _ in range(taken):
        next(found)
    time.sleep(0.3)
    number = len(drawn)
    rest = list(found)
    return number, rest


@pytest.mark.parametrize("taken", [1, 5])
def test_results_that_nobody_takes_hold_up_the_tasks_in_threads(taken):
    number, rest = drawn_before(taken, lambda: workers(2, lazily=True))
    assert number <= taken + (AHEAD + 2) * 2
    assert rest == list(range(taken, 200))
    number, rest = drawn_before(taken, lambda: workers(2, as_they_come=True))
    assert number <= taken + (AHEAD + 2) * 2
    assert len(rest) == 200 - taken


def test_results_that_nobody_takes_hold_up_the_tasks_in_processes():
    with joblib.parallel_config(backend="loky"):
        number, rest = drawn_before(1, lambda: workers(2, lazily=True))
    assert number <= ROUND * 2
    assert rest == list(range(1, 200))


def test_results_that_wait_for_a_slow_one_hold_up_the_tasks_of_a_cluster(client):
    with on_cluster(client):
        room = AHEAD * 2
        drawn = []

        def tasks():
            for i in range(60):
                drawn.append((i, time.monotonic()))
                yield delayed(slow_first)(i)

        found = workers(None, lazily=True)(tasks())
        assert next(found) == 0
        then = time.monotonic()
        assert list(found) == list(range(1, 60))
        assert sum(at <= then for _, at in drawn) <= room


def threads_since(before):
    """Threads that were not there before, but for those of a Dask cluster that other tests may have left open."""
    of_dask = ("Dask", "IO loop", "Profile", "TCP-Executor")
    return [one for one in threading.enumerate() if one not in before and not one.name.startswith(of_dask)]


def test_tasks_that_wait_are_let_go():
    before = set(threading.enumerate())
    found = workers(2, lazily=True)(delayed(slow_first)(i) for i in range(50))
    next(found)
    found.close()

    def fail(i):
        if i == 2:
            raise ValueError("no")
        return i

    for how in ({"lazily": True}, {"as_they_come": True}, {}):
        with pytest.raises(ValueError, match="no"):
            list(workers(2, **how)(delayed(fail)(i) for i in range(50)))
    deadline = time.monotonic() + 60
    while (left := threads_since(before)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_line_of_the_log_is_written_when_its_task_ends(tmp_path, n_jobs):
    """Also where all results are given together: the last task sees the lines of those before."""
    log = tmp_path / "run.log"

    def lines():
        return sum(json.loads(line)["what"] == "task" for line in log.read_text().splitlines())

    def count(i):
        deadline = time.monotonic() + 60
        while i == 5 and time.monotonic() < deadline and lines() < 3:
            time.sleep(0.01)
        return lines()

    with logging_to(log, "test"):
        found = workers(n_jobs)(delayed(count)(i) for i in range(6))
    assert found[-1] >= 3
    with logging_to(log, "test"), workers(n_jobs) as parallel:
        assert parallel(delayed(pow)(i, 2) for i in range(5)) == [0, 1, 4, 9, 16]
        assert parallel(delayed(pow)(i, 2) for i in range(3)) == [0, 1, 4]
