"""Data → Ensemble: where the clusterings come from; one file per method."""

from consilience.generation.generate import generate
from consilience.generation.guide import Guide
from consilience.generation.methods import METHODS, describe
from consilience.generation.methods.method import Method
from consilience.generation.number_blocks import NumberBlocks
from consilience.generation.predict import extend
from consilience.generation.spaces import GenerationWarning
from consilience.generation.variations import Variations, remake

__all__ = [
    "METHODS",
    "GenerationWarning",
    "Guide",
    "Method",
    "NumberBlocks",
    "Variations",
    "describe",
    "extend",
    "generate",
    "remake",
]
