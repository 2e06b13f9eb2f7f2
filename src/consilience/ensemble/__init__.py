"""The ensemble: many clusterings of the same objects, and what made each of them."""

from consilience.ensemble.ensemble import Ensemble
from consilience.ensemble.info import check_same_objects
from consilience.ensemble.signatures import Signatures

__all__ = ["Ensemble", "Signatures", "check_same_objects"]
