"""Independent tasks on a Dask cluster: the answers of one process, also where a worker is killed; and one sentence where the scheduler
goes away at any call."""

import json
import os
import pickle
import signal
import threading
import time
import urllib.request
from importlib.util import find_spec
from unittest.mock import Mock

import dask.array as da
import joblib
import numpy as np
import pytest
from joblib import delayed
from joblib.externals.loky import ProcessPoolExecutor
from numpy.testing import assert_array_equal
from sklearn.base import clone

import consilience as cs
from consilience._check import InputError
from consilience._run import dask_cluster
from consilience._run.parallel import LARGE, ROUND, ClusterError, n_tasks, on_cluster, pack, unpack, workers
from consilience._run.progress import logging_to
from consilience.agreement import CountBlocks
from consilience.blocks import LabelBlocks
from consilience.cli import outputs as running
from consilience.consensus import MCLA, NBCE
from consilience.datasets import noisy_labels
from consilience.datasets.scenarios import gaussians_8d5k
from dask_cluster import connected, worker_pids, worker_processes
from explorer_cases import until
from samples import refuses

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")


@pytest.fixture(scope="module")
def labels():
    """Twelve noisy copies and coarser forms of one grouping."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(6), 40)
    columns = [np.where(rng.random(240) < 0.15, rng.integers(0, 6, 240), truth // (1 + j % 2)) for j in range(12)]
    return np.column_stack(columns)


def total(table, i):
    return float(table["deep"][0].sum()) + i, os.getpid()


def test_arrays_travel_apart_and_once():
    large, small = np.arange(LARGE, dtype=np.int8), np.arange(5)
    data, arrays = pack((max, ({"a": large, "again": [large], "b": small},), {}))
    assert [array is large for array in arrays] == [True]
    assert len(data) < LARGE / 10
    call = unpack(data, arrays)
    assert call[1][0]["a"] is call[1][0]["again"][0] is large
    assert call[1][0]["b"].tolist() == small.tolist()


def test_results_come_in_order_from_both_workers(client):
    table = {"deep": [np.random.default_rng(0).normal(size=200_000)]}
    with on_cluster(client), workers(None) as parallel:
        found = parallel(delayed(total)(table, i) for i in range(40))
        held = len(parallel._there)
        again = parallel(delayed(total)(table, i) for i in range(40))
        table["deep"][0][:] = 1.0  # an array that was written to is sent anew
        ones = parallel(delayed(total)(table, i) for i in range(4))
    want = float(np.random.default_rng(0).normal(size=200_000).sum())
    assert [value for value, _ in found] == [value for value, _ in again] == [want + i for i in range(40)]
    assert {pid for _, pid in found} <= set(worker_pids(client))
    assert os.getpid() not in {pid for _, pid in found}
    assert held == 1, "the table is there once, for all tasks"
    assert [value for value, _ in ones] == [200_000.0 + i for i in range(4)]


def test_arrays_of_one_task_are_let_go_when_it_is_done(client):
    rng, common = np.random.default_rng(0), np.ones(LARGE)
    with on_cluster(client):
        parallel, held = workers(None, lazily=True), []
        tables = ({"deep": [rng.normal(size=LARGE)], "all": common} for _ in range(60))
        for _ in parallel(delayed(total)(table, i) for i, table in enumerate(tables)):
            held.append(len(parallel._there))
    assert max(held) <= 1 + dask_cluster.AHEAD * 2
    assert held[-1] <= 3, "what all tasks share, and at most what the last two had"


def test_lazily_and_as_they_come(client):
    with joblib.parallel_config(backend="dask", client=client):
        assert n_tasks(None) == 2
        lazy = workers(None, lazily=True)(delayed(pow)(i, 2) for i in range(10))
        assert next(lazy) == 0
        assert list(lazy) == [i * i for i in range(1, 10)]
        early = workers(4, as_they_come=True)(delayed(pow)(i, 2) for i in range(10))
        assert sorted(early) == [(i, i * i) for i in range(10)]
    assert n_tasks(None) == 1


def test_what_a_task_raises_is_raised_here(client):
    def refuse():
        raise InputError("not this one")

    with on_cluster(client), pytest.raises(InputError, match="not this one"):
        workers(None)([delayed(refuse)()])


def test_tasks_of_tasks_do_not_wait_for_each_other(client):
    def outer(i):
        with joblib.parallel_config(backend="dask"):
            return sum(workers(None)(delayed(pow)(i, j) for j in range(3)))

    with on_cluster(client):
        assert workers(None)(delayed(outer)(i) for i in range(6)) == [1 + i + i * i for i in range(6)]


def test_a_client_that_is_none_or_closed_is_refused(client):
    with pytest.raises(InputError, match=r"client must be a dask\.distributed\.Client"):
        cs.combine([[0, 0, 1], [0, 1, 1]], 2, client="tcp://localhost:8786")
    with type(client)(client.cluster, set_as_default=False) as other:
        pass
    refuses("the Dask client is closed: connect one", cs.combine, [[0, 0, 1], [0, 1, 1]], 2, client=other)


def test_the_dashboard_is_said_and_answers(client, monkeypatch, capsys):
    address, has_bokeh = client.scheduler.address, find_spec("bokeh") is not None
    with running._connected(address):
        assert ("can be watched" in capsys.readouterr().err) == has_bokeh, "without bokeh there is nothing to see"
    monkeypatch.setattr(running, "find_spec", lambda name: True)
    with running._connected(address) as other:
        link = other.dashboard_link
    assert f"consilience: the work can be watched at {link}" in capsys.readouterr().err
    with urllib.request.urlopen(link.replace("/status", "/health"), timeout=120) as page:
        assert page.read() == b"ok"
    lost = Mock(side_effect=RuntimeError("ConnectionPool is closed"))
    monkeypatch.setattr(type(client), "_get_scheduler_info", lost)
    with running._connected(address):
        assert "watched" not in capsys.readouterr().err
    assert lost.called


def test_a_killed_process_of_joblib_is_replaced(tmp_path):
    def once(i):
        mark = tmp_path / "died"
        if i == 5 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.01)
        return i

    def found(**how):
        (tmp_path / "died").unlink(missing_ok=True)
        return workers(2, prefer="processes", **how)(delayed(once)(i) for i in range(20))

    assert found() == list(range(20))
    assert sorted(found(as_they_come=True)) == [(i, i) for i in range(20)]


def test_results_of_a_call_that_was_left_are_not_those_of_the_next():
    with workers(2, prefer="processes", as_they_come=True) as held:
        left = held(delayed(divmod)(i, 7) for i in range(30))
        next(left)
        left.close()
        assert sorted(held(delayed(pow)(i, 2) for i in range(30))) == [(i, i * i) for i in range(30)]


def test_a_task_that_loky_lost_as_it_was_left_is_not_told(capsys):
    list(workers(2, prefer="processes")([delayed(pow)(2, 3)] * 2))
    with ProcessPoolExecutor(1) as pool:
        assert pool.submit(divmod, 7, 2).result() == (3, 1)
        pool._flags.kill_workers = True
        pool._work_ids.put(99)  # what a call does that comes just as the tasks are thrown away
        pool._executor_manager_thread_wakeup.wakeup()
        pool._executor_manager_thread.join()
        pool._executor_manager_thread.kill_workers()  # which this process would wait for as it ends
    assert not capsys.readouterr().err


@pytest.mark.slow
def test_a_task_that_kills_its_process_every_time_is_said():
    def die(i):
        return os.kill(os.getpid(), signal.SIGKILL) if i == 3 else i

    with pytest.raises(ClusterError, match="memory"):
        workers(2, prefer="processes")(delayed(die)(i) for i in range(6))


def test_verbs_are_the_same_on_the_cluster(client, labels):
    here, there = (cs.combine(labels, "auto", client=one) for one in (None, client))
    assert_array_equal(there.labels, here.labels)
    assert_array_equal(there.confidence, here.confidence)
    counts = np.random.default_rng(0).poisson(np.kron(np.eye(3), np.ones((40, 30))) * 2 + 0.3)
    here, there = (cs.agree(counts, 3, n_clusterings=4, max_iter=2, client=one) for one in (None, client))
    assert_array_equal(there.after.rows.labels, here.after.rows.labels)
    assert_array_equal(there.objective, here.objective)


MODELS = [NBCE(random_state=0, inference=how, n_init=2, n_chains=2, max_iter=20) for how in ("vb", "gibbs")]


@pytest.mark.parametrize("estimator", [MCLA(6, random_state=0), *MODELS])
def test_estimators_are_the_same_on_the_cluster(client, labels, estimator):
    with joblib.parallel_config(backend="dask", client=client):
        there = clone(estimator).fit(labels)
    here = clone(estimator).fit(labels)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_array_equal(there.confidence_, here.confidence_)


def test_the_clusterer_is_the_same_on_the_cluster(client, tmp_path):
    X, _ = gaussians_8d5k(150, random_state=0)
    here = cs.EnsembleClusterer(4, n_clusterings=20, random_state=0).fit(X)
    there = cs.EnsembleClusterer(4, n_clusterings=20, random_state=0, client=client)
    for model in (there, clone(there)):
        before = client.run_on_scheduler(tasks_so_far)
        model.fit(X)
        assert client.run_on_scheduler(tasks_so_far) > before
        assert_array_equal(model.labels_, here.labels_)
        assert_array_equal(model.ensemble_.labels, here.ensemble_.labels)
        assert_array_equal(model.predict(X[::7] + 0.1), here.predict(X[::7] + 0.1))
    assert pickle.loads(pickle.dumps(there)).client is None
    there.save(tmp_path / "model")
    assert cs.EnsembleClusterer.load(tmp_path / "model").client is None


def tasks_so_far(dask_scheduler):
    return dask_scheduler.transition_counter


# How many tasks are under way, or have results that nobody took yet; and when the run log hears of them.


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
        assert len(drawn) <= dask_cluster.AHEAD * 2
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
    until(lambda: not threads_since(before), "a thread is left")


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


LOST = r"scheduler .* is lost"
LABELS = noisy_labels(200, 3, 6, 0.2, random_state=0)[0].labels
COUNTS = np.random.default_rng(0).poisson(np.kron(np.eye(2), np.ones((15, 12))) * 2 + 0.3)
X = gaussians_8d5k(60, random_state=0)[0]


def rows_of_unknown_number(table):
    """A Dask array whose blocks have to be asked how many rows they have."""
    lazy = da.from_array(table, chunks=(30, -1))
    return lazy[lazy[:, 0] > -np.inf]


def agree(counts):
    return lambda client: cs.agree(counts, 2, n_clusterings=2, max_iter=1, client=client)


VERBS = {
    "generate": lambda client: cs.generate(X, 6, n_clusters=3, client=client),
    "combine": lambda client: cs.combine(LABELS, "auto", client=client),
    "combine blocks": lambda client: cs.combine(LabelBlocks([LABELS[:90], LABELS[90:]]), 3, "mcla", client=client),
    "agree": agree(COUNTS),
    "agree on Dask's blocks": agree(da.from_array(COUNTS, chunks=(15, 24)).persist()),
    "generate from Dask's blocks": lambda client: cs.generate(rows_of_unknown_number(X), 2, 3, client=client),
    "contrast": lambda client: cs.contrast(X, np.arange(60) % 2, 2, n_init=2, client=client),
    "fit": lambda client: cs.EnsembleClusterer(3, n_clusterings=6, client=client).fit(X),
}


class Losing:
    """A client whose call number `last` of a method fails as one of a closed client does; from then on it is closed."""

    def __init__(self, client, method, last, error):
        self._client, self._method, self._left, self._error, self._gone = client, method, last, error, False

    def __getattr__(self, name):
        if name == "status" and self._gone:
            return "closed"
        value = getattr(self._client, name)
        if name != self._method:
            return value

        def call(*args, **options):
            self._left -= 1
            if self._left <= 0:
                self._gone = True
                raise self._error
            return value(*args, **options)

        return call


@pytest.mark.parametrize("last", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 5, 15))])
@pytest.mark.parametrize("method", ["ncores", "submit", "scatter", "compute"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_scheduler_that_goes_at_a_call_is_said_in_one_sentence(client, verb, method, last):
    losing = Losing(client, method, last, RuntimeError("ConnectionPool is closed"))
    said = None
    try:
        VERBS[verb](losing)
    except ClusterError as error:
        said = str(error)
    assert (said is not None) == losing._gone, "else the work was done with fewer calls"
    assert said is None or "is lost; start it, and the same call again" in said


@pytest.mark.parametrize(
    "error", [RuntimeError("ConnectionPool is closed"), dask_cluster.ClosedClientError(), TimeoutError()]
)
@pytest.mark.parametrize("method", ["ncores", "submit", "scatter"])
def test_whatever_dask_raises_then(client, method, error):
    table = np.ones(1 << 17)
    with on_cluster(Losing(client, method, 1, error)), pytest.raises(ClusterError, match=LOST):
        workers(None)(delayed(np.sum)(table) for _ in range(3))
    with on_cluster(Losing(client, "ncores", 1, error)), pytest.raises(ClusterError, match=LOST):
        n_tasks(None)
    with on_cluster(Losing(client, "compute", 1, error)), pytest.raises(ClusterError, match=LOST):
        CountBlocks(da.from_array(COUNTS, chunks=(15, 24)).to_delayed().ravel().tolist())


def test_a_call_that_fails_while_the_scheduler_is_there_is_made_again(client):
    calls = []

    def call():
        calls.append(1)
        if len(calls) < 3:
            raise OSError("away for a moment")
        return "done"

    assert dask_cluster.asked(client, call) == "done"


def test_what_keeps_failing_while_the_scheduler_is_there_is_said(client, monkeypatch):
    monkeypatch.setattr(dask_cluster, "UNHEARD", 1)
    with pytest.raises(ClusterError, match=f"nothing can be sent to the cluster {client.scheduler.address}: away"):
        dask_cluster.asked(client, Mock(side_effect=OSError("away")))
    with pytest.raises(RuntimeError, match="of the work"):
        dask_cluster.asked(client, Mock(side_effect=RuntimeError("of the work")))


def test_what_cannot_be_cancelled_does_not_hide_why_the_work_stopped(client):
    def fail(i):
        raise ValueError("the reason")

    with on_cluster(Losing(client, "cancel", 1, RuntimeError())), pytest.raises(ValueError, match="the reason"):
        workers(None)(delayed(fail)(i) for i in range(20))


def test_a_cluster_that_is_closed_by_the_end_of_the_first_task(monkeypatch):
    monkeypatch.setattr(dask_cluster, "PATIENCE", 0.5)
    closed = threading.Event()

    def close(future):
        lost.close(timeout=60)
        closed.set()

    with worker_processes(1, processes=False) as lost, connected(lost) as client, on_cluster(client):
        client.submit(int, 0).add_done_callback(close)
        with pytest.raises(ClusterError, match=LOST):
            workers(None)(delayed(abs)(i) for i in iter(int, 1))  # zeros without end
        assert closed.wait(60)
