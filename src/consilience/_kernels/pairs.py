"""Pairs of clusterings, and pairs of objects in them."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import consilience._native as _native
from consilience._check import InputError
from consilience._kernels.numbers import check_out, labels_fit
from consilience._types import Array, Floats, Ints, Labels


def contingency(a: Labels, b: Labels, shape: tuple[int, int], *, weights: Array | None = None) -> Array:
    """Count label pairs of the objects labeled in both."""
    # Whole-number `weights` give exact int64 counts, others float64.
    a, b = np.ascontiguousarray(a, np.int32), np.ascontiguousarray(b, np.int32)
    if a.shape != b.shape or a.ndim != 1:
        raise InputError(f"two label vectors of one length are needed; got shapes {a.shape} and {b.shape}")
    if a.size and (a.max() >= shape[0] or b.max() >= shape[1]):
        raise InputError(f"a label is outside the table of shape {shape}")
    whole = weights is None or np.asarray(weights).dtype.kind in "biu"
    table = np.zeros(shape, np.int64 if whole else np.float64)
    if weights is None:
        _native.contingency(a, b, table)
    else:
        weights = np.ascontiguousarray(weights, table.dtype)
        if weights.shape != a.shape:
            raise InputError(f"{len(a)} objects need as many weights; got shape {weights.shape}")
        _native.contingency(a, b, weights, table)
    return table


def encode_codes(labels: Array) -> Array:
    """Labels (objects × clusterings) as clustering-major codes of the smallest type; missing is its largest value."""
    top = int(labels.max(initial=0)) + 1
    kind = np.uint8 if top < 2**8 else np.uint16 if top < 2**16 else np.uint32
    return np.ascontiguousarray(labels.T.astype(kind))


def pair_sums(
    codes: Array,
    clusters: Labels,
    begin: int,
    end: int,
    *,
    term: str,
    missing: bool,
    rows: int | None = None,
    threads: int = 1,
) -> tuple[Array, Array, Array, Ints]:
    """Sums over the contingency tables of the pairs (a, b) with a < rows (by default `end`) and begin <= b < end."""
    # `term` is "square" or "xlogx". Returns arrays of shape (rows, end − begin): the term summed over the cells
    # (joint), over the clusters of a (own), over the clusters of b (other), and the number of objects labeled in both.
    # Without missing labels the last three are left empty, since they belong to a clustering alone.
    clusters = _check_band(codes, clusters, begin, end)
    rows = end if rows is None else rows
    if not 0 <= rows <= end:
        raise InputError(f"{rows} rows are not among the first {end} clusterings")
    shape = int(rows), int(end - begin)
    sums = np.empty((3 if missing else 1, *shape), np.uint64 if term == "square" else np.float64)
    known = np.empty(shape if missing else (0, 0), np.int64)
    _native.pair_sums(codes, clusters, int(begin), sums, known, threads)
    nothing = sums[:0]
    return (sums[0], sums[1], sums[2], known) if missing else (sums[0], nothing, nothing, known)


def expected_xlogx(n: int, own: Ints, other: Ints, *, threads: int = 1) -> Floats:
    """E[x log x] of the objects that clusters of own[i] and other[j] of n objects share by chance: (own, other)."""
    own, other = np.ascontiguousarray(own, np.int64), np.ascontiguousarray(other, np.int64)
    if min(own.min(initial=n), other.min(initial=n)) < 0 or max(own.max(initial=0), other.max(initial=0)) > n:
        raise InputError(f"a cluster of {n} objects has 0 … {n} of them")
    out = np.empty((len(own), len(other)))
    _native.expected_xlogx(int(n), own, other, out, threads)
    return out


def expected_sums(codes: Array, clusters: Labels, begin: int, end: int, *, threads: int = 1) -> Floats:
    """E[x log x] by chance, summed over the contingency table of the objects labeled in both, for the pairs a < b, begin <= b < end."""
    # Returns (end, end − begin), 0 where a >= b.
    clusters = _check_band(codes, clusters, begin, end)
    out = np.zeros((int(end), int(end - begin)))
    _native.expected_sums(codes, clusters, int(begin), out, threads)
    return out


def overlap_sums(
    codes: Array, clusters: Labels, begin: int, end: int, *, missing: bool, threads: int = 1
) -> tuple[Floats, Ints]:
    """Σ x² / max(a, b) over the cells x of the contingency tables with margins a, b: the element-centric similarity summed over objects."""
    # Returns arrays of shape (end, end − begin) for the pairs a <= b, begin <= b < end, with 0 elsewhere: the sums, and the number of
    # objects labeled in both, which is left empty without missing labels. Fastest where a has more clusters than b.
    clusters = _check_band(codes, clusters, begin, end)
    shape = int(end), int(end - begin)
    sums, known = np.zeros(shape), np.zeros(shape if missing else (0, 0), np.int64)
    _native.overlap_sums(codes, clusters, int(begin), sums, known, threads)
    return sums, known


def object_overlaps(codes: Array, clusters: Labels, begin: int, end: int, total: Floats, *, threads: int = 1) -> None:
    """Add x / max(a, b) of every object's cell in the pairs (a, b), begin <= a < end, a < b, to `total` (objects)."""
    # Holds (end − begin) × n_objects numbers; objects missing in a or b get nothing from the pair.
    clusters = _check_band(codes, clusters, begin, end)
    check_out(total, (np.float64,), "total")
    if len(clusters) < len(codes) or total.shape != codes.shape[1:]:
        raise InputError("the total needs a place for every object, and every clustering its number of clusters")
    _native.object_overlaps(codes, clusters, int(begin), int(end), total, threads)


def _check_band(codes: Array, clusters: Labels, begin: int, end: int) -> Labels:
    """The numbers of clusters as the kernels take them, if codes and clusterings begin … end − 1 are what they need."""
    clusters = np.ascontiguousarray(clusters, np.int32)
    if codes.ndim != 2 or codes.dtype not in (np.uint8, np.uint16, np.uint32) or not codes.flags.c_contiguous:
        raise InputError("codes must be a C-contiguous table of uint8, uint16 or uint32, as encode_codes makes it")
    if not 0 <= begin <= end <= len(codes) or len(clusters) < end or clusters.min(initial=0) < 0:
        raise InputError(f"clusterings {begin} … {end - 1} are not among the {min(len(codes), len(clusters))} given")
    if codes.shape[1] >= 2**32:
        raise InputError(f"{codes.shape[1]:,} objects are more than the kernel can number")
    return clusters


def within_sums(block: Floats, begin: int, labels: Labels, sums: Floats, *, threads: int = 1) -> None:
    """Add the distances of pairs inside each cluster (clusterings × clusters) from one block of the distance matrix."""
    # `block` holds the distances of objects begin … begin + rows − 1 to objects begin … begin + columns − 1, and counts
    # each pair i < j once; `labels` is clusterings × objects.
    if begin < 0 or begin + block.shape[1] > labels.shape[1] or block.shape[0] > block.shape[1]:
        raise InputError("the block reaches beyond the objects")
    if labels.max(initial=-1) >= sums.shape[1] or len(labels) != len(sums):
        raise InputError("the sums have no room for these labels")
    check_out(sums, (np.float64,), "sums")
    block, labels = np.ascontiguousarray(block, np.float64), np.ascontiguousarray(labels, np.int32)
    _native.within_sums(block, int(begin), labels, sums, threads)


# Distances of rows of labels, and the tree of weighted items.

LINKAGES = ("average", "single", "complete")  # in the order of native/linkage.hpp


def row_distances(columns: Labels, offsets: Ints, weights: Floats) -> Floats:
    """(n, n): 1 − the weights of the labels that two rows share, by the clusterings that label both; 1 where none does."""
    # `columns` is clusterings × rows, `offsets` (one more than clusterings) say where each one's labels begin in
    # `weights`; missing labels (−1) are no labels.
    columns, offsets = np.ascontiguousarray(columns, np.int32), np.ascontiguousarray(offsets, np.int64)
    weights = np.ascontiguousarray(weights, np.float64)
    if not labels_fit(columns, offsets) or weights.shape != (offsets[-1],):
        raise InputError("labels need a weight each, and a label must lie inside its clustering's part")
    distances = np.empty((columns.shape[1], columns.shape[1]))
    missing = bool(columns.size and columns.min() < 0)
    _native.row_distances(columns, offsets, weights, missing, distances)
    return distances


def linkage(distances: Floats, weights: Floats, kind: str = "average", *, tie: float = 0.0) -> tuple[Ints, Floats]:
    """Merges (n − 1, 2) of items that stand for `weights` objects each, and their heights; `distances` (n, n) are used up."""
    # The merges come as nearest-neighbor chains find them, children first; a pair lives on under its lower number.
    # Distances within `tie` of the smallest are equal to it, and the lowest number comes first.
    n, weights = len(distances), np.ascontiguousarray(weights, np.float64)
    if distances.shape != (n, n) or weights.shape != (n,) or not n or not (weights > 0).all():
        raise InputError(f"a tree needs square distances and as many weights above 0; got {distances.shape}")
    check_out(distances, (np.float64,), "distances")
    merges, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    _native.linkage(distances, weights, LINKAGES.index(kind), float(tie), merges, heights)
    return merges, heights


def cut_tree(tree: Floats, n_clusters: int) -> Ints:
    """Cluster of every leaf after all but the last `n_clusters` − 1 merges: exactly so many clusters, whatever the ties."""
    # Of the tree, in SciPy's format, no more than the first two columns is needed. Clusters come in the order of their first leaves.
    n = len(tree) + 1
    done = n - n_clusters
    children, parents = np.asarray(tree)[:done, :2].astype(np.int64).ravel(), np.repeat(np.arange(n, n + done), 2)
    links = csr_array((np.ones(2 * done), (children, parents)), (n + done, n + done))
    return connected_components(links, directed=False)[1][:n].astype(np.int64)


def spanning_tree(points: Floats, core: Floats | None = None) -> tuple[Ints, Floats]:
    """Edges (n − 1, 2) of the minimum spanning tree of points (n, d), by rising length, and their lengths; O(n² d) time, O(n d) memory."""
    # With `core`, two points are max(|x − y|, core_i, core_j) apart. Ties go to the lowest number, of edges too.
    points, core = np.ascontiguousarray(points, float), np.ascontiguousarray([] if core is None else core, float)
    n = len(points)
    if points.ndim != 2 or not n or core.shape not in ((0,), (n,)):
        raise InputError(f"a spanning tree needs points, and as many cores; got {points.shape} and {core.shape}")
    if not (np.isfinite(points).all() and np.isfinite(core).all() and core.min(initial=0) >= 0):
        raise InputError("points and cores must be finite, and cores not negative")
    edges, lengths = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    _native.spanning_tree(points, core, edges, lengths)
    return edges, lengths


def genie_merges(edges: Ints, gini: float) -> Ints:
    """Merges (n − 1, 2) along the edges of a tree, shortest first, in SciPy's numbers: merge i makes node n + i."""
    # While the Gini index of the sizes of clusters is above `gini`, the shortest edge of a cluster of the least size goes first;
    # with 1 it never is, and that is single linkage.
    edges, n = np.ascontiguousarray(edges, np.int64), len(edges) + 1
    inside = not edges.size or (edges.min() >= 0 and edges.max() < n)
    links = (np.ones(n - 1), tuple(edges.T)) if edges.ndim == 2 and edges.shape[1] == 2 and inside else None
    if links is None or connected_components(csr_array(links, (n, n)), directed=False)[0] > 1:
        raise InputError(f"{n - 1} edges must join the objects 0 … {n - 1}")
    merges = np.empty((n - 1, 2), np.int64)
    _native.genie_merges(edges, float(gini), merges)
    return merges
