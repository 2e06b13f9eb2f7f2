"""From a clustering of one group to a clustering of all objects, with the model's parameters fixed.

An estimator that can `predict` does; one that knows probabilities only takes the likeliest; any other one's clusters take the
objects whose nearest mean they have. The group's own objects keep the labels they got. With a :class:`Centring` every object is seen as
if its group's mean were that of the group where the model was learned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.alternatives.bases import Split
from consilience.alternatives.data import Centring, Floats, group_means

Labels = NDArray[np.int32]


def extend(X: Any, split: Split, centring: Centring | None = None) -> Labels:
    """Labels of all rows of X (−1 where the model leaves an object out).

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.alternatives import extend, fit_base
    >>> X = np.array([[0.0], [0.1], [9.0], [9.1], [0.2], [8.8]])
    >>> group = np.array([0, 1, 2, 3])
    >>> split = fit_base("kmeans", X[group], group, 2, seed=0)
    >>> extend(X, split).tolist()
    [1, 1, 0, 0, 1, 0]
    """
    centres, names = _centres(X, split, centring)
    out = np.empty(X.shape[0], np.int32)
    if centres is not None:
        out[:] = names[_nearest(X, centres, centring)]
    elif centring is None:
        out[:] = _predict(split.model, X)
    else:
        for some, part in centring.blocks(X, np.arange(X.shape[0])):
            out[some] = _predict(split.model, part)
    out[split.rows] = split.labels
    return np.where(out < 0, -1, out)


def _centres(X: Any, split: Split, centring: Centring | None) -> tuple[Floats | None, NDArray[Any]]:
    """The clusters' means and labels, where assignment goes by them; None where the model has its own way."""
    from sklearn.cluster import KMeans

    if isinstance(split.model, KMeans):
        return split.model.cluster_centers_, np.arange(len(split.model.cluster_centers_))
    if hasattr(split.model, "predict") or hasattr(split.model, "predict_proba"):
        return None, np.empty(0, int)
    known = split.labels >= 0
    names, codes = np.unique(split.labels[known], return_inverse=True)
    rows = split.rows[known]
    part = X[rows] if centring is None else centring.seen(X, rows)
    return group_means(part, codes, len(names)), names


def _predict(model: Any, X: Any) -> NDArray[Any]:
    if hasattr(model, "predict"):
        return np.asarray(model.predict(X))
    return np.asarray(model.predict_proba(X)).argmax(axis=1)


def _nearest(X: Any, centres: Floats, centring: Centring | None) -> NDArray[np.int64]:
    """argmax_c of x·μ_c − |μ_c|²/2, the nearest centre; the shift of x is taken up by the centres, so X stays sparse."""
    home = centres.mean(axis=0) if centring is None else centring.home
    moved = centres - home  # about a place among them: far from zero the squares of the centres would lose their digits
    half = (moved**2).sum(axis=1) / 2
    if centring is None:
        return np.asarray(X @ moved.T - (home @ moved.T + half)).argmax(axis=1)
    return np.asarray(X @ moved.T - (centring.means @ moved.T + half)[centring.cells]).argmax(axis=1)
