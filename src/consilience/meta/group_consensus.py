"""What a group of clusterings says together: one consensus, from a start in its middle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from consilience import _kernels
from consilience._check import check_choice
from consilience._types import Floats, Ints, Labels
from consilience.consensus import METHODS, Consensus, combine
from consilience.consensus.assessment import assess
from consilience.consensus.confidence import label_owners
from consilience.consensus.distinct_rows import check_problem
from consilience.consensus.estimator import by_size
from consilience.consensus.vote import vote_on
from consilience.ensemble import Ensemble
from consilience.meta.distances import medoid_of


def group_consensus(
    ensemble: Ensemble,
    distances: Floats,
    members: Ints,
    *,
    method: str = "vote",
    n_clusters: int | str | None = None,
    random_state: Any = 0,
    **options: Any,
) -> Consensus:
    """Combine some clusterings of an ensemble; a vote starts from the most central of them that has `n_clusters` clusters.

    That start costs nothing, so that the explorer shows the same answer at once. :func:`combine` alone tries several starts, may
    end in a slightly higher agreement, and then has other numbers.
    """
    check_choice(method, ("auto", *METHODS), "method")
    some = ensemble[:, members]
    if method == "vote" and "init" not in options and not isinstance(n_clusters, str):
        wanted = _median(some.n_clusters) if n_clusters is None else n_clusters
        fitting = members[some.n_clusters == wanted]
        options["init"] = ensemble.labels[:, medoid_of(distances, members, fitting)] if len(fitting) else "quadratic"
    return combine(some, n_clusters, method, random_state=random_state, **options)


@dataclass(frozen=True, eq=False)
class GroupVote:
    """A vote of a group's members; `confidence` and `support`, as in :class:`Consensus`, are computed when first asked for.

    Attributes
    ----------
    columns : (n_members, n_objects) int32 array
        The members' labels, −1 missing.
    labels : (n_objects,) int32 array
        Clusters by falling size; −1 for objects without labels.
    threads : int
    """

    columns: Labels
    labels: Labels
    threads: int = 1

    @cached_property
    def confidence(self) -> Floats:
        """Probability that each object belongs where it was put; 0 without labels."""
        problem = check_problem(Ensemble(self.columns.T))
        return np.asarray(problem.to_objects(assess(problem, self.labels[problem.first]).confidence, 0.0))

    @cached_property
    def support(self) -> Floats:
        """Share of the members whose label for the object is, by plurality, a label of its cluster; 0 without labels.

        In the time of one round of the vote, a fraction of that of the confidence.
        """
        k, offsets = int(self.labels.max()) + 1, np.concatenate([[0], np.cumsum(self.columns.max(axis=1) + 1)])
        tables = _kernels.label_tables(self.columns, offsets, self.labels, k, threads=self.threads)
        votes = _kernels.label_votes(self.columns, offsets, label_owners(tables), k, threads=self.threads)
        own = votes[np.arange(len(votes)), np.maximum(self.labels, 0)]
        return np.asarray(own / np.maximum(votes.sum(axis=1), 1))


def group_vote(
    columns: Labels, n_clusters: Ints, distances: Floats, members: Ints, *, threads: int = 1
) -> GroupVote | None:
    """The vote of :func:`group_consensus` in a fraction of its time, since no distinct rows are looked for.

    Parameters
    ----------
    columns : (n_members, n_objects) int32 array
        The members' labels.
    n_clusters : (n_members,) int array
        Their numbers of clusters.
    distances, members
        The tree's condensed distances, and the members' numbers there.
    threads : int

    Returns
    -------
    GroupVote, or None
        None where no member has the median number of clusters, and so none is a start.
    """
    k = _median(n_clusters)
    fitting = members[n_clusters == k]
    if not len(fitting):
        return None
    start = columns[np.searchsorted(members, medoid_of(distances, members, fitting))]
    labels, votes, _ = vote_on(columns, start, k, threads=threads)
    has = votes.any(axis=1)
    place = np.argsort(by_size(labels[has], np.ones(int(has.sum())), k))
    return GroupVote(columns, np.where(has, place[labels], -1).astype(np.int32), threads)


def _median(n_clusters: Ints) -> int:
    return max(2, int(np.median(n_clusters)))
