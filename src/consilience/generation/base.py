"""Any scikit-learn clusterer in the place of k-means."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._check import InputError, check_labels, kind_of, show

CLUSTERS = ("n_clusters", "n_components")  # what estimators call it


@dataclass(frozen=True)
class Made:
    """One clustering: labels (−1 missing), or why there is none."""

    labels: NDArray[np.int32] | None
    seconds: float
    note: str | None = None


def check_base(base: Any) -> None:
    """Refuse what is no clusterer."""
    if isinstance(base, type):
        raise InputError(f"base must be a clusterer, not its class: give {base.__name__}() with its parameters")
    if not hasattr(base, "get_params") or not (hasattr(base, "fit_predict") or hasattr(base, "fit")):
        raise InputError(f"base must be a scikit-learn clusterer such as HDBSCAN(); got {kind_of(base)}")


def base_run(base: Any, table: Any, n_clusters: int, seed: int) -> Made:
    """Cluster the rows with a copy of `base`, whose number of clusters and random state are set where it has them.

    What it raises becomes a note: one clustering that fails must not take the others with it.
    """
    from sklearn.base import clone

    model = clone(base)
    known = model.get_params(deep=False)
    model.set_params(**{name: n_clusters for name in CLUSTERS if name in known})
    if "random_state" in known:
        model.set_params(random_state=seed % 2**32)
    begin = time.perf_counter()
    try:
        found = model.fit_predict(table) if hasattr(model, "fit_predict") else model.fit(table).labels_
    except Exception as error:
        return Made(None, time.perf_counter() - begin, f"{type(error).__name__}: {show(str(error), 200)}")
    seconds = time.perf_counter() - begin
    found = np.asarray(found)
    if found.shape != (table.shape[0],):
        return Made(None, seconds, f"it gave labels of shape {found.shape} for {table.shape[0]:,} objects")
    labels = check_labels(np.where(found < 0, -1, found) if found.dtype.kind == "i" else found, "what base returned")
    noise = int(np.count_nonzero(labels < 0))
    if noise == len(labels):
        return Made(None, seconds, "it called every object noise")
    return Made(labels, seconds, f"{noise} of {len(labels)} objects are noise, left without a label" if noise else None)
