"""The data sets and base clusterings of Wang et al. 2010, its F1-measure, and its synthetic data with outliers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from consilience._check import InputError
from consilience.ensemble import Ensemble
from consilience.tables import read_table

SHARES = (0.5, 0.75, 1, 1.5, 2)  # numbers of clusters of the base clusterings, over the number of classes
RUNS = 2  # of k-means for each: ten base clusterings
FILES = {
    "Glass": "glass",
    "Ecoli": "ecoli",
    "ImageSegmentation": "segment",
    "ISOLET": "isolet",
    "LetterRecognition": "letter",
    "Tracedata": "trace",
    "ControlChart": "control_chart",
}
LETTERS = {"ISOLET": "ABCDEG", "LetterRecognition": "ABCDEFGHIJ"}
SAMPLE = {"LetterRecognition": 700}


@dataclass(frozen=True)
class DataSet:
    """Data and classes 0 … h − 1; `sample` objects are drawn anew with every seed, all where it is None."""

    name: str
    X: NDArray[np.float64]
    classes: NDArray[np.int64]
    sample: int | None = None

    @property
    def n_classes(self) -> int:
        """The number of classes, which the paper's parametric methods get."""
        return int(self.classes.max()) + 1

    def draw(self, seed: int, n_objects: int | None = None) -> tuple[Ensemble, NDArray[np.int64]]:
        """Base clusterings of the objects in random order, or of so many at most, and their classes."""
        rows = np.random.default_rng([seed, 1]).permutation(len(self.X))
        sizes = [size for size in (self.sample, n_objects) if size is not None]
        rows = rows[: min(sizes)] if sizes else rows
        return base_clusterings(self.X[rows], self.n_classes, seed), self.classes[rows]


def read_data_sets(folder: Path) -> list[DataSet]:
    """The paper's seven data sets, from files of one folder."""
    missing = [f"{file}.npz" for file in FILES.values() if not (folder / f"{file}.npz").is_file()]
    if missing:
        raise InputError(
            f"{folder} has no {', '.join(missing)}: give the folder that holds them, or leave out --data for drawn data only"
        )
    return [_read(folder / f"{file}.npz", name) for name, file in FILES.items()]


def _read(path: Path, name: str) -> DataSet:
    X = np.asarray(read_table(path, kind="data", key="X", known="y").values, float)
    with np.load(path, allow_pickle=False) as file:
        classes, names = file["y"], file["y_names"]
    if name in LETTERS:
        letters = names[classes]
        chosen = np.isin(letters, list(LETTERS[name]))
        X, classes = X[chosen], classes[chosen]
    return DataSet(name, X, np.unique(classes, return_inverse=True)[1], SAMPLE.get(name))


def base_clusterings(X: NDArray[Any], n_classes: int, seed: int) -> Ensemble:
    """Ten runs of k-means from random rows, with 50, 75, 100, 150 and 200 % of the number of classes, each twice."""
    numbers = [max(2, int(share * n_classes + 0.5)) for share in SHARES for _ in range(RUNS)]
    labels = []
    with threadpool_limits(1):  # so that sums, and with them the clusterings, do not depend on the number of cores
        for run, k in enumerate(numbers):
            start = int(np.random.SeedSequence([seed, run]).generate_state(1)[0])
            labels.append(KMeans(k, init="random", n_init=1, random_state=start).fit_predict(X))
    return Ensemble(labels, info={"method": ["k-means"] * len(numbers), "n_clusters": numbers})


def hold_out(n_objects: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Three quarters of the objects for fitting, one for the test."""
    order = np.random.default_rng([seed, 2]).permutation(n_objects)
    cut = n_objects - n_objects // 4
    return np.sort(order[:cut]), np.sort(order[cut:])


def printed_f1(truth: NDArray[Any], labels: NDArray[Any]) -> float:
    """The paper's formula, read with the classes as A and all sums over them: P and R have their own best clusters.

    A class's share in its best cluster, and the purest cluster's share in the class, each averaged over the classes; then their
    harmonic mean. Small pure clusters cost the first little and make the second 1, so it grows with the number of clusters.
    """
    table = np.zeros((truth.max() + 1, labels.max() + 1))
    np.add.at(table, (truth, labels), 1)
    table = table[table.sum(axis=1) > 0]
    precision = (table / table.sum(axis=1, keepdims=True)).max(axis=1).mean()
    recall = (table / np.maximum(table.sum(axis=0), 1)).max(axis=1).mean()
    return float(2 * precision * recall / (precision + recall))


@dataclass(frozen=True)
class Outliers:
    """Two round clusters and a few objects far from both; labels are noisy copies of the grouping."""

    X: NDArray[np.float64]
    groups: NDArray[np.int64]
    ensemble: Ensemble


def draw_outliers(noise: float, seed: int, *, n_objects: int = 220, n_clusterings: int = 10) -> Outliers:
    """The synthetic experiment: 10 of 11 objects in two clusters (groups 0 and 1), the others outliers (group 2).

    In every copy a share `noise` of the objects, drawn anew, has one of the other labels.
    """
    rng = np.random.default_rng([seed, round(1000 * noise)])
    n_far = n_objects // 11
    groups = np.repeat([0, 1, 2], [(n_objects - n_far + 1) // 2, (n_objects - n_far) // 2, n_far])
    centers = np.array([[-2.0, 0.0], [2.0, 0.0]])
    X = rng.normal(size=(n_objects, 2))
    X[groups < 2] += centers[groups[groups < 2]]
    angle = rng.uniform(0, 2 * np.pi, n_far)
    X[groups == 2] = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.uniform(6, 9, (n_far, 1))
    labels = np.repeat(groups[:, None], n_clusterings, axis=1)
    for q in range(n_clusterings):
        changed = rng.choice(n_objects, round(noise * n_objects), replace=False)
        labels[changed, q] = (labels[changed, q] + rng.integers(1, 3, len(changed))) % 3
    return Outliers(X, groups, Ensemble(labels))
