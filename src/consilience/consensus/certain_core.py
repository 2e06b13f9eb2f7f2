"""The certain core of samples of a partition: a large set of objects that a given share of the samples parts in one and the same way.

The largest such set is hard to find (the samples to set aside and the objects to keep depend on one another), so it is grown from
several objects, in the manner of `chips` in the R package salso: at every step the object, in a cluster of the core or a new one, that
adds most objects for the samples that it contradicts. Its probability is exact: the samples that part the core so are counted. A sample
without a label for an object of the core does not count among them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from consilience._check import check_share, count
from consilience._types import Array, Floats, Ints, Labels
from consilience.consensus.distinct_rows import Problem
from consilience.consensus.estimator import by_size
from consilience.results import Result

FEW = 64  # rows up to which every one is tried as the first
SEEDS = 8  # tried otherwise
CANDIDATES = 64  # rows weighed against one another in every step


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CertainCore(Result):
    """Objects whose partition is sure.

    Attributes
    ----------
    labels : (n_objects,) int array
        Clusters 0 … k − 1 of the core, the largest first; −1 for objects that are not in it.
    probability : float
        The share of the samples that part the core's objects exactly so.
    level : float
        The least probability asked for.
    ids : (n_objects,) array or None

    Examples
    --------
    >>> import consilience as cs
    >>> core = cs.summarize([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 0]]).core(0.9)
    >>> core.labels.tolist(), core.probability
    ([0, 0, 1, -1], 1.0)
    """

    labels: Ints
    probability: float
    level: float
    ids: Array | None = None

    @property
    def objects(self) -> Ints:
        """Positions of the objects in the core."""
        return np.flatnonzero(self.labels >= 0)

    @property
    def n_clusters(self) -> int:
        """Number of its clusters."""
        return int(self.labels.max(initial=-1)) + 1

    def to_frame(self) -> pd.DataFrame:
        """One row per object of the core: id (or number) and cluster."""
        ids = np.arange(len(self.labels)) if self.ids is None else self.ids
        return pd.DataFrame({"id": ids[self.objects], "cluster": self.labels[self.objects]})

    def __repr__(self) -> str:
        size, sure = len(self.objects), 100 * self.probability
        if not size:
            return f"Certain core: no object is in {100 * self.level:.3g} % of the samples"
        share = f"{count(size, 'object')} of {len(self.labels):,} in {count(self.n_clusters, 'cluster')}"
        return f"Certain core: {share}, parted so by {sure:.3g} % of the samples"


def certain_core(problem: Problem, cohesion: Floats, labels: NDArray, level: float, ids: Array | None) -> CertainCore:
    """The largest core found, from the distinct rows of samples and, for every row, its cohesion and its cluster in the summary."""
    check_share("level", level)
    columns = problem.hyperedges()[0]
    need = max(1, int(np.ceil(level * problem.n_clusterings - 1e-9)))
    best = np.full(problem.n_rows, -1), 0
    for seed in _seeds(problem, cohesion, labels):
        found = _grow(columns, problem.weights, int(seed), need, cohesion)
        weights = [problem.weights[core >= 0].sum() for core, _ in (found, best)]
        if (weights[0], found[1]) > (weights[1], best[1]):
            best = found
    core, agreeing = best
    if agreeing:
        k = int(core.max()) + 1
        some = core >= 0
        place = np.argsort(by_size(core[some], problem.weights[some], k, problem.first[some]))
        core = np.where(core >= 0, place[core], -1)
    return CertainCore(
        labels=problem.to_objects(core.astype(np.int64), -1),
        probability=agreeing / problem.n_clusterings,
        level=level,
        ids=ids,
    )


def _seeds(problem: Problem, cohesion: Floats, labels: NDArray) -> Ints:
    """Rows to begin at: all if they are few; otherwise the heaviest, and the most cohesive of each of the largest clusters."""
    if problem.n_rows <= FEW:
        return np.arange(problem.n_rows)
    order = np.lexsort((-problem.weights, -cohesion))
    first = order[np.unique(labels[order], return_index=True)[1]]
    sizes = np.bincount(labels, problem.weights)
    first = first[np.argsort(-sizes[labels[first]], kind="stable")][: SEEDS - 1]
    return np.unique(np.append(first, problem.weights.argmax()))


def _grow(columns: Labels, weights: Floats, seed: int, need: int, cohesion: Floats) -> tuple[Ints, int]:
    """The cluster of every row in the core that grows from one (−1: not in it), and the number of samples that agree on it."""
    nothing = np.full(len(columns), -1)
    left = columns[:, columns[seed] >= 0]  # the samples that agree with all of the core
    if left.shape[1] < need:
        return nothing, 0
    owner = np.full(
        int(columns.max()) + 2, -1
    )  # the core's cluster that every column stands for: −1 none; the last place is of no label
    owner[-1] = -2
    owner[left[seed]], k = 0, 1
    while True:
        there = owner[left]
        core = np.where((there == there[:, :1]).all(axis=1) & (there[:, 0] >= 0), there[:, 0], -1)
        rest = np.flatnonzero(core < 0)
        places = np.arange(len(rest))[:, None] * (k + 2) + there[rest] + 2
        votes = np.bincount(places.ravel(), minlength=len(rest) * (k + 2)).reshape(len(rest), k + 2)[:, 1:]
        option = votes[:, ::-1].argmax(axis=1)  # on ties an old cluster rather than a new one
        option = votes.shape[1] - 1 - option - 1  # −1: a new cluster
        against = left.shape[1] - votes.max(axis=1)
        near = against <= left.shape[1] - need
        if not near.any():
            return core, left.shape[1]
        rest, option, against = rest[near], option[near], against[near]
        row, cluster = _next(left, there[rest], weights, rest, option, against, cohesion)
        left = left[:, there[row] == cluster]
        if cluster < 0:
            cluster, k = k, k + 1
        owner[left[row]] = cluster


def _next(
    left: Labels, there: Ints, weights: Floats, rest: Ints, option: Ints, against: Ints, cohesion: Floats
) -> tuple[int, int]:
    """The row that adds most objects for the samples it contradicts, and its cluster."""
    some = np.lexsort((-cohesion[rest], -weights[rest], against))[:CANDIDATES]
    contradicts = (there != option[:, None]).astype(np.float32)
    joins = (contradicts @ contradicts[some].T >= against[:, None] - 0.5) & (option >= 0)[:, None]
    gain = weights[rest] @ joins
    for c in np.flatnonzero(option[some] < 0):  # a new cluster brings the rows that are always with it
        with_it = left[rest][:, contradicts[some[c]] == 0]
        gain[c] = weights[rest][(with_it == with_it[some[c]]).all(axis=1)].sum()
    score = gain / np.where(against[some] > 0, against[some], 1e-9)
    best = some[int(score.argmax())]
    return int(rest[best]), int(option[best])
