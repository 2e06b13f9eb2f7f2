"""Balanced partitions of graphs and hypergraphs into k blocks with a small cut, by Mt-KaHyPar.

L. Gottesbüren, T. Heuer, N. Maas, P. Sanders and S. Schlag, Scalable high-quality hypergraph partitioning, ACM Transactions on
Algorithms 20, 2024.
"""

import functools
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from consilience._check import check_seed
from consilience._run.random import stream
from consilience._types import Array, Floats, Ints

# safeguard: sums of weights far below the 2³¹ at which the library's whole numbers end
EDGES, VERTICES = 2.0**30, 2.0**26
# A complete graph of 400 vertices takes seconds, so of dense graphs (over a tenth of all pairs) the heaviest edges are kept.
DENSE, HEAVIEST = 0.1, 40


def partition_graph(
    graph: Any, k: int, *, vertex_weights: Any = None, imbalance: float = 0.05, random_state: Any = 0
) -> Ints:
    """Split the vertices of a graph into k blocks of about equal weight so that the edges between blocks weigh little."""
    # The graph is a symmetric (n, n) matrix of weights above 0, without loops; the balance counts the vertex weights, and a block may be
    # heavier than even by a share of `imbalance`, or more where vertices are heavy. With n ≤ k every vertex is a block of its own.
    graph = sparse.csr_array(graph, dtype=float)
    graph.sum_duplicates()  # which orders its edges
    n = graph.shape[0]
    weights = np.ones(n) if vertex_weights is None else vertex_weights
    if (labels := _without_edges(weights, k, graph.nnz)) is not None:
        return labels
    rng = stream(check_seed(random_state), "consensus.repair")
    edges = sparse.triu(_strongest(graph, rng), 1).tocoo()
    costs = np.rint(_scale(edges.data, EDGES)).astype(np.int64)
    order = rng.permutation(n)
    place, some = np.argsort(order), costs > 0
    pairs = list(zip(place[edges.row[some]].tolist(), place[edges.col[some]].tolist(), strict=True))
    blocks = _partition("create_graph", pairs, costs[some].tolist(), weights[order], k, imbalance, "cut")
    return _fill_blocks(blocks[place], k, graph)


def partition_hypergraph(
    edges: Sequence[Array],
    k: int,
    *,
    n_vertices: int,
    vertex_weights: Any = None,
    imbalance: float = 0.05,
    random_state: Any = 0,
    objective: str = "cut",
) -> Ints:
    """Split vertices into k blocks of about equal weight so that few hyperedges are cut."""
    # `edges` are the vertices of every hyperedge. "cut" counts the hyperedges in more than one block; "km1" counts each once per block
    # beyond the first.
    weights = np.ones(n_vertices) if vertex_weights is None else vertex_weights
    used = [edge for edge in edges if len(edge) > 1]
    if (labels := _without_edges(weights, k, len(used))) is not None:
        return labels
    order = stream(check_seed(random_state), "consensus.partition").permutation(n_vertices)
    place = np.argsort(order)
    pins = [np.sort(place[edge]).tolist() for edge in used]
    blocks = _partition("create_hypergraph", pins, [1] * len(used), weights[order], k, imbalance, objective)
    return _fill_blocks(blocks[place], k)


def _partition(
    create: str, edges: list[Any], costs: list[int], weights: Floats, k: int, imbalance: float, objective: str
) -> Ints:
    """Blocks of vertices that the callers have shuffled: the deterministic preset does not depend on its own seed."""
    import mtkahypar

    context = _library().context_from_preset(mtkahypar.PresetType.DETERMINISTIC)
    context.set_partitioning_parameters(k, imbalance, getattr(mtkahypar.Objective, objective.upper()))
    context.logging = False
    balanced = _whole_vertices(weights, k).tolist()
    built = getattr(_library(), create)(context, len(weights), len(edges), edges, balanced, costs)
    return np.asarray(built.partition(context).get_partition(), np.int64)


@functools.cache
def _library() -> Any:
    # Once per process and with one thread: the answer does not depend on the number, and a process without helper
    # threads can be forked (multiprocessing, joblib) and go on partitioning on both sides.
    import mtkahypar

    return mtkahypar.initialize(1, False)


def in_blocks(blocks: Ints, weights: Floats, k: int) -> Any:
    return sparse.csr_array((weights, (np.arange(len(blocks)), blocks)), shape=(len(blocks), k))


def _without_edges(weights: Floats, k: int, n_edges: int) -> Ints | None:
    """The answer where there is nothing to cut: too few vertices, one block, or no edges (then by weight alone)."""
    n = len(weights)
    if n <= k:
        return np.arange(n)
    if k == 1:
        return np.zeros(n, np.int64)
    if n_edges:
        return None
    shares = _whole_vertices(weights, k)
    middle = (np.cumsum(shares) - shares / 2) / shares.sum()
    return _fill_blocks(np.minimum((middle * k).astype(np.int64), k - 1), k)


def _scale(weights: Floats, limit: float) -> Floats:
    """Weights that add up to the limit, for a library that counts in whole numbers; those that are whole and small enough stay."""
    if not weights.any() or (weights.sum() <= limit and (weights == np.floor(weights)).all()):
        return weights
    weights = weights / weights.max()  # first, lest the factor overflow on tiny ones
    return weights * (limit / weights.sum())


def _whole_vertices(weights: Floats, k: int) -> Ints:
    """Weights of vertices as whole numbers, positive ones at least 1."""
    if not weights.any():
        return np.ones(len(weights), np.int64)
    # A vertex heavier than an even share of the rest counts as that share: it fills its block alone, and the others are balanced.
    heavy = np.sort(weights)[::-1][: k - 1]
    rest = weights.sum() - np.cumsum(heavy)  # what is left when the m + 1 heaviest have blocks of their own
    above = np.flatnonzero(heavy > rest / (k - 1 - np.arange(len(heavy))))
    if len(above) and rest[above[-1]] > 0:
        weights = np.minimum(weights, rest[above[-1]] / (k - 1 - above[-1]))
    return np.rint(np.where(weights > 0, np.maximum(_scale(weights, VERTICES), 1), 0)).astype(np.int64)


def _fill_blocks(labels: Ints, k: int, graph: Any = None) -> Ints:
    # The vertex least tied to its own block (smallest weight of edges into it, then lowest number; in hypergraphs the lowest number)
    # moves to an empty one, but never the last of a block.
    counts = np.bincount(labels, minlength=k)
    empty = np.flatnonzero(counts == 0).tolist()
    if not empty:
        return labels
    ties, labels = np.zeros(len(labels)), labels.copy()
    if graph is not None:
        edges = graph.tocoo()
        inside = labels[edges.row] == labels[edges.col]
        ties += np.bincount(edges.row[inside], edges.data[inside], minlength=len(labels))
    for vertex in np.argsort(ties, kind="stable"):
        if counts[labels[vertex]] > 1:
            counts[labels[vertex]] -= 1
            labels[vertex] = empty.pop()
            if not empty:
                break
    return labels


def _strongest(graph: Any, rng: np.random.Generator) -> Any:
    """The graph itself, or if it is dense, the edges that are among the heaviest of either end (equals drawn by lot)."""
    n = graph.shape[0]
    if graph.nnz <= max(DENSE * n * n, HEAVIEST * n):
        return graph
    kept = graph.copy()
    for begin, end in pairwise(graph.indptr.tolist()):
        if end - begin > HEAVIEST:
            weights = graph.data[begin:end]
            least = np.partition(weights, -HEAVIEST)[-HEAVIEST]
            heavier, equal = weights > least, np.flatnonzero(weights == least)
            dropped = ~heavier
            dropped[rng.permutation(equal)[: HEAVIEST - np.count_nonzero(heavier)]] = False
            kept.data[begin:end][dropped] = 0
    kept.eliminate_zeros()
    return kept.maximum(kept.T)
