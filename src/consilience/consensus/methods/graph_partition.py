"""Balanced partitions of graphs and hypergraphs into k blocks with a small cut, by Mt-KaHyPar.

**Weights.** The library counts in whole numbers. Edge weights that are whole and small enough stay as they are; others are scaled so
that they add up to 2³⁰, and an edge that rounds to zero is dropped. Vertex weights are scaled in the same way to 2²⁶, but a positive
weight stays at least 1. A vertex heavier than an even share of the rest counts as that share: it fills its block alone, and the
balance is kept among the others.

**Empty blocks.** Where the library leaves a block empty, the vertex least tied to its own block (smallest weight of edges into it,
then lowest number; in hypergraphs the lowest number) moves there, but never the last of a block: all k labels occur where there are at
least k vertices.

**Seeds.** The deterministic preset does not depend on its seed, so vertices are shuffled by ours.

L. Gottesbüren, T. Heuer, N. Maas, P. Sanders and S. Schlag, Scalable high-quality hypergraph partitioning, ACM Transactions on
Algorithms 20, 2024.
"""

import functools
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._check import InputError, check_choice, check_count, check_seed, is_number, show
from consilience._run.random import stream
from consilience._types import Ints

EDGES, VERTICES = (
    2.0**30,
    2.0**26,
)  # safeguard: sums of weights far below the 2³¹ at which the library's whole numbers end
# A complete graph of 400 vertices takes seconds, so of dense graphs (over a tenth of all pairs) the heaviest edges are kept.
DENSE, HEAVIEST = 0.1, 40


def partition_graph(
    graph: Any,
    k: int,
    *,
    vertex_weights: Any = None,
    imbalance: float = 0.05,
    random_state: Any = 0,
) -> Ints:
    """Split the vertices of a graph into k blocks of about equal weight so that the edges between blocks weigh little."""
    # The graph is a symmetric (n, n) matrix without negative weights; the balance counts the vertex weights, and a block may be heavier
    # than even by a share of `imbalance`, or more where vertices are heavy. With n ≤ k every vertex is a block of its own.
    check_imbalance(imbalance)
    check_count("the number of blocks", k)
    adjacency = _check_graph(graph)
    n = adjacency.shape[0]
    weights = _check_weights(vertex_weights, n)
    seed = check_seed(random_state)
    if (labels := _without_edges(weights, k, adjacency.nnz)) is not None:
        return labels
    # A random numbering of the vertices is what a seed means here; edges follow their vertices.
    rng = stream(seed, "consensus.repair")
    edges = sparse.triu(_strongest(adjacency, rng), 1).tocoo()
    costs = _whole_edges(edges.data)
    order = rng.permutation(n)
    place = np.argsort(order)
    first, second, costs = place[edges.row[costs > 0]], place[edges.col[costs > 0]], costs[costs > 0]
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    context = _context(k, imbalance, "cut")
    built = _kahypar().create_graph(
        context, n, len(pairs), pairs, _whole_vertices(weights, k)[order].tolist(), costs.tolist()
    )
    labels = np.asarray(built.partition(context).get_partition(), np.int64)[place]
    return _fill_blocks(labels, k, adjacency)


def partition_hypergraph(
    edges: Sequence[Any],
    k: int,
    *,
    n_vertices: int,
    vertex_weights: Any = None,
    imbalance: float = 0.05,
    random_state: Any = 0,
    objective: Literal["cut", "km1"] = "cut",
) -> Ints:
    """Split vertices into k blocks of about equal weight so that few hyperedges are cut, by Mt-KaHyPar."""
    # `edges` are the vertices of every hyperedge. "cut" is the weight of the hyperedges in more than one block; "km1" counts each once
    # per block beyond the first.
    check_choice(objective, ["cut", "km1"], "objective")
    check_imbalance(imbalance)
    check_count("the number of blocks", k)
    pins = [np.unique(np.asarray(edge, np.int64)) for edge in edges]
    if any(len(pin) and (pin[0] < 0 or pin[-1] >= n_vertices) for pin in pins):
        raise InputError(f"a hyperedge names a vertex outside 0 … {n_vertices - 1}")
    weights = _check_weights(vertex_weights, n_vertices)
    used = [pin for pin in pins if len(pin) > 1]
    if (labels := _without_edges(weights, k, len(used))) is not None:
        return labels
    order = stream(check_seed(random_state), "consensus.partition").permutation(n_vertices)
    place = np.argsort(order)
    context = _context(k, imbalance, objective)
    hypergraph = _kahypar().create_hypergraph(
        context,
        n_vertices,
        len(used),
        [np.sort(place[pin]).tolist() for pin in used],
        _whole_vertices(weights, k)[order].tolist(),
        [1] * len(used),
    )
    labels = np.asarray(hypergraph.partition(context).get_partition(), np.int64)[place]
    return _fill_blocks(labels, k)


def cut(graph: Any, labels: NDArray[Any]) -> float:
    """Weight of the edges between blocks, each edge once."""
    edges = sparse.coo_array(graph)
    return float(edges.data[labels[edges.row] != labels[edges.col]].sum()) / 2


def _check_graph(graph: Any) -> Any:
    matrix = sparse.csr_array(graph, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise InputError(f"a graph is a square matrix with at least one vertex; got shape {matrix.shape}")
    if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
        raise InputError("edge weights must be finite and not negative")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # the caller's arrays stay as they are
        matrix.sum_duplicates()
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    matrix = _select(matrix, rows, (rows != matrix.indices) & (matrix.data > 0), matrix.data)
    # Only one half of the matrix is handed over, so symmetry is checked, and made exact, rather than trusted.
    other = matrix.T.tocsr()
    same = np.array_equal(matrix.indptr, other.indptr) and np.array_equal(matrix.indices, other.indices)
    if not same or not np.allclose(matrix.data, other.data, rtol=1e-9, atol=0):
        raise InputError("a graph must be symmetric: edge (i, j) needs the weight of edge (j, i)")
    matrix.data = _no_giants(np.maximum(matrix.data, other.data))
    return matrix


def _select(matrix: Any, rows: Ints, keep: NDArray[np.bool_], data: NDArray[Any]) -> Any:
    counts = np.bincount(rows[keep], minlength=matrix.shape[0])
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(matrix.indptr.dtype)
    return sparse.csr_array((data[keep], matrix.indices[keep], starts), shape=matrix.shape)


def _check_weights(weights: Any, n: int) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(n)
    values = np.asarray(weights, float)
    if values.shape != (n,) or not np.isfinite(values).all() or (values < 0).any():
        raise InputError(
            f"{n} vertex weights, finite and not negative, are needed; got an array of shape {values.shape}"
        )
    return _no_giants(values)


def _no_giants(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights whose sum is finite: beyond 2⁵³ they are no exact counts, and only their proportions matter."""
    return weights / weights.max() if weights.size and weights.max() > 2.0**53 else weights


def check_imbalance(imbalance: Any) -> None:
    """Refuse an imbalance that cannot be had, before the work on a graph begins."""
    if not is_number(imbalance) or not 0 <= imbalance <= 10:
        raise InputError(f"imbalance must be a number from 0 to 10; got {show(imbalance)}")


def _without_edges(weights: NDArray[np.float64], k: int, n_edges: int) -> Ints | None:
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


def _whole_edges(weights: NDArray[np.float64]) -> Ints:
    return np.rint(_scale(weights, EDGES)).astype(np.int64)


def _scale(weights: NDArray[np.float64], limit: float) -> NDArray[np.float64]:
    if not weights.any() or (weights.sum() <= limit and (weights == np.floor(weights)).all()):
        return weights
    weights = weights / weights.max()  # first, lest the factor overflow on tiny ones
    return weights * (limit / weights.sum())


def _whole_vertices(weights: NDArray[np.float64], k: int) -> Ints:
    if not weights.any():
        return np.ones(len(weights), np.int64)
    heavy = np.sort(weights)[::-1][: k - 1]
    rest = weights.sum() - np.cumsum(heavy)  # what is left when the m + 1 heaviest have blocks of their own
    above = np.flatnonzero(heavy > rest / (k - 1 - np.arange(len(heavy))))
    if len(above) and rest[above[-1]] > 0:
        weights = np.minimum(weights, rest[above[-1]] / (k - 1 - above[-1]))
    scaled = _scale(weights, VERTICES)
    return np.rint(np.where(weights > 0, np.maximum(scaled, 1), 0)).astype(np.int64)


def _ties(graph: Any, labels: Ints) -> NDArray[np.float64]:
    """For every vertex, the weight of its edges into its own block."""
    edges = sparse.coo_array(graph)
    inside = labels[edges.row] == labels[edges.col]
    return np.bincount(edges.row[inside], edges.data[inside], minlength=len(labels)).astype(float)


def _fill_blocks(labels: Ints, k: int, graph: Any = None) -> Ints:
    counts = np.bincount(labels, minlength=k)
    empty = np.flatnonzero(counts == 0).tolist()
    if not empty:
        return labels
    ties = np.zeros(len(labels)) if graph is None else _ties(graph, labels)
    labels = labels.copy()
    for vertex in np.argsort(ties, kind="stable"):
        if counts[labels[vertex]] > 1:
            counts[labels[vertex]] -= 1
            labels[vertex] = empty.pop()
            if not empty:
                break
    return labels


def _strongest(graph: Any, rng: Any) -> Any:
    """The graph itself, or if it is dense, the edges that are among the heaviest of either end (equals drawn by lot)."""
    n = graph.shape[0]
    if graph.nnz <= max(DENSE * n * n, HEAVIEST * n):
        return graph
    keep = np.ones(graph.nnz, bool)
    for begin, end in pairwise(graph.indptr.tolist()):
        if end - begin > HEAVIEST:
            weights = graph.data[begin:end]
            least = np.partition(weights, -HEAVIEST)[-HEAVIEST]
            heavier, equal = weights > least, np.flatnonzero(weights == least)
            keep[begin:end] = heavier
            keep[begin + rng.permutation(equal)[: HEAVIEST - np.count_nonzero(heavier)]] = True
    kept = _select(graph, np.repeat(np.arange(n), np.diff(graph.indptr)), keep, graph.data)
    return kept.maximum(kept.T)


def _context(k: int, imbalance: float, objective: str) -> Any:
    import mtkahypar

    context = _kahypar().context_from_preset(mtkahypar.PresetType.DETERMINISTIC)
    context.set_partitioning_parameters(k, imbalance, getattr(mtkahypar.Objective, objective.upper()))
    context.logging = False
    return context


@functools.cache
def _kahypar() -> Any:
    # Once per process and with one thread: the answer does not depend on the number, and a process without helper
    # threads can be forked (multiprocessing, joblib) and go on partitioning on both sides.
    import mtkahypar

    return mtkahypar.initialize(1, False)
