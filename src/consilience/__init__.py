"""Many clusterings of the same data: compare, organize, reconcile, combine and contrast them."""

import sys as _sys
from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from consilience.agreement import agree
from consilience.alternatives import contrast
from consilience.clusterer import EnsembleClusterer
from consilience.consensus import combine
from consilience.ensemble import Ensemble
from consilience.explorer import explore
from consilience.generation import generate
from consilience.measures import compare, pairwise, stability
from consilience.meta import organize

if _TYPE_CHECKING:
    from consilience.reports.report import report

__version__ = _version("consilience")

__all__ = [
    "Ensemble",
    "EnsembleClusterer",
    "__version__",
    "agree",
    "combine",
    "compare",
    "contrast",
    "explore",
    "generate",
    "organize",
    "pairwise",
    "report",
    "stability",
]


def __getattr__(name: str) -> _Any:
    """What writes pages is imported when it is first asked for: the rest needs nothing of it."""
    if name != "report":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from consilience.reports.report import report

    return report


if "IPython" in _sys.modules:
    from consilience.reports.display import register as _register

    _register()
