"""Spectral clustering through landmarks, for any number of objects."""

# U-SPEC: D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai and C.-K. Kwoh, Ultra-scalable spectral clustering and ensemble clustering, IEEE TKDE
# 32, 2020.
#
# Landmarks are the means of k-means on a sample. An object is tied to its nearest few with z = exp(−d² / 2σ²), σ the mean of all these
# distances d: a bipartite graph Z of objects and landmarks. Its normalized cut needs only the eigenvectors v of the small graph of
# landmarks
#
#     E = Zᵀ D⁻¹ Z,   D the row sums of Z
#
# (the transfer cut of Li, Wu and Chang, CVPR 2012); an object lies at the mean of v over its landmarks, scaled to length 1, and k-means
# there makes the clusters. What is kept (landmarks and vectors in float32, centers) places new objects in the same way.
#
# All pairs of landmarks are tied a little besides, by τ times the mean degree, spread evenly: otherwise every small group that lies
# apart, of outliers say, takes one of the eigenvectors (regularized spectral clustering: A. Amini et al., Annals of Statistics 41, 2013).

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy import sparse

from consilience import _kernels
from consilience._check import check_count
from consilience._run.random import child_seed
from consilience._types import Array, ArrayLike, Floats, Ints, Labels
from consilience.ensemble.results import register
from consilience.generation.kmeans import Runs, cluster_means, kmeans_runs
from consilience.generation.methods.method import Method, Options
from consilience.generation.methods.random_kmeans import some_columns
from consilience.generation.methods.spectral import first_vectors
from consilience.generation.plan import Plan, Spec


class Landmarks(Method):
    """Spectral clustering through landmarks.

    Columns that are standardized get back a share of their own scales, between none and all, drawn for each clustering: some tables are
    better as they came, some standardized, and most between.
    """

    options: ClassVar[Options] = {"n_landmarks": (1000, partial(check_count, least=2)), "n_neighbors": (5, check_count)}
    drawn: ClassVar[tuple[str, ...]] = ("own_scale",)
    takes_base = False

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        return replace(spec, drawn={"own_scale": float(u[0])})

    def make(self, table: ArrayLike, spec: Spec, plan: Plan) -> Runs:
        # Landmarks are at most half as many as objects.
        seed, unit = spec.run_stream
        most = max(2, table.shape[0] // 2, min(spec.n_clusters, table.shape[0]))
        near = {"n_landmarks": min(plan.options["n_landmarks"], most), "n_neighbors": plan.options["n_neighbors"]}
        how = {**near, "max_iter": plan.max_iter, "sigma_factor": spec.drawn.get("sigma_factor", 1.0)}
        return landmark_run(table, spec.n_clusters, seed=seed, unit=unit, **how)

    def describe(self, row: Mapping[str, Any]) -> str:
        return f"{super().describe(row)}, {int(row['n_clusters'])} clusters"


BLOCK = 2**19  # safeguard: distances at a time, which stay in the cache
EMBEDDED = 50_000  # safeguard: objects that k-means in the eigenvectors sees, a second's work; the others go to the nearest center
DENSE = 2**22  # safeguard: numbers up to which the landmarks of a sparse table are means, 32 MB; its rows stay sparse
FARTHEST = 60.0  # safeguard: exp(−60) is above 0 in floats: an object far from everything stays tied to its landmarks

Search: TypeAlias = Callable[[Any], tuple[Ints, Floats]]


def landmark_run(
    table: ArrayLike,
    n_clusters: int,
    *,
    n_landmarks: int,
    n_neighbors: int,
    seed: int,
    unit: int,
    max_iter: int = 300,
    sigma_factor: float = 1.0,
) -> Runs:
    # O(n · p · d) time for p landmarks, in blocks, and O(n · neighbors) memory beside the table.
    n = table.shape[0]
    kept, origin = rounded(choose_landmarks(table, min(n_landmarks, n), seed, unit))
    landmarks = whole(kept, origin)  # as new rows will see them
    near, squares = nearest_landmarks(table, landmarks, min(n_neighbors, landmarks.shape[0]))
    sigma = sigma_factor * float(np.sqrt(squares).mean())
    ties = _ties(near, squares, sigma, landmarks.shape[0])
    vectors = landmark_vectors(ties, min(n_clusters, landmarks.shape[0]))
    some = np.arange(n)
    if n > EMBEDDED:
        some = np.sort(_kernels.random_permutation(child_seed(seed, "generation.embedded"), unit, n)[:EMBEDDED])
    points = embedded(ties[some] if n > EMBEDDED else ties, vectors)
    means = child_seed(seed, "generation.landmark_clusters")
    found = kmeans_runs(points, n_clusters, seed=means, units=[unit], init="k-means++", max_iter=max_iter)
    centers, *_ = cluster_means(points, found.labels.T, np.array([n_clusters]))
    model = LandmarkModel(kept, origin, near.shape[1], sigma, vectors, centers)
    labels = found.labels if n <= EMBEDDED else model.labels_of(ties)[None]
    return replace(found, labels=labels, predictor=model)


@register
@dataclass(frozen=True, eq=False)
class LandmarkModel:
    # Landmarks (p, d) as `rounded` leaves them, how many are near, σ, their eigenvectors (p, v) and the centers (k, v).

    landmarks: Any
    origin: Floats | None
    n_neighbors: int
    sigma: float
    vectors: Array
    centers: Floats

    def label(self, table: ArrayLike) -> Labels:
        near, squares = nearest_landmarks(table, whole(self.landmarks, self.origin), self.n_neighbors)
        return self.labels_of(_ties(near, squares, self.sigma, self.landmarks.shape[0]))

    def labels_of(self, ties: Any) -> Labels:
        labels, constants = np.empty(ties.shape[0], np.int32), np.square(self.centers).sum(axis=1)
        step = max(1, BLOCK // max(self.centers.shape))
        for begin in range(0, len(labels), step):
            points = embedded(ties[begin : begin + step], self.vectors)
            labels[begin : begin + step] = (points @ (-2 * self.centers.T) + constants).argmin(axis=1)
        return labels


def choose_landmarks(table: ArrayLike, number: int, seed: int, unit: int) -> Any:
    # Means of k-means on a random sample of ten times as many rows, in ten passes: landmarks need to be spread well, not to be optimal. Of
    # a wide sparse table, whose means would not fit, objects drawn at random, as CSR.
    order = _kernels.random_permutation(child_seed(seed, "generation.landmarks"), unit, table.shape[0])
    if sparse.issparse(table) and number * table.shape[1] > DENSE:
        return table[np.sort(order[:number])]
    sample = table[np.sort(order[: 10 * number])]
    labels = kmeans_runs(sample, number, seed=seed, units=[unit], max_iter=10).labels
    means, counts, _ = cluster_means(sample, labels.T)
    return means[counts > 0]


def rounded(landmarks: Any) -> tuple[Any, Floats | None]:
    # Landmarks in float32, as a model keeps them: dense ones less their mean, so that columns far from 0 lose nothing, and that mean.
    if sparse.issparse(landmarks):
        return landmarks.astype(np.float32), None
    mean = landmarks.mean(axis=0)
    return (landmarks - mean).astype(np.float32), mean


def whole(landmarks: Any, mean: Floats | None) -> Any:
    return landmarks.astype(float) if mean is None else landmarks + mean


def nearest_landmarks(table: ArrayLike, landmarks: Any, number: int) -> tuple[Ints, Floats]:
    # (n, number) in rising order, and squared distances. Of dense rows, which are nearest is decided in float32 around the landmarks'
    # mean, so that rounding matters only between near ties; the distances are exact.
    n, p = table.shape[0], landmarks.shape[0]
    near, squares = np.empty((n, number), np.int32), np.empty((n, number))
    find = _sparse_search(landmarks, number) if sparse.issparse(table) else _dense_search(landmarks, number)
    step = max(1, BLOCK // p)
    for begin in range(0, n, step):
        near[begin : begin + step], squares[begin : begin + step] = find(table[begin : begin + step])
    return near, squares


def _dense_search(landmarks: Floats, number: int) -> Search:
    mean = landmarks.mean(axis=0)
    centered = np.asarray(landmarks - mean, np.float32)
    factors, constants = np.ascontiguousarray(-2 * centered.T), np.square(centered).sum(axis=1)

    def find(rows: Any) -> tuple[Ints, Floats]:
        near = _smallest(np.asarray(rows - mean, np.float32) @ factors + constants, number)
        squares = [np.square(rows - landmarks[column]).sum(axis=1) for column in near.T]  # one at a time, for memory
        return near, np.column_stack(squares)

    return find


def _sparse_search(landmarks: Any, number: int) -> Search:
    square = landmarks.multiply(landmarks) if sparse.issparse(landmarks) else np.square(landmarks)
    lengths, turned = np.asarray(square.sum(axis=1)).ravel(), landmarks.T
    turned = turned.tocsr() if sparse.issparse(turned) else np.ascontiguousarray(turned)

    def find(rows: Any) -> tuple[Ints, Floats]:
        products = rows @ turned
        scores = lengths - 2 * np.asarray(products.toarray() if sparse.issparse(products) else products)
        near = _smallest(scores, number)
        own = np.asarray(rows.multiply(rows).sum(axis=1)).reshape(-1, 1)
        return near, np.maximum(np.take_along_axis(scores, near, axis=1) + own, 0)

    return find


def landmark_vectors(ties: Any, number: int, tau: float = 0.003) -> Array:
    # Leading eigenvectors of the graph of landmarks, scaled back, in rising order of their eigenvalues. `tau` was chosen on data sets,
    # see docs/bases.md.
    scaled = sparse.diags(1 / ties.sum(axis=1).A1) @ ties
    graph = sparse.csr_matrix(ties.T @ scaled)
    degree = graph.sum(axis=1).A1
    everywhere = tau * degree.mean() / len(degree)
    degree = degree + everywhere * len(degree)
    root = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)  # nobody may be near a landmark
    graph = sparse.csr_matrix(sparse.diags(root) @ graph @ sparse.diags(root))
    vectors = first_vectors(graph, number, plus=np.sqrt(everywhere) * root, rounds=50) * root[:, None]
    return np.asarray(vectors, np.float32)  # models keep them


def embedded(ties: Any, vectors: Array) -> Floats:
    points = np.asarray(ties @ vectors)
    length = np.linalg.norm(points, axis=1, keepdims=True)
    return np.divide(points, length, out=np.zeros_like(points), where=length > 0)


def _ties(near: Ints, squares: Floats, sigma: float, n_landmarks: int) -> Any:
    """Z, of which every row has a sum above 0."""
    n, number = near.shape
    away = squares / (2 * sigma**2) if sigma > 0 else np.zeros_like(squares)
    weights = np.exp(-np.minimum(away, FARTHEST))
    begins = np.arange(0, n * number + 1, number)
    return sparse.csr_matrix((weights.ravel(), near.ravel(), begins), shape=(n, n_landmarks))


def _smallest(scores: Array, number: int) -> Ints:
    # Columns of the smallest scores of each row, in rising order of their number. The few smallest of many lie in the few groups of
    # columns whose smallest are smallest, which are found sooner.
    n, p = scores.shape
    if number == p:
        return np.broadcast_to(np.arange(number), scores.shape)
    size = int(np.sqrt(p / (2 * number)))
    if size < 2:
        return np.sort(np.argpartition(scores, number - 1, axis=1)[:, :number], axis=1)
    width = p // size
    least = scores[:, : size * width].reshape(n, size, width).min(axis=1)  # group g has columns g, g + width, …
    groups = np.argpartition(least, number - 1, axis=1)[:, :number]
    inside = (groups[:, :, None] + width * np.arange(size)).reshape(n, -1)
    rest = np.broadcast_to(np.arange(size * width, p), (n, p - size * width))
    columns = np.concatenate([inside, rest], axis=1)
    chosen = np.argpartition(np.take_along_axis(scores, columns, axis=1), number - 1, axis=1)[:, :number]
    return np.sort(np.take_along_axis(columns, chosen, axis=1), axis=1)


# MDEC: D. Huang, C.-D. Wang, J.-H. Lai and C.-K. Kwoh, Toward multidiversified ensemble clustering of high-dimensional data, IEEE Trans.
# Cybernetics 52, 2022.
#
# A clustering draws a share of the columns from 0.2 to 0.8, one of the `METRICS` of rows, and a factor ½ … 2 for the width σ of the ties.
# Cosine and correlation are distances of rows that were scaled to length 1, after their means were taken out for the latter.

METRICS = ("euclidean", "cosine", "correlation")
LEAST_SHARE, MOST_SHARE = 0.2, 0.8  # of the columns, as in the paper


class Metrics(Landmarks):
    """Spectral clustering through landmarks, by a random metric on a random share of the columns."""

    drawn: ClassVar[tuple[str, ...]] = ("own_scale", "metric_number", "sigma_factor")

    def draw(self, spec: Spec, u: Floats, plan: Plan) -> Spec:
        weights = some_columns(LEAST_SHARE + (MOST_SHARE - LEAST_SHARE) * u[1], u[2:])
        # A stream of their own: u has as many numbers as the table has columns, all in use.
        metric, width = _kernels.random_uniform(child_seed(spec.seed, "generation.metrics"), spec.unit, 2)
        number = float(int(metric * len(METRICS)))
        drawn = {"own_scale": float(u[0]), "metric_number": number, "sigma_factor": float(2 ** (2 * width - 1))}
        return replace(spec, weights=weights, drawn=drawn)

    def make(self, table: ArrayLike, spec: Spec, plan: Plan) -> Runs:
        metric = METRICS[int(spec.drawn["metric_number"])]
        runs = super().make(rows_for(table, metric), spec, plan)
        return replace(runs, predictor=MetricModel(metric, runs.predictor))

    def describe(self, row: Mapping[str, Any]) -> str:
        n_columns = int(np.count_nonzero(row["weights"]))
        return f"{super().describe(row)}; {METRICS[int(row['metric_number'])]} on {n_columns} columns"


@register
@dataclass(frozen=True, eq=False)
class MetricModel:
    metric: str
    model: Any

    def label(self, table: ArrayLike) -> Labels:
        return np.asarray(self.model.label(rows_for(table, self.metric)))


def rows_for(table: ArrayLike, metric: str) -> Any:
    # Rows whose Euclidean distances are those of the metric (for cosine and correlation √2 (1 − similarity)^½); a row of zeros stays. The
    # means of sparse rows are not taken out, which would fill them: their correlation is the cosine.
    if metric == "euclidean":
        return table
    if sparse.issparse(table):
        length = np.sqrt(table.multiply(table).sum(axis=1)).A1
        return sparse.csr_matrix(sparse.diags(1 / np.where(length > 0, length, 1)) @ table)
    rows = np.asarray(table - table.mean(axis=1, keepdims=True) if metric == "correlation" else table)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)
