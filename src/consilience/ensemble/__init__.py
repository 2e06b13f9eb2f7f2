"""The ensemble: many clusterings of the same objects, and what made each of them."""

from consilience.ensemble.ensemble import Ensemble, Signatures
from consilience.ensemble.info import check_same_objects
from consilience.ensemble.results import Result

__all__ = ["Ensemble", "Result", "Signatures", "check_same_objects"]
