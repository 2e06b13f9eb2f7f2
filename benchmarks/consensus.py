"""Consensus at scale, beside scikit-learn's KMeans on one-hot labels (wall seconds too: these run for a while)."""

import os
import resource
import time
from pathlib import Path

import numpy as np

import consilience as cs
from benchmarks.timing import cpu, noisy_labels
from consilience.measures import adjusted_rand, nmi


def _noisy(n, r, noise, seed=0):
    labels = noisy_labels(n, r, 10, noise, seed)
    truth = np.random.default_rng(seed).integers(0, 10, (n, 1), dtype=np.int32).ravel()  # as noisy_labels draws it
    return cs.Ensemble(labels), truth


def _run(ensemble, truth, method, limit_s, limit_gb):
    start = time.perf_counter()
    seconds, found = cpu(lambda: cs.combine(ensemble, 10, method, n_jobs=2))
    wall = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "wall_s": round(wall, 1),
        "cpu_s": round(seconds, 1),
        "peak_gb": round(peak, 2),
        "nmi": round(nmi(truth, found.labels), 4),
        "ari": round(adjusted_rand(truth, found.labels), 4),
        "clusters": found.n_clusters,
        "method": found.method,
        "bar_wall_s": limit_s,
        "bar_gb": limit_gb,
        "ok": wall <= limit_s and peak <= limit_gb,
    }


def _case(name, n, noise, method, limit_s, limit_gb):
    def case():
        return _run(*_noisy(n, 10, noise), method, limit_s, limit_gb)

    case.__name__ = name
    return case


LARGE = [
    *(
        _case(f"{m}_million_5", 1_000_000, 0.05, m, 60, 4)
        for m in ("mcla", "vote", "quadratic", "sccc", "hbgf", "auto")
    ),
    *(
        _case(f"{m}_million_30", 1_000_000, 0.3, m, 180, 4)
        for m in ("mcla", "vote", "quadratic", "sccc", "hbgf", "auto")
    ),
    *(_case(f"{m}_million_{int(100 * p)}", 1_000_000, p, m, 180, 4) for m in ("cspa", "evidence") for p in (0.05, 0.3)),
    *(_case(f"{m}_ten_million", 10_000_000, 0.05, m, 600, 8) for m in ("vote", "mcla", "sccc")),
]


def _beside_kmeans(n):
    """r = 20, k = 10, 30 % noise, one thread, in one process: scikit-learn's KMeans on one-hot labels, then ours.

    The bar is against the usual recipe, OneHotEncoder and KMeans(n_init=5); the fastest form of it, a ready dense float32 table and
    a single start, stands beside it.
    """
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import OneHotEncoder
    from threadpoolctl import threadpool_limits

    ensemble, truth = _noisy(n, 20, 0.3)
    labels = ensemble.labels
    onehot = np.zeros((n, 200), np.float32)
    for q, column in enumerate(labels.T):
        onehot[np.arange(n), 10 * q + column] = 1
    found = {}
    with threadpool_limits(1):
        single, kmeans = cpu(lambda: KMeans(10, n_init=1, random_state=0).fit(onehot))
        found["kmeans_dense_one_start"] = {"cpu_s": round(single, 2), "nmi": round(nmi(truth, kmeans.labels_), 5)}
        onehot = None
        usual, kmeans = cpu(
            lambda: KMeans(10, n_init=5, random_state=0).fit(OneHotEncoder(dtype=np.float32).fit_transform(labels))
        )
        found["kmeans"] = {"cpu_s": round(usual, 2), "nmi": round(nmi(truth, kmeans.labels_), 5)}
        for method in ("quadratic", "vote"):
            own, result = cpu(lambda m=method: cs.combine(cs.Ensemble(labels), 10, m))
            found[method] = {
                "cpu_s": round(own, 2),
                "nmi": round(nmi(truth, result.labels), 5),
                "ari": round(adjusted_rand(truth, result.labels), 5),
                "clusters": result.n_clusters,
                "ratio": round(usual / own, 1),
                "ratio_dense_one_start": round(single / own, 2),
            }
    good = all(
        found[m]["ratio"] >= 3 and found[m]["nmi"] >= found["kmeans"]["nmi"] - 1e-4 for m in ("quadratic", "vote")
    )
    return {**found, "bar_ratio": 3, "ok": good}


def beside_kmeans_100000():
    return _beside_kmeans(100_000)


def beside_kmeans_million():
    return _beside_kmeans(1_000_000)


def sweep_20000_by_400():
    """One exact pass over 20,000 rows of 2 million counts, aggregated to 400 columns, 20 clusters, one thread."""
    from scipy import sparse

    from consilience.engine.search import Engine
    from consilience.engine.views import count_views

    rng = np.random.default_rng(0)
    rows, columns = np.repeat(np.arange(20_000), 100), rng.zipf(1.3, 2_000_000) % 40_000
    counts = sparse.csr_matrix((np.ones(2_000_000), (rows, columns)), shape=(20_000, 40_000))
    words = sparse.csr_matrix((np.ones(40_000), (np.arange(40_000), rng.integers(0, 400, 40_000))), shape=(40_000, 400))
    engine = Engine(count_views([counts @ words]), 20)
    seconds, found = cpu(lambda: engine.search(rng.integers(0, 20, 20_000), max_iter=1))
    return {"cpu_s": round(seconds, 3), "moved": found.moves[0], "bar_cpu_s": 2, "ok": seconds <= 2}


def summarize_pools():
    """The partition of least expected variation of information over 100 k-means clusterings, beside the R package salso.

    Its figures are those of the best of several runs of release 0.3.27, one thread. The pools come from CONSILIENCE_DATA, or from
    shared/data beside the repository.
    """
    given = os.environ.get("CONSILIENCE_DATA")
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    found = {}
    cs.summarize([[0, 1], [0, 0]])  # its imports are not timed
    for name, salso in {"VS": 1.4355, "IS": 1.1551}.items():
        pool = np.load(folder / "pools" / f"{name}.npz")["members"]
        seconds, summary = cpu(lambda pool=pool: cs.summarize(pool))
        found[name] = {
            "cpu_s": round(seconds, 2),
            "vi": round(summary.expected_loss, 4),
            "clusters": summary.n_clusters,
            "salso_vi": salso,
            "bar_cpu_s": 1,
        }
    return {**found, "ok": all(one["vi"] <= one["salso_vi"] and one["cpu_s"] <= 1 for one in found.values())}


CASES = [summarize_pools, sweep_20000_by_400, beside_kmeans_100000, beside_kmeans_million, *LARGE]
