"""From a table to one clustering: the default recipe and consensus beside single clusterers, on real data with classes.

The data come from CONSILIENCE_DATA, or from shared/data beside the repository; without them the cases say so and are skipped.

    python -m benchmarks.bases quality --sets pendigits,letter --seeds 10     # the recipe: NMI, ARI, CPU-seconds
    python -m benchmarks.bases single --sets segment                          # k-means, spectral, agglomerative, HDBSCAN, Leiden
    python -m benchmarks.bases large                                          # 1,000,000 × 20: twenty landmark clusterings and consensus
"""

import argparse
import json
import os
import resource
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

import consilience as cs
from benchmarks.timing import cpu
from consilience.generation.default_methods import recipe_of, usual_clusters
from consilience.generation.methods.graph import SPAN, igraph_of, leiden
from consilience.generation.methods.neighbors import Points, connectivities, nearest_neighbors
from consilience.measures import adjusted_rand, nmi
from consilience.tables.scaling_and_counts import CountScaling, Standardizer, looks_like_counts

CHOSEN_ON = "pendigits", "segment", "ecoli", "glass", "control_chart", "sc_yan", "sc_worm_neuron"
CONFIRMED_ON = "letter", "isolet", "vowel", "covtype10k", "sc_pollen", "sc_mouse_bladder", "sc_pbmc68k_reduced"
MEMBERS = 30  # as EnsembleClusterer makes by default
PAIRS = 12_000  # objects up to which clusterers that need all pairs, or the eigenvectors of a large graph, are run
NEIGHBORS, HALVINGS = 15, 20  # of Leiden: scanpy's neighbors, and steps in the search for the resolution
BARS = {"pendigits": 0.85, "letter": 0.455}


def folder():
    given = os.environ.get("CONSILIENCE_DATA")
    return Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"


def read_set(name):
    """Values, dense or CSR, and classes."""
    with np.load(folder() / f"{name}.npz", allow_pickle=False) as file:
        y = file["y"].astype(np.int64)
        if "X" in file:
            values = file["X"].astype(float)
        else:
            parts = file["data"].astype(float), file["indices"], file["indptr"]
            values = sparse.csr_matrix(parts, tuple(file["shape"]))
    known = y >= 0
    return values[known], y[known]


def quality(name, seeds, m=MEMBERS):
    """Means over seeds of the recipe for the number of classes."""
    X, y = read_set(name)
    k, recipe = len(np.unique(y)), recipe_of(X)
    runs = []
    for seed in range(seeds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clusters = usual_clusters(len(y), k)
            making, made = cpu(lambda s=seed, c=clusters: cs.generate(X, m, c, "auto", random_state=s, n_jobs=1))
            combining, found = cpu(lambda s=seed, e=made: cs.combine(e, k, random_state=s))
        runs.append((nmi(y, found.labels), adjusted_rand(y, found.labels), making, combining))
    means, spread = np.mean(runs, axis=0), np.std(runs, axis=0)
    return {
        "recipe": recipe.methods,
        "nmi": means[0],
        "nmi_sd": spread[0],
        "ari": means[1],
        "cpu_generate": means[2],
        "cpu_combine": means[3],
    }


def single(name, seeds=3):
    """NMI of single clusterers at the number of classes, the better of the columns as they are and prepared.

    Means over seeds of k-means and Leiden; the others hardly depend on one. HDBSCAN finds its own number, noise being one cluster more, and
    Leiden comes as near as it can where a graph is in more pieces than classes: `numbers` says which those are.
    """
    from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering

    X, y = read_set(name)
    k, best = len(np.unique(y)), {}
    counts = looks_like_counts(X)
    prepared = (CountScaling if counts else Standardizer).of(X).apply(X)
    forms = [Points.of(prepared).table] + ([] if counts else [Points.of(X).table])
    for Z in forms:
        kinds = {"kmeans": lambda seed, Z=Z: KMeans(k, n_init=10, random_state=seed).fit_predict(Z)}
        kinds["leiden"] = leiden_at(Z, k)
        kinds["hdbscan"] = lambda _, Z=Z: HDBSCAN(copy=True).fit_predict(Z)
        if len(y) <= PAIRS:
            kinds["agglomerative"] = lambda _, Z=Z: AgglomerativeClustering(k).fit_predict(Z)
            spectral = SpectralClustering(k, affinity="nearest_neighbors", random_state=0)
            kinds["spectral"] = lambda _, Z=Z, model=spectral: model.fit_predict(Z)
        for kind, make in kinds.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = [make(seed) for seed in range(seeds if kind in ("kmeans", "leiden") else 1)]
            found = float(np.mean([nmi(y, np.where(labels < 0, labels.max() + 1, labels)) for labels in made]))
            best[kind] = max(best.get(kind, (0.0, 0)), (found, int(made[0].max()) + 1))
    numbers = {kind: number for kind, (_, number) in best.items() if number != k}
    return {kind: value for kind, (value, _) in best.items()} | {"numbers": numbers}


def leiden_at(points, k):
    """Leiden by seed, at the resolution at which k clusters come out, or as near to k as there are."""
    graph = igraph_of(connectivities(*nearest_neighbors(points, NEIGHBORS)))

    def make(seed):
        low, high, best = SPAN[0], SPAN[1], None
        for _ in range(HALVINGS):
            middle = float(np.sqrt(low * high))
            labels = leiden(graph, middle, seed)
            number = labels.max() + 1
            best = labels if best is None or abs(number - k) < abs(best.max() + 1 - k) else best
            if number == k:
                break
            low, high = (middle, high) if number < k else (low, middle)
        return best

    return make


def large(n=1_000_000, d=20, clusters=30, m=20):
    """Time and memory of landmark clusterings of many objects and their consensus."""
    rng = np.random.default_rng(0)
    centers, known = rng.normal(scale=3, size=(clusters, d)), rng.integers(clusters, size=n)
    X = centers[known] + rng.normal(size=(n, d))
    begin = time.perf_counter()
    made = cs.generate(X, m, (20, 60), "landmarks", n_jobs=2)
    middle = time.perf_counter()
    found = cs.combine(made, clusters, random_state=0, n_jobs=2)
    end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {
        "wall_generate": middle - begin,
        "wall_combine": end - middle,
        "gigabytes": peak / 2**20,
        "ari": adjusted_rand(known, found.labels),
    }


def bases_pendigits():
    if not (folder() / "pendigits.npz").exists():
        return {"skipped": f"no data at {folder()}: set CONSILIENCE_DATA"}
    found = quality("pendigits", 2)
    seconds = found["cpu_generate"] + found["cpu_combine"]
    return {**rounded(found), "bars": {"nmi": 0.85, "cpu": 20}, "ok": found["nmi"] >= 0.85 and seconds <= 20}


CASES = [bases_pendigits]


def rounded(found):
    return {name: round(float(value), 3) if isinstance(value, float) else value for name, value in found.items()}


def main():
    parser = argparse.ArgumentParser(prog="benchmarks.bases", description=__doc__.splitlines()[0])
    parser.add_argument("study", choices=("quality", "single", "large"))
    parser.add_argument(
        "--sets", help="names, with commas between; by default those the recipes were chosen and confirmed on"
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("-m", type=int, help="clusterings; by default 30, of a million objects 20")
    parser.add_argument("--data", help="folder of the data; by default CONSILIENCE_DATA")
    options = parser.parse_args()
    if options.data:
        os.environ["CONSILIENCE_DATA"] = options.data
    if options.study == "large":
        print(json.dumps(rounded(large(m=options.m or 20))))
        return
    for name in options.sets.split(",") if options.sets else (*CHOSEN_ON, *CONFIRMED_ON):
        found = (
            quality(name, options.seeds, options.m or MEMBERS)
            if options.study == "quality"
            else single(name, options.seeds)
        )
        print(name, json.dumps(rounded(found)), flush=True)


if __name__ == "__main__":
    main()
