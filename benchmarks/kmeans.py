"""Batched k-means, beside a scikit-learn loop in the same process, from equal starts, one thread."""

import os
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.timing import cpu
from consilience.generation.kmeans import kmeans_runs

DATA = Path(os.environ.get("CONSILIENCE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def _zipf_weights(runs, d, most=100):
    """Caruana et al. 2006: ranks 1 … most with probability ∝ r^−α, α uniform in [0, 1.5] for each run."""
    rng = np.random.default_rng(0)
    ranks = np.arange(1.0, most + 1)
    powers = [ranks ** -rng.uniform(0, 1.5) for _ in range(runs)]
    return np.stack([rng.choice(ranks, d, p=p / p.sum()) for p in powers])


def _standardized(X):
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit_transform(X[:, X.std(axis=0) > 0].astype(float))


def _scikit_learn(X, weights, starts):
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    labels = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # runs cut short at max_iter
        for r, start in enumerate(starts):
            Z = X if weights is None else X * weights[r]
            model = KMeans(len(start), init=Z[start], n_init=1, algorithm="lloyd", tol=0)
            labels.append(model.fit(Z).labels_)
    return np.array(labels)


def _beside(X, k, runs, peer_runs, *, weighted=True, bar_ratio=3, bar_rate=0, repeats=3):
    """Runs per CPU-second of both, the best of `repeats` for ours, and the share of equal labels."""
    rng = np.random.default_rng(1)
    starts = np.stack([rng.choice(len(X), k, replace=False) for _ in range(runs)])
    weights = _zipf_weights(runs, X.shape[1]) if weighted else None
    times, results = zip(
        *(cpu(lambda: kmeans_runs(X, k, weights=weights, init=starts)) for _ in range(repeats)), strict=True
    )
    _scikit_learn(X, weights, starts[:1])  # what it loads is not its time
    theirs, labels = cpu(lambda: _scikit_learn(X, weights, starts[:peer_runs]))
    steps = results[0].steps
    # Both do the same steps from the same starts; the first runs may need fewer than all, so rates are of steps.
    rate, peer = steps.sum() / min(times), steps[:peer_runs].sum() / theirs
    equal = (labels == results[0].labels[:peer_runs]).all(axis=1).mean()
    return {
        "runs_per_cpu_s": round(runs / min(times), 1),
        "slowest_repeat": round(runs / max(times), 1),
        "sklearn_runs_per_cpu_s": round(peer_runs / theirs, 1),
        "ratio": round(rate / peer, 1),
        "equal_labels": round(equal, 3),
        "bar_ratio": bar_ratio,
        "bar_runs_per_cpu_s": bar_rate,
        "ok": rate / peer >= bar_ratio and runs / min(times) >= bar_rate and equal >= 0.99,
    }


def kmeans_vowel():
    """990 × 10 standardized, k = 15, Zipf weights."""
    X = _standardized(np.load(DATA / "vowel.npz")["X"])
    return _beside(X, 15, 2000, 300, bar_ratio=7, bar_rate=3000)


def kmeans_covertype():
    """1,000 × 49 standardized, k = 15, Zipf weights."""
    X = np.load(DATA / "covtype10k.npz")["X"]
    X = X[np.random.default_rng(0).choice(len(X), 1000, replace=False)]
    return _beside(_standardized(X), 15, 600, 200)


def kmeans_letters():
    """Isolet's A B C D F H J, 514 × 617 standardized, k = 10, Zipf weights."""
    loaded = np.load(DATA / "isolet.npz")
    X = loaded["X"][np.isin(loaded["y_names"][loaded["y"]], list("ABCDFHJ"))]
    X = X[np.random.default_rng(0).choice(len(X), 514, replace=False)]
    return _beside(_standardized(X), 10, 300, 200)


def kmeans_blobs_100000():
    """100,000 × 20 Gaussian blobs, k = 15."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(-10, 10, (15, 20))
    X = _standardized(centers[rng.integers(0, 15, 100_000)] + 4 * rng.normal(size=(100_000, 20)))
    return _beside(X, 15, 6, 4, weighted=False, repeats=1)


def kmeans_noise_100000():
    """100,000 × 20 uniform noise, k = 15: no clusters, so bounds help least; cut short after 300 steps."""
    return _beside(np.random.default_rng(0).random((100_000, 20)), 15, 2, 1, weighted=False, repeats=1)


def kmeans_two_threads():
    """Vowel again, wall time of one thread over that of two; other load shows less."""
    X = _standardized(np.load(DATA / "vowel.npz")["X"])
    weights = _zipf_weights(4000, 10)
    walls = []
    for threads in (1, 2):
        best = np.inf
        for _ in range(3):
            start = time.perf_counter()
            kmeans_runs(X, 15, weights=weights, threads=threads)
            best = min(best, time.perf_counter() - start)
        walls.append(best)
    speedup = walls[0] / walls[1]
    return {"wall_s": [round(w, 3) for w in walls], "speedup": round(speedup, 2), "bar": 1.8, "ok": speedup >= 1.8}


CASES = [
    kmeans_vowel,
    kmeans_covertype,
    kmeans_letters,
    kmeans_blobs_100000,
    kmeans_noise_100000,
    kmeans_two_threads,
]
