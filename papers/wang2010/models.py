"""Wang et al. 2010 on data: every method on the same base clusterings, fitted to three quarters of the objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience.consensus import BCE, NBCE, MixtureModel, combine
from consilience.ensemble import Ensemble
from consilience.measures import adjusted_rand, f1, nmi
from papers.cells import Cells
from papers.wang2010.data import DataSet, hold_out, printed_f1

GRAPHS = ("cspa", "hgpa", "mcla")
PRIORS = ("tsb", "fsd")
INFERENCES = ("gibbs", "cvb2", "cvb", "vb")
NBCES: dict[str, dict[str, Any]] = {
    f"nbce {inference} {prior}": {"prior": prior, "inference": inference}
    for inference in INFERENCES
    for prior in PRIORS
}
MOVES = {  # not the paper's: split–merge moves after every sweep, so that chains mix
    f"nbce moves {prior}": {"prior": prior, "inference": "gibbs", "n_moves": None} for prior in PRIORS
}
PAPER: dict[str, Any] = {
    "power": 1.0,
    "n_moves": 0,
}  # its model takes clusterings as independent, its sampler moves single objects
NBCE_MAIN = "nbce gibbs tsb"  # the paper compares Gibbs sampling with other methods, and does not say with which prior
MEASURES = ("f1", "f1_clusters", "f1_printed", "nmi", "adjusted_rand", "clusters", "singletons", "train", "test")


def run_models(
    sets: list[DataSet],
    n_seeds: int,
    *,
    n_variational: int,
    n_objects: int | None = None,
    cells: Cells | None = None,
    **options: Any,
) -> pd.DataFrame:
    """One row per data set, seed and method, with `MEASURES` (missing where a method has none).

    Variational NBCE only with the first `n_variational` seeds; `options` go to NBCE.
    """
    threads = {"n_jobs": options.pop("n_jobs", None)}
    tasks = [
        (
            {"data": one.name, "n_objects": n_objects, "variational": seed < n_variational, "seed": seed, **options},
            (one, threads),
        )
        for one in sets
        for seed in range(n_seeds)
    ]
    return (cells or Cells()).run("data sets", _one_set, tasks)["rows"]


def _one_set(
    source: DataSet,
    threads: dict[str, Any],
    data: str,
    n_objects: int | None,
    variational: bool,
    seed: int,
    **options: Any,
) -> list[dict[str, Any]]:
    ensemble, classes = source.draw(seed, n_objects)
    old, new = hold_out(ensemble.n_objects, seed)
    nbces = {name: how for name, how in NBCES.items() if how["inference"] == "gibbs" or variational}
    nbces |= MOVES if variational else {}
    found = _one_run(ensemble[old], ensemble[new], classes[old], source.n_classes, seed, nbces, threads | options)
    where = {"seed": seed, "data": data, "objects": len(classes)}
    return [{**where, "method": method, **measured} for method, measured in found.items()]


def _one_run(
    train: Ensemble,
    test: Ensemble,
    truth: NDArray[Any],
    k: int,
    seed: int,
    nbces: dict[str, dict[str, Any]],
    options: dict[str, Any],
) -> dict[str, dict[str, float]]:
    base = pd.DataFrame([_quality(truth, column) for column in train.labels.T])
    found = {"k-means max": base.max().to_dict(), "k-means mean": base.mean().to_dict()}
    for method in GRAPHS:
        found[method] = _quality(truth, combine(train, k, method, random_state=seed, progress=False).labels)
    models: dict[str, Any] = {"mixture": MixtureModel(k, random_state=seed), "bce": BCE(k, random_state=seed)}
    for name, how in nbces.items():
        models[name] = NBCE(random_state=seed, **PAPER | options | how)
    for name, model in models.items():
        found[name] = _judge(model.fit(train), truth, train, test)
    several = int(found[NBCE_MAIN]["clusters"])
    if 2 <= several <= len(train.signatures()):
        found["mixture, k of nbce"] = _judge(MixtureModel(several, random_state=seed).fit(train), truth, train, test)
    found["nbce merged"] = _quality(truth, NBCE(k, random_state=seed, **PAPER | options).fit(train).labels_)
    likely = MixtureModel(k, smoothing=0, random_state=seed).fit(train)
    found["mixture"]["impossible"] = float(np.isinf(likely.perplexity(test)))
    return found


def _judge(model: Any, truth: NDArray[Any], train: Ensemble, test: Ensemble) -> dict[str, float]:
    found = _quality(truth, model.labels_) | {"train": model.perplexity(train), "test": model.perplexity(test)}
    if hasattr(model, "n_singletons_"):  # of the samples: the answer, made from all of them, has hardly any
        found["singletons"] = float(np.mean(model.n_singletons_) / len(truth))
        found["r_hat"] = float(model.convergence_.at["log_joint", "r_hat"])
    return found


def _quality(truth: NDArray[Any], labels: NDArray[Any]) -> dict[str, float]:
    sizes = np.bincount(labels)
    return {
        "f1": f1(truth, labels),
        "f1_clusters": f1(truth, labels, average="clusters"),
        "f1_printed": printed_f1(truth, labels),
        "nmi": nmi(truth, labels),
        "adjusted_rand": adjusted_rand(truth, labels),
        "clusters": float(np.count_nonzero(sizes)),
        "singletons": float(np.count_nonzero(sizes == 1) / len(labels)),
    }
