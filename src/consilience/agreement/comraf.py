"""Comraf (Bekkerman et al. 2009): clusterings of several kinds of objects, or several of one kind, with the most mutual information."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from joblib import delayed
from scipy import sparse
from sklearn.base import BaseEstimator

from consilience._check import InputError, check_choice, check_count, check_labels, check_positive, check_seed, show
from consilience._run.parallel import n_threads, workers
from consilience._run.random import child_seed, stream
from consilience._types import Labels, RandomState
from consilience.agreement.co_clustering import engine_of, random_labels
from consilience.engine.search import Search
from consilience.engine.views import Views, count_views, regrouped
from consilience.inputs import as_table

SCHEDULES = ("parallel", "round_robin")


# Inference in a combinatorial Markov random field whose potentials are mutual information (Bekkerman et al. 2009, sections 3 and 4).
#
# A node is a clustering of some objects; an edge carries a count table between the objects of its ends, and its potential is
# I(X̃; Ỹ) of the two clusterings on that table. Iterated conditional modes: one node, or all of a class of nodes
# without edges among them, is improved by local search while the others are fixed. Only a search that gains moves anything, so the
# sum of the potentials never falls (Proposition 4.1).

Clusterings = dict[str, Labels]


@dataclass(frozen=True)
class Node:
    name: str
    rows: Views  # the objects' counts in all tables at the node's edges, side by side
    seen: list[tuple[str, int, float]]  # of every edge: neighbor, first column of `rows` with its objects, weight

    def views(self, labels: Mapping[str, Labels]) -> Views:
        """The neighbors' clusterings as views of the node's objects."""
        codes = np.full((len(self.seen), self.rows.table.shape[1]), -1, np.int32)
        for code, (other, first, _) in zip(codes, self.seen, strict=True):
            code[first : first + len(labels[other])] = labels[other]
        return regrouped(self.rows, codes, weights=[weight for *_, weight in self.seen])


def color(nodes: Sequence[Node]) -> list[list[Node]]:
    """Classes of nodes without edges among them: each node joins the first class that holds no neighbor."""
    classes: list[list[Node]] = []
    for node in nodes:
        near = {other for other, *_ in node.seen}
        home = next((group for group in classes if near.isdisjoint(member.name for member in group)), None)
        if home is None:
            classes.append(home := [])
        home.append(node)
    return classes


def infer(
    classes: Sequence[Sequence[Node]],
    labels: Clusterings,
    *,
    heats: Sequence[float],
    max_iter_local: int = 1,
    tol: float = 0.0,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Iterator[tuple[Clusterings, list[float]]]:
    """After every iteration all clusterings, and the objective before and after each class, whose nodes are searched in parallel."""
    threads = n_threads(n_jobs)

    def improve(which: int, labels: Clusterings, heat: float, units: Sequence[int]) -> Sequence[Search]:
        group = classes[which]
        inner = threads if len(group) == 1 else 1
        pairs = zip(group, units, strict=True)
        return list(
            parallel(delayed(_improve)(node, labels, max_iter_local, heat, seed, unit, inner) for node, unit in pairs)
        )

    names = [[node.name for node in group] for group in classes]
    with workers(n_jobs) as parallel:
        yield from take_turns(names, labels, improve, partial(_start, classes), heats=heats, tol=tol)


def take_turns(
    classes: Sequence[Sequence[str]],
    labels: Clusterings,
    improve: Callable[[int, Clusterings, float, Sequence[int]], Sequence[Search]],
    start: Callable[[Clusterings, Mapping[str, Search]], float],
    *,
    heats: Sequence[float],
    tol: float,
) -> Iterator[tuple[Clusterings, list[float]]]:
    """The schedule of :func:`infer`, whoever improves the nodes of a class; `start` finds the objective before the first class moved."""
    # Nodes of the first class begin with a noisy pass, at the temperature of the iteration; there is none at 0. Every node has a
    # number of its own for its random stream, so that the number of threads does not matter.
    names = [name for group in classes for name in group]
    labels = dict(labels)
    history: list[float] = []
    for t, hot in enumerate(heats):
        for which, group in enumerate(classes):
            heat = hot if which == 0 else 0.0
            units = [t * len(names) + names.index(name) for name in group]
            found = dict(zip(group, improve(which, labels, heat, units), strict=True))
            if not history:
                history.append(start(labels, found))
            labels |= {name: search.labels for name, search in found.items()}
            history.append(history[-1] + sum(search.objective - search.history[0] for search in found.values()))
        yield dict(labels), list(history)
        if history[-1] - history[-1 - len(classes)] <= tol * abs(history[-1]):
            return


def _improve(node: Node, labels: Clusterings, max_iter: int, heat: float, seed: int, unit: int, n_jobs: int) -> Search:
    """Plain passes, after a noisy one if that ends higher than where it began."""
    mine = labels[node.name]
    engine = engine_of(node.views(labels), int(mine.max()) + 1, n_jobs)
    how: dict[str, Any] = {"max_iter": max_iter, "seed": seed, "unit": unit, "revalue": False}
    if heat > 0:
        found = engine.search(mine, temperature=heat, noisy_iter=1, **how)
        if found.objective > found.history[0]:
            return found
    return engine.search(mine, **how)


def _start(classes: Sequence[Sequence[Node]], labels: Clusterings, found: Mapping[str, Search]) -> float:
    """The objective before the first class moved: its edges are counted already, the others once each."""
    value = sum(search.history[0] for search in found.values())
    done = set(found)
    for node in (node for group in classes for node in group if node.name not in found):
        left = replace(node, seen=[edge for edge in node.seen if edge[0] not in done])
        if left.seen:
            value += engine_of(left.views(labels), int(labels[node.name].max()) + 1).value(labels[node.name])
        done.add(node.name)
    return float(value)


@dataclass(eq=False, repr=False)
class Comraf(BaseEstimator):
    """A graph of clusterings whose edges carry count tables; the sum of mutual information over the edges is raised.

    Parameters
    ----------
    n_clusters : int or mapping of node to int
        Of all nodes, or of each; a node that starts from given labels may be left out.
    schedule : {"parallel", "round_robin"}
        Nodes without an edge between them at once, or one after the other.
    max_iter : int
        Turns of every node, at most.
    max_iter_local : int
        Passes of local search each time it is a node's turn.
    tol : float
        Stop when a turn of all nodes gains no more than this share of the objective.
    random_state : int, optional
    n_jobs : int, optional
        Threads; the labels do not depend on it.

    Attributes
    ----------
    labels_ : dict of node to labels
    objective_ : float
        Σ over the edges of weight · I(X̃; Ỹ), in nats.
    history_ : list of float
        The objective at the start and after every step of the schedule; it never falls.
    empty_ : dict of node to array
        Objects without a count in any table: they keep the label they started with.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.agreement import Comraf
    >>> blocks = np.kron(np.eye(2, dtype=int), np.ones((5, 6), int))
    >>> edges = [("documents", "words", blocks), ("documents", "authors", blocks[:, :4] + blocks[:, 6:10])]
    >>> found = Comraf({"documents": 2, "words": 2, "authors": 2}, random_state=1).fit(edges)
    >>> round(found.objective_, 4)
    0.6931
    """

    n_clusters: int | Mapping[str, int] = 8
    _: KW_ONLY
    schedule: str = "parallel"
    max_iter: int = 20
    max_iter_local: int = 1
    tol: float = 1e-5
    random_state: RandomState = None
    n_jobs: int | None = None

    def fit(self, X: Sequence[Any], y: None = None, *, init: Mapping[str, Any] | None = None) -> Self:
        """Cluster the nodes of a graph.

        Parameters
        ----------
        X : sequence of (node, node, table) or (node, node, table, weight)
            The edges. Nodes are named by strings. The table's rows are the objects of the first node, its columns those of the
            second. Nodes that cluster the same objects share tables, as in the bipartite graph of the agreement process.
        init : mapping of node to labels, optional
            Where the search starts. A node that is not in it starts at random, and is first improved on the single objects of
            those neighbors that have no clustering yet: two random clusterings have no information about each other.
        """
        check_choice(self.schedule, SCHEDULES, "schedule")
        check_count("max_iter", self.max_iter)
        check_count("max_iter_local", self.max_iter_local)
        check_positive("tol", self.tol, or_equal=True)
        seed = check_seed(self.random_state)
        nodes = _nodes(_check_edges(X))
        names, wanted = [node.name for node in nodes], self.n_clusters
        each = wanted if isinstance(wanted, Mapping) else dict.fromkeys(names, wanted)
        labels = _starts(nodes, each, init or {}, seed, self.n_jobs)
        classes = color(nodes) if self.schedule == "parallel" else [[node] for node in nodes]
        how: dict[str, Any] = {"heats": [0.0] * self.max_iter, "max_iter_local": self.max_iter_local, "tol": self.tol}
        streams = child_seed(seed, "agreement.comraf_search")
        self.labels_, self.history_ = list(infer(classes, labels, **how, seed=streams, n_jobs=self.n_jobs))[-1]
        self.objective_ = self.history_[-1]
        self.empty_ = {node.name: np.flatnonzero(np.diff(node.rows.table.indptr) == 0) for node in nodes}
        return self


Edge = tuple[str, str, Any, float]


def _check_edges(edges: Any) -> list[Edge]:
    checked: list[Edge] = []
    sizes: dict[str, int] = {}
    tables: dict[int, Any] = {}
    for number, edge in enumerate(edges):
        if not isinstance(edge, (tuple, list)) or len(edge) not in (3, 4):
            raise InputError(
                f"edge {number} must be (node, node, table) or (node, node, table, weight); got {show(edge)}"
            )
        a, b, table = edge[:3]
        if a == b:
            raise InputError(f"edge {number} joins {show(a)} to itself: an edge has two nodes")
        if id(table) not in tables:
            tables[id(table)] = sparse.csr_matrix(as_table(table, "counts").values, dtype=float, copy=True)
            tables[id(table)].eliminate_zeros()
        values = tables[id(table)]
        if not values.nnz:
            raise InputError(f"the table of edge {number} ({a}, {b}) holds no counts")
        for node, n in zip((a, b), values.shape, strict=True):
            if sizes.setdefault(node, n) != n:
                raise InputError(f"{show(node)} has {n} objects at edge {number} and {sizes[node]} at an earlier one")
        checked.append((a, b, values, check_positive("the weight of an edge", edge[3] if len(edge) == 4 else 1.0)))
    if not checked:
        raise InputError("a graph needs at least one edge")
    first = checked[0][0]
    reached = {first}
    while more := {end for a, b, *_ in checked if a in reached or b in reached for end in (a, b)} - reached:
        reached |= more
    if apart := [a for a, *_ in checked if a not in reached]:
        raise InputError(
            f"the graph falls apart: no path leads from {show(first)} to {show(apart[0])}; join them by an edge, or fit two"
        )
    return checked


def _nodes(edges: list[Edge]) -> list[Node]:
    """Nodes in the order of their first edge; tables that several edges share stand in a node's rows once."""
    names = list(dict.fromkeys(end for a, b, *_ in edges for end in (a, b)))
    turned: dict[int, Any] = {}
    shared: dict[tuple[tuple[int, bool], ...], Any] = {}
    nodes = []
    for name in names:
        seen: list[tuple[str, int, float]] = []
        first: dict[tuple[int, bool], int] = {}
        blocks: list[Any] = []
        for a, b, table, weight in edges:
            if name not in (a, b):
                continue
            key = (id(table), name == b)
            if key not in first:
                if name == b and id(table) not in turned:
                    turned[id(table)] = sparse.csr_matrix(table.T)
                first[key] = sum(block.shape[1] for block in blocks)
                blocks.append(turned[id(table)] if name == b else table)
            seen.append((a if name == b else b, first[key], weight))
        rows = shared.setdefault(tuple(first), None)
        if rows is None:
            rows = shared[tuple(first)] = count_views([sparse.hstack(blocks, format="csr")])
        nodes.append(Node(name, rows, seen))
    return nodes


def _starts(
    nodes: list[Node], n_clusters: Mapping[str, int], init: Mapping[str, Any], seed: int, n_jobs: int | None
) -> dict[str, Labels]:
    """Labels of every node: as given, where missing at random, and found on the neighbors where none are given."""
    known = {node.name for node in nodes}
    for name in [*n_clusters, *init]:
        if name not in known:
            raise InputError(f"no edge leads to {show(name)}: the nodes are {', '.join(sorted(known))}")
    single = {node.name: np.arange(node.rows.n_objects, dtype=np.int32) for node in nodes}
    drawn = {
        node.name: _drawn(node, n_clusters, init, stream(seed, "agreement.comraf", i)) for i, node in enumerate(nodes)
    }
    found = {name: drawn[name] for name in drawn if name in init}
    for number, node in enumerate(nodes):
        if node.name not in init:
            engine = engine_of(node.views(single | found), int(drawn[node.name].max()) + 1, n_jobs)
            own = child_seed(seed, "agreement.comraf_start", number)
            # a few passes on the neighbors' single objects: the process itself goes on from there
            found[node.name] = engine.search(drawn[node.name], max_iter=10, seed=own).labels
    return found


def _drawn(node: Node, n_clusters: Mapping[str, int], init: Mapping[str, Any], rng: np.random.Generator) -> Labels:
    """The given labels of a node, at random where there are none."""
    name, n = node.name, node.rows.n_objects
    given = check_labels(init[name], f"init of {name}") if name in init else np.full(n, -1)
    if len(given) != n:
        raise InputError(f"init of {show(name)} has {len(given)} labels for {n} objects")
    if name not in n_clusters and name not in init:
        raise InputError(f"n_clusters does not say how many clusters {show(name)} shall have")
    k = check_count(f"n_clusters of {name}", n_clusters.get(name, int(given.max()) + 1))
    if k > n or given.max() >= k:
        raise InputError(f"{show(name)} has {n} objects and {given.max() + 1} clusters at the start; {k} are wanted")
    return np.where(given < 0, random_labels(n, k, rng), given).astype(np.int32)
