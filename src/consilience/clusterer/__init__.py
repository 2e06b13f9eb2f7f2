"""Generation and consensus in one: clusters of data, and the clusters of new objects."""

from consilience.clusterer.drift import Drift, DriftWarning
from consilience.clusterer.estimator import EnsembleClusterer
from consilience.clusterer.new_objects import Assignment
from consilience.clusterer.saving import ClustererModel

__all__ = ["Assignment", "ClustererModel", "Drift", "DriftWarning", "EnsembleClusterer"]
