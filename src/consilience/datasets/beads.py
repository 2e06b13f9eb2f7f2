"""Beads with a shape and a color: a bundled table with two right answers, and clusterings of it."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd

from consilience._check import check_seed
from consilience._run.random import stream
from consilience._types import RandomState
from consilience.ensemble import Ensemble
from consilience.tables import Table, read_table

SHAPES = {"ball": (8.0, 8.0, 0.95, 2.6), "disc": (11.0, 3.0, 0.55, 1.4), "tube": (5.0, 12.0, 0.35, 1.9)}
COLORS = {"amber": (200, 140, 40, 6.5), "blue": (50, 80, 190, 4), "green": (60, 170, 80, 5.5), "red": (190, 50, 60, 3)}


def sample_path(name: str) -> Path:
    """Path of a bundled file: "beads.csv" or "beads_labels.csv".

    Examples
    --------
    >>> from consilience.datasets import sample_path
    >>> sample_path("beads.csv").name
    'beads.csv'
    """
    return Path(str(files("consilience.datasets") / "data" / name))


def load_beads() -> Table:
    """300 glass beads, four measures of form and four of color; known labels `shape` and `color`.

    The two groupings are independent: a table with more than one right answer. :func:`make_beads` draws more of the same kind.

    Examples
    --------
    >>> from consilience.datasets import load_beads
    >>> load_beads()
    Table('beads.csv', data, 300 objects × 8 columns, dense, with ids, labels shape, color)
    """
    return read_table(sample_path("beads.csv"), kind="data", id_column="bead", known=["shape", "color"])


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
    table = read_table(sample_path("beads_labels.csv"), kind="labels", id_column="bead", known=["shape", "color"])
    return Ensemble(table)


def make_beads(n_objects: int = 300, *, random_state: RandomState = 0) -> pd.DataFrame:
    """Draw beads: every bead has one of three shapes and, independently, one of four colors, plus Gaussian noise.

    Examples
    --------
    >>> from consilience.datasets import make_beads
    >>> make_beads(2)[["bead", "shape", "color"]].columns.tolist()
    ['bead', 'shape', 'color']
    """
    rng = stream(check_seed(random_state), "datasets.beads")
    shape, color = rng.choice(list(SHAPES), n_objects), rng.choice(list(COLORS), n_objects)
    form = np.array([SHAPES[s] for s in shape]) + rng.normal(0, (1.9, 2.1, 0.14, 0.45), (n_objects, 4))
    hue = np.array([COLORS[c] for c in color]) + rng.normal(0, (42, 42, 42, 1.1), (n_objects, 4))
    beads = pd.DataFrame({"bead": [f"b{i:03d}" for i in range(1, n_objects + 1)]})
    form[:, 2] = np.clip(form[:, 2], 0.05, 1.0)
    for column, name in zip(form.T, ("width_mm", "length_mm", "roundness", "weight_g"), strict=True):
        beads[name] = np.round(column, 2)
    for column, name in zip(hue.T, ("red", "green", "blue", "gloss"), strict=True):
        beads[name] = np.round(np.clip(column, 0, 255), 1)
    return beads.assign(shape=shape, color=color)
