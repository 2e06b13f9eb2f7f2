"""Bundled samples, made by the functions beside them, and the papers' synthetic data with more than one right answer."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import InputError, check_choice, check_count, check_seed, is_number, show
from consilience._random import stream
from consilience.ensemble import Ensemble
from consilience.tables import Table, read_table

SHAPES = {"ball": (8.0, 8.0, 0.95, 2.6), "disc": (11.0, 3.0, 0.55, 1.4), "tube": (5.0, 12.0, 0.35, 1.9)}
COLOURS = {
    "amber": (200, 140, 40, 6.5),
    "blue": (50, 80, 190, 4.0),
    "green": (60, 170, 80, 5.5),
    "red": (190, 50, 60, 3.0),
}

READINGS = ("shear", "member")
# Probabilities of the levels of an axis; the two highest together still leave room for other events.
LOWEST, STEP, HIGHEST = 0.04, 0.11, 0.48


def sample_path(name: str) -> Path:
    """Path of a bundled file: "beads.csv" or "beads_labels.csv"."""
    return Path(str(files("consilience") / "data" / name))


def load_beads() -> Table:
    """300 glass beads, four measures of form and four of color; known labels `shape` and `color`.

    The two groupings are independent: a table with more than one right answer. Made by :func:`make_beads`.

    Examples
    --------
    >>> from consilience.datasets import load_beads
    >>> load_beads()
    Table('beads.csv', data, 300 objects × 8 columns, dense, with ids, labels shape, color)
    """
    return read_table(sample_path("beads.csv"), kind="data", id_column="bead", label_columns=["shape", "color"])


def load_beads_labels() -> Ensemble:
    """16 clusterings of the beads: 6 by form, 6 by color, 4 by both; four of them leave out a tenth of the beads.

    Examples
    --------
    >>> from consilience.datasets import load_beads_labels
    >>> load_beads_labels()
    Ensemble: 16 clusterings of 300 objects
      clusters  3 to 7 (median 4)
      missing   2.5 % of the labels, in 4 clusterings
    """
    table = read_table(
        sample_path("beads_labels.csv"), kind="labels", id_column="bead", label_columns=["shape", "color"]
    )
    return Ensemble(table)


def make_beads(n_objects: int = 300, *, random_state: Any = 7) -> pd.DataFrame:
    """Draw beads: every bead has one of three shapes and, independently, one of four colors, plus Gaussian noise."""
    rng = stream(check_seed(random_state), "datasets")
    shape, color = rng.choice(list(SHAPES), n_objects), rng.choice(list(COLOURS), n_objects)
    form = np.array([SHAPES[s] for s in shape]) + rng.normal(0, (1.9, 2.1, 0.14, 0.45), (n_objects, 4))
    hue = np.array([COLOURS[c] for c in color]) + rng.normal(0, (42, 42, 42, 1.1), (n_objects, 4))
    beads = pd.DataFrame({"bead": [f"b{i:03d}" for i in range(1, n_objects + 1)]})
    form[:, 2] = np.clip(form[:, 2], 0.05, 1.0)
    for column, name in zip(form.T, ("width_mm", "length_mm", "roundness", "weight_g"), strict=True):
        beads[name] = np.round(column, 2)
    for column, name in zip(hue.T, ("red", "green", "blue", "gloss"), strict=True):
        beads[name] = np.round(np.clip(column, 0, 255), 1)
    return beads.assign(shape=shape, color=color)


def make_beads_labels(beads: pd.DataFrame, *, random_state: Any = 7) -> pd.DataFrame:
    """Cluster the beads 16 times by k-means on standardized columns: by form, by color, and by both.

    The known shape and color stand beside the clusterings, as such files often have them.
    """
    from sklearn.cluster import KMeans

    rng = stream(check_seed(random_state), "datasets")
    data = beads.drop(columns=["bead", "shape", "color"])
    data = (data - data.mean()) / data.std()
    sources: dict[str, tuple[pd.DataFrame, tuple[int, ...]]] = {
        "form": (data.iloc[:, :4], (3, 3, 3, 4, 3, 3)),
        "color": (data.iloc[:, 4:], (4, 4, 4, 5, 4, 4)),
        "both": (data, (4, 5, 6, 7)),
    }
    labels = beads[["bead"]].copy()
    for name, (columns, ks) in sources.items():
        for i, k in enumerate(ks):
            kept = (
                np.sort(rng.permutation(len(beads))[: int(0.9 * len(beads))]) if i in (4, 5) else np.arange(len(beads))
            )
            start = columns.iloc[rng.choice(kept, k, replace=False)]
            found = KMeans(k, init=start.to_numpy(), n_init=1).fit_predict(columns.iloc[kept].to_numpy())
            labels[f"{name}{i + 1}"] = pd.Series(found, index=kept, dtype="Int64").reindex(range(len(beads)))
    return labels.assign(shape=beads["shape"], color=beads["color"])


def orthogonal_multinomials(
    n_clusters: int,
    alpha: float = 1.0,
    *,
    reading: str = "shear",
    n_objects: int | None = None,
    n_draws: int | None = None,
    random_state: Any = 0,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Draw counts with two groupings, more or less orthogonal: the synthetic data of Gondek and Hofmann 2005 (paper 002).

    An object draws `n_draws` events. How often the first one comes is the level of the given group, how often the second
    one comes that of the hidden group; the third column counts all other events.

    Parameters
    ----------
    n_clusters : int
        Groups of either grouping, k.
    alpha : float, default 1
        Orthogonality, 0 … 1: at 1 the two are independent, at 0 the given group decides everything.
    reading : {"shear", "member"}
        What `alpha` does, which the paper leaves open. "shear": the level of the second axis is α times that of the hidden
        group plus 1 − α times that of the given one; the groups stay independent. "member": the hidden group is the given one
        with probability 1 − α. At α = 1 both give the same data.
    n_objects : int, optional
        By default the paper's 50 k²; at least k², shared equally among the k² pairs of groups as far as that goes.
    n_draws : int, optional
        By default the paper's 50 k (k + 1) + 100.
    random_state : int, generator or None

    Returns
    -------
    X : (n_objects, 3) int64 array
        Every row adds up to `n_draws`.
    given, hidden : (n_objects,) int32 arrays

    Notes
    -----
    The paper prints sizes but no levels. Here group j of an axis has probability .04 + .11 j, which gives the ranges of its
    figures 1 and 3 (beyond k = 5 the levels move closer together).

    Examples
    --------
    >>> from consilience.datasets import orthogonal_multinomials
    >>> X, given, hidden = orthogonal_multinomials(2, random_state=0)
    >>> X.shape, X[0].tolist(), int(given[0]), int(hidden[0])
    ((200, 3), [18, 59, 323], 0, 1)
    """
    k = check_count("n_clusters", n_clusters, 2)
    n = check_count("n_objects", 50 * k**2 if n_objects is None else n_objects, k**2)
    m = check_count("n_draws", 50 * k * (k + 1) + 100 if n_draws is None else n_draws)
    check_choice(reading, READINGS, "reading")
    if not is_number(alpha) or not 0 <= alpha <= 1:
        raise InputError(f"alpha must be a number between 0 and 1; got {show(alpha)}")
    rng = stream(check_seed(random_state), "datasets")
    pairs = np.arange(n, dtype=np.int32) % k**2
    rest = pairs[n - n % k**2 :]
    rest[:] = rest % k * k + (rest + rest // k) % k  # along diagonals, so that all groups of both get their share
    given, hidden = np.divmod(rng.permutation(pairs), np.int32(k))
    own = rng.random(n) < alpha  # drawn in both readings, so that they agree to the last count at α = 1
    if reading == "member":
        hidden = np.where(own, hidden, given)
    mixed = alpha * hidden + (1 - alpha) * given if reading == "shear" else hidden
    levels = LOWEST + min(STEP, (HIGHEST - LOWEST) / (k - 1)) * np.column_stack([given, mixed])
    return rng.multinomial(m, np.column_stack([levels, 1 - levels.sum(axis=1)])), given, hidden
