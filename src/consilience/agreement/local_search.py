"""The steps that all searches of this package are made of: passes, splits, merges, random starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from consilience import _kernels
from consilience._types import Floats, Labels
from consilience.engine.information import Engine
from consilience.engine.views import Views, regrouped

EXHAUSTIVE = 256  # up to so many clusters all are scored; above, a shortlist is
SHORTLIST = 8
NEAREST, GREEDY = 6000, 700  # clusters up to which pairs are chosen, and up to which one by one


def engine_of(views: Views, n_clusters: int, n_jobs: int | None = None, *, by: Any = None, fixed: int = 0) -> Engine:
    """The engine with the shortlist that pays for so many clusters; `by` are clusterings that sum the views' columns."""
    seen = views if by is None else regrouped(views, by)
    shortlist = SHORTLIST if n_clusters > EXHAUSTIVE else 0
    return Engine(seen, n_clusters, shortlist=shortlist, n_jobs=n_jobs, fixed=fixed)


def split(labels: Labels, rng: np.random.Generator, most: int | None = None) -> Labels:
    """Every cluster split at random in two, or as many of the largest as `most` clusters allow."""
    k = int(labels.max()) + 1
    size = np.bincount(labels, minlength=k)
    halved = size > 1
    if most is not None and k + halved.sum() > most:
        halved[np.argsort(-size, kind="stable")[max(most - k, 0) :]] = False
    second = np.full(k, -1, np.int32)
    second[halved] = k + np.arange(halved.sum())
    order = rng.permutation(len(labels))
    rank = np.empty(len(labels), np.int64)
    by_cluster = order[np.argsort(labels[order], kind="stable")]
    rank[by_cluster] = np.arange(len(labels)) - np.repeat(np.cumsum(size) - size, size)
    return np.where(halved[labels] & (2 * rank >= size[labels]), second[labels], labels).astype(np.int32)


def merge(
    labels: Labels, target: int, rule: str, rng: np.random.Generator, table: Callable[[], Floats]
) -> tuple[Labels, Labels]:
    """Clusters merged until `target` are left, at least half of them: by random pairs, nearest pairs or greedily.

    The rule "auto" is random above 6,000 clusters, nearest above 700, then greedy. `table` gives the clusters' sums, where they are
    needed. Returns the new labels, and the new cluster of every cluster.
    """
    k = int(labels.max()) + 1
    if rule == "auto":
        rule = "random" if k > NEAREST else "nearest" if k > GREEDY else "greedy"
    if rule == "random":
        order = rng.permutation(k)
        new = np.arange(k)
        new[order[target:]] = order[: k - target]
        found = np.unique(new, return_inverse=True)[1].astype(np.int32)
    else:
        free = rng.permutation(k) if rule == "nearest" else None
        found, _ = _kernels.merge_clusters(table(), k - target, order=free)
    return found[labels], found


def random_labels(n: int, n_clusters: int, rng: np.random.Generator) -> Labels:
    """Clusters of equal size, at random."""
    return rng.permutation(np.arange(n) % n_clusters).astype(np.int32)
