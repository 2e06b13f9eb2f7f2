"""Data and a known grouping → a new one: conditional ensembles, the coordinated conditional bottleneck, sequences of both."""

from consilience.alternatives.bases import BASES, fit_base
from consilience.alternatives.bottleneck import CountBottleneck
from consilience.alternatives.ccib import CCIB
from consilience.alternatives.condens import CondEns
from consilience.alternatives.contrast import Contrast, contrast
from consilience.alternatives.diagnostics import Diagnostics, diagnose, quality, walk_through
from consilience.alternatives.extend_labels import extend
from consilience.alternatives.given import check_given, groups_of
from consilience.alternatives.multinomial import MultinomialMixture
from consilience.alternatives.sequence import Alternatives, alternatives
from consilience.alternatives.significance import reproducibility, surprise
from consilience.alternatives.splits import cluster_groups

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
    "check_given",
    "cluster_groups",
    "contrast",
    "diagnose",
    "extend",
    "fit_base",
    "groups_of",
    "quality",
    "reproducibility",
    "surprise",
    "walk_through",
]
