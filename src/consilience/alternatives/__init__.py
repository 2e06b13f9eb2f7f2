"""Data and a given grouping → a new one: conditional ensembles, the coordinated conditional bottleneck, sequences of both."""

from consilience.alternatives.bases import BASES
from consilience.alternatives.ccib import CCIB
from consilience.alternatives.condens import CondEns
from consilience.alternatives.contrast import Contrast, contrast
from consilience.alternatives.count_bases import CountBottleneck, MultinomialMixture
from consilience.alternatives.diagnostics import Diagnostics, diagnose, group_breakdown, quality
from consilience.alternatives.sequence import Alternatives, alternatives
from consilience.alternatives.significance import reproducibility, z_score

__all__ = [
    "BASES",
    "CCIB",
    "Alternatives",
    "CondEns",
    "Contrast",
    "CountBottleneck",
    "Diagnostics",
    "MultinomialMixture",
    "alternatives",
    "contrast",
    "diagnose",
    "group_breakdown",
    "quality",
    "reproducibility",
    "z_score",
]
