"""Data → Ensemble: where the clusterings come from; one file per family of methods."""

from consilience.generation.generate import generate
from consilience.generation.guide import Guide
from consilience.generation.methods import METHODS
from consilience.generation.methods.method import Method
from consilience.generation.number_blocks import NumberBlocks
from consilience.generation.predict import extend
from consilience.generation.variations import Variations

__all__ = ["METHODS", "Guide", "Method", "NumberBlocks", "Variations", "extend", "generate"]
