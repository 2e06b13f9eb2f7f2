"""The data sets of Caruana et al. 2006, as near as they can be had, and what is measured of every clustering of them.

Australia, Bergmark and the crystallographers' proteins are not to be had. The beads that come with the package take part
everywhere, so that the experiments run without a folder of data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import InputError
from consilience.datasets import load_beads
from consilience.ensemble import Ensemble
from consilience.generation import generate
from consilience.meta import score

Labels = dict[str, NDArray[Any]]
LETTERS = {"a": 109, "b": 56, "c": 126, "d": 59, "f": 49, "h": 62, "j": 53}  # utterances of each, in the paper


@dataclass(frozen=True)
class DataSet:
    """A data set: ``draw(seed)`` gives the table and its auxiliary labels by name."""

    name: str
    n_clusters: int
    draw: Callable[[int], tuple[NDArray[np.float64], Labels]]
    metric: str = "euclidean"
    standardize: bool = True

    def make(self, seed: int, n: int, methods: str) -> tuple[Ensemble, pd.DataFrame]:
        """Clusterings of a sample, with what made them, their compactness and their accuracies."""
        X, known = self.draw(seed)
        made = generate(
            X,
            n,
            self.n_clusters,
            methods,
            metric=self.metric,
            standardize=self.standardize,
            random_state=seed,
            progress=False,
        )
        found = score(made, known=known, progress=False).join(made.info[["method", "alpha", "compactness"]])
        return made, found


def data_sets(folder: Path | None) -> dict[str, DataSet]:
    """By name; those from files only where there is a folder of them."""
    found = [DataSet("beads", 4, lambda seed: _beads())]
    if folder is not None:
        for name in ("vowel.npz", "covtype10k.npz", "isolet.npz", "protein_dist.npz"):
            _file(folder, name)
        found += [
            DataSet("phoneme", 15, lambda seed: read_phoneme(folder)),
            DataSet("covertype", 15, lambda seed: read_covertype(folder, seed)),
            DataSet("letters", 10, lambda seed: read_letters(folder, seed), standardize=False),
            DataSet("protein", 20, lambda seed: read_protein(folder), "precomputed"),
        ]
    return {data.name: data for data in found}


def _beads() -> tuple[NDArray[np.float64], Labels]:
    table = load_beads()
    assert table.labels is not None
    return table.values, {str(name): table.labels[name].to_numpy() for name in table.labels}


def read_phoneme(folder: Path) -> tuple[NDArray[np.float64], Labels]:
    """990 × 10, 15 speakers and 11 vowels."""
    found = _load(folder, "vowel.npz")
    return found["X"].astype(float), {"speaker": found["y2"], "vowel": found["y"]}


def read_covertype(folder: Path, seed: int) -> tuple[NDArray[np.float64], Labels]:
    """A random 1,000 rows without the columns that are constant among them, 7 cover types."""
    found = _load(folder, "covtype10k.npz")
    rows = np.random.default_rng([seed, 3]).permutation(len(found["X"]))[:1000]
    X = found["X"][rows].astype(float)
    return X[:, X.std(axis=0) > 0], {"cover": found["y"][rows]}


def read_letters(folder: Path, seed: int) -> tuple[NDArray[np.float64], Labels]:
    """Random utterances of seven spoken letters in the paper's proportions, 514 × 617, from −1 to 1."""
    found = _load(folder, "isolet.npz")
    names = np.array([str(name).lower() for name in found["y_names"]])[found["y"]]
    rng = np.random.default_rng([seed, 3])
    rows = np.concatenate([rng.permutation(np.flatnonzero(names == name))[:n] for name, n in LETTERS.items()])
    return found["X"][rows] * float(found.get("X_scale", 1)), {"letter": names[rows]}


def read_protein(folder: Path) -> tuple[NDArray[np.float64], Labels]:
    """Distances of 213 globins of four families: a stand-in for the paper's 639 proteins."""
    found = _load(folder, "protein_dist.npz")
    return found["X"].astype(float), {"family": found["y"]}


def _load(folder: Path, name: str) -> dict[str, NDArray[Any]]:
    with np.load(_file(folder, name), allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}


def _file(folder: Path, name: str) -> Path:
    if not (folder / name).is_file():
        raise InputError(
            f"{folder} has no {name}: give the folder that holds it, or leave out --data for the beads alone"
        )
    return folder / name


def percentile(found: pd.DataFrame, label: str, top: int) -> float:
    """Median share of clusterings that are more compact than each of the `top` most accurate ones."""
    best = found.nlargest(top, f"accuracy:{label}", keep="first").index
    return float(((found["compactness"].rank(method="min") - 1) / len(found))[best].median())
