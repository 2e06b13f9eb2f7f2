"""One clustering combined from many: what :func:`combine` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from consilience._check import count
from consilience._types import Array, Floats, Ints
from consilience.consensus.confidence import floating
from consilience.ensemble import Ensemble
from consilience.results import Result


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Consensus(Result):
    """One clustering combined from many.

    Attributes
    ----------
    labels : (n_objects,) int array
        Clusters 0 … k − 1, the largest first; −1 for objects that no clustering labels, or of weight 0.
    confidence : (n_objects,) float array
        Probability that each object belongs where it was put, if clusterings err independently after a discount for how
        alike they err (:mod:`consilience.consensus.confidence`); 0 without a label.
    support : (n_objects,) float array
        Share of the object's clusterings whose label for it is, by plurality, a label of its cluster; 0 without a label.
        Objects with a support of at most one half are the :func:`floaters`.
    membership : (n_objects, n_clusters) array
        How strongly each object belongs to each cluster, in the method's own sense: shares of votes ("vote"), of clusters
        ("hbgf", "mcla"), of similarity ("cspa", "evidence"), posterior probabilities ("mixture", "nbce"), proportions ("bce");
        of the others, the probabilities of which `confidence` is that of the own cluster. Rows sum to 1.
    n_clusters : int
    method : str
    anmi : float
        Average NMI with the ensemble: how much of it the answer tells. Grows with k; not a measure of truth.
    ids : (n_objects,) array or None
        The objects' names, where the ensemble has them.
    candidates : DataFrame or None
        With ``method="auto"``: every candidate and its NMI with clusterings it had not seen.
    curve : DataFrame or None
        With ``n_clusters="stable"``: agreement between answers of two halves of the clusterings, for every k.
    note : str
        How the choices were made.
    seconds : float
    estimator : the fitted estimator
        Not saved.
    """

    labels: Ints
    confidence: Floats
    support: Floats
    membership: Floats
    n_clusters: int
    method: str
    anmi: float
    ids: Array | None = None
    candidates: pd.DataFrame | None = None
    curve: pd.DataFrame | None = None
    note: str = ""
    seconds: float = 0.0
    estimator: Any = None

    _unsaved: ClassVar[tuple[str, ...]] = ("estimator",)

    @property
    def sizes(self) -> Ints:
        """Number of objects in every cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    @property
    def mean_confidence(self) -> float:
        """Of the objects that have a label."""
        return float(self.confidence[self.labels >= 0].mean())

    @property
    def mean_support(self) -> float:
        """Of the objects that have a label."""
        return float(self.support[self.labels >= 0].mean())

    @property
    def ensemble(self) -> Ensemble:
        """The labels as an ensemble of one clustering, which verbs on clusterings take."""
        info = {"name": ["consensus"], "method": [self.method]}
        return Ensemble.from_codes(self.labels.astype(np.int32)[:, None], ids=self.ids, info=info)

    @property
    def floating(self) -> Ints:
        """Numbers of the objects that float, the weakest support first; :func:`floaters` says more of them."""
        return floating(self.labels, self.support)

    def to_frame(self, *, membership: bool = False) -> pd.DataFrame:
        """One row per object: id (or number), cluster (−1 without one), confidence, support, and memberships if asked for.

        Examples
        --------
        >>> import consilience as cs
        >>> cs.combine([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]], 2).to_frame().round(2)
           id  cluster  confidence  support
        0   0        0         0.9     1.00
        1   1        0         0.8     0.67
        2   2        1         0.9     1.00
        3   3        1         0.9     1.00
        """
        ids = np.arange(len(self.labels)) if self.ids is None else self.ids
        columns = {"id": ids, "cluster": self.labels, "confidence": self.confidence, "support": self.support}
        columns |= {f"membership_{c}": share for c, share in enumerate(self.membership.T)} if membership else {}
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        known = self.labels >= 0
        floaters = count(len(self.floating), "floater")
        lines = [
            f"Consensus: {count(self.n_clusters, 'cluster')} of {known.sum():,} objects by {self.method}",
            f"sizes       {_list(self.sizes)}",
            f"confidence  mean {self.mean_confidence:.3f}",
            f"support     mean {self.mean_support:.3f}; {floaters} (at most half of the clusterings agree)",
            f"anmi        {self.anmi:.4f}",
        ]
        if not known.all():
            lines.append(f"no label    {np.count_nonzero(~known):,} objects (-1)")
        if self.note:
            lines.append(f"chosen      {self.note}")
        return "\n  ".join(lines)


def _list(sizes: Ints, most: int = 12) -> str:
    shown = ", ".join(f"{size:,}" for size in sizes[:most])
    return shown if len(sizes) <= most else f"{shown} … ({len(sizes) - most} more)"
