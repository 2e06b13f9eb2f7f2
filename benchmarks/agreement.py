"""Co-clustering and agreement, beside scikit-learn's SpectralCoclustering and on the papers' kinds of data.

Real data come from CONSILIENCE_DATA, or from shared/data beside the repository; those cases say so where it is missing.
"""

import os
import resource
import time
from pathlib import Path

import numpy as np
from scipy import sparse

import consilience as cs
from benchmarks.timing import cpu
from consilience.agreement import MDC, DataLoom
from consilience.consensus import SCCC
from consilience.engine.search import Engine
from consilience.engine.views import grouped_views
from consilience.measures import adjusted_rand, nmi


def _load(name):
    given = os.environ.get("CONSILIENCE_DATA")
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        found = {key: file[key] for key in file.files}
    if "user" in found:
        ones = np.ones(len(found["user"]))
        return sparse.csr_matrix((ones, (found["user"] - 1, found["item"] - 1))), None
    shape = tuple(int(s) for s in found["shape"])
    table = sparse.csr_matrix((found["data"], found["indices"], found["indptr"]), shape=shape)
    if "text_id" not in found:
        return table, found["y"]
    first = np.sort(np.unique(found["text_id"], return_index=True)[1])  # one of each message
    return table[first], found["y"][first]


def planted_blocks(n=5_000, d=10_000, k=20, counts=60, own=0.45, seed=0):
    """Rows and columns in k blocks; a share `own` of a row's counts falls on the columns of its block, the rest anywhere."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, k, n), rng.integers(0, k, d)
    which, drawn = np.repeat(np.arange(n), counts), rng.integers(0, d, n * counts)
    inside = rng.random(n * counts) < own
    for b in range(k):
        mine = inside & (rows[which] == b)
        drawn[mine] = rng.choice(np.flatnonzero(columns == b), mine.sum())
    return sparse.csr_matrix((np.ones(n * counts), (which, drawn)), shape=(n, d)), rows


def planted_beside_spectral():
    """A planted 5,000 × 10,000 table, one process: SpectralCoclustering, then DataLoom and MDC."""
    from sklearn.cluster import SpectralCoclustering

    table, rows = planted_blocks()
    models = {
        "spectral": SpectralCoclustering(20, random_state=0),
        "dataloom": DataLoom(20, random_state=0),
        "mdc": MDC(20, random_state=0),
    }
    found = {}
    for name, model in models.items():
        seconds, fitted = cpu(lambda m=model: m.fit(table))
        labels = fitted.row_labels_
        found[name] = {"cpu_s": round(seconds, 2), "nmi": round(nmi(rows, labels), 3)}
        found[name]["ari"] = round(adjusted_rand(rows, labels), 3)
    ours, theirs = found["dataloom"], found["spectral"]
    good = ours["nmi"] > max(theirs["nmi"], 0.914) and ours["ari"] > max(theirs["ari"], 0.786)
    return {**found, "ok": good and ours["cpu_s"] < theirs["cpu_s"]}


def power_law(n=9_604, d=17_770, pairs=2_000_000, seed=0):
    """Distinct pairs of users and movies, both with power-law popularity, and taste in common within 40 groups."""
    rng = np.random.default_rng(seed)
    users = rng.permutation(1 / np.arange(1, n + 1) ** 0.6)
    movies = rng.permutation(1 / np.arange(1, d + 1) ** 0.8)
    groups = rng.integers(0, 40, n), rng.integers(0, 40, d)
    drawn = int(3.6 * pairs)
    u, m = rng.choice(n, drawn, p=users / users.sum()), rng.choice(d, drawn, p=movies / movies.sum())
    kept = rng.random(drawn) < np.where(groups[0][u] == groups[1][m], 1, 0.35)
    table = sparse.csr_matrix((np.ones(kept.sum()), (u[kept], m[kept])), shape=(n, d))
    table.sum_duplicates()
    table.data[:] = 1
    return table


def power_law_passes():
    """800 × 800 clusters: a pass with a shortlist beside one that scores all clusters, from the same random start."""
    table = power_law()
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 800, table.shape[0]), rng.integers(0, 800, table.shape[1])
    found = {"pairs": int(table.nnz)}
    for side, rows, mine, others in (("users", table, *labels), ("movies", sparse.csr_matrix(table.T), *labels[::-1])):
        views = grouped_views(rows, [others])
        gain = {}
        for shortlist in (0, 8):
            engine = Engine(views, 800, shortlist=shortlist)
            seconds, search = cpu(lambda e=engine, start=mine: e.search(start, max_iter=1))
            gain[shortlist] = search.history[-1] - search.history[0]
        found[side] = {"cpu_s": round(seconds, 2), "share_of_information": round(gain[8] / gain[0], 4)}
    good = all(found[s]["cpu_s"] <= 1.2 and found[s]["share_of_information"] >= 0.97 for s in ("users", "movies"))
    return {**found, "bar_cpu_s": 1.2, "bar_share": 0.97, "ok": good}


def movielens_dataloom():
    """MovieLens 1M, 100 × 100 clusters, two threads."""
    table, _ = _load("movielens1m")
    start = time.perf_counter()
    seconds, found = cpu(lambda: DataLoom(100, random_state=0, n_jobs=2).fit(table))
    wall = time.perf_counter() - start
    return {
        "cpu_s": round(seconds, 1),
        "wall_s": round(wall, 1),
        "information": round(found.objective_, 4),
        "bar_wall_s": 20,
        "ok": wall <= 20,
    }


def mdc_newsgroups():
    """A whole MDC run on 20 Newsgroups, with the passes on single words, one thread."""
    table, truth = _load("newsgroups20")
    seconds, found = cpu(lambda: MDC(20, random_state=0).fit(table))
    accuracy = cs.measures.accuracy(truth, found.row_labels_)
    return {"cpu_s": round(seconds, 1), "accuracy": round(accuracy, 4), "bar_cpu_s": 12, "ok": seconds <= 12}


def _agree(name, bars, **how):
    """Accuracy before and after (mean ± standard error), Jaccard index of the documents, SCCC, and the time."""
    counts, truth = _load(name)
    k = int(truth.max()) + 1
    seconds, found = cpu(lambda: cs.agree(counts, k, **how))
    by_iteration = found.stability_by_iteration(truth)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    fitted = SCCC(k).fit(found.after.rows)
    consensus = np.mean([cs.measures.accuracy(truth, labels) for labels in fitted.labels_by_gap_.labels.T])
    ends = [0, -1]
    shown = {
        "cpu_s": round(seconds, 1),
        "accuracy": [round(by_iteration["accuracy"].iloc[t], 4) for t in ends],
        "sem": [round(by_iteration["accuracy_sem"].iloc[t], 4) for t in ends],
        "jaccard": [round(by_iteration["rows"].iloc[t], 4) for t in ends],
        "sccc": round(float(consensus), 4),
        "peak_gb": round(peak, 2),
    }
    reached = (*shown["accuracy"], shown["sccc"], shown["jaccard"][1])
    return {**shown, "bars": bars, "ok": all(x >= bar for x, bar in zip(reached, bars, strict=True))}


def agree_newsgroups():
    return _agree("newsgroups20", (0.71, 0.73, 0.74, 0.72))


def agree_newsgroups_bydate():
    return _agree("newsgroups20_bydate", (0.76, 0.785, 0.79, 0.72))


def agree_newsgroups_paper():
    return _agree("newsgroups20", (0.66, 0.71, 0, 0), model="paper")


def agree_newsgroups_bydate_paper():
    return _agree("newsgroups20_bydate", (0.685, 0.74, 0, 0), model="paper")


def _smaller(name):
    """The Jaccard index rises by a fifth, accuracy does not fall by more than one standard error."""

    def case():
        found = _agree(name, (0, 0, 0, 0))
        (before, after), (first, last) = found["jaccard"], found["accuracy"]
        return {
            **found,
            "gain": round(after / before - 1, 3),
            "ok": after >= 1.2 * before and last >= first - found["sem"][0],
        }

    case.__name__ = f"agree_{name}"
    return case


CASES = [
    planted_beside_spectral,
    power_law_passes,
    movielens_dataloom,
    mdc_newsgroups,
    agree_newsgroups,
    agree_newsgroups_bydate,
    agree_newsgroups_paper,
    agree_newsgroups_bydate_paper,
    *(_smaller(name) for name in ("k1b", "enron20folders", "cluto_tr11", "cluto_re1")),
]
