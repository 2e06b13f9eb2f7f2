"""Landmark spectral clustering: shapes that k-means cannot find, its parts against plain definitions, and new objects."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.generation.kmeans import kmeans_runs
from consilience.generation.methods import landmarks as landmark_graph
from consilience.generation.methods.landmarks import choose_landmarks, landmark_run, nearest_landmarks
from consilience.generation.methods.spectral import first_vectors, spectral_run
from consilience.generation.plan import Plan
from consilience.generation.predict import Labeler
from consilience.generation.runner import Runner


@pytest.fixture(scope="module")
def moons():
    return make_moons(600, noise=0.06, random_state=0)


def rings(n=300):
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 3 * n)
    radius = np.repeat([1.0, 2.0, 3.0], n)
    noise = np.random.default_rng(1).normal(scale=0.04, size=(3 * n, 2))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + noise, np.repeat(np.arange(3), n)


@pytest.mark.parametrize("shapes", [make_moons(600, noise=0.06, random_state=0), rings()], ids=["moons", "rings"])
def test_shapes_that_k_means_cannot_find(shapes):
    X, known = shapes
    k = len(set(known))
    found = landmark_run(X, k, n_landmarks=200, n_neighbors=5, seed=0, unit=0).labels[0]
    assert adjusted_rand_score(known, found) > 0.98
    assert adjusted_rand_score(known, kmeans_runs(X, [k] * 1).labels[0]) < 0.6
    ensemble = cs.generate(X, 15, (k, 4 * k), "landmarks", random_state=0)
    assert adjusted_rand_score(known, cs.combine(ensemble, k, random_state=0).labels) > 0.95


@pytest.mark.parametrize(("p", "number"), [(7, 3), (40, 5), (60, 5), (101, 5), (1000, 5), (999, 1), (12, 12)])
def test_nearest_landmarks_are_the_nearest(p, number):
    rng = np.random.default_rng(p)
    X, landmarks = rng.normal(size=(50, 7)) + 1e5, rng.normal(size=(p, 7)) + 1e5
    squares = np.square(X[:, None] - landmarks).sum(axis=2)
    near, found = nearest_landmarks(X, landmarks, number)
    np.testing.assert_array_equal(near, np.sort(np.argsort(squares, axis=1)[:, :number], axis=1))
    np.testing.assert_allclose(found, np.take_along_axis(squares, near.astype(int), axis=1))


def test_spectral_finds_rings_that_k_means_cannot():
    X, known = rings(150)
    some = known != 1
    found = spectral_run(X[some], 2, 16.0, seed=0, unit=0).labels[0]
    assert adjusted_rand_score(known[some], found) == 1.0


def test_spectral_with_objects_like_no_other():
    X = np.vstack([np.random.default_rng(0).normal(size=(40, 2)), [[1e4, 1e4], [-1e4, 3e4]]])
    labels = spectral_run(X, 3, 1e6, seed=0, unit=0).labels[0]
    assert labels.min() >= 0


def test_nearest_landmarks_of_sparse_rows_are_those_of_dense_ones():
    counts = sparse.random(200, 40, 0.3, format="csr", random_state=0)
    some = counts[:30]
    near, found = nearest_landmarks(counts, some, 3)
    np.testing.assert_allclose(nearest_landmarks(counts, some.toarray(), 3)[1], found, atol=1e-12)
    dense = nearest_landmarks(counts.toarray(), some.toarray(), 3)
    np.testing.assert_array_equal(near, dense[0])
    np.testing.assert_allclose(found, dense[1], atol=1e-12)


def test_the_transfer_cut_is_the_cut_of_the_bipartite_graph(moons):
    """Its vectors are those of the whole graph of objects and landmarks (Li, Wu and Chang 2012): λ (1 + …) aside, the same spaces."""
    X = moons[0][:150]
    landmarks = choose_landmarks(X, 40, 0, 0)
    near, squares = nearest_landmarks(X, landmarks, 5)
    sigma = np.sqrt(squares).mean()
    Z = np.zeros((150, len(landmarks)))
    np.put_along_axis(Z, near.astype(int), np.exp(-squares / (2 * sigma**2)), axis=1)
    whole = np.block([[np.zeros((150, 150)), Z], [Z.T, np.zeros((len(landmarks),) * 2)]])
    degree = whole.sum(axis=1)
    values, vectors = np.linalg.eigh(whole / np.sqrt(np.outer(degree, degree)))
    expected = (vectors / np.sqrt(degree)[:, None])[:150, np.argsort(-values)[:4]]
    ties = landmark_graph._ties(near, squares, sigma, len(landmarks))
    found = (ties @ landmark_graph.landmark_vectors(ties, 4, tau=0.0)) / ties.sum(axis=1).A1[:, None]
    for one, other in zip(expected.T, found.T[::-1], strict=True):  # the same up to their lengths and signs
        assert abs(one @ other) / np.linalg.norm(one) / np.linalg.norm(other) > 1 - 1e-6


def test_all_landmarks_are_tied_a_little(moons):
    X = moons[0][:150]
    landmarks = choose_landmarks(X, 40, 0, 0)
    near, squares = nearest_landmarks(X, landmarks, 5)
    ties = landmark_graph._ties(near, squares, 1.0, len(landmarks))
    Z, p = ties.toarray(), len(landmarks)
    E = Z.T @ (Z / Z.sum(axis=1, keepdims=True))
    E += 0.1 * E.sum() / p**2
    root = 1 / np.sqrt(E.sum(axis=1))
    _, vectors = np.linalg.eigh(E * np.outer(root, root))
    found = landmark_graph.landmark_vectors(ties, 3, tau=0.1)
    np.testing.assert_allclose(np.abs(found), np.abs(vectors[:, -3:] * root[:, None]), atol=1e-5)


def test_outliers_do_not_take_the_clusters():
    X, known = make_blobs(600, 2, centers=4, cluster_std=1.0, random_state=3)
    far = np.repeat([[60.0, 0], [0, 60], [-60, 0], [0, -60]], 6, axis=0)
    apart = np.concatenate([X, far + np.random.default_rng(0).normal(size=far.shape)])
    found = landmark_run(apart, 4, n_landmarks=200, n_neighbors=5, seed=0, unit=0).labels[0]
    assert adjusted_rand_score(known, found[:600]) > 0.8


def test_first_vectors_iterated_and_direct():
    rng = np.random.default_rng(0)
    matrix = sparse.random(600, 600, 0.02, random_state=rng)
    matrix = sparse.csr_matrix(matrix + matrix.T)
    _, vectors = np.linalg.eigh(matrix.toarray())
    np.testing.assert_allclose(np.abs(first_vectors(matrix, 3)), np.abs(vectors[:, -3:]), atol=1e-4)
    plus = rng.normal(size=600)
    _, vectors = np.linalg.eigh(matrix.toarray() + np.outer(plus, plus))
    np.testing.assert_allclose(np.abs(first_vectors(matrix, 3, plus=plus)), np.abs(vectors[:, -3:]), atol=1e-4)
    pieces = sparse.kron(sparse.eye(100), np.ones((6, 6)), format="csr")  # eigenvalue 6 a hundred times
    found = first_vectors(pieces, 40)
    np.testing.assert_allclose(pieces @ found, 6 * found, atol=1e-6)


def test_many_objects_are_labeled_by_the_centers_of_some(moons, monkeypatch):
    X, known = moons
    monkeypatch.setattr(landmark_graph, "EMBEDDED", 300)
    found = landmark_run(X, 2, n_landmarks=100, n_neighbors=5, seed=0, unit=0)
    assert adjusted_rand_score(known, found.labels[0]) > 0.98
    np.testing.assert_array_equal(found.predictor.label(X), found.labels[0])


def test_depends_on_its_unit_alone(moons):
    X = moons[0]
    many = cs.generate(X, 6, (4, 9), "landmarks", random_state=3)
    few = cs.generate(X, 6, (4, 9), "landmarks+minima", random_state=3)
    for i in np.flatnonzero(few.info["method"] == "landmarks"):
        np.testing.assert_array_equal(few.labels[:, i], many.labels[:, i])
    assert len({labels.tobytes() for labels in many.labels.T.copy()}) == 6
    scaled = cs.generate(X * 4 - 7, 6, (4, 9), "landmarks", random_state=3)
    np.testing.assert_array_equal(scaled.labels, many.labels)


def test_new_objects_get_the_label_that_the_run_would_give(moons):
    X, known = moons
    plan = Plan.checked(methods="landmarks", n_clusters=(2, 6), n_landmarks=150)
    runner = Runner(X[:400], plan, keeps_predictors=True)
    ensemble = runner.run(4)
    labeler = pickle.loads(pickle.dumps(Labeler.of(runner, ensemble)))
    np.testing.assert_array_equal(labeler.label(X[:400]), ensemble.labels)
    assert len(pickle.dumps(labeler)) < 200_000
    model = cs.EnsembleClusterer(2, n_clusterings=8, methods="landmarks", random_state=0).fit(X[:400])
    assert adjusted_rand_score(known[400:], model.predict(X[400:])) > 0.95


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_a_model_keeps_its_landmarks_in_float32(kind, monkeypatch):
    monkeypatch.setattr(landmark_graph, "DENSE", 0)  # landmarks of sparse tables are some of their rows
    X, known = make_blobs(600, 40, centers=4, center_box=(1e5, 1e5 + 10), random_state=0)
    made = landmark_run(kind(X), 4, n_landmarks=300, n_neighbors=5, seed=0, unit=0)
    np.testing.assert_array_equal(made.predictor.label(kind(X)), made.labels[0])
    if kind is np.asarray:  # sparse tables are not centered
        assert adjusted_rand_score(known, made.labels[0]) > 0.98
    per_number = 4 if kind is np.asarray else 8
    assert len(pickle.dumps(made.predictor)) < 300 * 40 * per_number + 300 * 4 * 4 + 5000


def test_few_and_equal_objects():
    assert cs.generate(np.arange(6.0).reshape(3, 2), 3, 2, "landmarks").n_clusterings == 3
    equal = np.repeat([[0.0, 1.0], [5.0, 2.0]], 40, axis=0)
    labels = cs.generate(equal, 3, 2, "landmarks", standardize=False).labels
    assert all(adjusted_rand_score(np.repeat([0, 1], 40), one) == 1 for one in labels.T)
    X, _ = make_blobs(200, 3, centers=3, random_state=0)
    X[0] = 1e6  # far from everything
    assert (cs.generate(X, 3, 3, "landmarks").labels >= 0).all()
