"""Data → Ensemble: where the clusterings come from."""

from consilience.generation.generate import generate
from consilience.generation.spaces import GenerationWarning
from consilience.generation.variations import Variations, remake

__all__ = ["GenerationWarning", "Variations", "generate", "remake"]
