"""Many clusterings of the same data: compare, organize, reconcile, combine and contrast them."""

import sys as _sys
from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from consilience._hooks import enter as _enter

if _TYPE_CHECKING:
    from consilience.agreement import agree
    from consilience.alternatives import contrast
    from consilience.clusterer import EnsembleClusterer
    from consilience.consensus import combine, summarize
    from consilience.ensemble import Ensemble
    from consilience.explorer import explore
    from consilience.generation import generate
    from consilience.measures import compare, pairwise, stability
    from consilience.meta import organize
    from consilience.reports.report import report

    __version__: str

# Names are imported when they are first asked for: the command line answers at once, and nobody pays for what is not used.
_OWNERS = {
    "Ensemble": "ensemble",
    "EnsembleClusterer": "clusterer",
    "agree": "agreement",
    "combine": "consensus",
    "compare": "measures",
    "contrast": "alternatives",
    "explore": "explorer",
    "generate": "generation",
    "organize": "meta",
    "pairwise": "measures",
    "report": "reports.report",
    "stability": "measures",
    "summarize": "consensus",
}
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
    "summarize",
]


def __getattr__(name: str) -> _Any:
    if name == "__version__":
        from importlib.metadata import version

        found: _Any = version("consilience")
    elif name in _OWNERS:
        found = getattr(_import_module(f"consilience.{_OWNERS[name]}"), name)
    elif not name.startswith("_") and _find_spec(f"consilience.{name}") is not None:
        return _import_module(f"consilience.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


# The one place where layers are tied together: `Ensemble` opens paths, results and AnnData as all verbs do, and `combine` hands
# labels in row blocks to the package that is built on it.
_enter("as_ensemble", lambda: _import_module("consilience.inputs").as_ensemble)
_enter("as_blocks", lambda: _import_module("consilience.blocks").as_blocks)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if "IPython" in _sys.modules:
    from consilience.reports.terminal import register as _register

    _register()
