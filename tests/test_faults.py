"""The faults of ``make faults``, a few times each."""

from __future__ import annotations

import os

import pytest

from dask_cluster import local_cluster
from faults import clusters, files, runs
from faults.counts import Count, table

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")]


def check(count, tried):
    assert count.lost == 0, table([count])
    assert count.tried >= tried or count.notes, "the fault did not strike"
    if not count.tried:
        pytest.skip(count.notes[0])


TIMES = {runs.killed: 5, runs.stopped: 2, runs.cut: 2, runs.two_writers: 1, runs.clock_jumps: 2, runs.full_disk: 1}


@pytest.mark.parametrize("fault", TIMES, ids=lambda fault: fault.__name__)
def test_a_run_survives(tmp_path, fault):
    check(fault(tmp_path, TIMES[fault]), TIMES[fault] - (fault is runs.stopped))


def test_damaged_files_are_read_or_refused_in_a_sentence(tmp_path):
    check(files.mutated(tmp_path, 48), 48)


@pytest.mark.parametrize("fault", [clusters.scheduler_lost, clusters.scheduler_restarted])
def test_a_run_goes_on_after_its_scheduler(tmp_path, fault):
    """One that is lost is said, one that comes back is used."""
    pytest.importorskip("distributed")
    check(fault(tmp_path, 1), 1)


@pytest.fixture(scope="module")
def client():
    with local_cluster() as found:
        yield found


@pytest.mark.parametrize("name", clusters.jobs())
def test_work_is_the_same_with_a_worker_killed(client, name):
    check(clusters.worker_killed(client, name, clusters.jobs()[name], 1), 1)


def test_losses_are_counted():
    lossy = Count("a fault", tried=2, finished=5)
    lossy.lose(0, "nothing")
    lossy.lose(3, "three are gone")
    assert table([lossy, Count("another", tried=1)]).splitlines()[-2:] == [
        "all          3              5     3",
        "a fault: three are gone",
    ]
