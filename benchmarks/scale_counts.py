"""Counts in row blocks: a table like that of Netflix, co-clustered block by block on one machine.

``python -m benchmarks.scale_counts make --folder F`` writes the table: 480,000 × 17,770, about 100 million pairs, or with ``--share 0.1`` a
tenth of its rows. Then ``pass --folder F`` measures one pass of co-clustering over the rows, with the turn of the columns after it; ``cap``
a whole agreement process; ``quality`` puts the same models on the table in memory beside it.
"""

import argparse
import json
import resource
import time
from contextlib import nullcontext
from pathlib import Path

import joblib
import numpy as np
from scipy import sparse

import consilience as cs
from consilience.agreement import CountBlocks, DataLoom
from consilience.agreement.block_search import BlockCounts, RowSearch
from consilience.agreement.co_clustering import engine_of, random_labels
from consilience.engine.views import cluster_tables

ROWS, COLUMNS, PAIRS = 480_000, 17_770, 100_000_000
STEP = 4096  # rows drawn from one stream, so that the table does not depend on its blocks
GROUPS = 40


def drawn_rows(first, activity, popularity, groups, drawn, seed):
    """Rows `first` … of the table: movies by popularity, those of another group kept with odds of .35."""
    rng = np.random.default_rng([seed, first])
    mine = slice(first, first + STEP)
    tries = rng.poisson(drawn * activity[mine])
    user = np.repeat(np.arange(len(tries)), tries)
    movie = np.searchsorted(popularity, rng.random(len(user)) * popularity[-1], side="right")
    kept = rng.random(len(user)) < np.where(groups[0][mine][user] == groups[1][movie], 1, 0.35)
    shape = len(tries), len(popularity)
    table = sparse.csr_matrix((np.ones(kept.sum(), np.int8), (user[kept], movie[kept])), shape=shape)
    table.sum_duplicates()
    table.data[:] = 1
    return table


def make(folder, share, rows_of_block, seed=0):
    """Write the table as npz blocks; activity of rows and popularity of columns follow power laws, as in :func:`agreement.power_law`."""
    n, pairs = int(ROWS * share), int(PAIRS * share)
    rng = np.random.default_rng(seed)
    activity = rng.permutation(1 / np.arange(1, n + 1) ** 0.6)
    popularity = np.cumsum(rng.permutation(1 / np.arange(1, COLUMNS + 1) ** 0.8))
    groups = rng.integers(0, GROUPS, n), rng.integers(0, GROUPS, COLUMNS)
    activity /= activity.sum()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.npz"):
        old.unlink()
    total = 0
    for number, begin in enumerate(range(0, n, rows_of_block)):
        firsts = range(begin, min(begin + rows_of_block, n), STEP)
        parts = [drawn_rows(first, activity, popularity, groups, 3.6 * pairs, seed) for first in firsts]
        block = sparse.vstack(parts, format="csr")
        total += block.nnz
        sparse.save_npz(folder / f"{number:05}.npz", block, compressed=False)
    return {"rows": n, "columns": COLUMNS, "pairs": total, "blocks": number + 1}


class Measured:
    """Wall and CPU seconds of what is done within, and the largest memory of this process and of the workers so far."""

    def __init__(self, client=None):
        self.client = client

    def __enter__(self):
        self.begin = time.perf_counter(), self._used()[0]
        return self

    def __exit__(self, *error):
        seconds, memory = self._used()
        self.figures = {
            "wall_s": round(time.perf_counter() - self.begin[0], 1),
            "cpu_s": round(seconds - self.begin[1], 1),
            "peak_gb": round(memory / 2**20, 2),
        }

    def _used(self):
        usages = [_usage(), *(self.client.run(_usage).values() if self.client else ())]
        return sum(seconds for seconds, _ in usages), sum(memory for _, memory in usages)


def _usage():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss


def row_search(counts, k):
    """A start from random clusters of equal size."""
    rng = np.random.default_rng(0)
    rows, columns = (random_labels(len(side.kept), k, rng) for side in (counts.rows, counts.columns))
    return RowSearch(counts, [columns], [rows], counts.row_tables([rows], [columns]), 0, [0])


def one_pass(counts, k, client):
    """The tables of a random start, a pass over the rows, and the turn of the columns, each by itself."""
    with Measured(client) as start:
        search = row_search(counts, k)
    before = search.values()[0]
    with Measured(client) as rows:
        found = search.search(1)[0]
    with Measured(client) as columns:
        views = counts.column_views([found.labels])
        engine = engine_of(views, k, counts.n_jobs)
        last = engine.search(search.columns[0], max_iter=1)
        cluster_tables(views, last.labels, k)
    information = [round(float(value), 5) for value in (before, found.objective, last.objective)]
    return {"start": start.figures, "rows": rows.figures, "columns": columns.figures, "information": information}


def whole_cap(folder, k, m, max_iter, jobs, client):
    """m co-clusterings from flat random starts, and the agreement process on them."""
    counts = BlockCounts.of(CountBlocks(folder), "length", jobs)
    with Measured(client) as models:
        runs = [DataLoom(k, spare=1, max_iter=2, random_state=j, n_jobs=jobs).fit(counts) for j in range(m)]
    rows, columns = [run.row_labels_ for run in runs], [run.column_labels_ for run in runs]
    process = cs.agreement.CAP(max_iter, weighting="length", random_state=0, n_jobs=jobs)
    with Measured(client) as agreed:
        found = process.fit(counts, rows, columns).agreement_
    alike = found.stability_by_iteration()[["rows", "columns"]].round(4).to_dict("list")
    objective = [round(float(x), 4) for x in found.objective]
    return {"models": models.figures, "process": agreed.figures, "objective": objective, "jaccard": alike}


def quality(folder, k, m, max_iter, jobs):
    """Information of co-clusterings and of the process, by blocks and on the whole table in memory."""
    table = sparse.vstack([sparse.load_npz(path) for path in sorted(folder.glob("*.npz"))], format="csr")
    shown = {}
    for name, counts in (("memory", table), ("blocks", CountBlocks(folder))):
        with Measured() as cost:
            how = {"spare": 1, "max_iter": 5, "n_jobs": jobs}
            runs = [DataLoom(k, random_state=j, **how).fit(counts) for j in range(m)]
            process = cs.agreement.CAP(max_iter, weighting="length", random_state=0, n_jobs=jobs)
            found = process.fit(counts, [r.row_labels_ for r in runs], [r.column_labels_ for r in runs]).agreement_
        information = [round(run.objective_, 4) for run in runs]
        shown[name] = {"information": information, "mean": round(float(np.mean(information)), 4), **cost.figures}
        shown[name] |= {"process": [round(float(x), 3) for x in found.objective[[0, -1]]]}
        shown[name] |= {"jaccard": round(float(found.stability_by_iteration()["rows"].iloc[-1]), 4)}
    return shown | {"ratio": round(shown["blocks"]["mean"] / shown["memory"]["mean"], 4)}


def main():
    parser = argparse.ArgumentParser(prog="benchmarks.scale_counts", description=__doc__)
    parser.add_argument("what", choices=["make", "pass", "cap", "quality"])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--share", type=float, default=1.0, help="share of the rows; 1 is 480,000")
    parser.add_argument("--block", type=int, default=8192, help="rows of a block")
    parser.add_argument("-k", type=int, default=800, help="clusters of rows and of columns")
    parser.add_argument("-m", type=int, default=4, help="clusterings of each side")
    parser.add_argument("--max-iter", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2, help="threads, or with --processes worker processes")
    parser.add_argument("--processes", action="store_true", help="a Dask cluster of this machine instead of threads")
    given = parser.parse_args()
    if given.what == "make":
        print(json.dumps(make(given.folder, given.share, given.block)))
        return
    if given.what == "quality":
        print(json.dumps(quality(given.folder, given.k, given.m, given.max_iter, given.jobs), indent=1))
        return
    client = None
    if given.processes:
        from distributed import Client

        client = Client(n_workers=given.jobs, threads_per_worker=1, dashboard_address=":0", memory_limit="6GB")
    with joblib.parallel_config(backend="dask", client=client) if client else nullcontext():
        if given.what == "cap":
            found = whole_cap(given.folder, given.k, given.m, given.max_iter, given.jobs, client)
        else:
            with Measured(client) as survey:
                counts = BlockCounts.of(CountBlocks(given.folder), "length", given.jobs)
            found = {"survey": survey.figures, **one_pass(counts, given.k, client)}
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
