"""Consensus of ensembles other than k-means over many k: the default beside every single method, at the number of classes.

Twenty clusterings of a table with known classes: k-means at one k, k-means on random subsets of the features (one k, or from k to √n),
or HDBSCAN over its settings with noise as missing labels. The tables come from CONSILIENCE_DATA, or from shared/data beside the
repository; without them the case says so and is skipped.

    python -m benchmarks.kinds subspaces --ensembles 3
"""

import argparse
import json

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import consilience as cs
from benchmarks.pools import folder, rounded
from consilience.measures import adjusted_rand, nmi

SETS = "ecoli", "glass", "vowel", "segment", "control_chart", "trace"
SERIES = "control_chart", "trace"  # values of one series are not scaled by column
METHODS = "walk", "dawid_skene", "mcla", "evidence", "lwea", "lwgp", "hbgf", "vote", "quadratic", "information"
M = 20
DENSITY = [(size, near, how) for size in (3, 5, 8, 12, 20) for near in (1, 3, 5, 10) for how in ("eom", "leaf")]


def read_table(name):
    """(objects × features, classes)."""
    with np.load(folder().parent / f"{name}.npz") as file:
        X, classes = file["X"].astype(float), file["y"].astype(np.int64)
    return (X if name in SERIES else StandardScaler().fit_transform(X)), classes


def one_k(X, k, seed):
    return cs.generate(X, M, k, "minima", standardize=False, random_state=seed, progress=False).labels


def subspaces(X, k, seed):
    most = max(k + 1, int(np.sqrt(len(X))))
    return cs.generate(X, M, (k, most), "features", standardize=False, random_state=seed, progress=False).labels


def subspaces_one_k(X, k, seed):
    return cs.generate(X, M, k, "features", standardize=False, random_state=seed, progress=False).labels


def density(X, k, seed):
    X, found = PCA(min(10, X.shape[1]), random_state=0).fit_transform(X), []
    for i in np.random.default_rng(seed).permutation(len(DENSITY)):
        size, near, how = DENSITY[i]
        run = HDBSCAN(min_cluster_size=size, min_samples=near, cluster_selection_method=how, copy=True)
        found.append(run.fit_predict(X))
    return np.column_stack([labels for labels in found if labels.max() > 0][:M])


KINDS = {"one_k": one_k, "subspaces": subspaces, "subspaces_one_k": subspaces_one_k, "density": density}


def quality(kind, n_ensembles, methods=METHODS, sets=SETS):
    """Mean NMI and ARI with the classes over the tables, of the default and of every method, and how far the default is below the best."""
    found = {method: [] for method in ("auto", *methods)}
    for name in sets:
        X, classes = read_table(name)
        k = int(classes.max()) + 1
        for seed in range(n_ensembles):
            ensemble = cs.Ensemble(KINDS[kind](X, k, seed))
            for method, rows in found.items():
                labels = cs.combine(ensemble, k, method, random_state=0).labels
                rows.append((nmi(classes, labels), adjusted_rand(classes, labels)))
    means = {method: dict(zip(("nmi", "ari"), np.mean(rows, axis=0), strict=True)) for method, rows in found.items()}
    best = max(means[method]["nmi"] for method in methods)
    return {**means, "beside_best": means["auto"]["nmi"] - best}


def _case(kind):
    def case():
        sets = [name for name in SETS if (folder().parent / f"{name}.npz").exists()]
        if not sets:
            return {"skipped": f"no tables in {folder().parent}: set CONSILIENCE_DATA"}
        result = rounded(quality(kind, 1, sets=sets))
        return {**result, "sets": len(sets), "bar_beside_best": -0.02, "ok": result["beside_best"] >= -0.02}

    case.__name__ = f"kinds_{kind}"
    return case


CASES = [_case(kind) for kind in KINDS]


def main():
    parser = argparse.ArgumentParser(prog="benchmarks.kinds", description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--ensembles", type=int, default=3, help="of every table")
    parser.add_argument("--sets", default=",".join(SETS), help="names, with commas between")
    parser.add_argument("--methods", default=",".join(METHODS), help="names, with commas between")
    options = parser.parse_args()
    found = quality(options.kind, options.ensembles, options.methods.split(","), options.sets.split(","))
    print(options.kind, json.dumps(rounded(found)))


if __name__ == "__main__":
    main()
