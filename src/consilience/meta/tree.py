"""The tree of the clusterings: grown, laid out, cut, and how compact its groups are at every cut.

A tree is SciPy's linkage array: nodes 0 … m − 1 are the clusterings, node m + i is made by merge i.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import linkage as scipy_linkage

from consilience._check import InputError, check_count, check_positive, check_word
from consilience._types import Floats, Ints
from consilience.meta.distances import totals

LINKAGES = ("ward", "average", "complete", "single")
MOST = 30  # groups that people can still look at one by one: the range of the candidate jumps


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
    """Node of every group and group of every leaf when the last `n_groups` − 1 merges are undone.

    Groups are numbered 1 … `n_groups` by falling size, of equal ones the one with the lowest leaf first; the nodes have that order.
    """
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
    """Refuse a cut that says nothing, says two things, or asks for too many groups."""
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
    """Compactness of the groups (Caruana et al. 2006, Eq. 3 with clusterings for objects) at every number of groups.

    Returns
    -------
    DataFrame
        ``n_groups`` 1 … m, ``compactness``, ``jump``: by how much it rises if one group fewer is made (NaN for one), and
        ``bend``: by how much that is more than the jump to `n_groups` from one group more.

    Notes
    -----
    The sum of the distances inside a group grows at a merge by those between its two parts: |a| |b| times the height under
    average linkage, O(m) in all. Other linkages have to add them up, O(m²) in all.
    """
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
    """Numbers of groups from 2 to 30, but fewer than clusterings, and no more than differ, by how much their jump stands out (its bend).

    Jumps grow towards few groups by themselves; where they suddenly grow, unlike groups begin to merge.
    """
    differing = 1 + int(
        np.count_nonzero(np.cumsum(curve["jump"].to_numpy()[:0:-1] != 0))
    )  # merges of equal ones cost nothing
    most = min(MOST, len(curve) - 1, differing)
    some = curve[(curve["n_groups"] >= 2) & (curve["n_groups"] <= most)]
    return some.sort_values("bend", ascending=False, kind="stable").reset_index(drop=True)
