"""Stable components (Bekkerman et al. 2009, section 4.2): objects with the same row of labels, which every clustering keeps together."""

import numpy as np
import pandas as pd

from consilience._check import check_count
from consilience._types import EnsembleLike
from consilience.inputs import as_ensemble

SHOWN = 5  # safeguard: objects named for each component, as many as a line of a table has room for


def stable_components(ensemble: EnsembleLike, *, top: int | None = None) -> pd.DataFrame:
    """List the groups of objects that no clustering separates, largest first.

    Parameters
    ----------
    ensemble : Ensemble, or what one is made from
    top : int, optional
        Only so many of the largest.

    Returns
    -------
    DataFrame
        One row per component: `size`, `share` of all objects, `objects` (ids, or numbers, of its first five) and
        `labels` (its label in every clustering, −1 missing). Equally large ones stand in the order of their first object.
        Objects that miss the same labels and agree in the others form a component too.

    Examples
    --------
    >>> from consilience.consensus import stable_components
    >>> stable_components([[0, 0, 0, 1, 1], [0, 0, 1, 1, 1]])
       size  share objects  labels
    0     2    0.4  [0, 1]  (0, 0)
    1     2    0.4  [3, 4]  (1, 1)
    2     1    0.2     [2]  (0, 1)
    """
    ens = as_ensemble(ensemble)
    if top is not None:
        check_count("top", top)
    signatures = ens.signatures()
    order = np.argsort(-signatures.counts, kind="stable")[:top]
    members = np.argsort(signatures.inverse, kind="stable")
    begin = np.cumsum(signatures.counts) - signatures.counts
    names = members if ens.ids is None else ens.ids[members]
    sizes = signatures.counts[order]
    shown = [names[begin[i] : begin[i] + min(SHOWN, signatures.counts[i])].tolist() for i in order]
    labels = [tuple(row) for row in signatures.labels[order].tolist()]
    return pd.DataFrame({"size": sizes, "share": sizes / ens.n_objects, "objects": shown, "labels": labels})
