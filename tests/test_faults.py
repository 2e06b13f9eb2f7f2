"""The faults of ``make faults``, a few times each."""

from __future__ import annotations

import os

import pytest

from dask_cluster import local_cluster
from faults import clusters, runs
from faults.counts import Count, table

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")]


def check(count, tried):
    assert count.lost == 0, table([count])
    assert count.tried >= tried or count.notes, "the fault did not strike"
    if not count.tried:
        pytest.skip(count.notes[0])


@pytest.mark.parametrize(
    ("fault", "times"),
    [
        (runs.killed, 5),
        (runs.stopped, 2),
        (runs.cut, 2),
        (runs.two_writers, 1),
        (runs.clock_jumps, 2),
        (runs.full_disk, 1),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_run_survives(tmp_path, fault, times):
    check(fault(tmp_path, times), times - (fault is runs.stopped))


def test_a_lost_scheduler_is_said_and_the_run_goes_on(tmp_path):
    pytest.importorskip("distributed")
    check(clusters.scheduler_lost(tmp_path, 1), 1)


def test_a_scheduler_that_comes_back_is_used(tmp_path):
    pytest.importorskip("distributed")
    check(clusters.scheduler_restarted(tmp_path, 1), 1)


@pytest.fixture(scope="module")
def client():
    with local_cluster() as found:
        yield found


@pytest.mark.parametrize("name", clusters.jobs())
def test_work_is_the_same_with_a_worker_killed(client, name):
    check(clusters.worker_killed(client, name, clusters.jobs()[name], 3), 3)


def test_losses_are_counted():
    lossy = Count("a fault", tried=2, finished=5)
    lossy.lose(0, "nothing")
    lossy.lose(3, "three are gone")
    assert table([lossy, Count("another", tried=1)]).splitlines()[-2:] == [
        "all          3              5     3",
        "a fault: three are gone",
    ]
