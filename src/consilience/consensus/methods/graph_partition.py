"""Balanced partitions of graphs and hypergraphs into k blocks with a small cut: METIS and Mt-KaHyPar behind two functions.

**Weights.** Both libraries count in whole numbers. Edge weights that are whole and small enough stay as they are; others are
scaled so that they add up to 2³⁰ (2⁴⁴ where METIS was built with 64 bits), and an edge that rounds to zero is dropped.
Vertex weights are scaled in the same way to 2²⁶, but a positive weight stays at least 1. A vertex heavier than an even share
of the rest counts as that share: it fills its block alone, and the balance is kept among the others.

**Empty blocks.** Where a library leaves a block empty, the vertex least tied to its own block (smallest weight of edges into it,
then lowest number; in hypergraphs the lowest number) moves there, but never the last of a block: all k labels occur where
there are at least k vertices.

**Seeds.** METIS takes one. The deterministic preset of Mt-KaHyPar does not depend on its seed, so vertices are shuffled by ours.
"""

from __future__ import annotations

import functools
import importlib.util
import signal
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._check import InputError, check_choice, check_count, check_seed, is_number, show
from consilience._run.random import stream
from consilience._types import Ints

Backend = Literal["auto", "metis", "mtkahypar"]

_EDGES_32, _EDGES_64, _VERTICES = 2.0**30, 2.0**44, 2.0**26
# Mt-KaHyPar needs seconds for a complete graph of 400 vertices: of dense graphs it gets the heaviest edges.
_DENSE, _KEPT = 0.1, 40
_CUTS, _LIGHT = 10, 4000  # METIS starts 10 times on graphs of up to 400 vertices, and fewer on larger ones
_LIGHT_SHARE = 0.55  # half is what is left of k vertices that fill a block each
_LOOSE = 0.3  # imbalance above which METIS lets blocks run empty


def partition_graph(
    graph: Any,
    k: int,
    *,
    vertex_weights: Any = None,
    imbalance: float = 0.05,
    backend: Backend = "auto",
    random_state: Any = 0,
) -> Ints:
    """Split the vertices of a graph into k blocks of about equal weight so that the edges between blocks weigh little.

    Parameters
    ----------
    graph : (n, n) sparse matrix
        Symmetric, not negative; the diagonal is ignored.
    k : int
        Number of blocks; with n ≤ k every vertex is a block of its own.
    vertex_weights : (n,) array, optional
        Not negative; what the balance counts.
    imbalance : float, default 0.05
        How much heavier than even a block may be; exceeded where vertices are heavy.
    backend : {"auto", "metis", "mtkahypar"}, default "auto"
        "metis" runs recursive bisection and direct k-way and keeps the lower cut. "mtkahypar" runs the deterministic
        preset; of a dense graph (over a tenth of all pairs) it sees the 40 heaviest edges of every vertex.
        "auto" is METIS where it is installed. METIS leaves blocks empty where few vertices hold most of the weight or
        the imbalance is above 0.3: such graphs go to Mt-KaHyPar in any case.
    random_state : int, generator or None, default 0

    Returns
    -------
    (n,) int array
        Blocks 0 … k − 1.

    Examples
    --------
    >>> from scipy.sparse import coo_matrix
    >>> path = coo_matrix(([9.0, 1.0, 9.0], ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
    >>> blocks = partition_graph(path + path.T, 2)
    >>> bool(blocks[0] == blocks[1] != blocks[2] == blocks[3])
    True
    """
    check_wishes(imbalance, backend)
    check_count("the number of blocks", k)
    adjacency = _check_graph(graph)
    n = adjacency.shape[0]
    weights = _check_weights(vertex_weights, n, "vertex")
    seed = check_seed(random_state)
    if (labels := _without_edges(weights, k, adjacency.nnz)) is not None:
        return labels
    vertices = _whole_vertices(weights, k)
    if _backend(backend) == "metis" and _suits_metis(vertices, k, imbalance):
        tries = _metis(adjacency, vertices, k, imbalance, seed)
    else:
        tries = [_kahypar_graph(adjacency, vertices, k, imbalance, seed)]
    # A partition with empty blocks cuts less because it does not do what was asked: it only wins against its like.
    tries.sort(key=lambda labels: (k - len(np.unique(labels)), cut(adjacency, labels)))
    return _fill_blocks(tries[0], k, adjacency)


def partition_hypergraph(
    edges: Sequence[Any],
    k: int,
    *,
    n_vertices: int,
    vertex_weights: Any = None,
    edge_weights: Any = None,
    imbalance: float = 0.05,
    random_state: Any = 0,
    objective: Literal["cut", "km1"] = "cut",
) -> Ints:
    """Split vertices into k blocks of about equal weight so that few hyperedges are cut, by Mt-KaHyPar.

    Parameters
    ----------
    edges : sequence of sequences of int
        The vertices of every hyperedge, 0 … n_vertices − 1; repeated ones count once.
    k : int
    n_vertices : int
    vertex_weights, edge_weights : arrays, optional
    imbalance : float, default 0.05
    random_state : int, generator or None, default 0
    objective : {"cut", "km1"}, default "cut"
        The weight of the hyperedges in more than one block, or the same with each counted once per block beyond the first.

    Returns
    -------
    (n_vertices,) int array
        Blocks 0 … k − 1.

    Examples
    --------
    >>> blocks = partition_hypergraph([[0, 1, 2], [3, 4, 5], [2, 3]], 2, n_vertices=6)
    >>> bool(blocks[0] == blocks[1] == blocks[2] != blocks[3])
    True
    """
    check_choice(objective, ["cut", "km1"], "objective")
    check_wishes(imbalance)
    check_count("the number of blocks", k)
    pins = [np.unique(np.asarray(edge, np.int64)) for edge in edges]
    if any(len(pin) and (pin[0] < 0 or pin[-1] >= n_vertices) for pin in pins):
        raise InputError(f"a hyperedge names a vertex outside 0 … {n_vertices - 1}")
    weights = _check_weights(vertex_weights, n_vertices, "vertex")
    costs = _whole_edges(_check_weights(edge_weights, len(pins), "edge"), _EDGES_32)
    used = [i for i, pin in enumerate(pins) if len(pin) > 1 and costs[i] > 0]
    if (labels := _without_edges(weights, k, len(used))) is not None:
        return labels
    order = stream(check_seed(random_state), "consensus.partition").permutation(n_vertices)
    place = np.argsort(order)
    context = _kahypar_context(k, imbalance, objective)
    hypergraph = _kahypar().create_hypergraph(
        context,
        n_vertices,
        len(used),
        [np.sort(place[pins[i]]).tolist() for i in used],
        _whole_vertices(weights, k)[order].tolist(),
        costs[used].tolist(),
    )
    labels = np.asarray(hypergraph.partition(context).get_partition(), np.int64)[place]
    return _fill_blocks(labels, k)


def cut(graph: Any, labels: NDArray[Any]) -> float:
    """Weight of the edges between blocks, each edge once."""
    edges = sparse.coo_array(graph)
    return float(edges.data[labels[edges.row] != labels[edges.col]].sum()) / 2


def _backend(backend: str) -> str:
    if backend != "auto":
        return backend
    return "metis" if importlib.util.find_spec("pymetis") else "mtkahypar"


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(f"{name} is not installed, and this partition needs it: pip install {name}") from None


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
    # METIS walks out of its arrays on a one-way edge, so symmetry is checked, and made exact, rather than trusted.
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


def _check_weights(weights: Any, n: int, what: str) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(n)
    values = np.asarray(weights, float)
    if values.shape != (n,) or not np.isfinite(values).all() or (values < 0).any():
        raise InputError(
            f"{n} {what} weights, finite and not negative, are needed; got an array of shape {values.shape}"
        )
    return _no_giants(values)


def _no_giants(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights whose sum is finite: beyond 2⁵³ they are no exact counts, and only their proportions matter."""
    return weights / weights.max() if weights.size and weights.max() > 2.0**53 else weights


def check_wishes(imbalance: Any, backend: str = "auto") -> None:
    """Refuse an imbalance or a partitioner that cannot be had, before the work on a graph begins."""
    if not is_number(imbalance) or not 0 <= imbalance <= 10:
        raise InputError(f"imbalance must be a number from 0 to 10; got {show(imbalance)}")
    check_choice(backend, ["auto", "metis", "mtkahypar"], "partitioner")


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


def _whole_edges(weights: NDArray[np.float64], limit: float) -> Ints:
    return np.rint(_scale(weights, limit)).astype(np.int64)


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
    scaled = _scale(weights, _VERTICES)
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


def _suits_metis(vertices: Ints, k: int, imbalance: float) -> bool:
    """Whether no block can run out of vertices on the way: METIS then writes to the terminal, and leaves blocks empty.

    That takes a tight balance and weights that are even, or mostly in vertices that are light beside a block.
    """
    even = vertices.min() == vertices.max()
    light = np.minimum(vertices, vertices.sum() / (2 * k)).sum() >= _LIGHT_SHARE * vertices.sum()
    return bool(imbalance <= _LOOSE and (even or light))


def _metis(graph: Any, vertices: Ints, k: int, imbalance: float, seed: int) -> list[Ints]:
    pymetis = _library("pymetis")
    dtype = pymetis.zero_copy_dtype()
    limit = _EDGES_32 if np.dtype(dtype).itemsize == 4 else _EDGES_64
    costs = _whole_edges(graph.data, 2 * limit)  # every edge is stored twice
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    graph = _select(graph, rows, costs > 0, costs)
    adjacency = pymetis.CSRAdjacency(graph.indptr.astype(dtype), graph.indices.astype(dtype))
    options = pymetis.Options(
        seed=seed % (2**31 - 1),
        ufactor=max(1, round(1000 * imbalance)),
        ncuts=int(np.clip(_LIGHT // max(graph.shape[0], 1), 1, _CUTS)),
    )
    tries = []
    for recursive in (True, False):
        found = pymetis.part_graph(
            k,
            adjacency,
            vweights=vertices.astype(dtype),
            eweights=graph.data.astype(dtype),
            recursive=recursive,
            options=options,
        )
        _check_metis()
        tries.append(np.asarray(found.vertex_part, np.int64))
    return tries


def _check_metis() -> None:
    """METIS tells its own errors by SIGTERM: where that is blocked, as by the command line, it is pending after a failure."""
    if hasattr(signal, "sigpending") and signal.SIGTERM in signal.sigpending():
        signal.sigwait({signal.SIGTERM})
        raise RuntimeError("METIS could not partition the graph: choose another method, such as vote or evidence")


def _kahypar_graph(graph: Any, vertices: Ints, k: int, imbalance: float, seed: int) -> Ints:
    rng = stream(seed, "consensus.repair")
    n = graph.shape[0]
    edges = sparse.triu(_strongest(graph, rng), 1).tocoo()
    costs = _whole_edges(edges.data, _EDGES_32)
    order = rng.permutation(n)
    place = np.argsort(order)
    first, second, costs = place[edges.row[costs > 0]], place[edges.col[costs > 0]], costs[costs > 0]
    context = _kahypar_context(k, imbalance, "cut")
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    built = _kahypar().create_graph(context, n, len(pairs), pairs, vertices[order].tolist(), costs.tolist())
    return np.asarray(built.partition(context).get_partition(), np.int64)[place]


def _strongest(graph: Any, rng: Any) -> Any:
    """The graph itself, or if it is dense, the edges that are among the heaviest of either end (equals drawn by lot)."""
    n = graph.shape[0]
    if graph.nnz <= max(_DENSE * n * n, _KEPT * n):
        return graph
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    order = np.lexsort((rng.random(graph.nnz), -graph.data, rows))
    keep = np.zeros(graph.nnz, bool)
    keep[order[np.arange(graph.nnz) - graph.indptr[rows] < _KEPT]] = True
    kept = _select(graph, rows, keep, graph.data)
    return kept.maximum(kept.T)


def _kahypar_context(k: int, imbalance: float, objective: str) -> Any:
    library = _library("mtkahypar")
    context = _kahypar().context_from_preset(library.PresetType.DETERMINISTIC)
    context.set_partitioning_parameters(k, imbalance, getattr(library.Objective, objective.upper()))
    context.logging = False
    return context


@functools.cache
def _kahypar() -> Any:
    # Once per process and with one thread: the answer does not depend on the number, and a process without helper
    # threads can be forked (multiprocessing, joblib) and go on partitioning on both sides.
    return _library("mtkahypar").initialize(1, False)
