"""Evidence accumulation, plain and with weighted clusters, against the tree of all objects; LWGP against the graph of all objects."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import is_valid_linkage, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans

import consilience as cs
import oracle
from consilience.consensus import HBGF, LWEA, LWGP, EvidenceAccumulation
from consilience.consensus.methods import hbgf_and_lwgp as transfer_cut
from consilience.consensus.methods.evidence_and_lwea import accumulate, leaf_rows
from consilience.consensus.rows.cluster_similarity import cluster_weights
from consilience.consensus.rows.co_association import mean_association
from consilience.consensus.rows.problem import Problem, check_problem, row_distances
from consilience.consensus.rows.row_tree import cut_tree, weighted_linkage
from consilience.datasets import noisy_labels
from consilience.measures import adjusted_rand, nmi
from oracle.walk import cluster_weights as weights_by_definition
from samples import pool_of, random_labels

LINKAGES = ["average", "single", "complete"]


def uncollapsed(problem):
    """One row per object, in the order of their rows, as if these had never been collapsed; and the rows."""
    rows = np.sort(problem.inverse)
    return Problem(problem.labels[rows], np.ones(len(rows)), problem.n_clusters, np.arange(len(rows))), rows


def distances_of(labels, weights=None):
    """By definition, with a weight for every label of every clustering."""
    offsets = np.concatenate([[0], np.cumsum(labels.max(axis=0) + 1)])
    return oracle.row_distances(labels.T, offsets, np.ones(offsets[-1]) if weights is None else weights)


def test_distances_by_definition():
    labels = random_labels(0, 12, 4, 3, missing=0.4, labeled=True)
    assert_allclose(row_distances(labels, labels), distances_of(labels), atol=1e-15)


@given(seed=st.integers(0, 10**6), method=st.sampled_from(LINKAGES), copies=st.sampled_from([1, 4]))
def test_the_tree_is_that_of_scipy_where_weights_stand_for_repeated_items(seed, method, copies):
    rng = np.random.default_rng(seed)
    square, weights = squareform(rng.random(8 * 7 // 2)), rng.integers(1, copies + 1, 8)
    repeated = square[np.ix_(*[np.repeat(np.arange(8), weights)] * 2)]
    expected = linkage(squareform(repeated), method)
    found = weighted_linkage(square.copy(), weights.astype(float), method)
    assert is_valid_linkage(found)
    assert_allclose(found[:, 2], expected[-7:, 2])
    if copies == 1:
        assert_allclose(found, expected)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 60),
    r=st.integers(1, 5),
    size=st.integers(1, 4),
    k=st.integers(2, 5),
    method=st.sampled_from(LINKAGES),
)
def test_collapsing_rows_changes_nothing(seed, n, r, size, k, method):
    labels = random_labels(seed, n, r, size, labeled=True)
    k = min(k, len(np.unique(labels, axis=0)))
    if k < 2:
        return
    collapsed = check_problem(labels, k)
    few = EvidenceAccumulation(linkage=method)._combine(collapsed)
    everyone, rows = uncollapsed(collapsed)
    assert adjusted_rand(few.labels[rows], EvidenceAccumulation(linkage=method)._combine(everyone).labels) == 1
    assert len(np.unique(few.labels)) == k


def test_membership_is_the_mean_co_association():
    labels = random_labels(3, 40, 5, 3, labeled=True)
    problem = check_problem(labels, 3)
    clusters = np.arange(problem.n_rows) % 3
    agree = 1 - row_distances(problem.labels, problem.labels)
    means = [np.average(agree[:, clusters == c], 1, problem.weights[clusters == c]) for c in range(3)]
    assert_allclose(mean_association(problem, problem, clusters), np.transpose(means))


@pytest.mark.parametrize("seed", range(2))
def test_ties_are_ties_despite_rounding(seed):
    """Averages of thirds are rounded differently in different orders."""
    ensemble, _ = noisy_labels(400, 4, 3, 0.6, random_state=seed)
    collapsed = check_problem(ensemble, 4)
    everyone, rows = uncollapsed(collapsed)
    few = EvidenceAccumulation()._combine(collapsed).labels[rows]
    assert adjusted_rand(few, EvidenceAccumulation()._combine(everyone).labels) == 1


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_join_the_cluster_they_are_most_like(weighted):
    problem = check_problem(random_labels(2, 900, 6, 4, missing=0.5, labeled=True), 3)
    worth = np.random.default_rng(0).random(24) + 0.5 if weighted else np.ones(24)
    leaves, weights = leaf_rows(problem, 8 * 100**2, 3)
    found = accumulate(problem, worth, 8 * 100**2, 3)
    labels = found.labels
    assert (len(leaves), found.extras["sampled"]) == (100, True)
    assert weights.sum() == pytest.approx(problem.weights.sum())
    assert_array_equal(labels[leaves], cut_tree(found.extras["linkage"], 3))
    for i in np.setdiff1d(np.arange(problem.n_rows), leaves)[:40]:
        shared, joint = np.zeros(3), np.zeros(3)
        for j, weight in zip(leaves, weights, strict=True):
            both = (problem.labels[i] >= 0) & (problem.labels[j] >= 0)
            same = both & (problem.labels[i] == problem.labels[j])
            shared[labels[j]] += weight * worth[(problem.offsets[:-1] + problem.labels[i])[same]].sum()
            joint[labels[j]] += weight * both.sum()
        means = np.divide(shared, joint, out=np.zeros(3), where=joint > 0)
        assert means[labels[i]] == pytest.approx(means.max())


ensembles = {
    "seed": st.integers(0, 10**6),
    "n": st.integers(4, 40),
    "r": st.integers(1, 5),
    "size": st.integers(2, 5),
    "holes": st.sampled_from([0.0, 0.3]),
}
quick = settings(max_examples=40)


def some_labels(seed, n, r, size, holes):
    labels = random_labels(seed, n, r, size, holes, labeled=True)
    return labels[:, labels.max(axis=0) >= 0]


@quick
@given(**ensembles, theta=st.sampled_from([0.2, 0.4, 3.0]))
def test_weights_of_clusters(seed, n, r, size, holes, theta):
    labels, rng = some_labels(seed, n, r, size, holes), np.random.default_rng(seed)
    if len(np.unique(labels, axis=0)) < 2:
        return
    for weights in (np.ones(n), rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1):
        ensemble = cs.Ensemble(labels)
        found = LWEA(2, theta=theta).fit(ensemble, sample_weight=weights).cluster_weights_
        assert_allclose(found, weights_by_definition(ensemble.labels, weights, theta), rtol=1e-10)


def test_weights_judged_by_some_clusterings():
    ensemble, _ = noisy_labels(300, 5, 60, 0.3, random_state=0)
    problem = check_problem(ensemble, 5)
    exact = cluster_weights(problem)
    judged = cluster_weights(problem, work=1, fewest=20)
    assert_allclose(judged, exact, rtol=0.3)
    assert np.abs(judged - exact).max() > 0


@quick
@given(**ensembles, k=st.integers(2, 4))
def test_lwea_is_the_tree_of_all_objects(seed, n, r, size, holes, k):
    """Object by object, without weights, in the order of the rows; equal rows merge first."""
    labels, copies = some_labels(seed, n, r, size, holes), np.random.default_rng(seed).integers(1, 4, n)
    rows = len(np.unique(labels, axis=0))
    if rows < k:
        return
    problem = check_problem(labels, k, copies)
    answer = LWEA()._combine(problem)
    of_objects = np.repeat(np.arange(problem.n_rows), problem.weights.astype(int))
    everyone = problem.labels[of_objects]
    distances = distances_of(everyone, weights_by_definition(everyone, np.ones(len(everyone))))
    distances[of_objects[:, None] == of_objects] = -1  # below all others
    merges, heights = oracle.linkage(distances, np.ones(len(everyone)), tie=1e-12)
    order = np.lexsort((heights, of_objects[merges[:, 0]] != of_objects[merges[:, 1]]))
    assert_allclose(answer.extras["linkage"][:, 2], heights[order][len(everyone) - rows :], atol=1e-10)
    cut = np.arange(len(everyone))
    for kept, lost in merges[order][: len(everyone) - k]:
        cut[cut == lost] = kept
    assert adjusted_rand(answer.labels[of_objects], cut) == 1


def test_equal_weights_are_evidence_accumulation_and_the_plain_cut():
    ensemble, truth = noisy_labels(400, 4, 8, 0.3, random_state=0)
    plain, weighted = EvidenceAccumulation(4).fit(ensemble), LWEA(4, theta=1e12).fit(ensemble)
    assert adjusted_rand(plain.labels_, weighted.labels_) == 1
    assert_allclose(plain.membership_, weighted.membership_, atol=1e-9)
    cut = HBGF(4, backend="spectral", random_state=0).fit(ensemble)
    weighted = LWGP(4, theta=1e12, random_state=0).fit(ensemble)
    assert adjusted_rand(cut.labels_, weighted.labels_) == 1
    assert nmi(truth, cut.labels_) > 0.9
    assert not cut.sampled_
    assert adjusted_rand(LWGP(4, theta=0.1, random_state=0).fit(ensemble).labels_, cut.labels_) < 1


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_the_transfer_cut_is_that_of_the_graph_of_all_objects(holes):
    """Leading eigenvectors of the normalized bipartite graph of objects and clusters, at the objects."""
    labels = some_labels(1, 50, 5, 4, holes)
    problem, k = check_problem(labels, 3), 3
    weights = cluster_weights(problem)
    edges, offsets = problem.hyperedges, problem.offsets
    ties = np.zeros((len(labels), offsets[-1]))
    for i, row in enumerate(edges[problem.inverse]):
        ties[i, row[row >= 0]] = weights[row[row >= 0]]
    n = len(labels)
    graph = np.block([[np.zeros((n, n)), ties], [ties.T, np.zeros((ties.shape[1],) * 2)]])
    root = 1 / np.sqrt(graph.sum(axis=1))
    values, vectors = np.linalg.eigh(root[:, None] * graph * root)
    # A mean over an object's clusters is the eigenvector there, times its eigenvalue.
    expected = (vectors * root[:, None] * values)[:n, ::-1][:, :k]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    points, found = transfer_cut.embed_rows(problem, weights, k)
    points = points[problem.inverse]
    assert_allclose(found, values[::-1][:k] ** 2, atol=1e-10)
    assert_allclose(points @ points.T, expected @ expected.T, atol=1e-8)  # whatever the signs


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_many_clusters_are_cut_without_their_graph(holes, monkeypatch):
    labels = some_labels(3, 400, 12, 6, holes)
    problem = check_problem(labels, 4)
    weights = cluster_weights(problem)
    dense, values = transfer_cut.embed_rows(problem, weights, 4)
    monkeypatch.setattr(transfer_cut, "DENSE", 10)
    sparse, same = transfer_cut.embed_rows(problem, weights, 4)
    assert_allclose(same, values, atol=1e-10)
    assert_allclose(sparse @ sparse.T, dense @ dense.T, atol=1e-7)
    assert values[0] == pytest.approx(1)


def test_weighted_kmeans_counts_points_and_keeps_the_best():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 2)) + 6 * rng.integers(0, 2, (60, 2))
    weights = rng.integers(1, 5, 60).astype(float)

    def squares(points, weights):
        return weights @ ((points - np.average(points, axis=0, weights=weights)) ** 2).sum(axis=1)

    found = transfer_cut.weighted_kmeans(points, weights, 4, n_init=8, seed=0)
    copied = np.repeat(points, weights.astype(int), axis=0)
    repeated = transfer_cut.weighted_kmeans(copied, np.ones(len(copied)), 4, n_init=8, seed=0)
    assert adjusted_rand(np.repeat(found, weights.astype(int)), repeated) == 1
    best = KMeans(4, n_init=20, random_state=0).fit(points, sample_weight=weights).inertia_
    parts = [found == c for c in np.unique(found)]
    assert sum(squares(points[part], weights[part]) for part in parts) == pytest.approx(best)


def test_starts_compete_on_a_sample_of_many_points(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 900)
    points = rng.normal(size=(900, 2)) + 8 * np.eye(3)[truth][:, :2]
    monkeypatch.setattr(transfer_cut, "SAMPLE", 100)
    assert adjusted_rand(transfer_cut.weighted_kmeans(points, np.ones(900), 3), truth) > 0.95


def test_fewer_distinct_points_than_clusters():
    points = np.repeat(np.eye(2), 5, axis=0)
    assert len(np.unique(transfer_cut.weighted_kmeans(points, np.ones(10), 4))) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("method", "least"), [("lwgp", 0.64), ("lwea", 0.65)])
def test_on_a_pool_of_the_literature(method, least, data_folder):
    pool, classes = (pool_of(data_folder, "Semeion", name).astype(int) for name in ("members", "y"))
    rng = np.random.default_rng(0)
    draws = [pool[:, rng.permutation(100)[:10]] for _ in range(10)]
    assert np.mean([nmi(classes, cs.combine(labels, 10, method).labels) for labels in draws]) > least
