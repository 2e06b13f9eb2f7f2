"""All pairs of many clusterings, beside a loop over scikit-learn's scores."""

import numpy as np

import consilience as cs
from benchmarks.timing import cpu, random_labels


def _matrix(measure, bar):
    labels = random_labels(990, 5000, 15)
    seconds, matrix = cpu(lambda: cs.pairwise(cs.Ensemble(labels), measure))
    return {"cpu_s": round(seconds, 2), "bar_cpu_s": bar, "ok": seconds <= bar}, labels, matrix


def cluster_difference_5000():
    """5,000 clusterings × 990 objects, k = 15, one thread; checked against scikit-learn on 300 pairs."""
    from sklearn.metrics import rand_score

    found, labels, matrix = _matrix("cluster_difference", 10)
    pairs = np.random.default_rng(1).integers(0, 5000, (300, 2))
    error = max(abs(matrix[i, j] - 1 + rand_score(labels[:, i], labels[:, j])) for i, j in pairs)
    return {**found, "largest_error": float(error), "ok": found["ok"] and error <= 1e-9}


def _beside_difference(measure):
    labels = random_labels(990, 5000, 15)
    ensemble = cs.Ensemble(labels)
    base, _ = cpu(lambda: cs.pairwise(ensemble, "cluster_difference"))
    seconds, _ = cpu(lambda: cs.pairwise(ensemble, measure))
    return {"cpu_s": round(seconds, 2), "times_cluster_difference": round(seconds / base, 2), "ok": seconds <= 3 * base}


def nmi_5000():
    return _beside_difference("nmi")


def adjusted_rand_5000():
    return _beside_difference("adjusted_rand")


def jaccard_5000():
    return _beside_difference("jaccard")


def pairwise_beside_scikit_learn():
    """The 4,950 pairs of 100 clusterings × 990 objects, k = 15: a scikit-learn loop, then ours, in one process."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, rand_score

    labels = random_labels(990, 100, 15)
    peers = {
        "cluster_difference": lambda a, b: 1 - rand_score(a, b),
        "adjusted_rand": adjusted_rand_score,
        "nmi": lambda a, b: normalized_mutual_info_score(a, b, average_method="geometric"),
    }
    found = {}
    for measure, peer in peers.items():
        ensemble = cs.Ensemble(labels)
        cs.pairwise(ensemble, measure)  # warm caches for both alike
        peer(labels[:, 0], labels[:, 1])
        theirs, values = cpu(lambda p=peer: [p(labels[:, i], labels[:, j]) for i in range(100) for j in range(i)])
        # Ours is over in milliseconds: the mean of 50 runs.
        ours, matrices = cpu(lambda m=measure, e=ensemble: [cs.pairwise(e, m) for _ in range(50)])
        ours /= 50
        error = np.abs(matrices[0][np.tril_indices(100, -1)] - values).max()
        found[measure] = {
            "sklearn_cpu_s": round(theirs, 2),
            "ours_cpu_s": round(ours, 5),
            "ratio": round(theirs / ours),
        }
        assert error < 1e-9, (measure, error)
    return {**found, "bar_ratio": 1000, "ok": found["cluster_difference"]["ratio"] >= 1000}


def single_cell_measures():
    """All 4,950 pairs of 100 clusterings × 10,000 objects, 10 to 50 clusters: adjusted mutual information beside scikit-learn's on 40
    pairs, element-centric similarity and consistency beside ClustAssessPy's where it is installed."""
    from sklearn.metrics import adjusted_mutual_info_score

    from consilience.measures import element_consistency

    rng = np.random.default_rng(0)
    k, shared = rng.integers(10, 51, 100), rng.integers(0, 30, 10_000)
    labels = np.where(rng.random((10_000, 100)) < 0.4, rng.integers(0, k, (10_000, 100)), shared[:, None] % k)
    ensemble = cs.Ensemble(labels)
    pairs = [tuple(rng.choice(100, 2, replace=False)) for _ in range(40)]
    theirs, values = cpu(lambda: [adjusted_mutual_info_score(labels[:, i], labels[:, j]) for i, j in pairs])
    theirs *= 4950 / len(pairs)
    ours, matrix = _mean_of_5(lambda: cs.pairwise(ensemble, "adjusted_mutual_information"))
    error = max(abs(matrix[i, j] - value) for (i, j), value in zip(pairs, values, strict=True))
    found = {"ami": {"sklearn_cpu_s": round(theirs, 1), **_beside(theirs, ours), "largest_error": float(error)}}
    ok = error <= 1e-9 and theirs >= 100 * ours
    ours, matrix = _mean_of_5(lambda: cs.pairwise(ensemble, "element_centric"))
    each, scores = cpu(lambda: element_consistency(ensemble))
    found["element_centric"] = {"ours_cpu_s": round(ours, 4)}
    found["element_consistency"] = {"ours_cpu_s": round(each, 3)}
    try:
        import ClustAssessPy
    except ImportError:
        return {**found, "ClustAssessPy": "not installed", "ok": ok}
    clusterings = list(labels.T)
    theirs, values = cpu(lambda: ClustAssessPy.element_sim_matrix(clusterings))
    error = np.abs(matrix - values).max()
    found["element_centric"] |= {"peer_cpu_s": round(theirs, 2), **_beside(theirs, ours), "largest_error": float(error)}
    ok &= bool(error <= 1e-9 and theirs >= 20 * ours)
    theirs, values = cpu(lambda: ClustAssessPy.element_consistency(clusterings))
    error = np.abs(scores - values).max()
    found["element_consistency"] |= {
        "peer_cpu_s": round(theirs, 2),
        **_beside(theirs, each),
        "largest_error": float(error),
    }
    return {**found, "ok": ok and bool(error <= 1e-9)}


def _mean_of_5(work):
    work()
    seconds, found = cpu(lambda: [work() for _ in range(5)])
    return seconds / 5, found[0]


def _beside(theirs, ours):
    return {"ours_cpu_s": round(ours, 4), "ratio": round(theirs / ours)}


def pairwise_1000_of_100000():
    """1,000 clusterings × 100,000 objects: exact, within 2 GB."""
    ensemble = cs.Ensemble(np.random.default_rng(0).integers(0, 15, (100_000, 1000), dtype=np.int8))
    import resource

    seconds, _ = cpu(lambda: cs.pairwise(ensemble, "cluster_difference"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"cpu_s": round(seconds, 2), "bar_gb": 2, "ok": peak <= 2}


CASES = [
    cluster_difference_5000,
    nmi_5000,
    adjusted_rand_5000,
    jaccard_5000,
    pairwise_beside_scikit_learn,
    single_cell_measures,
    pairwise_1000_of_100000,
]
