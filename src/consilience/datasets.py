"""Bundled samples: small tables to try things on, made by the functions beside them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import check_seed
from consilience.ensemble import Ensemble
from consilience.tables import Table, read_table

SHAPES = {"ball": (8.0, 8.0, 0.95, 2.6), "disc": (11.0, 3.0, 0.55, 1.4), "tube": (5.0, 12.0, 0.35, 1.9)}
COLOURS = {
    "amber": (200, 140, 40, 6.5),
    "blue": (50, 80, 190, 4.0),
    "green": (60, 170, 80, 5.5),
    "red": (190, 50, 60, 3.0),
}


def sample_path(name: str) -> Path:
    """Path of a bundled file: "beads.csv" or "beads_labels.csv"."""
    return Path(str(files("consilience") / "data" / name))


def load_beads() -> Table:
    """300 glass beads, four measures of form and four of colour; known labels `shape` and `colour`.

    The two groupings are independent: a table with more than one right answer. Made by :func:`make_beads`.

    Examples
    --------
    >>> from consilience.datasets import load_beads
    >>> load_beads()
    Table('beads.csv', data, 300 objects × 8 columns, dense, with ids, labels shape, colour)
    """
    return read_table(sample_path("beads.csv"), kind="data", id_column="bead", label_columns=["shape", "colour"])


def load_beads_labels() -> Ensemble:
    """16 clusterings of the beads: 6 by form, 6 by colour, 4 by both; four of them leave out a tenth of the beads.

    Examples
    --------
    >>> from consilience.datasets import load_beads_labels
    >>> load_beads_labels()
    Ensemble: 16 clusterings of 300 objects
      clusters  3 to 7 (median 4)
      missing   2.5 % of the labels, in 4 clusterings
    """
    table = read_table(
        sample_path("beads_labels.csv"), kind="labels", id_column="bead", label_columns=["shape", "colour"]
    )
    return Ensemble(table)


def make_beads(n_objects: int = 300, *, random_state: Any = 7) -> pd.DataFrame:
    """Draw beads: every bead has one of three shapes and, independently, one of four colours, plus Gaussian noise."""
    rng = np.random.default_rng(check_seed(random_state))
    shape, colour = rng.choice(list(SHAPES), n_objects), rng.choice(list(COLOURS), n_objects)
    form = np.array([SHAPES[s] for s in shape]) + rng.normal(0, (1.9, 2.1, 0.14, 0.45), (n_objects, 4))
    hue = np.array([COLOURS[c] for c in colour]) + rng.normal(0, (42, 42, 42, 1.1), (n_objects, 4))
    beads = pd.DataFrame({"bead": [f"b{i:03d}" for i in range(1, n_objects + 1)]})
    form[:, 2] = np.clip(form[:, 2], 0.05, 1.0)
    for column, name in zip(form.T, ("width_mm", "length_mm", "roundness", "weight_g"), strict=True):
        beads[name] = np.round(column, 2)
    for column, name in zip(hue.T, ("red", "green", "blue", "gloss"), strict=True):
        beads[name] = np.round(np.clip(column, 0, 255), 1)
    return beads.assign(shape=shape, colour=colour)


def make_beads_labels(beads: pd.DataFrame, *, random_state: Any = 7) -> pd.DataFrame:
    """Cluster the beads 16 times by k-means on standardised columns: by form, by colour, and by both.

    The known shape and colour stand beside the clusterings, as such files often have them.
    """
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(check_seed(random_state))
    data = beads.drop(columns=["bead", "shape", "colour"])
    data = (data - data.mean()) / data.std()
    sources: dict[str, tuple[pd.DataFrame, tuple[int, ...]]] = {
        "form": (data.iloc[:, :4], (3, 3, 3, 4, 3, 3)),
        "colour": (data.iloc[:, 4:], (4, 4, 4, 5, 4, 4)),
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
    return labels.assign(shape=beads["shape"], colour=beads["colour"])
