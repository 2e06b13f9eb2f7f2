"""Results in a notebook: their text and a small picture, drawn by the functions that draw the report's.

The packages that make results know nothing of pictures, so IPython is told how to show each type. Without matplotlib there is only
the text.
"""

from __future__ import annotations

import base64
import html
import io
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from consilience.agreement import Agreement
from consilience.alternatives import Contrast
from consilience.clusterer.drift import evenly
from consilience.consensus import Consensus
from consilience.ensemble import Ensemble
from consilience.measures import Comparison, Stability, compare
from consilience.meta import Map, MetaClustering
from consilience.reports.agreement import iterations_figure
from consilience.reports.comparison import comparison_figure, stability_figure
from consilience.reports.consensus import confidence_figure
from consilience.reports.contrast import contrast_figure, given_labels
from consilience.reports.figures import draw
from consilience.reports.meta import map_figure, tree_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLUSTERINGS, OBJECTS = 100, 2000  # of an ensemble that are compared for a picture: quick, whatever its size
DOTS = 144  # per inch: twice as many as are shown, for fine screens


def show(result: Any) -> str | None:
    """The result as HTML, None where matplotlib is not there: then a notebook shows its text."""
    if find_spec("matplotlib") is None or (figure := FIGURES[type(result)](result)) is None:
        return None
    file = io.BytesIO()
    draw(figure, file, "png", DOTS, facecolor="white")
    text, width = repr(result), round(DOTS / 2 * figure.get_figwidth())
    picture = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
    title = html.escape(text.partition("\n")[0], quote=True)
    return f'<pre>{html.escape(text)}</pre><img width="{width}" style="max-width: 100%" alt="{title}" src="{picture}">'


def _ensemble(ensemble: Ensemble) -> Figure | None:
    """How alike some of the clusterings are, on some of the objects."""
    if ensemble.n_clusterings < 2:
        return None
    objects, clusterings = (
        evenly(n, most) for n, most in zip(ensemble.labels.shape, (OBJECTS, CLUSTERINGS), strict=True)
    )
    figure = comparison_figure(compare(ensemble[objects, clusterings], "jaccard", progress=False))
    if (len(objects), len(clusterings)) != ensemble.labels.shape:
        figure.axes[0].set_xlabel(f"{len(clusterings):,} of the clusterings, on {len(objects):,} of the objects")
    return figure


def _agreement(found: Agreement) -> Figure | None:
    return iterations_figure(found.stability_by_iteration()) if found.after.rows.n_clusterings > 1 else None


FIGURES: dict[type, Callable[[Any], Figure | None]] = {
    Ensemble: _ensemble,
    MetaClustering: tree_figure,
    Consensus: lambda one: confidence_figure(one) if (one.labels >= 0).any() else None,
    Agreement: _agreement,
    Contrast: lambda found: contrast_figure(found, None, given_labels(found)),
    Comparison: comparison_figure,
    Stability: lambda found: stability_figure(found) if found.n_pairs else None,
    Map: map_figure,
}


def register() -> None:
    """Tell a running IPython how to show results; without one, do nothing."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return
    formatter = shell.display_formatter.formatters["text/html"]
    for kind in FIGURES:
        formatter.for_type(kind, show)
