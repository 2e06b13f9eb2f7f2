"""A clustering of clusterings: which of many are alike, and what each kind says."""

from consilience.meta.maps import Map
from consilience.meta.meta_clustering import MetaClustering, organize
from consilience.meta.scores import Null, score

__all__ = ["Map", "MetaClustering", "Null", "organize", "score"]
