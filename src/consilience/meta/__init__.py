"""A clustering of clusterings: which of many are alike, and what each kind says."""

from consilience.meta.maps import Map
from consilience.meta.meta_clustering import MetaClustering
from consilience.meta.null import Null
from consilience.meta.organize import organize
from consilience.meta.scores import score

__all__ = ["Map", "MetaClustering", "Null", "organize", "score"]
