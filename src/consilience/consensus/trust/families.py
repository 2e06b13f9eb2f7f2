"""Families: sets of clusterings that agree among themselves and have next to nothing in common with the others.

One answer from several families is a compromise that none of them supports, so that people are told before they trust it. Two
clusterings share what they tell about one another: mutual information beyond what chance gives, as a share of the smaller entropy, so that
one that refines the other shares all of it, however fine.
"""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from consilience._types import Array, Floats, Ints
from consilience.consensus.rows.problem import Problem, sample_evenly

MEMBERS, OBJECTS = 60, 1000  # among which families are looked for, evenly spaced
FEW_OBJECTS, FEW_SHARED = 20, 0.1  # objects that two clusterings must both have to be judged, and their share
FEWEST = 3  # clusterings of a family, and
SHARE = 0.15  # of all
CLUSTERS = 1500  # of all that are looked at, about
WITHIN, BETWEEN = 0.5, 0.1  # shared on average inside a family, at least, and by most pairs of two, at most


def shared_information(labels: Array) -> Floats:
    """(m, m) shares, of (n, m) label codes without gaps, −1 missing; 0 by chance, 1 where one refines the other.

    Two clusterings are judged by the objects that both have; NaN where these are fewer than 20 or than a tenth of all.

    Examples
    --------
    >>> half, quarter, across = np.arange(40) // 20, np.arange(40) // 10, np.arange(40) % 2
    >>> shared_information(np.stack([half, quarter, across], axis=1)).round(1) + 0.0
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    n = len(labels)
    sizes = np.maximum(labels.max(axis=0) + 1, 1)  # one place also of a clustering without labels
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    rows, columns = np.nonzero(labels >= 0)
    member: Floats = np.zeros((n, int(sizes.sum())), np.float32)
    member[rows, starts[columns] + labels[rows, columns]] = 1
    has = (labels >= 0).astype(np.float32)
    both = np.asarray(has.T @ has, float)
    table = _entropy_terms(np.asarray(member.T @ member, float))
    joint = np.add.reduceat(np.add.reduceat(table, starts, axis=0), starts, axis=1)
    own = np.add.reduceat(
        _entropy_terms(np.asarray(member.T @ has, float)), starts, axis=0
    )  # of the row, on objects of both
    ns = np.maximum(both, 1)
    joint, own = np.log(ns) - joint / ns, np.log(ns) - own / ns
    used = np.add.reduceat((member.T @ has > 0).astype(int), starts, axis=0)  # clusters of the row that occur there
    chance = (used - 1) * (used.T - 1) / (2 * ns)  # what independent clusterings of so many objects share on average
    least = np.minimum(own, own.T)
    told = own + own.T - joint
    found = np.where(least > chance, (told - chance) / np.where(least > chance, least - chance, 1), 0.0)
    found = np.where(both >= _enough(n), np.clip(found, 0, 1), np.nan)
    np.fill_diagonal(found, 1.0)
    return found


def _enough(n: int) -> float:
    """Of n objects, how many two clusterings must both have to be judged."""
    return max(min(n, FEW_OBJECTS), FEW_SHARED * n)


def _entropy_terms(counts: Floats) -> Floats:
    return np.where(counts > 0, counts * np.log(np.where(counts > 0, counts, 1)), 0.0)


def families_of(problem: Problem) -> list[Ints]:
    """The clusterings of every family, the largest first; empty where there are not at least two. Cost O(clusterings) beside a fixed one.

    Families are found among a few clusterings, evenly taken; every other one joins the family with which it shares at least `WITHIN` on
    average, or none. Where two of them have too few objects in common, nothing is said.

    Examples
    --------
    >>> from consilience.consensus.rows.problem import check_problem
    >>> from consilience.datasets import load_beads_labels
    >>> labels = load_beads_labels()
    >>> [sorted({str(labels.names[i])[:-1] for i in family}) for family in families_of(check_problem(labels))]
    [['both', 'form'], ['color']]
    """
    m = problem.n_clusterings
    if m < 2 * FEWEST:
        return []
    most = int(np.clip(CLUSTERS / problem.sizes.mean(), 4 * FEWEST, MEMBERS))
    members = np.unique(np.linspace(0, m - 1, min(m, most)).round().astype(int))
    objects = sample_evenly(problem, int(np.clip(problem.weights.sum().round(), 1, OBJECTS)))
    labels = _codes(problem.labels[np.ix_(objects, members)])
    has = (labels >= 0).sum(axis=0) >= _enough(len(objects))
    members, labels = members[has], labels[:, has]
    if len(members) < 2 * FEWEST:
        return []
    shared = shared_information(labels)
    if np.isnan(shared).any():  # pairs that cannot be judged would be taken for unlike or alike
        return []
    distances = squareform(1 - shared, checks=False)
    groups = fcluster(linkage(distances, "average"), 1 - WITHIN, "distance")
    sizes = np.bincount(groups)
    large = [g for g in np.argsort(-sizes, kind="stable") if sizes[g] >= max(FEWEST, SHARE * len(members))]
    found: list[Ints] = []
    for group in large:
        mine = np.flatnonzero(groups == group)
        if all(np.median(shared[np.ix_(mine, other)]) <= BETWEEN for other in found):
            found.append(mine)
    if len(found) < 2:
        return []
    joined = [members[one] for one in found]
    others = np.setdiff1d(np.arange(m), members)
    for begin in range(0, len(others), len(members)):
        some = others[begin : begin + len(members)]
        beside = shared_information(np.hstack([labels, _codes(problem.labels[np.ix_(objects, some)])]))
        means = np.stack([beside[len(members) :, one].mean(axis=1) for one in found], axis=1)
        best = np.where(np.nan_to_num(means).max(axis=1) >= WITHIN, np.nan_to_num(means).argmax(axis=1), -1)
        joined = [np.concatenate([mine, some[best == f]]) for f, mine in enumerate(joined)]
    given = np.arange(m) if problem.given is None else problem.given.columns
    return sorted((np.sort(given[mine]) for mine in joined), key=lambda one: (-len(one), one[0]))


def _codes(labels: Array) -> Array:
    """Codes without gaps, column by column; −1 stays."""
    columns = []
    for column in labels.T:
        codes = np.full(len(column), -1)
        codes[column >= 0] = np.unique(column[column >= 0], return_inverse=True)[1]
        columns.append(codes)
    return np.stack(columns, axis=1)
