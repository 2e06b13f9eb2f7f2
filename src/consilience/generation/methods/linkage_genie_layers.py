"""Kinds of clustering that fail differently, each at all numbers of clusters from one tree: linkages, Genie, layers of density."""

# Nothing is drawn: the tree is made once for a run, and a clustering is a cut of it. So that nothing is n × n, the tree of more than
# `tree_objects` objects is of so many drawn at random (the same ones whatever the seed), and every other object goes with the nearest of
# these. Wide tables are reduced to 50 principal components.
#
# Genie (Gagolewski, Bartoszuk and Cena 2016) merges along the shortest edges of the minimum spanning tree, as single linkage does; but
# while the Gini index of the sizes of clusters, Σ_{i<j} |c_i − c_j| / ((m − 1) Σ c), is above .3, one of the least size must take part.
#
# Layers are those of PLSCAN (D. Bot, L. McInnes and J. Aerts, Persistent multiscale density-based clustering, arXiv 2512.16558): the tree
# is single linkage by max(|x − y|, core_x, core_y), core the distance to the fifth nearest other object. Two branches are clusters at the
# least size m if both have m objects. So a branch is a leaf for m in (birth, death]: death is the smaller of its own size and its
# sibling's, birth the largest death below it. Each m has a total persistence, Σ (death − birth) over its leaves; its local maxima are the
# layers, and objects outside all leaves are noise.

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from consilience import _kernels
from consilience._check import InputError, check_count
from consilience._run.parallel import own_threads
from consilience._run.random import child_seed
from consilience._types import ArrayLike, Floats, Ints, Labels
from consilience.generation.kmeans import Runs, noise_note
from consilience.generation.methods.method import Method, Options, Space
from consilience.generation.methods.neighbors import Points, nearest_neighbors
from consilience.generation.plan import METHODS, Plan, Spec

Layer: TypeAlias = tuple[int, Labels, float]  # number of clusters, labels, persistence


def average_tree(points: Floats) -> Floats:
    # Trees are (n − 1, 4) as SciPy has them: the two nodes merged, a height, and the number of objects.
    from scipy.cluster.hierarchy import linkage

    return np.asarray(linkage(points, "average"))


def ward_tree(points: Floats) -> Floats:
    from scipy.cluster.hierarchy import linkage

    return np.asarray(linkage(points, "ward"))


def genie_tree(points: Floats, gini: float = 0.3) -> Floats:
    # The heights are the numbers of the merges, since lengths of edges do not rise.
    merges = _kernels.genie_merges(_kernels.spanning_tree(points)[0], gini)
    return np.column_stack([merges, np.arange(1.0, len(points)), _sizes(merges)[len(points) :]])


def cut(tree: Floats, n_clusters: int) -> Labels:
    """Labels of all objects after the first n − n_clusters merges, in the order of the clusters' first objects."""
    return _kernels.cut_tree(tree, n_clusters).astype(np.int32)


def _sizes(merges: Ints) -> list[int]:
    size = [1] * (len(merges) + 1)
    for a, b in merges.tolist():
        size.append(size[a] + size[b])
    return size


def density_layers(points: Floats, min_samples: int = 5) -> list[Layer]:
    # O(n² d) for the spanning tree, and O(n log n) beside. The best comes first; none where the data has no two branches.
    core = nearest_neighbors(points, min_samples)[0][:, -1]
    edges, lengths = _kernels.spanning_tree(points, core)
    # In float32, lengths of decimals that differ by rounding alone are equal, and so in the order of their numbers.
    edges = edges[np.lexsort((*edges.T[::-1], lengths.astype(np.float32)))]
    return layers_of(_kernels.genie_merges(edges, 1.0), min_samples)


def layers_of(merges: Ints, least: int) -> list[Layer]:
    # m begins at `least`. What follows is for every node, its objects side by side from `firsts` on.
    n, sizes = len(merges) + 1, _sizes(merges)
    births, deaths, firsts = [least] * n, [0] * (2 * n - 1), [0] * (2 * n - 1)
    for a, b in merges.tolist():
        deaths[a] = deaths[b] = min(sizes[a], sizes[b])
        births.append(max(births[a], births[b], deaths[a]))
    for node in range(2 * n - 2, n - 1, -1):
        a, b = merges[node - n].tolist()
        firsts[a], firsts[b] = firsts[node], firsts[node] + sizes[a]
    birth, death, first, size = (np.array(each) for each in (births, deaths, firsts, sizes))
    leaves = np.flatnonzero(death > birth)
    birth, death, first, size = birth[leaves], death[leaves], first[leaves], size[leaves]
    at = np.unique(np.concatenate([birth, death]))  # the total just above each, which stays as it is up to the next
    rises = np.bincount(np.searchsorted(at, birth), death - birth, len(at))
    total = np.cumsum(rises - np.bincount(np.searchsorted(at, death), death - birth, len(at)))
    new = np.diff(total, prepend=0) != 0
    at, total = at[new], total[new]
    peaks = np.flatnonzero((np.diff(total, prepend=0) > 0) & (np.diff(total, append=0) < 0))
    layers = []
    for peak in peaks[np.argsort(-total[peaks], kind="stable")]:
        alive = np.flatnonzero((birth <= at[peak]) & (at[peak] < death))
        placed = np.full(n, -1, np.int32)
        for c, leaf in enumerate(alive[np.argsort(-size[alive], kind="stable")]):
            placed[first[leaf] : first[leaf] + size[leaf]] = c
        layers.append((len(alive), placed[firsts[:n]], float(total[peak])))
    return layers


@dataclass(frozen=True, eq=False)
class Planted:
    # The trees of a run, or its layers, by the names of its methods. `nearest` says of every object which of those in the trees is.

    shape: tuple[int, int]
    nearest: Ints
    trees: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Trees(Space):
    """What the trees of a run are cut from; all its methods share the points, those drawn from them, and who is near them."""

    points: Points

    @classmethod
    def of(cls, columns: ArrayLike, plan: Plan) -> Self:
        points = Points.of(columns)
        n, table, nearest = len(points.table), points.table, np.arange(len(points.table))
        if n > (most := plan.options["tree_objects"]):
            from sklearn.metrics import pairwise_distances_argmin

            some = np.sort(_kernels.random_permutation(child_seed(0, "generation.trees"), 0, n)[:most])
            table = table[some]
            with own_threads():  # the same numbers whatever the number of threads
                nearest = pairwise_distances_argmin(points.table, table)
            nearest[some] = np.arange(most)  # of equal objects too
        methods = {name: METHODS[name] for name, _ in plan.methods}
        trees = {name: method.plant(table) for name, method in methods.items() if isinstance(method, OnTree)}
        return cls(Planted((n, 0), nearest, trees), points)

    @property
    def width(self) -> int:
        return 0

    @property
    def places(self) -> ArrayLike:
        return self.points.table

    def bare(self) -> Self:
        return replace(self, table=None, points=self.points.bare())

    def transform(self, columns: ArrayLike) -> ArrayLike:
        return self.points.transform(columns)


class OnTree(Method):
    options: ClassVar[Options] = {"tree_objects": (3000, partial(check_count, least=2))}
    space = "trees"
    takes_base = False
    plant: ClassVar[Any]  # a function of the points, that gives what its clusterings are cut from

    def fit_space(self, columns: ArrayLike, plan: Plan) -> Space:
        return Trees.of(columns, plan)

    def make(self, table: Any, spec: Spec, plan: Plan) -> Runs:
        tree = table.trees[spec.method]
        if spec.n_clusters > len(tree) + 1:
            raise InputError(
                f"a tree of {len(tree) + 1:,} objects has no {spec.n_clusters:,} clusters: raise tree_objects"
            )
        return Runs.of_labels(cut(tree, spec.n_clusters)[table.nearest])

    def describe(self, row: Mapping[str, Any]) -> str:
        return f"{super().describe(row)}, {int(row['n_clusters'])} clusters"


class Average(OnTree):
    """Average linkage."""

    plant = staticmethod(average_tree)


class Ward(OnTree):
    """Ward's linkage."""

    plant = staticmethod(ward_tree)


class Genie(OnTree):
    """Genie: single linkage of clusters of like sizes."""

    plant = staticmethod(genie_tree)


class Layers(OnTree):
    """Clusters of a layer of density."""

    plant = staticmethod(density_layers)

    def make(self, table: Any, spec: Spec, plan: Plan) -> Runs:
        # How many there are is found, not asked: the layer with the nearest number, of equally near ones the more persistent.
        if not table.trees[spec.method]:
            raise InputError("no two parts of the data are denser than what lies between them: use another method")
        _, labels, _ = min(table.trees[spec.method], key=lambda layer: abs(layer[0] - spec.n_clusters))
        labels = labels[table.nearest]
        return Runs.of_labels(labels, noise_note(labels))

    def describe(self, row: Mapping[str, Any]) -> str:
        return "Clusters that persist in a tree of density (PLSCAN); noise has no label"
