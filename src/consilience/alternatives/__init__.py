"""Data and a given grouping → a new one: conditional ensembles, the coordinated conditional bottleneck, sequences of both."""

from consilience.alternatives.ccib import CCIB
from consilience.alternatives.condens import CondEns
from consilience.alternatives.contrast import Contrast, contrast
from consilience.alternatives.count_bases import CountBottleneck, MultinomialMixture
from consilience.alternatives.diagnostics import diagnose, quality
from consilience.alternatives.reproducibility import reproducibility, z_score
from consilience.alternatives.sequence import Alternatives, alternatives

__all__ = [
    "CCIB",
    "Alternatives",
    "CondEns",
    "Contrast",
    "CountBottleneck",
    "MultinomialMixture",
    "alternatives",
    "contrast",
    "diagnose",
    "quality",
    "reproducibility",
    "z_score",
]
