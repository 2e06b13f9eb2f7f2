"""Bundled samples, synthetic data with more than one right answer, and ensembles made to a known truth."""

from consilience.datasets.beads import load_beads, load_beads_labels, make_beads, sample_path
from consilience.datasets.planted import customers, orthogonal_multinomials
from consilience.datasets.scenarios import noisy_labels

__all__ = [
    "customers",
    "load_beads",
    "load_beads_labels",
    "make_beads",
    "noisy_labels",
    "orthogonal_multinomials",
    "sample_path",
]
