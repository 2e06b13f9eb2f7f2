"""A fitted clusterer on disk: means and tables of labels, not the data and not the members."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from consilience._check import count
from consilience._types import Array, Floats, Ints
from consilience.clusterer.distances import Places
from consilience.clusterer.drift import Seen
from consilience.consensus.result import Supported
from consilience.consensus.rows.placement import Placement
from consilience.ensemble.results import Result
from consilience.generation.kmeans import base_text
from consilience.generation.predict import Labeler
from consilience.tables import Encoder

if TYPE_CHECKING:
    from consilience.clusterer.estimator import EnsembleClusterer


# What is saved of what `fit` found, by the attributes of the estimator.
KEPT = "labels", "confidence", "support", "n_clusters", "scales", "sample", "note", "doubt", "encoder"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ClustererModel(Supported, Result):
    """What :meth:`EnsembleClusterer.save` writes: all that labels new objects, and what was found of those of the data."""

    # Of the estimator; another clusterer (`base`) and a guide as text, since no code and no names of objects are saved with them.
    parameters: dict[str, Any]
    labels: Ints
    confidence: Floats
    support: Floats
    n_clusters: int
    ids: Array | None
    scales: pd.DataFrame | None
    note: str  # how the choices were made
    doubt: str  # why the answer is weak; empty where nothing says so
    n_columns: int  # of the data
    columns: Array | None  # their names
    sample: Ints | None  # the objects that were clustered and combined, where not all were
    encoder: Encoder | None
    # How new objects are read where the data had nothing to encode: as it was, and their missing cells filled.
    reader: Encoder | None
    places: Places | None  # where distances of new objects put them, if the data were distances
    labeler: Labeler
    placement: Placement
    seen: Seen
    source: str = ""  # what was clustered: the name of its file; empty where it was no file

    def __repr__(self) -> str:
        return f"ClustererModel: {count(self.n_clusters, 'cluster')} of {count(len(self.labels), 'object')}"


def model_of(made: EnsembleClusterer) -> ClustererModel:
    given = {one.name: getattr(made, one.name) for one in fields(made)}
    given["base"] = made.base if isinstance(made.base, str) else base_text(made.base)
    if isinstance(given["base_n_clusters"], Iterable) and not isinstance(given["base_n_clusters"], tuple):
        given["base_n_clusters"] = [int(k) for k in given["base_n_clusters"]]  # of a range or an array too
    if not isinstance(made.random_state, (int, np.integer)):
        given["random_state"] = None
    given["guide"] = made._guide_words
    given["client"] = None  # a connection ends with its process
    given["options"] = None if made.options is None else dict(made.options)
    return ClustererModel(
        parameters=given,
        **{name: getattr(made, f"{name}_") for name in KEPT},
        ids=made._ids,
        n_columns=made.n_features_in_,
        columns=getattr(made, "feature_names_in_", None),
        reader=made._reader if made.encoder_ is None else None,
        places=made._places,
        **vars(made._model),
        source=made._source,
    )
