"""Data and a known grouping → a new one: conditional ensembles, the coordinated conditional bottleneck, sequences of both."""

from consilience.alternatives.bases import BASES, fit_base
from consilience.alternatives.bottleneck import CountBottleneck
from consilience.alternatives.condens import CondEns, cluster_groups
from consilience.alternatives.contrast import Contrast, contrast
from consilience.alternatives.diagnostics import Diagnostics, diagnose, quality, walk_through
from consilience.alternatives.extension import extend
from consilience.alternatives.given import groups_of
from consilience.alternatives.multinomial import MultinomialMixture

__all__ = [
    "BASES",
    "CondEns",
    "Contrast",
    "CountBottleneck",
    "Diagnostics",
    "MultinomialMixture",
    "cluster_groups",
    "contrast",
    "diagnose",
    "extend",
    "fit_base",
    "groups_of",
    "quality",
    "walk_through",
]
