"""The data sets of Strehl and Ghosh 2002, as near as they can be had, and the answers its experiments compare.

The slides give features, categories and clusters of four data sets, not the files. 2D2K and 8D5K are drawn anew, PENDIG is UCI's
pen-based digits (`pendigits.npz`), YAHOO the K1a labeling of the WebACE pages (`k1b.npz`, labels `y2`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from consilience._check import InputError
from consilience.consensus import METHODS, combine
from consilience.datasets.scenarios import gaussians_8d5k
from consilience.ensemble import Ensemble
from consilience.measures import anmi
from consilience.tables import read_table

Drawn = tuple[Any, NDArray[Any]]
SUPRA = ("cspa", "hgpa", "mcla")  # the slides' three
TERMS = 2903  # of YAHOO in the slides' table
APART = (3.2, 2.6)  # 2D2K: distance of the means in standard deviations, from the slides' NMI (see `gaussians_2d2k`)


class CosineKMeans(KMeans):
    """K-means on rows of length 1, so that nearest means most similar by the cosine; empty rows stay at the origin."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Scale the rows, then cluster them."""
        return super().fit(normalize(X), sample_weight=sample_weight)


@dataclass(frozen=True)
class DataSet:
    """A data set of the slides.

    Attributes
    ----------
    name : str
    n_clusters : int
        The slides' input parameter.
    draw : callable
        ``draw(seed, n_objects)`` gives data and categories; None objects for all there are.
    views : (int, int)
        How many views there are in the feature-distributed experiment, and of how many features.
    base : scikit-learn clusterer
    """

    name: str
    n_clusters: int
    draw: Callable[[int, int | None], Drawn]
    views: tuple[int, int]
    base: Any

    def key(self, n_objects: int | None) -> dict[str, Any]:
        """What names a cell with so many objects of this set."""
        return {"data": self.name, "n_objects": n_objects, "n_clusters": self.n_clusters}

    def cluster(self, X: Any, seed: int) -> NDArray[Any]:
        """The base clusterer on all features."""
        model = type(self.base)(self.n_clusters, n_init=self.base.n_init, random_state=seed)
        return np.asarray(model.fit_predict(X))


def gaussians_2d2k(seed: int, n_objects: int | None = None) -> Drawn:
    """Two round Gaussian clusters of equal size, as far apart as the slides' NMI say.

    Two such clusters cut half way have NMI 1 − H(e), where e = Φ(−d/2) is the share on the wrong side and d the distance in
    standard deviations. The slides' .689 and .547 on the single features give d = 3.2 and 2.6, which together (4.1) predict
    .86 on both; they report .85.
    """
    n = n_objects or 1000
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % 2)
    return rng.normal(size=(n, 2)) + truth[:, None] * np.array(APART), truth


def _gaussians_8d5k(seed: int, n_objects: int | None = None) -> Drawn:
    return _shuffled(gaussians_8d5k(n_objects or 1000, random_state=seed), seed)


def data_sets(folder: Path | None) -> dict[str, DataSet]:
    """The slides' data sets by name; those from files only where there is a folder of them."""
    kmeans = KMeans(n_init=10)
    found = [
        DataSet("2D2K-like", 2, gaussians_2d2k, (3, 1), kmeans),
        DataSet("8D5K-like", 5, _gaussians_8d5k, (5, 2), kmeans),
    ]
    if folder is not None:
        found.append(DataSet("PENDIG", 10, _sampler(read_pendigits(folder)), (10, 4), kmeans))
        found.append(DataSet("YAHOO", 40, _sampler(read_yahoo(folder)), (20, 128), CosineKMeans(n_init=3)))
    return {data.name: data for data in found}


def read_pendigits(folder: Path) -> Drawn:
    """10,992 pen-written digits, 16 features from 0 to 100."""
    table = read_table(data_file(folder, "pendigits.npz"), kind="data", key="X", known="y")
    return table.values, _codes(table.labels, "y")


def read_yahoo(folder: Path) -> Drawn:
    """2,340 pages in 20 categories: tf-idf (1 + log of the count) of the 2,903 terms that occur in most pages."""
    table = read_table(data_file(folder, "k1b.npz"), kind="counts", known="y2")
    pages = np.bincount(table.values.indices, minlength=table.values.shape[1])
    terms = np.sort(np.argsort(-pages, kind="stable")[:TERMS])
    counts = table.values[:, terms].astype(float)
    return TfidfTransformer(sublinear_tf=True).fit_transform(counts), _codes(table.labels, "y2")


def data_file(folder: Path, name: str) -> Path:
    """The path of a file in the folder of data sets, or one sentence if it is not there."""
    if not (folder / name).is_file():
        raise InputError(
            f"{folder} has no {name}: give the folder that holds it, or leave out --data for drawn data only"
        )
    return folder / name


def _codes(labels: Any, column: str) -> NDArray[Any]:
    return np.unique(labels[column].to_numpy(), return_inverse=True)[1]


def _sampler(data: Drawn) -> Callable[[int, int | None], Drawn]:
    """Random samples of a data set without replacement."""
    return lambda seed, n_objects: _shuffled(data, seed, n_objects)


def _shuffled(data: Drawn, seed: int, n_objects: int | None = None) -> Drawn:
    """The objects, or so many of them, in random order: sorted by category, their order would break ties the right way."""
    X, truth = data
    rows = np.random.default_rng([seed, 1]).permutation(len(truth))[:n_objects]
    return X[rows], truth[rows]


def answers(ensemble: Ensemble, n_clusters: int, methods: Any, seed: int) -> dict[str, NDArray[Any]]:
    """Labels of the consensus by each of the methods, which may include "auto"."""
    return {m: combine(ensemble, n_clusters, m, random_state=seed, progress=False).labels for m in methods}


def supra(ensemble: Ensemble, found: dict[str, NDArray[Any]]) -> str:
    """Which of CSPA, HGPA and MCLA has the highest ANMI."""
    return max(SUPRA, key=lambda method: anmi(ensemble, found[method]))


def title(method: str) -> str:
    """A method's name as people write it."""
    shown = {"vote": "vote", "quadratic": "quadratic", "information": "information", "evidence": "evidence"}
    shown |= {"walk": "walk", "dawid_skene": "Dawid–Skene"}
    shown |= {"mixture": "mixture", "greedy": "greedy ANMI", "anmi": "ANMI search", "supra": "best ANMI of three"}
    return shown.get(method, method.upper() if method in METHODS else method)
