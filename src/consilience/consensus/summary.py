"""The one partition of many samples, and how sure it is: what :func:`summarize` returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from consilience._check import count
from consilience._types import Array, Floats, Ints
from consilience.consensus.certain_core import CertainCore, certain_core
from consilience.consensus.credible_ball import CredibleBall, credible_ball
from consilience.consensus.distinct_rows import Problem, check_problem, label_tables, row_scores
from consilience.consensus.result import list_numbers
from consilience.ensemble import Ensemble
from consilience.results import Result

NAMES = {"vi": ("variation of information", " nats"), "binder": ("Binder's loss", "")}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Summary(Result):
    """The partition of least expected loss over samples.

    Attributes
    ----------
    labels : (n_objects,) int array
        Clusters 0 … k − 1, the largest first; −1 for objects that no sample labels.
    n_clusters : int
    expected_loss : float
        Of `labels`, the mean over the samples: nats for "vi", the share of pairs for "binder".
    loss : str
    cost : float
    cohesion : (n_objects,) float array
        How sure each object's place is: the mean, over samples, of the share of the other objects of its cluster that
        the sample has together with it. Of an object alone in its cluster, the share of samples that have it alone. NaN where no
        sample tells; 0 without a label.
    distances : (n_samples,) float array
        Of every sample from `labels`, by the loss with equal costs; NaN for a sample without labels.
    samples : Ensemble
    ids : (n_objects,) array or None
    note : str
        What limited the search, if anything did.
    call : str
        The call that made it, as Python.
    seconds : float

    Examples
    --------
    >>> import consilience as cs
    >>> found = cs.summarize([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 0]])
    >>> found.labels.tolist(), round(found.expected_loss, 3)
    ([0, 0, 1, 1], 0.275)
    """

    labels: Ints
    n_clusters: int
    expected_loss: float
    loss: str
    cost: float
    cohesion: Floats
    distances: Floats
    samples: Ensemble
    ids: Array | None = None
    note: str = ""
    call: str = ""
    seconds: float = 0.0

    @property
    def sizes(self) -> Ints:
        """Number of objects in every cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    @property
    def ensemble(self) -> Ensemble:
        """The labels as an ensemble of one clustering, which verbs on clusterings take."""
        info = {"name": ["summary"], "method": [self.loss]}
        return Ensemble.from_codes(self.labels.astype(np.int32)[:, None], ids=self.ids, info=info)

    def ball(self, level: float = 0.95) -> CredibleBall:
        """The smallest ball around the partition that holds a share of the samples, and the partitions at its bounds.

        Examples
        --------
        >>> import consilience as cs
        >>> found = cs.summarize([[0, 0, 0, 1, 1, 1]] * 8 + [[0, 0, 0, 1, 1, 2], [0, 1, 2, 3, 4, 5]])
        >>> found.ball(0.9)
        Credible ball: 90 % of the samples within 0.3183
          horizontal      3 clusters at 0.3183 (8)
          upper vertical  2 clusters at 0 (0)
          lower vertical  3 clusters at 0.3183 (8)
        """
        return credible_ball(self.samples, self.distances, level)

    def core(self, level: float = 0.95) -> CertainCore:
        """A large set of objects that at least a share of the samples parts in one and the same way, and exactly how many do.

        Examples
        --------
        >>> import consilience as cs
        >>> found = cs.summarize([[0, 0, 0, 1, 1, 1]] * 8 + [[0, 0, 0, 1, 1, 2], [0, 1, 2, 3, 4, 5]])
        >>> found.core(0.9)
        Certain core: 5 objects of 6 in 2 clusters, parted so by 90 % of the samples
        >>> found.core(0.9).labels
        array([ 0,  0,  0,  1,  1, -1])
        """
        problem = check_problem(self.samples)
        first = np.full(problem.n_rows, -1)
        known = np.flatnonzero(problem.inverse >= 0)
        first[problem.inverse[known]] = known
        return certain_core(problem, np.nan_to_num(self.cohesion[first]), self.labels[first], level, self.ids)

    def to_frame(self) -> pd.DataFrame:
        """One row per object: id (or number), cluster (−1 without one), cohesion."""
        ids = np.arange(len(self.labels)) if self.ids is None else self.ids
        return pd.DataFrame({"id": ids, "cluster": self.labels, "cohesion": self.cohesion})

    def __repr__(self) -> str:
        known = self.labels >= 0
        name, unit = NAMES[self.loss]
        ball, clusters = self.ball(), self.samples.n_clusters
        inside = clusters[ball.inside]
        cost = "" if self.cost == 1 else f", cost {self.cost:g}"
        lines = [
            f"Summary: {count(self.n_clusters, 'cluster')} of {known.sum():,} objects from {count(len(clusters), 'sample')}",
            f"sizes     {list_numbers(self.sizes)}",
            f"loss      {self.expected_loss:.4f}{unit} expected ({name}{cost})",
            f"cohesion  mean {np.nanmean(self.cohesion[known]):.3f}",
            f"ball      {100 * ball.share:.3g} % of the samples within {ball.radius:.4g}{unit}; "
            f"they have {_clusters(int(inside.min()), int(inside.max()))}",
        ]
        if not known.all():
            lines.append(f"no label  {np.count_nonzero(~known):,} objects (-1)")
        if self.note:
            lines.append(f"note      {self.note}")
        return "\n  ".join(lines)


def cohesion_of(problem: Problem, labels: Ints) -> Floats:
    """(rows,): how often the objects of every row are together with the others of their cluster; see :class:`Summary`."""
    k = int(labels.max()) + 1
    alone = np.bincount(labels, problem.weights, minlength=k)[:, None] == 1
    shares, told = [], []
    for table in label_tables(problem, labels, k):
        others = table.sum(axis=1, keepdims=True) - 1
        known = alone | (others > 0)
        share = np.where(alone, table.sum(axis=0) == 1, (table - 1) / np.maximum(others, 1))
        shares.append(np.where(known, share, 0.0))
        told.append(np.broadcast_to(known, table.shape).astype(float))
    rows = np.arange(problem.n_rows)
    total, samples = (row_scores(problem, tables)[rows, labels] for tables in (shares, told))
    return np.where(samples > 0, total / np.maximum(samples, 1), np.nan)


def _clusters(low: int, high: int) -> str:
    return count(low, "cluster") if low == high else f"{low} to {high} clusters"
