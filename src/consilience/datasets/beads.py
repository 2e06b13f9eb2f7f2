"""Beads with a shape and a color: a bundled table with two right answers, and clusterings of it."""

from importlib.resources import files
from pathlib import Path

from consilience.ensemble import Ensemble
from consilience.tables import Table, read_table


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

    The two groupings are independent: a table with more than one right answer.

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
