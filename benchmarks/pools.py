"""Consensus of real ensembles: the literature's pools of k-means clusterings, every method on the same draws.

A pool holds 100 k-means clusterings, k from 2 to √n, of a real data set and its classes. A draw takes M of them at random and shuffles
the objects. The pools come from CONSILIENCE_DATA, or from shared/data beside the repository; without them the cases say so and
are skipped. The cases of `make bench` take few draws; all of them:

    python -m benchmarks.pools quality --draws 20 -m 10      # NMI and ARI with the classes, CPU-seconds
    python -m benchmarks.pools order --draws 2               # shuffled objects and clusterings, renamed labels, ten seeds
    python -m benchmarks.pools replicate --draws 20          # is the confidence what happens in a second, disjoint draw?
    python -m benchmarks.pools how-many --draws 5 -m 20      # n_clusters="auto" beside the number of classes
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

import consilience as cs
from benchmarks import plain
from benchmarks.timing import cpu
from consilience.measures import adjusted_rand, nmi

METHODS = "auto", "walk", "lwea", "lwgp", "mcla", "hbgf", "evidence", "vote"
PLAIN = {"plain_lwgp": plain.lwgp, "plain_lwea": plain.lwea}
SQUARE = 6000  # objects up to which n × n fits
SEEDS = 10
BINS = 10


def folder():
    given = os.environ.get("CONSILIENCE_DATA")
    return (Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data") / "pools"


def pool_names():
    return sorted(path.stem for path in folder().glob("*.npz"))


def read_pool(name):
    """(objects × 100 labels, classes)."""
    with np.load(folder() / f"{name}.npz") as file:
        return file["members"].astype(np.int64), file["y"].astype(np.int64)


def draws(pool, m, n_draws):
    """Disjoint pairs of m clusterings each."""
    rng = np.random.default_rng(0)
    for _ in range(n_draws):
        order = rng.permutation(pool.shape[1])
        yield pool[:, order[:m]], pool[:, order[m : 2 * m]]


def answer(method, labels, k):
    if method in PLAIN:
        return PLAIN[method](labels, k)
    return cs.combine(cs.Ensemble(labels), k, method, random_state=0).labels


def quality(name, m, n_draws, methods):
    """Every method: mean and standard deviation over the draws of NMI and ARI with the classes, and CPU-seconds."""
    pool, classes = read_pool(name)
    k, shuffle = int(classes.max()) + 1, np.random.default_rng(1)
    rows = {method: [] for method in methods if method != "plain_lwea" or len(classes) <= SQUARE}
    for labels, _ in draws(pool, m, n_draws):
        order = shuffle.permutation(len(classes))
        for method, found in rows.items():
            seconds, got = cpu(lambda method=method, labels=labels[order]: answer(method, labels, k))
            truth = classes[order]
            found.append((nmi(truth, got), adjusted_rand(truth, got), seconds))
    return {
        method: dict(zip(("nmi", "ari", "cpu_s"), np.mean(found, axis=0), strict=True))
        | dict(zip(("nmi_sd", "ari_sd"), np.std(found, axis=0)[:2], strict=True))
        for method, found in rows.items()
    }


def order(name, m, n_draws, methods):
    """ARI with the first answer after objects or clusterings are shuffled or labels renamed (the least), and for other seeds (the mean)."""
    pool, classes = read_pool(name)
    k, rng = int(classes.max()) + 1, np.random.default_rng(2)
    found = {method: {"objects": [], "clusterings": [], "names": [], "seeds": []} for method in methods}
    for labels, _ in draws(pool, m, n_draws):
        objects, clusterings = rng.permutation(len(labels)), rng.permutation(m)
        renamed = np.column_stack([rng.permutation(column.max() + 1)[column] for column in labels.T])
        for method, shares in found.items():
            first = answer(method, labels, k)
            shares["objects"].append(adjusted_rand(first[objects], answer(method, labels[objects], k)))
            shares["clusterings"].append(adjusted_rand(first, answer(method, labels[:, clusterings], k)))
            shares["names"].append(adjusted_rand(first, answer(method, renamed, k)))
            if method not in PLAIN:
                again = [cs.combine(cs.Ensemble(labels), k, method, random_state=s).labels for s in range(1, SEEDS)]
                every = [first, *again]
                pairs = [adjusted_rand(a, b) for i, a in enumerate(every) for b in every[:i]]
                shares["seeds"].append(np.mean(pairs))
    return {
        method: {
            what: float(np.mean(values) if what == "seeds" else np.min(values))
            for what, values in shares.items()
            if values
        }
        for method, shares in found.items()
    }


def replicate(name, m, n_draws, methods=("auto",)):
    """Confidence beside the share of objects that a second, disjoint draw puts in the same (matched) cluster, all draws together."""
    pool, classes = read_pool(name)
    k, found = int(classes.max()) + 1, {}
    for method in methods:
        sure, stays = [], []
        for labels, others in draws(pool, m, n_draws):
            first = cs.combine(cs.Ensemble(labels), k, method, random_state=0)
            again = cs.combine(cs.Ensemble(others), k, method, random_state=1)
            sure.append(first.confidence)
            stays.append(matched(first.labels, again.labels) == first.labels)
        found[method] = calibration(np.concatenate(sure), np.concatenate(stays))
    return found


def matched(labels, others):
    """The other labels under the names of the first, one to one by most objects in common; −1 where there is no name left."""
    table = np.zeros((labels.max() + 1, others.max() + 1))
    np.add.at(table, (labels, others), 1)
    mine, theirs = linear_sum_assignment(-table)
    name = np.full(table.shape[1], -1)
    name[theirs] = mine
    return name[others]


def calibration(confidence, right):
    """Mean confidence, share that is right, expected calibration error of ten bins, and the area under the curve."""
    at = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(at, confidence, BINS) - np.bincount(at, right, BINS)
    good = np.count_nonzero(right)
    above = rankdata(confidence)[right].sum() - good * (good + 1) / 2
    return {
        "confidence": float(confidence.mean()),
        "stays": float(right.mean()),
        "ece": float(np.abs(gaps).sum() / len(right)),
        "auc": float(above / max(good * (len(right) - good), 1)),
    }


def how_many(name, m, n_draws, methods=("auto",)):
    """The number of clusters found beside that of the classes, and whether one of the first three scales is within a quarter of it."""
    pool, classes = read_pool(name)
    k, rows, numbers = int(classes.max()) + 1, [], []
    for labels, _ in draws(pool, m, n_draws):
        seconds, found = cpu(lambda labels=labels: cs.combine(cs.Ensemble(labels), "auto", methods[0], random_state=0))
        scales = found.scales["n_clusters"].to_numpy()[:3]
        near = bool((np.abs(scales - k) <= k / 4).any())
        rows.append((abs(np.log2(found.n_clusters / k)), near, bool(found.scales["real"].any()), seconds))
        numbers.append(scales.tolist())
    return {
        "classes": k,
        "scales": numbers,
        **dict(zip(("octaves_off", "near", "real", "cpu_s"), np.mean(rows, axis=0), strict=True)),
    }


STUDIES = {"quality": quality, "order": order, "replicate": replicate, "how-many": how_many}
USUAL = {
    "quality": (*METHODS, *PLAIN),
    "order": (*METHODS, "quadratic", "information", *PLAIN),
    "replicate": ("auto",),
    "how-many": ("auto",),
}


def averaged(results):
    """Mean over the pools of every figure that all of them have; `plain_lwea` only over the small ones."""
    first = next(iter(results.values()))
    if all(isinstance(value, dict) for value in first.values()):
        methods = {method: [one[method] for one in results.values() if method in one] for method in first}
        return {method: averaged(dict(enumerate(found))) for method, found in methods.items()}
    return {key: float(np.mean([one[key] for one in results.values()])) for key in first if key != "scales"}


def lead(results, method="auto", beside="plain_lwgp"):
    """How far a method is above another: on average, and on how many pools it is more than .01 below in NMI."""
    gaps = np.array([[one[method][what] - one[beside][what] for what in ("nmi", "ari")] for one in results.values()])
    return {"nmi": gaps[:, 0].mean(), "ari": gaps[:, 1].mean(), "pools_below": int((gaps[:, 0] < -0.01).sum())}


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return round(float(value), 4) if isinstance(value, float) else value


def _all_pools(study, m, n_draws, methods):
    return {name: STUDIES[study](name, m, n_draws, methods) for name in pool_names()}


def _case(title, study, m, n_draws, methods, judge):
    def case():
        if not pool_names():
            return {"skipped": f"no pools in {folder()}: set CONSILIENCE_DATA"}
        results = _all_pools(study, m, n_draws, methods)
        mean = averaged(results)
        return {**rounded(mean), **rounded(judge(results, mean)), "draws": n_draws, "m": m}

    case.__name__ = title
    return case


def _judge_quality(results, mean):
    gap = lead(results)
    good = gap["nmi"] >= 0.012 and gap["ari"] >= 0.02 and gap["pools_below"] <= 2 and mean["auto"]["cpu_s"] <= 0.5
    return {"lead": gap, "bar_lead": {"nmi": 0.012, "ari": 0.02, "pools_below": 2}, "bar_cpu_s": 0.5, "ok": good}


def _judge_order(results, mean):
    same = all(
        one[method][what] == 1
        for one in results.values()
        for method in one
        if method not in PLAIN
        for what in ("objects", "clusterings", "names")
    )
    return {"bar_seeds": 0.95, "ok": same and mean["auto"]["seeds"] >= 0.95}


def _judge_replicate(results, mean):
    one = mean["auto"]
    good = one["ece"] <= 0.08 and abs(one["confidence"] - one["stays"]) <= 0.03 and one["auc"] >= 0.8
    return {"bars": {"ece": 0.08, "gap": 0.03, "auc": 0.8}, "ok": good}


def _judge_how_many(results, mean):
    near = sum(one["near"] >= 0.5 for one in results.values())
    return {
        "pools_near": near,
        "bars": {"octaves_off": 0.9},
        "ok": mean["octaves_off"] <= 0.9,
    }


QUICK = ("auto", "walk", "lwgp", "mcla", "plain_lwgp")
CASES = [
    _case("pools_quality_10", "quality", 10, 3, QUICK, _judge_quality),
    _case("pools_quality_20", "quality", 20, 3, QUICK, _judge_quality),
    _case("pools_order", "order", 10, 1, ("auto", "plain_lwgp"), _judge_order),
    _case("pools_replicate", "replicate", 10, 3, ("auto",), _judge_replicate),
    _case("pools_how_many", "how-many", 20, 1, ("auto",), _judge_how_many),
]


def main():
    parser = argparse.ArgumentParser(prog="benchmarks.pools", description=__doc__.splitlines()[0])
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("-m", type=int, default=10, help="clusterings in a draw")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--pools", help="names, with commas between; by default all")
    parser.add_argument("--methods", help="names, with commas between")
    parser.add_argument("--data", help="folder that holds pools/; by default CONSILIENCE_DATA")
    options = parser.parse_args()
    if options.data:
        os.environ["CONSILIENCE_DATA"] = options.data
    methods = tuple(options.methods.split(",")) if options.methods else USUAL[options.study]
    results = {}
    for name in options.pools.split(",") if options.pools else pool_names():
        results[name] = STUDIES[options.study](name, options.m, options.draws, methods)
        print(name, json.dumps(rounded(results[name])), flush=True)
    if not results:
        parser.error(f"no pools in {folder()}: give --data")
    print("mean", json.dumps(rounded(averaged(results))))
    if options.study == "quality" and {"auto", "plain_lwgp"} <= set(methods):
        print("lead over plain_lwgp", json.dumps(rounded(lead(results))))


if __name__ == "__main__":
    main()
