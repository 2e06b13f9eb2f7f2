"""Many clusterings of the same data: compare, organise, reconcile, combine and contrast them."""

from importlib.metadata import version as _version

from consilience.agreement import agree
from consilience.alternatives import contrast
from consilience.comparison import compare, pairwise, stability
from consilience.consensus import combine
from consilience.ensemble import Ensemble
from consilience.explorer import explore
from consilience.generation import generate
from consilience.meta import organize

__version__ = _version("consilience")

__all__ = [
    "Ensemble",
    "__version__",
    "agree",
    "combine",
    "compare",
    "contrast",
    "explore",
    "generate",
    "organize",
    "pairwise",
    "stability",
]
