"""The members combined: at the number of clusters that was asked for, or at the one that is most to be trusted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from consilience._check import count
from consilience.consensus import Consensus, combine
from consilience.ensemble import Ensemble

AS_STABLE = 0.02  # difference of stabilities that does not count


def combine_members(
    ensemble: Ensemble, n_clusters: int | str | None, method: str, *, seed: int, n_jobs: int | None
) -> Consensus:
    """The consensus; of several numbers of clusters that are more stable than chance and as stable as any, the finest."""
    if n_clusters == 1:
        return _one_cluster(ensemble, method)
    how: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs, "progress": False}
    found = combine(ensemble, n_clusters, method, **how)
    if method == "auto" and not isinstance(n_clusters, str) and found.n_clusters < (n_clusters or 0):
        found = combine(ensemble, n_clusters, "quadratic", **how)  # whose search leaves no cluster empty
    return found if found.scales is None else _finest(found, ensemble, method, how)


def _one_cluster(ensemble: Ensemble, method: str) -> Consensus:
    known = (ensemble.labels >= 0).any(axis=1)
    full = known.astype(float)
    return Consensus(
        labels=np.where(known, 0, -1),
        confidence=full,
        support=full,
        membership=full[:, None],
        n_clusters=1,
        method=method,
        anmi=0.0,
    )


def _finest(found: Consensus, ensemble: Ensemble, method: str, how: dict[str, Any]) -> Consensus:
    """The answer at the finest of the numbers of clusters that are more than chance and as stable as any; else as it is."""
    scales = found.scales
    assert scales is not None
    real, stability = scales["real"].to_numpy(bool), scales["stability"].to_numpy()
    as_good = real & (stability >= stability[0] - AS_STABLE)  # those that are more than chance come first
    best = int(scales["n_clusters"].to_numpy()[as_good].max()) if real[0] else found.n_clusters
    if best == found.n_clusters:
        return found
    again = combine(ensemble, best, method, **how)
    kept = ("curve", "scales", "scale_labels", "scale_confidence", "splits")
    why = "the finest of the numbers that are more stable than chance, and as stable as any"
    note = f"{count(best, 'cluster')}, {why}; {again.note}"
    return replace(again, **{name: getattr(found, name) for name in kept}, note=note)
