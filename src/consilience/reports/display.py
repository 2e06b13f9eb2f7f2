"""Results in a notebook: their text and a small picture, drawn by the functions that draw the report's.

The packages that make results know nothing of pictures, so IPython is told by the names of the types how to show them. Without
matplotlib there is only the text.
"""

from __future__ import annotations

import base64
import html
import io
import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLUSTERINGS, OBJECTS = 100, 2000  # of an ensemble that are compared for a picture: quick, whatever its size
DOTS = 144  # per inch: twice as many as are shown, for fine screens


def show(result: Any) -> str | None:
    """The result as HTML, None where matplotlib is not there: then a notebook shows its text."""
    if find_spec("matplotlib") is None or (figure := FIGURES[type(result).__name__](result)) is None:
        return None
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a name in a script that the font lacks is drawn as boxes
        figure.savefig(file, format="png", dpi=DOTS, facecolor="white")
    text, width = repr(result), round(DOTS / 2 * figure.get_figwidth())
    picture = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
    title = html.escape(text.partition("\n")[0], quote=True)
    return f'<pre>{html.escape(text)}</pre><img width="{width}" style="max-width: 100%" alt="{title}" src="{picture}">'


def _ensemble(ensemble: Any) -> Figure | None:
    """How alike some of the clusterings are, on some of the objects."""
    from consilience.measures import compare
    from consilience.reports.figures import agreement_figure

    if ensemble.n_clusterings < 2:
        return None
    objects, clusterings = (
        _spread(n, most) for n, most in zip(ensemble.labels.shape, (OBJECTS, CLUSTERINGS), strict=True)
    )
    figure = agreement_figure(compare(ensemble[objects, clusterings], "jaccard", progress=False))
    if (len(objects), len(clusterings)) != ensemble.labels.shape:
        figure.axes[0].set_xlabel(f"{len(clusterings):,} of the clusterings, on {len(objects):,} of the objects")
    return figure


def _spread(n: int, most: int) -> Any:
    """Places spread evenly over n, `most` at most."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))


def _meta(meta: Any) -> Figure:
    from consilience.reports.meta import tree_figure

    return tree_figure(meta)


def _consensus(consensus: Any) -> Figure | None:
    from consilience.reports.clusters import confidence_figure

    return confidence_figure(consensus.labels, consensus.confidence) if (consensus.labels >= 0).any() else None


def _agreement(agreement: Any) -> Figure | None:
    from consilience.reports.agreement import iterations_figure

    return iterations_figure(agreement.stability_by_iteration()) if agreement.after.rows.n_clusterings > 1 else None


def _contrast(contrast: Any) -> Figure:
    from consilience.reports.alternatives import contrast_figure, given_labels

    return contrast_figure(contrast, None, given_labels(contrast))


def _comparison(comparison: Any) -> Figure:
    from consilience.reports.figures import agreement_figure

    return agreement_figure(comparison)


def _stability(stability: Any) -> Figure | None:
    from consilience.reports.figures import stability_figure

    return stability_figure(stability) if stability.n_pairs else None


def _map(one: Any) -> Figure:
    from consilience.reports.points import maps_figure

    return maps_figure(one)


FIGURES: dict[str, Callable[[Any], Figure | None]] = {
    "Ensemble": _ensemble,
    "MetaClustering": _meta,
    "Consensus": _consensus,
    "Agreement": _agreement,
    "Contrast": _contrast,
    "Comparison": _comparison,
    "Stability": _stability,
    "Map": _map,
}
MODULES = {
    "Ensemble": "consilience.ensemble",
    "MetaClustering": "consilience.meta.meta_clustering",
    "Consensus": "consilience.consensus.combine",
    "Agreement": "consilience.agreement.result",
    "Contrast": "consilience.alternatives.contrast",
    "Comparison": "consilience.measures.summary",
    "Stability": "consilience.measures.pairwise",
    "Map": "consilience.meta.maps",
}


def register() -> None:
    """Tell a running IPython how to show results; without one, do nothing."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return
    formatter = shell.display_formatter.formatters["text/html"]
    for name, module in MODULES.items():
        formatter.for_type_by_name(module, name, show)
