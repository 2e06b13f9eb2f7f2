"""What a set of clusterings says together: one consensus, from a start in its middle."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience._check import check_choice
from consilience.consensus import METHODS, Consensus, combine
from consilience.ensemble import Ensemble
from consilience.meta.condensed import Floats, Ints, medoid_of

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
        wanted = max(2, int(np.median(some.n_clusters))) if n_clusters is None else n_clusters
        fitting = members[some.n_clusters == wanted]
        options["start"] = ensemble.labels[:, medoid_of(distances, members, fitting)] if len(fitting) else "quadratic"
    return combine(some, n_clusters, NAMES.get(method, method), random_state=random_state, **options)
