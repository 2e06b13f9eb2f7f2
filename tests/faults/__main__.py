"""All faults, many times: python -m faults [SHARE], with `tests` on the path; SHARE of 0.1 tries a tenth of them."""

import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from dask_cluster import local_cluster
from faults import clusters, files, runs
from faults.counts import table

ALL = {runs.killed: 100, runs.stopped: 10, runs.cut: 10, runs.two_writers: 3, runs.clock_jumps: 6, runs.full_disk: 5}
ALL |= {clusters.scheduler_lost: 3, clusters.scheduler_restarted: 3}


def main(share=1.0):
    """Print what was tried and lost; 1 where anything was."""
    found = []

    def take(fault):
        begin = time.monotonic()
        found.append(fault())
        one = found[-1]
        print(f"{one.fault}: {one.tried} tried, {one.lost} lost, {time.monotonic() - begin:.0f} s", flush=True)

    def times(n):
        return max(1, round(share * n))

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for fault, often in ALL.items():
            take(partial(fault, folder, times(often)))
        take(partial(files.mutated, folder, times(500), None))
        with local_cluster() as client:
            for name, job in clusters.jobs().items():
                take(partial(clusters.worker_killed, client, name, job, times(20)))
    print()
    print(table(found))
    lost = sum(one.lost for one in found)
    print(f"\n{lost or 'nothing'} lost in {sum(one.tried for one in found):,} faults")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:])))
