"""Ways and modes: planted groupings found again, public tables, and large ensembles."""

import resource
from itertools import combinations

import numpy as np

import consilience as cs
from benchmarks.timing import cpu
from consilience.measures import variation_of_information


def refined(rng, labels, k):
    """Every cluster divided at random, so that there are k."""
    old = int(labels.max()) + 1
    parts = np.full(old, k // old) + (np.arange(old) < k % old)
    first = np.concatenate([[0], np.cumsum(parts)])
    return first[labels] + rng.integers(0, parts[labels])


def blurred(rng, labels, share):
    """A share of the objects in a random cluster."""
    return np.where(rng.random(len(labels)) < share, rng.integers(0, labels.max() + 1, len(labels)), labels)


def planted(seed):
    """Samples of 1 to 4 random groupings of 300 to 5,000 objects, each at 1 to 3 nested depths, blurred by 2 to 20 %; 50 to 1,000
    samples, weights from 10 %. The samples, the grouping of each, and the groupings at their depths."""
    rng = np.random.default_rng(seed)
    n, m = (int(np.exp(rng.uniform(*np.log(ends)))) for ends in ((300, 5000), (50, 1000)))
    n_ways = int(rng.integers(1, 5))
    weights = 0.1 + (1 - 0.1 * n_ways) * rng.dirichlet(np.ones(n_ways))
    way = rng.permutation(np.repeat(np.arange(n_ways), np.maximum(1, np.round(weights * m).astype(int))))
    depths = []
    for _ in range(n_ways):
        k = int(rng.integers(2, 7))
        depths.append([rng.integers(0, k, n)])
        for _ in range(int(rng.integers(1, 4)) - 1):
            k = k * int(rng.integers(2, 4)) if k < 7 else k + int(rng.integers(2, 6))
            depths[-1].append(refined(rng, depths[-1][-1], k))
    noise = rng.uniform(0.02, 0.2, n_ways)
    columns = [blurred(rng, depths[x][int(rng.integers(len(depths[x])))], noise[x]) for x in way]
    return cs.Ensemble(np.column_stack(columns).astype(np.int32)), way, depths


def planted_ways(n_sets=200, n_judged=30):
    """Numbers of ways found in planted samples, and how far (nats) ways at their planted depths are from what was planted."""
    right = near = 0
    apart = []
    seconds = 0.0
    for seed in range(n_sets):
        ens, way, depths = planted(seed)
        spent, ways = cpu(lambda e=ens: cs.organize(e, n_jobs=1, progress=False).ways)
        seconds += spent
        right += len(ways) == len(depths)
        near += abs(len(ways) - len(depths)) <= 1
        for one in ways if seed < n_judged else ():
            own = depths[np.bincount(way[one.members]).argmax()]
            apart += [variation_of_information(labels, one.at(int(labels.max()) + 1).labels) for labels in own]
    return {
        "right": right / n_sets,
        "one_off": near / n_sets,
        "within_.02_nats": float(np.mean(np.array(apart) <= 0.02)),
        "median_nats": float(np.median(apart)),
        "cpu_s_each": round(seconds / n_sets, 2),
        "ok": right >= 0.9 * n_sets and near >= 0.98 * n_sets,
    }


def random_labels_have_no_ways():
    """Unrelated clusterings of several sizes."""
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, rng.integers(2, 15), (int(rng.integers(300, 3000)), int(rng.integers(50, 400))))
        found.append(len(cs.organize(cs.Ensemble(labels), progress=False).ways))
    return {"ways": sum(found), "ok": not any(found)}


def tables():
    """400 clusterings of 2 to 20 clusters: numbers of ways, and how well the number of clusters tells them, and the first groups, apart."""
    from sklearn import datasets
    from sklearn.metrics import roc_auc_score

    from consilience.datasets import load_beads

    def told(k, groups):
        pairs = [(k[groups == a], k[groups == b]) for a, b in combinations(sorted(set(groups[groups >= 0])), 2)]
        areas = [roc_auc_score([0] * len(a) + [1] * len(b), np.concatenate([a, b])) for a, b in pairs]
        return round(max((max(area, 1 - area) for area in areas), default=0.5), 2)

    names = ("iris", "wine", "breast_cancer", "digits")
    sets = {name: (getattr(datasets, f"load_{name}")().data, (2, 20)) for name in names}
    sets["blobs"] = datasets.make_blobs(500, 6, centers=5, random_state=1)[0], (2, 20)
    sets["beads"] = load_beads(), (2, 12)
    found = {}
    for name, (X, k) in sets.items():
        ens = cs.generate(X, 400, n_clusters=k, progress=False)
        meta = cs.organize(ens, progress=False)
        way = np.full(400, -1)
        for one in meta.ways:
            way[one.members] = one.number
        aucs = {"auc_ways": told(ens.n_clusters, way), "auc_groups": told(ens.n_clusters, meta.cut(2).groups)}
        found[name] = {"ways": len(meta.ways), **aucs, "words": [one.describe(X) for one in meta.ways]}
    shown = [one["auc_groups"] <= 0.7 for one in found.values()]
    return {**found, "ok": all(shown) and [found[name]["ways"] for name in ("wine", "blobs", "beads")] == [1, 1, 2]}


def ways_1000_of_10000():
    """1,000 clusterings × 10,000 objects, three groupings at two depths: organized, counted, and the labels of each."""
    rng = np.random.default_rng(0)
    coarse = [rng.integers(0, k, 10_000) for k in (4, 5, 3)]
    depths = [(labels, refined(rng, labels, 3 * (int(labels.max()) + 1))) for labels in coarse]
    columns = [blurred(rng, depths[i % 3][int(rng.integers(2))], 0.1) for i in range(1000)]
    ens = cs.Ensemble(np.column_stack(columns).astype(np.int32))
    seconds, ways = cpu(lambda: cs.organize(ens, n_jobs=1, progress=False).ways)
    more, _ = cpu(lambda: [one.labels for one in ways])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    found = {
        "ways": len(ways),
        "cpu_s": round(seconds + more, 1),
        "peak_gb": round(peak, 2),
        "bar_cpu_s": 30,
        "bar_gb": 2,
    }
    return {**found, "ok": len(ways) == 3 and seconds + more <= 30 and peak <= 2}


def modes_of_samples(n_sets=40):
    """Samples of 1 to 4 partitions of 100 to 600 objects, blurred: numbers of modes by description length, and how far they are from
    the planted ones; beside k-medoids of 20 starts by the expected loss."""
    right = below = 0
    apart, seconds = [], 0.0
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        k, n, m = int(rng.integers(1, 5)), int(rng.integers(100, 600)), int(rng.integers(50, 200))
        weights = 0.1 + (1 - 0.1 * k) * rng.dirichlet(np.ones(k))
        way = np.repeat(np.arange(k), np.maximum(1, np.round(weights * m).astype(int)))
        truth, noise = [rng.integers(0, rng.integers(2, 8), n) for _ in range(k)], rng.uniform(0.02, 0.2)
        samples = np.column_stack([blurred(rng, truth[x], noise) for x in way])
        spent, found = cpu(lambda s=samples: cs.summarize(s, modes="auto", n_jobs=1))
        seconds += spent
        right += found.n_modes == k
        apart += [min(variation_of_information(one, mode) for mode in found.labels.T) for one in truth]
        matrix = cs.pairwise(cs.Ensemble(samples), "variation_of_information", progress=False)
        below += found.expected_loss <= _medoids(matrix, max(found.n_modes, 1)) + 1e-9
    return {
        "right": right / n_sets,
        "within_.02_nats": float(np.mean(np.array(apart) <= 0.02)),
        "not_above_k_medoids": below / n_sets,
        "cpu_s_each": round(seconds / n_sets, 2),
        "ok": right >= 0.9 * n_sets and below == n_sets,
    }


def _medoids(matrix, k, starts=20):
    """The least mean distance to the nearest of k samples, of 20 starts of alternation."""
    best, m = np.inf, len(matrix)
    for start in range(starts):
        medoids = np.random.default_rng(start).choice(m, k, replace=False)
        for _ in range(50):
            owner = matrix[:, medoids].argmin(axis=1)
            groups = [np.flatnonzero(owner == i) for i in range(k)]
            new = np.array(
                [
                    some[matrix[np.ix_(some, some)].sum(axis=1).argmin()] if len(some) else old
                    for some, old in zip(groups, medoids, strict=True)
                ]
            )
            if (new == medoids).all():
                break
            medoids = new
        best = min(best, matrix[:, medoids].min(axis=1).mean())
    return best


CASES = [planted_ways, random_labels_have_no_ways, tables, ways_1000_of_10000, modes_of_samples]
