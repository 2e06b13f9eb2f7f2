"""From measurements: many runs of k-means, consensus of them, groupings at once, cells."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs
from sklearn.decomposition import PCA

from benchmarks.beside.task import Arrays, NoDataError, Task, ari, matched_ari, mean_ari
from benchmarks.labelings import planted

FAMILY = "From measurements"


def folder() -> Path:
    given = os.environ.get("CONSILIENCE_DATA")
    return Path(given) if given else Path(__file__).resolve().parents[4] / "shared" / "data"


def read(name: str) -> dict[str, Any]:
    file = folder() / f"{name}.npz"
    if not file.exists():
        raise NoDataError(f"no {name}.npz: set CONSILIENCE_DATA")
    with np.load(file, allow_pickle=False) as found:
        return dict(found)


def digit_runs() -> tuple[Arrays, Any]:
    X, classes = load_digits(return_X_y=True)
    return {"X": X, "k": np.array(15), "runs": np.array(50)}, classes


def blobs(n: int, runs: int) -> tuple[Arrays, Any]:
    X, known = make_blobs(n, n_features=10, centers=5, cluster_std=4.0, random_state=0)
    return {"X": X, "k": np.array(5), "runs": np.array(runs)}, known


def views() -> tuple[Arrays, Any]:
    X, known = planted(0, rotated=True)
    numbers = [len(np.unique(labels)) for labels in known.values()]
    return {"X": (X - X.mean(axis=0)) / X.std(axis=0), "numbers": np.array(numbers)}, np.column_stack(
        list(known.values())
    )


def cells(name: str) -> tuple[Arrays, Any]:
    """Logged values of the 2,000 most variable genes, 25 principal components."""
    parts = read(name)
    if "X" in parts:
        X = parts["X"].astype(float)
    else:
        X = (
            sparse.csr_matrix((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
            .toarray()
            .astype(float)
        )
    if name == "sc_worm_neuron":
        X = np.log1p(1e4 * X / X.sum(axis=1, keepdims=True))
    X = X[:, np.argsort(-X.var(axis=0))[:2000]]
    classes = parts["y"]
    return {"X": PCA(25, random_state=0).fit_transform(X), "k": np.array(len(np.unique(classes)))}, classes


def _cells(name: str, title: str, about: str) -> Task:
    peers = {("sc3s", "cells"): "consensus k-means"}
    return Task(
        f"cells_{title.replace(' ', '_')}",
        f"cells: {title}",
        about + ", 25 principal components, the number of types given",
        FAMILY,
        lambda: cells(name),
        "cells",
        peers,
        "ARI, cell types",
        ari,
    )


TASKS = [
    Task(
        "kmeans_runs",
        "50 runs of k-means",
        "digits, 1,797 × 64, 15 clusters, random starts",
        FAMILY,
        digit_runs,
        "kmeans_runs",
        {("scikit_learn", "kmeans_runs"): "a loop over KMeans"},
        "mean ARI, classes",
        mean_ari,
    ),
    Task(
        "monti",
        "resampled consensus, one k",
        "300 × 10 overlapping blobs, 5 clusters, 50 resamples of 80 %",
        FAMILY,
        lambda: blobs(300, 50),
        "monti",
        {("pyckmeans", "monti"): "CKmeans", ("consensusclustering", "monti"): "consensus matrix, average linkage"},
        "ARI, planted",
        ari,
    ),
    Task(
        "monti_every_number",
        "resampled consensus, k from 2 to 5",
        "300 × 10 overlapping blobs, 50 resamples of 80 % for every k",
        FAMILY,
        lambda: blobs(300, 50),
        "monti_every_number",
        {("ConsensusClusterPlus", "monti"): "k-means"},
        "ARI at k = 5, planted",
        ari,
    ),
    Task(
        "at_once",
        "three groupings at once",
        "600 × 18, planted groupings into 4, 3 and 2 clusters and noise, rotated at random",
        FAMILY,
        views,
        "at_once",
        {("clustpy", "nr_kmeans"): "NrKmeans, 10 starts"},
        "ARI, matched groupings",
        matched_ari,
        also={"at_once_search": "the search alone, without its tests"},
    ),
    _cells("sc_pollen", "pollen", "249 human cells, 11 types"),
    _cells("sc_worm_neuron", "worm neurons", "2,100 neurons of a worm, 10 types"),
]
