"""Average linkage of distinct rows by the similarity of their clusters, on as many rows and clusterings as there is room for."""

from dataclasses import dataclass, replace

import numpy as np

from consilience import _kernels
from consilience._kernels import cut_tree as cut_tree
from consilience._types import Array, Floats, Ints
from consilience.consensus.rows.cluster_similarity import STEPS, THETA, Overlaps, Similarity
from consilience.consensus.rows.problem import Problem

CLUSTERS = 3000  # safeguard: for time, O(clusters³), of all clusterings together, whose walk is followed
LEAVES = 3000  # safeguard: for memory, 12 bytes × leaves², rows that a tree is built on, where a method or a resample does not say
SPECK = 40  # a cluster has at least this part of the objects of a mean cluster


@dataclass(frozen=True, eq=False)
class RowTree:
    overlaps: Overlaps
    similarity: Similarity
    leaves: Ints  # (n_leaves,) Rows that the tree is built on
    weights: Floats  # (n_leaves,) Of these rows; they sum to that of all
    linkage: Floats  # (n_leaves − 1, 4) The tree in SciPy's format


def row_tree(problem: Problem, most: int, theta: float = THETA, steps: int = STEPS) -> RowTree:
    """Overlaps, similarity and tree of a problem; the confidence asks for those of the answer again, so they are kept."""
    key = "row_tree", min(most, problem.n_rows), theta, steps
    if key not in problem.kept:
        overlaps = Overlaps.of(problem)
        similarity = overlaps.similarity(theta=theta, steps=steps)
        leaves, weights = choose_leaves(problem, most)
        tree = similarity_tree(similarity.of_rows(problem.labels[leaves], weights), weights)
        problem.kept[key] = RowTree(overlaps, similarity, leaves, weights, tree)
    found: RowTree = problem.kept[key]
    return found


def narrowed(problem: Problem, most: int = CLUSTERS) -> Problem:
    """The same rows with as many of the clusterings, in canonical order, as have `most` clusters together; at least two."""
    first = max(2, int(np.searchsorted(np.cumsum(problem.sizes), most, side="right")))
    if first >= problem.n_clusterings:
        return problem
    key = "narrowed", first
    if key not in problem.kept:  # asked for more than once, at several numbers of clusters
        columns = list(range(first))
        while (bare := ~(problem.labels[:, columns] >= 0).any(axis=1)).any():  # no row may be left without a label
            columns.append(int((problem.labels[bare] >= 0).sum(axis=0).argmax()))
        problem.kept[key] = replace(problem, labels=np.ascontiguousarray(problem.labels[:, columns]), given=None)
    found: Problem = problem.kept[key]
    return found if found.n_clusters == problem.n_clusters else found.with_clusters(problem.n_clusters)


def fits(problem: Problem) -> bool:
    """Whether a table of clusters × clusters has room: at least two clusterings are kept, whatever their size."""
    return int(problem.sizes.sum()) <= 3 * CLUSTERS


def similarity_tree(alike: Array, weights: Floats) -> Floats:
    """Average linkage of items by their similarities (distances are what is missing to the largest), in SciPy's format."""
    both = alike + alike.T  # a product in single precision is not symmetric on every processor
    distances = np.subtract(2 * float(alike.max(initial=0.0)), both, dtype=float)
    distances /= 2
    np.fill_diagonal(distances, 0.0)
    return weighted_linkage(distances, weights)


def choose_leaves(problem: Problem, most: int, rng: np.random.Generator | None = None) -> tuple[Ints, Floats]:
    """All rows and their weights, or `most` that stand for all: the heaviest half, and every so-manieth, or a draw, of the others."""
    # Rows of one weight stand in an order like one at random, but always the same, so without `rng` nothing depends on a seed.
    n = problem.n_rows
    if n <= most:
        return np.arange(n), problem.weights
    order = np.lexsort((np.arange(n) if rng is None else rng.random(n), -problem.weights))
    heavy, rest = order[: most // 2], order[most // 2 :]
    some = most - len(heavy)
    if rng is None:
        taken = rest[(2 * np.arange(some) + 1) * len(rest) // (2 * some)]
    else:
        taken = rest[np.sort(rng.choice(len(rest), some, replace=False))]
    weights = problem.weights[taken] * (problem.weights[rest].sum() / problem.weights[taken].sum())
    return np.concatenate([heavy, taken]), np.concatenate([problem.weights[heavy], weights])


def cut_clusters(tree: Floats, weights: Floats, k: int) -> Ints:
    """k clusters of the leaves that are more than specks; −1 for leaves in specks, which are to join one of them."""
    # Average linkage leaves lone leaves apart until the end, and a plain cut would spend clusters on them. So the tree is cut lower until
    # k clusters have at least 1/40 of the objects of a mean cluster, or all leaves are apart.
    n, wanted = len(tree) + 1, k
    while True:
        labels = cut_tree(tree, wanted)
        sizes = np.bincount(labels, weights)
        if wanted == n or np.count_nonzero(sizes >= weights.sum() / (SPECK * k)) >= k:
            break
        wanted = min(n, wanted + max(1, wanted // 20))
    place = np.full(len(sizes), -1)
    place[np.argsort(-sizes, kind="stable")[:k]] = np.arange(k)
    return np.asarray(place[labels])


# Trees of items that stand for several objects each, and clusters cut from them.
#
# With S(A, B) = Σ_{i∈A, j∈B} w_i w_j d_ij, clusters are S(A, B) / (W_A W_B) apart in average linkage, and merging adds rows of S.
# Nearest-neighbor chains find the tree in O(n²). Ties go to the cluster with the earliest item.

TIE = 1e-12  # safeguard: distances this near are equal, since sums of fractions are rounded


def weighted_linkage(distances: Floats, weights: Floats, linkage: str = "average") -> Floats:
    """Tree of items that stand for `weights` objects each, in SciPy's format; `distances` (n, n) is used up."""
    # The last column counts items, not objects. The heights are those of SciPy's linkage with every item repeated as often as its weight
    # says, without the merges of equal items.
    merges, heights = _kernels.linkage(distances, weights, linkage, tie=TIE)
    order = np.argsort(heights, kind="stable")  # children first
    n, tree = len(distances), np.empty((len(merges), 4))
    name, size = list(range(n)), [1] * n
    for i, (kept, lost) in enumerate(merges[order].tolist()):
        size[kept] += size[lost]
        one, two = name[kept], name[lost]
        tree[i] = (one, two, 0, size[kept]) if one < two else (two, one, 0, size[kept])
        name[kept] = n + i
    tree[:, 2] = heights[order]
    return tree
