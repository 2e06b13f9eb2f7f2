"""Bundled samples, synthetic data with more than one right answer, and ensembles made to a known truth."""

from consilience.datasets.beads import load_beads, load_beads_labels, make_beads, sample_path
from consilience.datasets.planted import customers, orthogonal_multinomials
from consilience.datasets.scenarios import (
    feature_distributed,
    gaussians_8d5k,
    noisy_labels,
    object_distributed,
)

__all__ = [
    "customers",
    "feature_distributed",
    "gaussians_8d5k",
    "load_beads",
    "load_beads_labels",
    "make_beads",
    "noisy_labels",
    "object_distributed",
    "orthogonal_multinomials",
    "sample_path",
]
