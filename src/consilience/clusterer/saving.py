"""A fitted clusterer on disk: means and tables of labels, not the data and not the members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience._check import count
from consilience._types import Array, Floats, Ints
from consilience.clusterer.drift import Seen
from consilience.consensus.confidence import floating
from consilience.consensus.placement import Placement
from consilience.ensemble import Ensemble
from consilience.generation.labeler import Labeler
from consilience.results import Result
from consilience.tables import Encoder


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ClustererModel(Result):
    """What :meth:`EnsembleClusterer.save` writes: all that labels new objects, and what was found of those of the data.

    Attributes
    ----------
    parameters : dict
        Of the estimator; another clusterer (`base`) and a guide as text, since no code and no names of objects are saved with them.
    labels, confidence, support : (n_objects,) arrays
    n_clusters : int
    ids : (n_objects,) array or None
    scales : DataFrame or None
    note : str
        How the choices were made.
    doubt : str
        Why the answer is weak; empty where nothing says so.
    n_columns : int
        Of the data.
    columns : array of str or None
        Their names.
    sample : int array or None
        The objects that were clustered and combined, where not all were.
    encoder : Encoder or None
    reader : Encoder or None
        How new objects are read where the data had nothing to encode: as it was, and their missing cells filled.
    labeler : Labeler
    placement : Placement
    seen : Seen
    """

    parameters: dict[str, Any]
    labels: Ints
    confidence: Floats
    support: Floats
    n_clusters: int
    ids: Array | None
    scales: pd.DataFrame | None
    note: str
    doubt: str
    n_columns: int
    columns: Array | None
    sample: Ints | None
    encoder: Encoder | None
    reader: Encoder | None
    labeler: Labeler
    placement: Placement
    seen: Seen

    @property
    def ensemble(self) -> Ensemble:
        """The labels as an ensemble of one clustering, which verbs on clusterings take."""
        return Ensemble.from_codes(self.labels.astype(np.int32)[:, None], ids=self.ids, info={"name": ["clusters"]})

    @property
    def floating(self) -> Ints:
        """Numbers of the objects that float, the weakest support first."""
        return floating(self.labels, self.support)

    def to_frame(self) -> pd.DataFrame:
        """One row per object of the data: id (or number), cluster (−1 without one), confidence and support."""
        ids = np.arange(len(self.labels)) if self.ids is None else self.ids
        return pd.DataFrame({"id": ids, "cluster": self.labels, "confidence": self.confidence, "support": self.support})

    def __repr__(self) -> str:
        return f"ClustererModel: {count(self.n_clusters, 'cluster')} of {count(len(self.labels), 'object')}"
