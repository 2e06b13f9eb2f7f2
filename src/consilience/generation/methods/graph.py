"""Leiden communities of a graph of nearest neighbors (Traag, Waltman and van Eck 2019), over resolutions and numbers of neighbors."""

# Modularity with a resolution γ, Σ_ij (A_ij − γ k_i k_j / 2m) δ(c_i, c_j), by igraph: 15 times as quick as leidenalg on cells at a
# modularity no lower. The graphs, one for each number of neighbors, are shared by the clusterings of a run. Where no `resolutions` are
# given, each clustering's is the one at which about as many clusters come out as it is to have: the numbers at a few resolutions are
# found once, and those between lie on a line in logarithms.
#
# The clusterings of a run spread evenly over the numbers of clusters, or the resolutions, that they are drawn from (a golden-ratio
# sequence with a random start), so that runs of other seeds are as fine on the whole. None leaves all objects in one cluster: a
# resolution at which it would is raised to the lowest at which there are two.

import itertools
import os
import random
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np

from consilience import _kernels
from consilience._check import InputError, check_count, check_positive
from consilience._run.random import child_seed
from consilience._types import ArrayLike, Floats, Ints, Labels
from consilience.generation.kmeans import Runs
from consilience.generation.methods.method import Method, Options, Space, check_each
from consilience.generation.methods.neighbors import Points, connectivities, nearest_neighbors
from consilience.generation.plan import Plan, Spec

OBJECTS_PER_NEIGHBOR = 6  # no object has more neighbors than one in so many of all
# safeguard: resolutions that are tried: no graph that was met has all its numbers of clusters outside.
SPAN = 2.0**-10, 2.0**14
_RUNS = itertools.count()
_SEEN: dict[str, dict[int, Any]] = {}  # graphs of a run that another process asked for
_GENERATOR = threading.Lock()  # igraph has one generator for the whole process


def check_resolutions(name: str, resolutions: Any) -> tuple[float, ...] | None:
    if resolutions is None:
        return None
    values = check_each(name, resolutions, check_positive, "resolutions to draw from, or leave it out")
    if len(values) == 2 and values[0] > values[1]:
        raise InputError(f"{name} runs from {values[0]:g} to {values[1]:g}: give the smaller number first")
    return values


NEIGHBORS = (10, 15, 20, 30), partial(check_each, check=check_count, what="the numbers of neighbors to draw from")


class Graph(Method):
    """Leiden clusters of a graph of nearest neighbors."""

    options: ClassVar[Options] = {"resolutions": (None, check_resolutions), "graph_neighbors": NEIGHBORS}
    drawn: ClassVar[tuple[str, ...]] = ("resolution", "n_neighbors", "place")
    varied: ClassVar[tuple[str, ...]] = ("resolution",)
    space = "neighbors"
    takes_base = False
    takes_graph = True

    def check(self, n_objects: int) -> None:
        import_igraph()
        if n_objects < 3:
            raise InputError(f"graph needs the neighbors of objects, and there are {n_objects}: use methods='minima'")

    def fit_space(self, columns: ArrayLike, plan: Plan) -> Space:
        return Graphs.of(columns, plan)

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        neighbors, given = plan.options["graph_neighbors"], plan.options["resolutions"]
        start = float(_kernels.random_uniform(child_seed(spec.seed, "generation.even"), 0, 1)[0])
        even = even_place(start, spec.unit)
        drawn = {"n_neighbors": float(neighbors[int(u[0] * len(neighbors))]), "place": even}
        if given is not None and len(given) == 2:
            drawn["resolution"] = float(given[0] * (given[1] / given[0]) ** even)
        elif given is not None:
            drawn["resolution"] = given[int(even * len(given))]
        return replace(spec, n_clusters=plan.n_clusters[int(even * len(plan.n_clusters))], drawn=drawn)

    def make(self, table: Any, spec: Spec, plan: Plan) -> Runs:
        own = int(_kernels.random_bits(*spec.run_stream, 1)[0]) >> 1
        graph, asked = table.graph(spec.drawn.get("n_neighbors")), spec.drawn["resolution"]
        labels, used = leiden(graph, asked, own), asked
        while labels.max() == 0 and used < SPAN[1]:
            used *= 2**0.5
            labels = leiden(graph, used, own)
        note = None if used == asked else f"one cluster at resolution {asked:.3g}, so that {used:.3g} was taken"
        return Runs.of_labels(labels, note)

    def describe(self, row: Mapping[str, Any]) -> str:
        neighbors = row.get("n_neighbors", np.nan)
        own = "a given graph" if np.isnan(neighbors) else f"a graph of {int(neighbors)} nearest neighbors"
        return f"Leiden clusters of {own} (resolution {row['resolution']:.3g})"


class Links:
    # igraph's form of each graph is kept. It does not travel to other processes: each builds its own, once for a run, and keeps those of
    # the last run that it saw.

    def __init__(self, n: int, neighbors: tuple[Floats, Ints] | None = None, given: Any = None) -> None:
        self.shape, self._neighbors, self._given = (n, 0), neighbors, given
        self._graphs: dict[int, Any] = {}
        self._run = f"{os.getpid()} {next(_RUNS)}"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_graphs": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._run not in _SEEN:
            _SEEN.clear()
        self._graphs = _SEEN.setdefault(self._run, {})

    def fitting(self, n_neighbors: float) -> float:
        """The nearest number of neighbors that there are edges for; NaN in a given graph."""
        return np.nan if self._neighbors is None else min(n_neighbors, self._neighbors[0].shape[1])

    def graph(self, n_neighbors: float | None) -> Any:
        k = 0 if self._neighbors is None or n_neighbors is None else int(n_neighbors)
        if k not in self._graphs:
            near = self._neighbors
            matrix = self._given if near is None else connectivities(near[0][:, :k], near[1][:, :k])
            self._graphs[k] = igraph_of(matrix)
        return self._graphs[k]


@dataclass(frozen=True, eq=False)
class Graphs(Space):
    """Graphs of nearest neighbors of the objects, for every number of neighbors asked for, or a graph that was given."""

    points: Points | None  # coordinates that neighbors were found in
    usual: int  # neighbors in the graph that resolutions are tried on
    ends: tuple[int, int]  # smallest and largest number of clusters that a clustering is to have

    @classmethod
    def of(cls, columns: ArrayLike, plan: Plan) -> Self:
        n, wanted, points = int(columns.shape[0]), sorted(plan.options["graph_neighbors"]), None
        if plan.metric == "graph":
            links = Links(n, given=columns)
        else:
            points = Points.of(columns)
            links = Links(n, nearest_neighbors(points.table, min(wanted[-1], max(2, n // OBJECTS_PER_NEIGHBOR))))
        return cls(links, points, wanted[len(wanted) // 2], (min(plan.n_clusters), max(plan.n_clusters)))

    @property
    def width(self) -> int:
        return 0

    @property
    def places(self) -> ArrayLike:
        return self.transform(None) if self.points is None else self.points.table

    def bare(self) -> Self:
        return replace(self, table=None, points=None if self.points is None else replace(self.points, table=None))

    def transform(self, columns: ArrayLike) -> ArrayLike:
        if self.points is None:
            raise InputError("a graph that was given says nothing of new objects: make the clusterings from columns")
        return self.points.transform(columns)

    def settle(self, spec: Spec) -> Spec:
        """The spec with a number of neighbors that there are, and the resolution for its number of clusters where none is drawn."""
        drawn = dict(spec.drawn) | {"n_neighbors": self.table.fitting(spec.drawn["n_neighbors"])}
        if "resolution" not in drawn:
            u = float(_kernels.random_uniform(child_seed(spec.seed, "generation.resolution"), spec.unit, 1)[0])
            numbers, resolutions = self._resolutions
            drawn["resolution"] = float(np.exp(np.interp(np.log(spec.n_clusters + u - 0.5), numbers, resolutions)))
        drawn["resolution"] = max(drawn["resolution"], self._least(drawn["n_neighbors"], drawn["resolution"]))
        return replace(spec, drawn=drawn)

    def _least(self, n_neighbors: float, wanted: float, *, halvings: int = 3) -> float:
        # About the lowest resolution at which the graph has two clusters, or any that is no higher than the one wanted.
        low = high = 1.0
        while high < SPAN[1] and self._number(n_neighbors, high) < 2:
            low, high = high, 2 * high
        while low > SPAN[0] and wanted < high == low and self._number(n_neighbors, low / 2) > 1:
            low = high = low / 2
        if wanted >= high or low == high <= SPAN[0]:  # parts that no edge joins are never one cluster
            return min(wanted, high)
        low = min(low, high / 2)
        for _ in range(halvings):
            middle = (low * high) ** 0.5
            low, high = (low, middle) if self._number(n_neighbors, middle) > 1 else (middle, high)
        return high

    def _number(self, n_neighbors: float, resolution: float) -> int:
        at = (0 if np.isnan(n_neighbors) else int(n_neighbors)), resolution
        if at not in self._numbers:
            self._numbers[at] = int(leiden(self.table.graph(n_neighbors), resolution, 0).max()) + 1
        return self._numbers[at]

    @cached_property
    def _numbers(self) -> dict[tuple[int, float], int]:
        return {}

    @cached_property
    def _resolutions(self) -> tuple[Floats, Floats]:
        # Logarithms of numbers of clusters, rising, and of resolutions at which they come out; found once, from 1 outward.
        neighbors, (fewest, most) = self.table.fitting(self.usual), self.ends
        found = {1.0: self._number(neighbors, 1.0)}
        down = up = 1.0
        while found[down] > fewest and down > SPAN[0]:
            down /= 2
            found[down] = self._number(neighbors, down)
        while found[up] <= most and up < SPAN[1]:
            up *= 2
            found[up] = self._number(neighbors, up)
        at = np.array(sorted(found))
        numbers = np.maximum.accumulate([found[r] for r in at])
        steps = np.flatnonzero(np.diff(numbers, prepend=0))  # the lowest resolution of each number
        return np.log(numbers[steps]), np.log(at[steps])


def even_place(start: float, unit: int) -> float:
    # Multiples of the golden ratio, without their whole part, fill [0, 1) evenly.
    return float((start + unit * (5**0.5 - 1) / 2) % 1.0)


def own_graph(data: Any, neighbors_key: str | None = None) -> str | None:
    """The key in `obsp` of the graph of neighbors that an AnnData has (``sc.pp.neighbors``); None without one, and for other data."""
    if not (hasattr(data, "obsp") and hasattr(data, "uns")) or (neighbors_key and neighbors_key not in data.uns):
        return None
    key = str(data.uns.get(neighbors_key or "neighbors", {}).get("connectivities_key", "connectivities"))
    return key if key in data.obsp else None


def import_igraph() -> Any:
    try:
        import igraph
    except ImportError:
        raise ImportError("Leiden needs igraph: pip install 'consilience[graph]'") from None
    return igraph


def igraph_of(matrix: Any) -> Any:
    from scipy import sparse

    upper = sparse.triu(sparse.coo_matrix(matrix), 1).tocoo()
    graph = import_igraph().Graph(n=matrix.shape[0], edges=np.column_stack([upper.row, upper.col]).astype(np.int64))
    graph.es["weight"] = upper.data.tolist()
    return graph


def leiden(graph: Any, resolution: float, seed: int) -> Labels:
    # Labels 0 … k − 1, the largest first; about O(edges). Ten rounds raise modularity by a thousandth, at three times the cost of two.
    igraph = import_igraph()
    with _GENERATOR:
        igraph.set_random_number_generator(random.Random(seed))
        try:
            found = graph.community_leiden("modularity", weights="weight", resolution=resolution, n_iterations=2)
        finally:
            igraph.set_random_number_generator(random)
    labels = np.asarray(found.membership, np.int64)
    sizes = np.bincount(labels)
    first = np.full(len(sizes), len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    place = np.empty(len(sizes), np.int32)
    place[np.lexsort((first, -sizes))] = np.arange(len(sizes), dtype=np.int32)
    return place[labels]
