"""The ensemble: many clusterings of the same objects, and what made each of them."""

from consilience.ensemble.ensemble import Ensemble, Signatures
from consilience.ensemble.info import check_same_objects

__all__ = ["Ensemble", "Signatures", "check_same_objects"]
