"""Worker processes of this machine as a Dask cluster that ends soundly, whatever became of its workers."""

from __future__ import annotations

from typing import Any

from distributed import LocalCluster


class SteadyCluster(LocalCluster):
    """Dask's local cluster, which also closes where a worker was killed before the cluster had heard of it."""

    def _update_worker_status(self, op: str, msg: Any) -> None:
        # Dask takes every worker that went for one that it knows: a KeyError, then, in the midst of closing.
        if op != "remove" or msg in self.scheduler_info["workers"]:
            super()._update_worker_status(op, msg)
