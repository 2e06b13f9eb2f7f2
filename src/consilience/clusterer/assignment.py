"""Clusters of new objects: what :meth:`EnsembleClusterer.assign` returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from consilience._check import count
from consilience._types import Array, Floats, Ints
from consilience.clusterer.drift import Drift
from consilience.ensemble import Ensemble
from consilience.ensemble.results import Result


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Assignment(Result):
    """New objects and the clusters they belong to.

    Attributes
    ----------
    labels : (n_objects,) int array
        Clusters of the model; −1 where no member has a label for the object.
    confidence : (n_objects,) array
        Mean confidence of the objects of the data with as much support, divided, for objects outside what was seen, by how many times
        farther from the clusters they are than 99 % of the data; 0 without a label.
    support : (n_objects,) array
        Share of the members that agree.
    membership : (n_objects, n_clusters) array
        Probabilities of the clusters given the members' labels.
    drift : Drift
        How these objects differ from those that were clustered.
    ids : (n_objects,) array or None
    notices : tuple of str
        What was done to read the objects: missing cells filled, categories not seen before.
    """

    labels: Ints
    confidence: Floats
    support: Floats
    membership: Floats
    drift: Drift
    ids: Array | None = None
    notices: tuple[str, ...] = ()

    @property
    def n_clusters(self) -> int:
        """Of the model."""
        return int(self.membership.shape[1])

    @property
    def sizes(self) -> Ints:
        """New objects in every cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    @property
    def ensemble(self) -> Ensemble:
        """The labels as an ensemble of one clustering, which verbs on clusterings take."""
        return Ensemble.from_codes(self.labels.astype(np.int32)[:, None], ids=self.ids, info={"name": ["assigned"]})

    def describe_drift(self) -> str:
        """How these objects differ from those that were clustered, in one sentence that names those farthest off, where they are few."""
        ids = np.arange(len(self.labels)) if self.ids is None else self.ids
        return self.drift.describe(ids)

    def to_frame(self, *, membership: bool = False) -> pd.DataFrame:
        """One row per object: id (or number), cluster (−1 without one), confidence, support, whether it lies outside what was seen."""
        ids = np.arange(len(self.labels)) if self.ids is None else self.ids
        columns = {"id": ids, "cluster": self.labels, "confidence": self.confidence, "support": self.support}
        columns["outside"] = self.drift.outside
        columns |= {f"membership_{c}": share for c, share in enumerate(self.membership.T)} if membership else {}
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        there = self.labels >= 0
        mean = float(self.confidence[there].mean()) if there.any() else 0.0
        lines = [
            f"Assignment: {count(len(self.labels), 'new object')} to {count(self.n_clusters, 'cluster')}",
            f"sizes       {', '.join(f'{size:,}' for size in self.sizes)}",
            f"confidence  mean {mean:.3f}",
            f"drift       {self.describe_drift()}",
            *(f"read        {notice}" for notice in self.notices),
        ]
        return "\n  ".join(lines)
