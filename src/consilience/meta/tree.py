"""The tree of the clusterings: grown, laid out, cut, and how compact its groups are at every cut.

A tree is SciPy's linkage array: nodes 0 … m − 1 are the clusterings, node m + i is made by merge i.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import num_obs_y, squareform

from consilience._check import InputError, check_count, check_positive, check_word, count
from consilience._run.progress import track
from consilience._run.random import stream
from consilience._types import Floats, Ints
from consilience.ensemble import Ensemble
from consilience.measures import MEASURES, pairwise

LINKAGES = ("ward", "average", "complete", "single")
MOST_GROUPS = 30  # groups that people can still look at one by one: the range of the candidate jumps


def grow(distances: Floats, linkage: str) -> Floats:
    """SciPy's tree of condensed distances; O(m²)."""
    return np.asarray(scipy_linkage(distances, linkage))


def layout(tree: Floats) -> tuple[Ints, Ints, Ints]:
    """Leaves in the tree's order, and for every node its first place there and its number of leaves."""
    m = len(tree) + 1
    sizes = np.concatenate([np.ones(m), tree[:, 3]]).astype(np.int64)
    first = np.zeros(2 * m - 1, np.int64)
    children = tree[:, :2].astype(np.int64)
    for node in range(2 * m - 2, m - 1, -1):
        left, right = children[node - m]
        first[left], first[right] = first[node], first[node] + sizes[left]
    order = np.empty(m, np.int64)
    order[first[:m]] = np.arange(m)
    return order, first, sizes


def cut(tree: Floats, n_groups: int) -> tuple[Ints, Ints]:
    """Node of every group, and group of every leaf, when the last `n_groups` − 1 merges are undone."""
    # Groups are numbered 1 … `n_groups` by falling size, of equal ones the one with the lowest leaf first; the nodes have that order.
    m = len(tree) + 1
    standing = np.ones(2 * m - n_groups, bool)
    standing[tree[: m - n_groups, :2].astype(np.int64)] = False
    order, first, sizes = layout(tree)
    nodes = np.flatnonzero(standing)
    nodes = nodes[np.argsort(first[nodes])]  # from left to right
    spans = np.repeat(np.arange(n_groups), sizes[nodes])
    earliest = np.minimum.reduceat(order, first[nodes])
    ranking = np.lexsort((earliest, -sizes[nodes]))
    groups = np.empty(m, np.int64)
    groups[order] = np.argsort(ranking)[spans] + 1
    return nodes[ranking], groups


def check_cut(m: int, n_groups: Any, height: Any) -> None:
    if (n_groups is None) == (height is None):
        raise InputError("say where to cut the tree by one of n_groups and height")
    if height is not None:
        check_positive("height", height, or_equal=True)
    elif isinstance(n_groups, str):
        check_word("n_groups", n_groups)
    elif check_count("n_groups", n_groups) > m:
        raise InputError(f"{n_groups} groups cannot be made of {m} clusterings; ask for fewer")


def number_of_groups(tree: Floats, curve: pd.DataFrame, n_groups: Any = "auto", height: Any = None) -> tuple[int, str]:
    """How many groups a cut makes, and how that number came about; "auto" is the sharpest jump of the compactness curve."""
    check_cut(len(curve), n_groups, height)
    if height is not None:
        return len(curve) - int(np.count_nonzero(tree[:, 2] <= height)), f"those complete at height {height:g}"
    if not isinstance(n_groups, str):
        return int(n_groups), "as many as asked for"
    best = candidate_jumps(curve)["n_groups"].tolist()
    if not best:
        return 1, "two clusterings, or equal ones, leave nothing to choose"
    others = f"; next {', '.join(map(str, best[1:4]))}: a suggestion, not a truth" if best[1:] else ""
    return best[0], f"{best[0]} by the sharpest jump of the compactness curve{others}"


def compactness_curve(tree: Floats, distances: Floats, linkage: str) -> pd.DataFrame:
    """Compactness of the groups (Caruana et al. 2006, Eq. 3 with clusterings for objects): :attr:`MetaClustering.curve`."""
    # The sum of the distances inside a group grows at a merge by those between its two parts: |a| |b| times the height under
    # average linkage, O(m) in all. Other linkages have to add them up, O(m²) in all.
    m = len(tree) + 1
    order, first, sizes = layout(tree)
    within, terms, curve = np.zeros(2 * m - 1), np.zeros(2 * m - 1), np.zeros(m)
    for i, height in enumerate(tree[:, 2]):
        node, (a, b) = m + i, tree[i, :2].astype(np.int64)
        if linkage == "average":
            between = sizes[a] * sizes[b] * height
        else:
            few, many = sorted((order[first[x] : first[x] + sizes[x]] for x in (a, b)), key=len)
            between = totals(distances, few, many).sum()
        within[node] = within[a] + within[b] + between
        terms[node] = 2 * within[node] / (sizes[node] - 1)  # size × mean distance of its pairs
        curve[m - 2 - i] = curve[m - 1 - i] + (terms[node] - terms[a] - terms[b]) / m
    jump = np.concatenate([[np.nan], curve[:-1] - curve[1:]])
    bend = jump - np.append(jump[1:], 0.0)
    return pd.DataFrame({"n_groups": np.arange(1, m + 1), "compactness": curve, "jump": jump, "bend": bend})


def candidate_jumps(curve: pd.DataFrame) -> pd.DataFrame:
    """Numbers of groups from 2 to 30, but fewer than clusterings, and no more than differ, by how much their jump stands out (its bend)."""
    # Jumps grow towards few groups by themselves; where they suddenly grow, unlike groups begin to merge. Merges of equals cost nothing.
    differing = 1 + int(np.count_nonzero(np.cumsum(curve["jump"].to_numpy()[:0:-1] != 0)))
    most = min(MOST_GROUPS, len(curve) - 1, differing)
    some = curve[(curve["n_groups"] >= 2) & (curve["n_groups"] <= most)]
    return some.sort_values("bend", ascending=False, kind="stable").reset_index(drop=True)


# Distances between clusterings: exact, or estimated from a sketch where that would take long.
#
# All pairs of m clusterings are SciPy's condensed vector, m (m − 1) / 2 numbers. A sketch estimates the Cluster Difference by the share of
# random pairs of objects on which two clusterings differ, and every other measure on random objects.

SKETCHED = ("cluster_difference", "rand")
# safeguard: for time, pairs of objects in a sketch made without asking (`sketch="auto"`): a standard error of about 0.002
PAIRS = 2**15
COSTLY = 3 * 10**10  # safeguard: for time, objects × pairs of clusterings: ten seconds of one core for the exact kernel
LARGE = PAIRS  # objects from which such a sketch is ten times as fast
OBJECTS = 2**13  # safeguard: for time, objects in a sketch of another measure made without asking
BLOCK = 2048  # safeguard: for memory, pairs of objects drawn at a time
MOST_PAIRS = 2**24  # safeguard: precision, pairs in all: single precision counts exactly up to here


def usual_measure(ensemble: Ensemble) -> str:
    """Cluster Difference where all clusterings have one number of clusters; else what forgives fineness."""
    return "cluster_difference" if len(set(ensemble.n_clusters.tolist())) == 1 else "shared_information"


def sketch_size(ensemble: Ensemble, measure: str, sketch: Any) -> int | None:
    """Pairs of objects to draw, or None for exact distances."""
    if sketch is None:
        return None
    if isinstance(sketch, str):
        check_word("sketch", sketch)
        n, m = ensemble.labels.shape
        costly = n >= LARGE and n * m * (m - 1) // 2 > COSTLY
        return (PAIRS if measure in SKETCHED else OBJECTS) if costly else None
    if check_count("sketch", sketch) > MOST_PAIRS:
        most = f"a sketch has at most {MOST_PAIRS:,} pairs of objects"
        raise InputError(f"{most}; got {sketch:,}: use fewer, or sketch=None")
    return None if measure not in SKETCHED and sketch >= ensemble.n_objects else int(sketch)


def sketched(measure: str, n_pairs: int) -> str:
    """What a sketch was made of."""
    return f"{n_pairs:,} random {'pairs of ' if measure in SKETCHED else ''}objects"


def distances_between(
    ensemble: Ensemble, measure: str, n_pairs: int | None, *, seed: int, n_jobs: int | None, progress: bool | None
) -> tuple[Floats, float]:
    """Condensed distances of all pairs of clusterings, and their standard error (0 if exact)."""
    if n_pairs is not None and measure in SKETCHED:
        distances, error = sketch_differences(ensemble, n_pairs, seed=seed, progress=progress)
    elif n_pairs is not None:
        distances, error = _sketch_of_objects(ensemble, measure, n_pairs, seed, n_jobs, progress)
    else:
        distances, error = _exact(ensemble, measure, n_jobs, progress), 0.0
    np.maximum(distances, 0, out=distances)  # rounding must not make a distance negative; NaN stays
    unknown = np.flatnonzero(np.isnan(distances))
    if not unknown.size:
        return distances, error
    # A tree has a place for every distance, and none for a missing one.
    for i in np.flatnonzero(ensemble.n_clusters == 0)[:1]:
        raise InputError(f"clustering {ensemble.names[i]!r} has no label at all: leave it out")
    rows, columns = np.triu_indices(ensemble.n_clusterings, 1)
    one, other = (ensemble.names[side[unknown[0]]] for side in (rows, columns))
    more = f" ({count(len(unknown), 'such pair')} in all)" if len(unknown) > 1 else ""
    two = f"clusterings {one!r} and {other!r}"
    if n_pairs is not None:
        lack = f"none of {sketched(measure, n_pairs)} is labeled in both {two}{more}"
        raise InputError(f"{lack}: use a larger sketch, or sketch=None")
    lack = f"{two} share no labeled object, so nothing says how far apart they are{more}"
    raise InputError(f"{lack}: leave out those that overlap too little")


def _exact(ensemble: Ensemble, measure: str, n_jobs: int | None, progress: bool | None) -> Floats:
    matrix = pairwise(ensemble, measure, n_jobs=n_jobs, progress=progress)
    distances: Floats = squareform(matrix, checks=False)
    return distances if MEASURES[measure].is_distance else np.subtract(1, distances, out=distances)


def _sketch_of_objects(
    ensemble: Ensemble, measure: str, size: int, seed: int, n_jobs: int | None, progress: bool | None
) -> tuple[Floats, float]:
    """The distances of the clusterings of some objects; their error by those of two halves of the objects, to first order."""
    drawn = stream(seed, "meta.objects").permutation(ensemble.n_objects)[:size]
    whole = _exact(ensemble[np.sort(drawn)], measure, n_jobs, progress)
    one, other = (_exact(ensemble[np.sort(half)], measure, n_jobs, False) for half in np.array_split(drawn, 2))
    left_out = 1 - size / ensemble.n_objects
    return whole, float(np.sqrt(left_out * np.nanmean(np.square(one - other)))) / 2


def sketch_differences(
    ensemble: Ensemble, n_pairs: int, *, seed: int, progress: bool | None = None
) -> tuple[Floats, float]:
    """The Cluster Difference of all pairs of clusterings, condensed, from random pairs of objects; and its standard error."""
    # With b = 1 for together, −1 for apart and 0 where an object has no label, Σ b b′ counts agreements less disagreements and
    # Σ |b| |b′| the pairs known in both: two matrix products, O(m² · n_pairs), whatever the number of objects. NaN where no pair is
    # known in both. The error is the root mean square over pairs of clusterings of √(d (1 − d) / pairs of objects known in both).
    n, m = ensemble.labels.shape
    if n < 2:
        raise InputError("a sketch draws pairs of objects, and there is only one object; use sketch=None")
    rng, missing = stream(seed, "meta.pairs"), ensemble.has_missing
    agreed = np.zeros((m, m), np.float32)
    known = np.zeros((m, m), np.float32) if missing else None
    begins = range(0, n_pairs, BLOCK)
    for begin in track(begins, len(begins), "sketch", progress):
        size = min(BLOCK, n_pairs - begin)
        one = rng.integers(0, n, size)
        other = (one + rng.integers(1, n, size)) % n  # any object but the same
        left, right = ensemble.labels[one], ensemble.labels[other]
        signs = np.where(left == right, np.float32(1), np.float32(-1))
        if known is not None:
            there = ((left >= 0) & (right >= 0)).astype(np.float32)
            signs *= there
            known += there.T @ there
        agreed += signs.T @ signs
    counts = np.float64(n_pairs) if known is None else squareform(known, checks=False).astype(float)
    distances = squareform(agreed, checks=False).astype(float)
    with np.errstate(invalid="ignore"):  # 0 / 0 where nothing is known in both
        distances = (1 - distances / counts) / 2
        variance = distances * (1 - distances) / counts
    some = variance[np.isfinite(variance)]
    return distances, float(np.sqrt(some.mean())) if some.size else float("nan")


def distances_from(condensed: Floats, item: int, others: Ints) -> Floats:
    """Distances of one item to others (itself at 0)."""
    m = num_obs_y(condensed)
    low, high = np.minimum(item, others), np.maximum(item, others)
    places = low * (2 * m - low - 3) // 2 + high - 1
    return np.where(low == high, 0.0, condensed[np.where(low == high, 0, places)])


def totals(condensed: Floats, items: Ints, others: Ints) -> Floats:
    return np.array([distances_from(condensed, item, others).sum() for item in items])


def medoid_of(condensed: Floats, items: Ints, among: Ints | None = None) -> int:
    """The item with the least mean distance to the items; of `among` if given. Cost O(items²)."""
    among = items if among is None else among
    return int(among[totals(condensed, among, items).argmin()])


def square(condensed: Floats) -> NDArray[np.float32]:
    """The m × m matrix, in single precision: half of what the doubles would need."""
    return np.asarray(squareform(np.asarray(condensed, np.float32), checks=False))
