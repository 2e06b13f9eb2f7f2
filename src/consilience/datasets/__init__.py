"""Bundled samples, synthetic data with more than one right answer, and ensembles made to a known truth."""

from consilience.datasets.beads import load_beads, load_beads_labels, sample_path
from consilience.datasets.customers import customers
from consilience.datasets.scenarios import noisy_labels, orthogonal_multinomials

__all__ = [
    "customers",
    "load_beads",
    "load_beads_labels",
    "noisy_labels",
    "orthogonal_multinomials",
    "sample_path",
]
