"""One clustering from labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from benchmarks.beside.task import Arrays, Task, ari
from consilience.datasets import noisy_labels

FAMILY = "One clustering from labels"


def noisy(n: int, m: int, k: int, noise: float) -> tuple[Arrays, Any]:
    """Copies of one grouping with a share of the labels drawn anew."""
    ensemble, known = noisy_labels(n, k, m, noise, random_state=0)
    return {"labels": ensemble.labels, "k": np.array(k)}, known


def digits(m: int = 20) -> tuple[Arrays, Any]:
    """k-means of a thousand of the bundled digits, k from 2 to √n, as the pools of the literature are made."""
    X, classes = load_digits(return_X_y=True)
    some = np.random.default_rng(1).permutation(len(X))[:1000]
    X, classes = X[some], classes[some]
    numbers = np.random.default_rng(0).integers(2, int(np.sqrt(len(X))) + 1, m)
    runs = [KMeans(int(k), init="random", n_init=1, random_state=i).fit_predict(X) for i, k in enumerate(numbers)]
    return {"labels": np.column_stack(runs), "k": np.array(10)}, classes


def workers() -> tuple[Arrays, Any]:
    """Annotators of unequal reliability who share the names of the classes."""
    rng = np.random.default_rng(0)
    known = rng.integers(0, 5, 10_000)
    labels = np.repeat(known[:, None], 10, axis=1)
    for j, share in enumerate(np.linspace(0.3, 0.8, 10)):
        wrong = rng.random(len(known)) < share
        labels[wrong, j] = rng.integers(0, 5, wrong.sum())
    return {"labels": labels, "k": np.array(5)}, known


def _noisy(method: str, n: int, noise: float = 0.5) -> Task:
    return Task(
        method,
        method.upper(),
        f"{n:,} objects × 20 copies of 10 planted clusters, {100 * noise:.0f} % of the labels drawn anew",
        FAMILY,
        lambda: noisy(n, 20, 10, noise),
        method,
        {("ensembleclustering", method): method.upper()},
        "ARI, planted",
        ari,
        also=_alone(method) if method == "hgpa" else {},
    )


def _digits(name: str, title: str, peers: dict[tuple[str, str], str], also: dict[str, str] | None = None) -> Task:
    about = "1,000 digits × 20 runs of k-means, k from 2 to 31"
    return Task(name, title, about, FAMILY, digits, name, peers, "ARI, classes", ari, also=also or {})


def _alone(method: str) -> dict[str, str]:
    return {f"{method}_labels": "labels alone, without confidence"}


TASKS = [
    _digits(
        "auto",
        "`combine`, as it comes",
        {
            **{("ensembleclustering", name): name.upper() for name in ("cspa", "hgpa", "mcla", "hbgf", "nmf")},
            ("openensembles", "linkage"): "co-occurrence linkage",
            ("openensembles", "majority_vote"): "majority vote",
            ("scikit_learn", "kmeans_of_labels"): "k-means of one-hot labels",
            ("clue", "soft_euclidean"): "cl_consensus, SE",
        },
        {"walk_labels": "labels alone, without confidence and the choice of a method"},
    ),
    _noisy("mcla", 5_000),
    _noisy("hbgf", 5_000),
    _noisy("hgpa", 5_000, 0.2),
    _noisy("cspa", 1_000),
    _digits(
        "evidence",
        "evidence accumulation",
        {("scikit_learn", "linkage_of_labels"): "n × n, average linkage", ("openensembles", "linkage"): "linkage"},
        _alone("evidence"),
    ),
    _digits(
        "lwea",
        "LWEA",
        {("plain", "lwea"): "the formula", ("locally_weighted", "lwea"): "the authors' code"},
        _alone("lwea"),
    ),
    _digits(
        "lwgp",
        "LWGP",
        {("plain", "lwgp"): "the formula", ("locally_weighted", "lwgp"): "the authors' code"},
        _alone("lwgp"),
    ),
    Task(
        "quadratic",
        "squared-error consensus",
        "20,000 objects × 20 copies of 10 planted clusters, 30 % of the labels drawn anew",
        FAMILY,
        lambda: noisy(20_000, 20, 10, 0.3),
        "quadratic",
        {("scikit_learn", "kmeans_of_labels"): "k-means of one-hot labels"},
        "ARI, planted",
        ari,
    ),
    Task(
        "vote",
        "voting, least squares",
        "1,000 objects × 20 copies of 10 planted clusters, 50 % of the labels drawn anew",
        FAMILY,
        lambda: noisy(1_000, 20, 10, 0.5),
        "vote",
        {("clue", "soft_euclidean"): "cl_consensus, SE", ("clue", "hard_euclidean"): "cl_consensus, HE"},
        "ARI, planted",
        ari,
    ),
    Task(
        "dawid_skene",
        "reliability of annotators",
        "10,000 objects × 10 annotators, 5 classes, 30 to 80 % of the labels drawn anew; the peer is told the names of the classes",
        FAMILY,
        workers,
        "dawid_skene",
        {
            ("crowdkit", "dawid_skene"): "Dawid–Skene",
            ("crowdkit", "one_coin"): "one coin",
            ("crowdkit", "majority"): "majority",
        },
        "ARI, planted",
        ari,
        also=_alone("dawid_skene"),
    ),
]
