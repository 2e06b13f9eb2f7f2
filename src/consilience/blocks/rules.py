"""Small tables that say of any row of labels where it belongs, and how surely: what a block needs to know of a consensus."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from consilience import _kernels
from consilience._types import Array, Floats, Ints, Labels
from consilience.blocks.distinct_rows import Coded, look_up_codes
from consilience.consensus.rows.problem import sum_over_labels
from consilience.consensus.trust.confidence import posterior_of
from consilience.engine.annealing import soft_rows


class Ruling(Protocol):
    """What blocks ask of a rule; `offsets` (r + 1,) say where each clustering's labels begin."""

    @property
    def offsets(self) -> Ints:
        """Where each clustering's labels begin."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of labels and of clusters."""

    def labels(self, rows: Labels) -> Ints:
        """(n,) clusters; −1 of rows without labels."""

    def keep(self, clusters: Ints) -> Any:
        """Only these clusters, numbered anew."""


@dataclass(frozen=True, eq=False)
class Rule:
    """A row joins the cluster of its highest score: the sum of a table over its labels, divided, and a start.

    Attributes
    ----------
    offsets : (r + 1,) int array
    table : (labels, k) array
    divide, start : (k,) arrays
    order : (k,) int array
        Clusters in the order in which ties go.
    probabilities : bool
        Whether scores are logarithms of probabilities.
    everyone : bool
        Whether rows without labels have memberships, too: what the start says.
    """

    offsets: Ints
    table: Floats
    divide: Floats
    start: Floats
    order: Ints
    probabilities: bool = False
    everyone: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of labels and of clusters."""
        return self.table.shape[0], self.table.shape[1]

    def scores(self, rows: Labels) -> Floats:
        """(n, k)."""
        return np.asarray(sum_over_labels(rows, self.offsets, self.table) / self.divide + self.start)

    def labels(self, rows: Labels) -> Ints:
        """(n,) clusters; −1 of rows without labels."""
        best = self.order[self.scores(rows)[:, self.order].argmax(axis=1)]
        return np.where((rows >= 0).any(axis=1), best, -1)

    def membership(self, rows: Labels) -> Floats:
        """(n, k): shares of the scores, or the probabilities; 0 of rows without labels unless `everyone` has some."""
        scores = self.scores(rows)
        found = soft_rows(scores)[0] if self.probabilities else scores
        total = found.sum(axis=1, keepdims=True)
        found = np.divide(found, total, out=np.zeros_like(found), where=total > 0)
        return np.asarray(found if self.everyone else found * np.any(rows >= 0, axis=1, keepdims=True))

    def keep(self, clusters: Ints) -> Rule:
        """Only these clusters, numbered anew."""
        place = np.full(len(self.order), -1)
        place[clusters] = np.arange(len(clusters))
        order = place[self.order]
        return replace(
            self,
            table=np.ascontiguousarray(self.table[:, clusters]),
            divide=self.divide[clusters],
            start=self.start[clusters],
            order=order[order >= 0],
        )


@dataclass(frozen=True, eq=False)
class RuledTable:
    """What gives every object of a block its cluster, confidence and support.

    Attributes
    ----------
    rule : Ruling
        Of the answer.
    codes : list of dicts
        The code of every label.
    owners : (labels,) int32 array
        The cluster that every label speaks for.
    noise : Rule or tuple
        Where the confidence comes from: probabilities, or the tables of :func:`consilience.consensus.trust.confidence.noise_tables`.
    """

    rule: Ruling
    codes: list[dict[Any, int]]
    owners: Labels
    noise: Any

    def look_up(self, block: Coded) -> dict[str, Array]:
        """The values of the objects of a block."""
        rows = look_up_codes(block, self.codes)
        labels = self.rule.labels(rows)
        there, everyone = labels >= 0, np.arange(len(rows))
        own = np.maximum(labels, 0)
        posterior = self.posterior(rows, own)
        votes = _kernels.label_votes(np.ascontiguousarray(rows.T), self.rule.offsets, self.owners, self.rule.shape[1])
        support = votes[everyone, own] / np.maximum(votes.sum(axis=1), 1)
        confidence = np.where(there, posterior[everyone, own], 0.0)
        return {"cluster": labels.astype(np.int32), "confidence": confidence, "support": np.where(there, support, 0.0)}

    def posterior(self, rows: Labels, labels: Ints) -> Floats:
        """(n, k) probabilities of the clusters given rows, whose clusters are `labels`."""
        if isinstance(self.noise, Rule):
            return np.asarray(soft_rows(self.noise.scores(rows))[0])
        return posterior_of(rows, labels, *self.noise)


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Memberships where a method has none of its own: the probability of each cluster given the object's labels."""

    table: RuledTable

    def look_up(self, block: Coded) -> dict[str, Array]:
        """The values of the objects of a block."""
        rows = look_up_codes(block, self.table.codes)
        labels = self.table.rule.labels(rows)
        posterior = self.table.posterior(rows, np.maximum(labels, 0))
        return {"values": np.where(labels[:, None] >= 0, posterior, 0.0)}


@dataclass(frozen=True, eq=False)
class Memberships:
    """What gives every object of a block its memberships, in the method's own sense."""

    rule: Any
    codes: list[dict[Any, int]]

    def look_up(self, block: Coded) -> dict[str, Array]:
        """The values of the objects of a block."""
        return {"values": self.rule.membership(look_up_codes(block, self.codes))}
