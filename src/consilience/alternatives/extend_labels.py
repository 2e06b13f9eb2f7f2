"""From a clustering of one group to a clustering of all objects, with the model's parameters fixed.

An estimator that can `predict` does; one that knows probabilities only takes the likeliest; any other one's clusters take the
objects whose nearest mean they have. The group's own objects keep the labels they got. With a :class:`Centering` every object is seen as
if its group's mean were that of the group where the model was learned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._types import Floats, Labels
from consilience.alternatives.bases import Split
from consilience.alternatives.data import Centering, group_means


def extend(X: Any, split: Split, centering: Centering | None = None) -> Labels:
    """Labels of all rows of X (−1 where the model leaves an object out).

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.alternatives.bases import fit_base
    >>> from consilience.alternatives.extend_labels import extend
    >>> X = np.array([[0.0], [0.1], [9.0], [9.1], [0.2], [8.8]])
    >>> group = np.array([0, 1, 2, 3])
    >>> split = fit_base("kmeans", X[group], group, 2, seed=0)
    >>> extend(X, split).tolist()
    [1, 1, 0, 0, 1, 0]
    """
    centers, names = _centers(X, split, centering)
    out = np.empty(X.shape[0], np.int32)
    if centers is not None:
        out[:] = names[_nearest(X, centers, centering)]
    elif centering is None:
        out[:] = _predict(split.model, X)
    else:
        for some, part in centering.blocks(X, np.arange(X.shape[0])):
            out[some] = _predict(split.model, part)
    out[split.rows] = split.labels
    return np.where(out < 0, -1, out)


def _centers(X: Any, split: Split, centering: Centering | None) -> tuple[Floats | None, NDArray[Any]]:
    """The clusters' means and labels, where assignment goes by them; None where the model has its own way."""
    from sklearn.cluster import KMeans

    if isinstance(split.model, KMeans):
        return split.model.cluster_centers_, np.arange(len(split.model.cluster_centers_))
    if hasattr(split.model, "predict") or hasattr(split.model, "predict_proba"):
        return None, np.empty(0, int)
    known = split.labels >= 0
    names, codes = np.unique(split.labels[known], return_inverse=True)
    rows = split.rows[known]
    part = X[rows] if centering is None else centering.seen(X, rows)
    return group_means(part, codes, len(names)), names


def _predict(model: Any, X: Any) -> NDArray[Any]:
    if hasattr(model, "predict"):
        return np.asarray(model.predict(X))
    return np.asarray(model.predict_proba(X)).argmax(axis=1)


def _nearest(X: Any, centers: Floats, centering: Centering | None) -> NDArray[np.int64]:
    """argmax_c of x·μ_c − |μ_c|²/2, the nearest center; the shift of x is taken up by the centers, so X stays sparse."""
    home = centers.mean(axis=0) if centering is None else centering.home
    moved = centers - home  # about a place among them: far from zero the squares of the centers would lose their digits
    half = (moved**2).sum(axis=1) / 2
    if centering is None:
        return np.asarray(X @ moved.T - (home @ moved.T + half)).argmax(axis=1)
    return np.asarray(X @ moved.T - (centering.means @ moved.T + half)[centering.cells]).argmax(axis=1)
