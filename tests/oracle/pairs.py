"""Pairs of clusterings, and pairs of objects in them, by their definitions."""

from decimal import Decimal, localcontext
from math import comb

import numpy as np


def contingency(a, b, shape, *, weights=None):
    """Table of the weight of the objects with label i in `a` and j in `b`; an object missing (−1) in either is out."""
    weights = np.ones(len(a), np.int64) if weights is None else np.asarray(weights)
    table = np.zeros(shape, np.int64 if weights.dtype.kind in "iu" else np.float64)
    known = (a >= 0) & (b >= 0)
    np.add.at(table, (a[known], b[known]), weights[known])
    return table


# Sums over the contingency tables of many pairs of clusterings, one table at a time.


def decoded(codes):
    return np.where(codes == np.iinfo(codes.dtype).max, -1, codes.astype(np.int64))


def x_log_x(x):
    return x * np.log(np.maximum(x, 1))


def pair_sums(codes, clusters, begin, end, *, term, missing):
    """For the pairs (a, b), a < end, begin <= b < end: the term summed over cells, rows, columns; and the total."""
    f, kind = (np.square, np.uint64) if term == "square" else (x_log_x, np.float64)
    width = end - begin
    joint, own, other = (np.zeros((end, width), kind) for _ in range(3))
    known = np.zeros((end, width), np.int64)
    labels = decoded(codes)
    for a in range(end):
        for b in range(begin, end):
            table = contingency(labels[a], labels[b], (clusters[a], clusters[b]))
            at = a, b - begin
            joint[at], known[at] = f(table).sum(), table.sum()
            own[at], other[at] = f(table.sum(axis=1)).sum(), f(table.sum(axis=0)).sum()
    nothing = np.zeros((0, end, width), kind)
    return (joint, own, other, known) if missing else (joint, nothing, nothing, np.zeros((0, 0), np.int64))


def phi(x):
    return x * Decimal(x).ln() if x else Decimal(0)


def xlogx(x):
    """φ(x) = x log x of whole numbers, 0 at 0, and φ(x + 1) − φ(x), to more digits than a double has."""
    numbers = [int(v) for v in x]
    with localcontext() as context:
        context.prec = 60
        value = [float(phi(v)) for v in numbers]
        rise = [float(phi(v + 1) - phi(v)) for v in numbers]
    return np.array(value), np.array(rise)


# What sums of x log x over contingency tables are by chance, from binomial coefficients.


def expected_xlogx(n, own, other):
    """E[x log x], x the objects that clusters of a and b of n objects share: P(x) = C(a, x) C(n − a, b − x) / C(n, b)."""
    out = np.zeros((len(own), len(other)))
    for (i, j), _ in np.ndenumerate(out):
        a, b = int(own[i]), int(other[j])
        x = range(max(0, a + b - n), min(a, b) + 1)
        ways = comb(n, b)
        share = [comb(a, y) * comb(n - a, b - y) / ways for y in x]
        out[i, j] = share @ x_log_x(np.array(x))
    return out


def expected_sums(codes, clusters, begin, end):
    """Summed over the table of the objects labeled in both, for the pairs a < b, begin <= b < end; 0 elsewhere."""
    labels = decoded(codes)
    out = np.zeros((end, end - begin))
    for a in range(end):
        for b in range(max(begin, a + 1), end):
            table = contingency(labels[a], labels[b], (clusters[a], clusters[b]))
            (own, own_times), (other, other_times) = (np.unique(table.sum(axis=i), return_counts=True) for i in (1, 0))
            out[a, b - begin] = own_times @ expected_xlogx(int(table.sum()), own, other) @ other_times
    return out


# Element-centric similarity: by the walks from every object, n × n numbers for each clustering.


def walks(labels, alpha):
    """Row i: where the walk that returns to object i with probability 1 − α is found; α / size on each object of its cluster."""
    together = labels[:, None] == labels
    return alpha * together / together.sum(axis=1, keepdims=True) + (1 - alpha) * np.eye(len(labels))


def element_scores(a, b, alpha=0.9):
    """1 − Σ_j |p_ij − q_ij| / 2α of every object labeled in both, NaN of the others."""
    a, b = np.asarray(a), np.asarray(b)
    known = (a >= 0) & (b >= 0)
    out = np.full(len(a), np.nan)
    out[known] = 1 - np.abs(walks(a[known], alpha) - walks(b[known], alpha)).sum(axis=1) / (2 * alpha)
    return out


def overlap_sums(codes, clusters, begin, end, *, missing):
    """The scores summed over objects, and how many objects have one, for the pairs a <= b, begin <= b < end; 0 elsewhere."""
    labels = decoded(codes)
    sums, known = np.zeros((end, end - begin)), np.zeros((end, end - begin), np.int64)
    for a in range(end):
        for b in range(max(begin, a), end):
            scores = element_scores(labels[a], labels[b])
            sums[a, b - begin], known[a, b - begin] = np.nansum(scores), (~np.isnan(scores)).sum()
    return sums, known if missing else np.zeros((0, 0), np.int64)


def object_overlaps(codes, clusters, begin, end, total):
    """Add every object's score in the pairs begin <= a < end, a < b to `total`."""
    labels = decoded(codes)
    for a in range(begin, end):
        for b in range(a + 1, len(codes)):
            total += np.nan_to_num(element_scores(labels[a], labels[b]))


def within_sums(block, begin, labels, sums):
    """Add to sums[q, c] the distances of the pairs i < j of the block that lie in cluster c of clustering q."""
    rows, columns = block.shape
    for q, own in enumerate(labels[:, begin : begin + columns]):
        for i in range(rows):
            for j in range(i + 1, columns):
                if own[i] == own[j] >= 0:
                    sums[q, own[i]] += block[i, j]


JOINS = {"average": np.add, "single": np.minimum, "complete": np.maximum}


def row_distances(columns, offsets, weights):
    """1 − the weights of the shared labels, by the clusterings that label both; 1 where none does."""
    n = columns.shape[1]
    found = np.ones((n, n))
    for i in range(n):
        for j in range(n):
            both = (columns[:, i] >= 0) & (columns[:, j] >= 0)
            shared = both & (columns[:, i] == columns[:, j])
            if both.any():
                found[i, j] = 1 - weights[(offsets[:-1] + columns[:, i])[shared]].sum() / both.sum()
    return found


def linkage(distances, weights, kind="average", *, tie=0.0):
    """Nearest-neighbor chains on sums S(A, B) = Σ w_i w_j d_ij, or on smallest or largest distances."""
    n, join, average = len(distances), JOINS[kind], kind == "average"
    total, height, gone = np.array(weights, float), np.zeros(n), np.zeros(n)
    distances = distances * np.outer(total, total) if average else distances.copy()
    merges, heights, chain = [], [], []
    while len(merges) < n - 1:
        chain = chain or [int(gone.argmin())]
        a = chain[-1]
        row = distances[a] / (total * total[a]) if average else distances[a].copy()
        row += gone
        row[a] = np.inf
        near = row <= row.min() + tie
        if len(chain) == 1 or not near[chain[-2]]:
            chain.append(int(near.argmax()))
            continue
        b = chain[-2]
        del chain[-2:]
        kept, lost = min(a, b), max(a, b)
        height[kept] = max(row[b], height[a], height[b])
        merges.append((kept, lost))
        heights.append(height[kept])
        distances[kept] = distances[:, kept] = join(distances[a], distances[b])
        total[kept] += total[lost]
        gone[lost] = np.inf
    return np.array(merges, np.int64).reshape(-1, 2), np.array(heights)


def spanning_tree(points, core=None):
    """Prim's tree from point 0 on, by the table of all distances."""
    n = len(points)
    apart = np.sqrt(np.square(points[:, None] - points).sum(axis=2))
    if core is not None:
        apart = np.maximum(apart, np.maximum.outer(core, core))
    inside, edges = [0], []
    while len(inside) < n:
        outside = np.setdiff1d(np.arange(n), inside)
        near = apart[np.ix_(outside, inside)]
        new = int(near.min(axis=1).argmin())  # the lowest number, and then what came first
        old, new = inside[int(near[new].argmin())], int(outside[new])
        edges.append((apart[old, new], min(old, new), max(old, new)))
        inside.append(new)
    edges.sort()
    return np.array([edge[1:] for edge in edges], np.int64).reshape(-1, 2), np.array([edge[0] for edge in edges], float)


def gini_index(sizes):
    """Σ_{i<j} |c_i − c_j| / ((m − 1) Σ c)."""
    m = len(sizes)
    return np.abs(np.subtract.outer(sizes, sizes)).sum() / 2 / ((m - 1) * np.sum(sizes)) if m > 1 else 0.0


def genie_merges(edges, gini):
    """Every cluster as a set; the edges that are left are looked through at every merge."""
    n = len(edges) + 1
    clusters, left, merges = {i: {i} for i in range(n)}, [tuple(edge) for edge in edges.tolist()], []
    while left:
        sizes = [len(members) for members in clusters.values()]
        ends = {i: node for node, members in clusters.items() for i in members}
        first = left[0]
        if gini_index(sizes) > gini:
            first = next(edge for edge in left if min(len(clusters[ends[i]]) for i in edge) == min(sizes))
        left.remove(first)
        pair = sorted(ends[i] for i in first)
        clusters[n + len(merges)] = clusters.pop(pair[0]) | clusters.pop(pair[1])
        merges.append(pair)
    return np.array(merges, np.int64).reshape(-1, 2)
