"""Data → Ensemble: where the clusterings come from, and the experiments of the papers."""

from consilience.generation.generate import GenerationWarning, generate, remake
from consilience.generation.scenarios import (
    feature_distributed,
    gaussians_8d5k,
    noisy_labels,
    object_distributed,
    robust_centralised,
)
from consilience.generation.som import SOM

__all__ = [
    "SOM",
    "GenerationWarning",
    "feature_distributed",
    "gaussians_8d5k",
    "generate",
    "noisy_labels",
    "object_distributed",
    "remake",
    "robust_centralised",
]
