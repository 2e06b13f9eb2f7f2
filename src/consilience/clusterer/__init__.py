"""Generation and consensus in one: clusters of data, and the clusters of new objects."""

from consilience.clusterer.drift import DriftWarning
from consilience.clusterer.estimator import EnsembleClusterer
from consilience.clusterer.new_objects import Assignment

__all__ = ["Assignment", "DriftWarning", "EnsembleClusterer"]
