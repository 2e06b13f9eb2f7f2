"""All faults, many times: python -m faults [SHARE], with `tests` on the path; SHARE of 0.1 tries a tenth of them."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dask_cluster import local_cluster
from faults import clusters, runs
from faults.counts import Count, table


def main(share: float = 1.0) -> int:
    """Print what was tried and lost; 1 where anything was."""
    found: list[Count] = []

    def take(fault: Callable[[], Count]) -> None:
        begin = time.monotonic()
        found.append(fault())
        one = found[-1]
        print(f"{one.fault}: {one.tried} tried, {one.lost} lost, {time.monotonic() - begin:.0f} s", flush=True)

    def times(n: int) -> int:
        return max(1, round(share * n))

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        take(lambda: runs.killed(folder, times(100)))
        take(lambda: runs.stopped(folder, times(10)))
        take(lambda: runs.cut(folder, times(10)))
        take(lambda: runs.two_writers(folder, times(3)))
        take(lambda: runs.clock_jumps(folder, times(6)))
        take(lambda: runs.full_disk(folder, times(5)))
        take(lambda: clusters.scheduler_lost(folder, times(3)))
        take(lambda: clusters.scheduler_restarted(folder, times(3)))
        with local_cluster() as client:
            for name, job in clusters.jobs().items():
                take(lambda name=name, job=job: clusters.worker_killed(client, name, job, times(20)))  # type: ignore[misc]
    print()
    print(table(found))
    lost = sum(one.lost for one in found)
    print(f"\n{lost or 'nothing'} lost in {sum(one.tried for one in found):,} faults")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:])))
