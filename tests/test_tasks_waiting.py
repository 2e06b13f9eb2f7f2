"""How many tasks are under way, or have results that nobody took yet; and when the run log hears of them."""

import json
import threading
import time

import joblib
import pytest
from joblib import delayed

from consilience._run.cluster import AHEAD
from consilience._run.parallel import ROUND, on_cluster, workers
from consilience._run.progress import logging_to


def drawn_into(drawn, n, task):
    """Tasks that say when they are drawn."""
    for i in range(n):
        drawn.append(i)
        yield delayed(task)(i)


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize("how", [{"lazily": True}, {"as_they_come": True}])
def test_results_that_nobody_takes_hold_up_the_tasks(backend, how):
    n, room, drawn, results = 70, ROUND * 2, [], []
    with joblib.parallel_config(backend=backend):
        for taken, result in enumerate(workers(2, **how)(drawn_into(drawn, n, abs))):
            results.append(result)
            assert len(drawn) <= room * (taken // room + 1), "the next round begins when all of this one are taken"
    assert sorted(results) == [i if how.get("lazily") else (i, i) for i in range(n)]


def test_results_that_wait_for_a_slow_one_hold_up_the_tasks_of_a_cluster(client, tmp_path):
    def task(i):
        (tmp_path / str(i)).touch()
        deadline = time.monotonic() + 60
        while i == 0 and len(list(tmp_path.iterdir())) < 4 and time.monotonic() < deadline:
            time.sleep(0.01)  # the first ends after others
        return i

    drawn = []
    with on_cluster(client):
        found = workers(None, lazily=True)(drawn_into(drawn, 60, task))
        assert next(found) == 0
        assert len(drawn) <= AHEAD * 2
        assert list(found) == list(range(1, 60))


def threads_since(before):
    """Threads that were not there before, but for those of a Dask cluster that other tests may have left open."""
    of_dask = ("Dask", "IO loop", "Profile", "TCP-Executor")
    return [one for one in threading.enumerate() if one not in before and not one.name.startswith(of_dask)]


def test_tasks_that_wait_are_let_go():
    before = set(threading.enumerate())
    found = workers(2, lazily=True)(delayed(abs)(i) for i in range(50))
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
