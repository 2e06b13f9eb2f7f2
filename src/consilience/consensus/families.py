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
from consilience.ensemble import Ensemble

MEMBERS, OBJECTS = 60, 1000  # that are looked at, evenly spaced
FEWEST = 3  # clusterings of a family, and
SHARE = 0.15  # of all
CLUSTERS = 1500  # of all that are looked at, about
WITHIN, BETWEEN = 0.5, 0.1  # shared on average inside a family, at least, and by most pairs of two, at most


def shared_information(labels: Array) -> Floats:
    """(m, m) shares, of (n, m) label codes without gaps, −1 missing; 0 by chance, 1 where one refines the other.

    Examples
    --------
    >>> half, quarter, across = np.arange(40) // 20, np.arange(40) // 10, np.arange(40) % 2
    >>> shared_information(np.stack([half, quarter, across], axis=1)).round(1) + 0.0
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    n = len(labels)
    sizes = labels.max(axis=0) + 1
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    rows, columns = np.nonzero(labels >= 0)
    member: Floats = np.zeros((n, int(sizes.sum())), np.float32)
    member[rows, starts[columns] + labels[rows, columns]] = 1
    share = np.asarray(member.T @ member, float) / n
    terms = np.where(share > 0, share * np.log(np.where(share > 0, share, 1)), 0.0)
    joint = -np.add.reduceat(np.add.reduceat(terms, starts, axis=0), starts, axis=1)
    own = np.diag(joint)
    chance = np.outer(sizes - 1, sizes - 1) / (2 * n)  # what independent clusterings of n objects share on average
    least = np.minimum.outer(own, own)
    told = own[:, None] + own[None, :] - joint
    found = np.where(least > chance, (told - chance) / np.where(least > chance, least - chance, 1), 0.0)
    np.fill_diagonal(found, 1.0)
    return np.clip(found, 0, 1)


def families_of(ensemble: Ensemble) -> list[Ints]:
    """The members of every family, the largest first; empty where there are not at least two. Cost independent of the size.

    Of many clusterings some are looked at, and those alone are named.

    Examples
    --------
    >>> from consilience.datasets import load_beads_labels
    >>> labels = load_beads_labels()
    >>> [sorted({str(labels.names[i])[:-1] for i in members}) for members in families_of(labels)]
    [['both', 'form'], ['color']]
    """
    m, n = ensemble.n_clusterings, ensemble.n_objects
    if m < 2 * FEWEST:
        return []
    most = int(np.clip(CLUSTERS / ensemble.n_clusters.mean(), 4 * FEWEST, MEMBERS))
    members = np.unique(np.linspace(0, m - 1, min(m, most)).round().astype(int))
    objects = np.unique(np.linspace(0, n - 1, min(n, OBJECTS)).round().astype(int))
    labels = np.stack(
        [np.unique(column, return_inverse=True)[1] for column in ensemble.labels[np.ix_(objects, members)].T], axis=1
    )
    shared = shared_information(labels)
    distances = squareform(1 - shared, checks=False)
    groups = fcluster(linkage(distances, "average"), 1 - WITHIN, "distance")
    sizes = np.bincount(groups)
    large = [g for g in np.argsort(-sizes, kind="stable") if sizes[g] >= max(FEWEST, SHARE * len(members))]
    found: list[Ints] = []
    for group in large:
        mine = np.flatnonzero(groups == group)
        if all(np.median(shared[np.ix_(mine, other)]) <= BETWEEN for other in found):
            found.append(mine)
    return [members[one] for one in found] if len(found) > 1 else []


def describe_families(families: list[Ints]) -> str:
    """What families mean for one answer from all of them, in a sentence without its end.

    Examples
    --------
    >>> describe_families([np.arange(6), np.arange(6, 10)])
    'The clusterings fall into 2 families (of 6 and 4) with next to nothing in common, and one answer from all of them is a compromise'
    """
    sizes = [f"{len(one):,}" for one in families]
    of = f"{', '.join(sizes[:-1])} and {sizes[-1]}"
    return (
        f"The clusterings fall into {len(families)} families (of {of}) with next to nothing in common, and one answer from all of them "
        "is a compromise"
    )
