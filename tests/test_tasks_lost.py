"""A scheduler that goes away at any call: one sentence, whatever was under way."""

from __future__ import annotations

import threading

import dask.array as da
import numpy as np
import pytest
from joblib import delayed

import consilience as cs
from consilience._run import cluster
from consilience._run.parallel import ClusterError, n_tasks, on_cluster, workers
from consilience.agreement import CountBlocks
from consilience.blocks import LabelBlocks
from consilience.datasets import noisy_labels
from consilience.datasets.scenarios import gaussians_8d5k
from dask_cluster import quiet

LOST = r"scheduler .* is lost"
LABELS = noisy_labels(200, 3, 6, 0.2, random_state=0)[0].labels
COUNTS = np.random.default_rng(0).poisson(np.kron(np.eye(2), np.ones((15, 12))) * 2 + 0.3)
X = gaussians_8d5k(60, random_state=0)[0]


def rows_of_unknown_number(table):
    """A Dask array whose blocks have to be asked how many rows they have."""
    lazy = da.from_array(table, chunks=(30, -1))
    return lazy[lazy[:, 0] > -np.inf]


def agree(counts, client):
    return cs.agree(counts, 2, n_clusterings=2, max_iter=1, client=client)


VERBS = {
    "generate": lambda client: cs.generate(X, 6, n_clusters=3, client=client),
    "combine": lambda client: cs.combine(LABELS, "auto", client=client),
    "combine blocks": lambda client: cs.combine(LabelBlocks([LABELS[:90], LABELS[90:]]), 3, "mcla", client=client),
    "agree": lambda client: agree(COUNTS, client),
    "agree on Dask's blocks": lambda client: agree(da.from_array(COUNTS, chunks=(15, 24)).persist(), client),
    "generate from Dask's blocks": lambda client: cs.generate(
        rows_of_unknown_number(X), 2, n_clusters=3, client=client
    ),
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


@pytest.fixture(
    params=[RuntimeError("ConnectionPool is closed"), cluster.ClosedClientError(), TimeoutError()], ids=repr
)
def error(request):
    return request.param


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

    assert cluster.asked(client, call) == "done"


def test_what_cannot_be_cancelled_does_not_hide_why_the_work_stopped(client):
    def fail(i):
        raise ValueError("the reason")

    with on_cluster(Losing(client, "cancel", 1, RuntimeError())), pytest.raises(ValueError, match="the reason"):
        workers(None)(delayed(fail)(i) for i in range(20))


def test_a_cluster_that_is_closed_by_the_end_of_the_first_task(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    closed = threading.Event()

    def close(future):
        lost.close(timeout=60)
        closed.set()

    with (
        quiet(),
        cluster.SteadyCluster(n_workers=1, processes=False, dashboard_address=":0") as lost,
        lost.get_client() as client,
        on_cluster(client),
    ):
        client.submit(int, 0).add_done_callback(close)
        with pytest.raises(ClusterError, match=LOST):
            workers(None)(delayed(abs)(i) for i in iter(int, 1))  # zeros without end
        assert closed.wait(60)
