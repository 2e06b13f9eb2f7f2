"""What every consensus method works on: distinct rows of labels with weights, and the number of clusters wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._check import InputError
from consilience._types import Floats, Labels
from consilience.ensemble import Ensemble


@dataclass(frozen=True)
class Problem:
    """The distinct rows of an ensemble.

    Objects with the same row of labels are interchangeable, so methods work on rows with weights and the answer
    equals that on all objects. Objects without any label are no row: they belong to no cluster (−1, confidence 0).

    Attributes
    ----------
    labels : (n_rows, n_clusterings) int32 array
        Distinct rows, codes 0 … k_q − 1 in every column, −1 missing; no row is all missing.
    weights : (n_rows,) float array
        The number, or the summed weight, of the objects with the row. Whole sample weights count copies of an object;
        others are relative, and scaled so that an object weighs 1 on average.
    n_clusters : int
        Clusters wanted; at least 2 and at most the number of rows. 1 where all objects are alike and none were asked for.
    inverse : (n_objects,) int64 array
        Row of every object, −1 for an object without labels.
    """

    labels: Labels
    weights: Floats
    n_clusters: int
    inverse: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        """Number of distinct rows."""
        return int(self.labels.shape[0])

    @property
    def n_clusterings(self) -> int:
        """Number of clusterings."""
        return int(self.labels.shape[1])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of label codes of every clustering."""
        return self.labels.max(axis=0).astype(np.int64) + 1

    @property
    def coverage(self) -> Floats:
        """Weighted share of the objects that each clustering labels."""
        return self.weights @ (self.labels >= 0) / self.weights.sum()

    @property
    def whole(self) -> bool:
        """Whether all weights are whole numbers, so that counts are exact."""
        return bool((self.weights == np.floor(self.weights)).all())

    def spread(self, values: NDArray[Any], missing: Any) -> NDArray[Any]:
        """Values of the rows as values of the objects."""
        if self.inverse.min() >= 0:
            return values[self.inverse]
        return np.where(self.inverse.reshape(-1, *[1] * (values.ndim - 1)) >= 0, values[self.inverse], missing)

    def hyperedges(self) -> tuple[Labels, NDArray[np.int64]]:
        """Every cluster of every clustering numbered through: (n_rows, n_clusterings) numbers, −1 missing, and offsets."""
        offsets = np.concatenate([[0], np.cumsum(self.sizes)])
        return np.where(self.labels >= 0, self.labels + offsets[:-1].astype(np.int32), -1).astype(np.int32), offsets


def check_problem(labels: Any, n_clusters: int | None = None, sample_weight: Any = None) -> Problem:
    """Collapse an ensemble (or what one is made from) and check the number of clusters and the weights.

    ``n_clusters=None`` takes the median number of clusters of the clusterings, but at least 2.
    """
    ens = labels if isinstance(labels, Ensemble) else Ensemble(labels)
    signatures = ens.signatures()
    weights = _row_weights(signatures, sample_weight, ens.n_objects)
    keep = (signatures.labels >= 0).any(axis=1) & (weights > 0)
    if not keep.any():
        raise InputError("no object has a label, so there is nothing to combine")
    place = np.where(keep, np.cumsum(keep) - 1, -1)
    rows = _compact(signatures.labels[keep])
    k = int(np.median(ens.n_clusters)) if n_clusters is None else n_clusters
    k = max(k, 2) if n_clusters is None else k
    if n_clusters is None and len(rows) == 1:
        return Problem(rows, weights[keep], 1, place[signatures.inverse])  # all alike: one cluster
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 2:
        raise InputError(f"n_clusters must be a whole number of at least 2, or None; got {n_clusters!r}")
    if k > len(rows):
        raise InputError(
            f"{k} clusters cannot be told apart: the ensemble has only {len(rows)} distinct "
            f"{'row' if len(rows) == 1 else 'rows'} of labels; ask for fewer clusters"
        )
    return Problem(rows, weights[keep], int(k), place[signatures.inverse])


def _row_weights(signatures: Any, sample_weight: Any, n_objects: int) -> Floats:
    if sample_weight is None:
        return signatures.counts.astype(float)
    weights = np.asarray(sample_weight, float)
    if weights.shape != (n_objects,):
        raise InputError(f"{n_objects} objects need as many weights; got shape {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise InputError("sample weights must be finite, not negative, and not all zero")
    some = weights[weights > 0]
    if some.max() > 1e12 * some.min() or some.sum() >= 2**53:
        raise InputError(
            "sample weights differ by more than a factor of 10¹², or sum to more than 2⁵³; scale or clip them"
        )
    if (some % 1 != 0).any():
        weights = weights / some.mean()  # relative weights: an object weighs 1 on average
    return np.bincount(signatures.inverse, weights, minlength=len(signatures)).astype(float)


def _compact(rows: Labels) -> Labels:
    """Number the labels that occur 0 … k − 1, and drop clusterings without any."""
    tops = rows.max(axis=0)
    rows = rows[:, tops >= 0]
    for j, top in enumerate(tops[tops >= 0]):
        present = np.zeros(top + 2, bool)  # the last place is that of -1
        present[rows[:, j]] = True
        if not present[:-1].all():
            new = np.cumsum(present, dtype=np.int32) - np.int32(1)
            new[-1] = -1
            rows[:, j] = new[rows[:, j]]
    return np.ascontiguousarray(rows)
