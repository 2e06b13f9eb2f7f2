"""Data → Ensemble: where the clusterings come from, and the experiments of the papers."""

from consilience.generation.generate import generate
from consilience.generation.scenarios import (
    feature_distributed,
    gaussians_8d5k,
    noisy_labels,
    object_distributed,
    robust_centralized,
)
from consilience.generation.som import SOM
from consilience.generation.spaces import GenerationWarning
from consilience.generation.variations import Variations, remake

__all__ = [
    "SOM",
    "GenerationWarning",
    "Variations",
    "feature_distributed",
    "gaussians_8d5k",
    "generate",
    "noisy_labels",
    "object_distributed",
    "remake",
    "robust_centralized",
]
