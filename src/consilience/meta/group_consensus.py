"""What a set of clusterings says together: one consensus, from a start in its middle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._check import check_choice
from consilience._types import Floats, Ints
from consilience.consensus import METHODS, Consensus, combine
from consilience.consensus.estimator import by_size
from consilience.consensus.vote import vote_on
from consilience.ensemble import Ensemble
from consilience.meta.condensed import medoid_of

NAMES = {"coassociation": "evidence"}  # what Monti et al. 2003 and the paper call it


def branch_consensus(
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

    That start costs nothing and ends in a higher agreement than starts that do not look at the members' distances.
    """
    check_choice(method, ("auto", *NAMES, *METHODS), "method")
    some = ensemble[:, members]
    if method == "vote" and "start" not in options and not isinstance(n_clusters, str):
        wanted = _median(some.n_clusters) if n_clusters is None else n_clusters
        fitting = members[some.n_clusters == wanted]
        options["start"] = ensemble.labels[:, medoid_of(distances, members, fitting)] if len(fitting) else "quadratic"
    return combine(some, n_clusters, NAMES.get(method, method), random_state=random_state, **options)


def branch_vote(
    columns: NDArray[np.int32], n_clusters: Ints, distances: Floats, members: Ints, *, threads: int = 1
) -> tuple[NDArray[np.int32], NDArray[np.float32]] | None:
    """The vote of :func:`branch_consensus` in a fraction of its time: labels, and the share of the members' votes that they got.

    Nothing but the vote: no distinct rows are looked for, and the confidence is the share. An object without labels has none,
    and share 0.

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
    labels, share, or None
        None where no member has the median number of clusters, and so none is a start.
    """
    k = _median(n_clusters)
    fitting = members[n_clusters == k]
    if not len(fitting):
        return None
    start = columns[np.searchsorted(members, medoid_of(distances, members, fitting))]
    labels, votes, _ = vote_on(columns, start, k, threads=threads)
    known = votes.sum(axis=1)
    share = votes[np.arange(len(labels)), labels] / np.maximum(known, 1)
    has = known > 0
    place = np.argsort(by_size(labels[has], np.ones(int(has.sum())), k))
    return np.where(has, place[labels], -1).astype(np.int32), share.astype(np.float32)


def _median(n_clusters: Ints) -> int:
    return max(2, int(np.median(n_clusters)))
