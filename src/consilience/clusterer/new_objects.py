"""What a fitted clusterer says of new objects: their clusters, how sure these are, and how far the objects are from what was seen."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from consilience._check import count
from consilience._types import Array, ArrayLike, Floats, Ints, Labels
from consilience.clusterer.drift import Drift, Seen, columns_gone, evenly, gone_words, is_large, outside_words
from consilience.clusterer.input_rows import Rows
from consilience.consensus.result import Labeled
from consilience.consensus.rows.placement import Placement
from consilience.ensemble.results import Result
from consilience.generation.predict import Labeler

BLOCK = 2**16  # safeguard: objects whose labels by all members are held at a time
WATCHED = 10_000  # safeguard: new objects by which it is judged at first sight whether they are like the data


@dataclass(frozen=True, eq=False)
class NewObjects:
    labeler: Labeler
    placement: Placement
    seen: Seen

    def label(self, values: ArrayLike) -> Labels:
        # What is too far for a distance has any cluster, and lies outside.
        with np.errstate(over="ignore", invalid="ignore"):
            return self.labeler.label(values)

    def judged(self, new: Rows) -> Iterator[tuple[Ints, Floats, Floats, Floats]]:
        # Rows with gaps are labeled once for each of the similar rows that their cells may be taken from. The probabilities, the support
        # and the confidence are the means of these, the confidence being 0 where the cluster is another one.
        for begin in range(0, new.values.shape[0], BLOCK):
            rows = self.label(new.values[begin : begin + BLOCK])
            labels, shares = self.placement.places(rows)
            support = self.placement.support(rows, labels)
            confidence = self.placement.confidence(support, labels)
            some = np.flatnonzero(new.n_missing[begin : begin + BLOCK])
            if some.size:
                made = [self.label(values) for values in new.filled(begin + some)]
                places = [self.placement.places(one) for one in made]
                shares[some] = np.mean([share for _, share in places], axis=0)
                labels[some] = own = np.where(labels[some] >= 0, shares[some].argmax(axis=1), -1)
                supports = np.array([self.placement.support(one, own) for one in made])
                sure = np.array([self.placement.confidence(one, own) for one in supports])
                support[some] = supports.mean(axis=0)
                confidence[some] = np.where([place == own for place, _ in places], sure, 0.0).mean(axis=0)
            yield labels, shares, support, confidence

    def assigned(self, new: Rows) -> tuple[Ints, Floats, Floats, Floats, Floats]:
        """Clusters of rows, their probabilities, support, confidence, and how far beyond the data they are, by which it is divided."""
        labels, shares, support, confidence = (np.concatenate(part) for part in zip(*self.judged(new), strict=True))
        beyond = self.beyond(new)
        return labels, shares, support, np.where(new.are_empty, confidence, confidence / beyond), beyond

    def beyond(self, new: Rows) -> Floats:
        """(n_new,) how many times as far from the clusters as 99 % of the data; 1 for what is not farther, infinite for empty rows."""
        steps = range(0, new.values.shape[0], BLOCK)
        parts = [self.seen.beyond(self._prepared(new.values[begin : begin + BLOCK])) for begin in steps]
        return np.where(new.are_empty, np.inf, np.concatenate([*parts, np.empty(0)]))

    def drift(self, new: Rows, names: list[str] | None, beyond: Floats | None = None) -> Drift:
        far = self.beyond(new) if beyond is None else beyond
        return self.seen.drift(new.values, far > 1, names, new.unseen, new.missing)

    def warnings(self, new: Rows) -> Iterator[str]:
        """What is worth a warning before rows are labeled, judged by some of them."""
        some = evenly(new.values.shape[0], WATCHED)
        outside = self.seen.outside(self._prepared(new.values[some])) | new.are_empty[some]
        if is_large(int(outside.sum()), len(some), self.seen.expected):
            found = outside_words(float(outside.mean()), len(some), self.seen.expected)
            yield f"{found}: drift(X) says more, or cluster again"
        if gone := columns_gone(new.missing, new.values.shape[0]):
            yield f"{gone_words(gone)}: they are filled from similar rows"

    def _prepared(self, values: ArrayLike) -> ArrayLike:
        return self.labeler.preparation.apply(values)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Assignment(Labeled, Result):
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

    _clustering = "assigned"

    @property
    def n_clusters(self) -> int:
        """Of the model."""
        return int(self.membership.shape[1])

    def describe_drift(self) -> str:
        """How these objects differ from those that were clustered, in one sentence that names those farthest off, where they are few."""
        ids = np.arange(len(self.labels)) if self.ids is None else self.ids
        return self.drift.describe(ids)

    def to_frame(self, *, membership: bool = False) -> pd.DataFrame:
        """One row per object: id (or number), cluster (−1 without one), confidence, support, whether it lies outside what was seen."""
        shares = {f"membership_{c}": share for c, share in enumerate(self.membership.T)} if membership else {}
        return super().to_frame().assign(outside=self.drift.outside, **shares)

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
