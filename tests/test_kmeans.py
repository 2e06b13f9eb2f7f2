"""Batched k-means: against its plain twin, against scikit-learn from equal starts, and what must hold of any run."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import oracle
from consilience.generation import generate, kmeans
from consilience.generation.kmeans import kmeans_runs
from samples import refusals

quick = settings(max_examples=40)


def blobs(n, d, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(6, d)) * 3
    return centers[rng.integers(0, 6, n)] + spread * rng.normal(size=(n, d))


def same(found, X, k, **options):
    """Compare with the oracle: labels and steps equal, inertia to rounding."""
    runs = len(found.labels)
    units = options.pop("units", np.arange(runs))
    labels, inertia, steps = oracle.lloyd(X, np.broadcast_to(k, runs), units, **options)
    assert_array_equal(found.labels, labels)
    assert_array_equal(found.steps, steps)
    assert_allclose(found.inertia, inertia, rtol=1e-9, atol=1e-9 * (1 + np.abs(X).max()) ** 2)


@quick
@given(
    st.integers(0, 2**31),
    st.integers(1, 90),
    st.integers(1, 9),
    st.sampled_from(["random", "k-means++"]),
    st.sampled_from([1, 3, 300]),
)
def test_equals_the_oracle(seed, n, d, init, max_iter):
    rng = np.random.default_rng(seed)
    X = blobs(n, d, seed) + rng.normal(size=d) * 10
    k = rng.integers(1, min(n, 12) + 1, 5)
    weights = rng.random((5, d)) ** 3 * (rng.random((5, d)) < 0.8)
    found = kmeans_runs(X, k, weights=weights, seed=seed, init=init, max_iter=max_iter)
    same(found, X, k, weights=weights, seed=seed, init=init, max_iter=max_iter)


@pytest.mark.parametrize(("d", "k"), [(1, 7), (63, 7), (64, 2), (65, 19), (130, 1), (300, 8), (3, 16), (3, 17)])
def test_widths_and_numbers_of_clusters_around_those_of_vectors_equal_the_oracle(d, k):
    X = blobs(200, d, d, spread=3)
    same(kmeans_runs(X, [k] * 4), X, k)


@pytest.mark.parametrize("far", [0, 1e3, 1e5, 1e9])
def test_many_steps_equal_the_oracle_also_with_an_outlier(far):
    """Scaled to hold the outlier, floats cannot tell the others apart: doubles decide, step after step."""
    X = np.random.default_rng(0).random((1500 if far else 6000, 4))
    X[-1, 0] = far
    found = kmeans_runs(X, [9] * 4)
    assert far or found.steps.min() > 30
    same(found, X, 9)


@quick
@given(st.integers(0, 2**31), st.integers(2, 60), st.integers(1, 30), st.sampled_from(["random", "k-means++"]))
def test_sparse_equals_the_oracle(seed, n, d, init):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.3)
    X[:, 0] = 1 + rng.random(n)  # no two alike
    k = rng.integers(1, min(n, 9) + 1, 4)
    options = {"weights": 0.1 + rng.random((4, d)), "init": init, "seed": seed}
    same(kmeans_runs(sparse.csc_matrix(X), k, **options), X, k, **options)


def test_sparse_labels_of_long_runs_equal_the_oracle():
    rng = np.random.default_rng(3)
    X = rng.random((700, 200)) * (rng.random((700, 200)) < 0.1) * 5
    weights = rng.random((8, 200)) + 0.1
    same(kmeans_runs(sparse.csr_matrix(X), 8, weights=weights, seed=4), X, 8, weights=weights, seed=4)


def equal_share(X, k, runs, max_iter=300):
    """Share of runs whose labels are those of scikit-learn in float64; where it converged, the inertias are compared."""
    rng = np.random.default_rng(runs)
    starts = np.stack([rng.choice(X.shape[0], k, replace=False) for _ in range(runs)])
    # Weights of no pattern: counts alone make documents equally far from two others, and rounding would choose.
    weights = 0.5 + rng.random((runs, X.shape[1]))
    found = kmeans_runs(X, k, weights=weights, init=starts, max_iter=max_iter)
    equal = []
    with threadpool_limits(1):
        for r, start in enumerate(starts):
            Z = X.multiply(weights[r]).tocsr() if sparse.issparse(X) else X * weights[r]
            begin = Z[start].toarray() if sparse.issparse(Z) else Z[start]
            peer = KMeans(k, init=begin, n_init=1, algorithm="lloyd", tol=0, max_iter=max_iter)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                peer.fit(Z)
            equal.append(np.array_equal(peer.labels_, found.labels[r]))
            if peer.n_iter_ < max_iter:
                assert_allclose(found.inertia[r], peer.inertia_, rtol=1e-3 if not equal[-1] else 1e-10)
    return np.mean(equal)


def test_labels_of_letters_equal_scikit_learn(data_folder):
    loaded = np.load(data_folder / "isolet.npz")
    letters = np.isin(loaded["y_names"][loaded["y"]], list("ABCDFHJ"))
    assert equal_share(StandardScaler().fit_transform(loaded["X"][letters][::6].astype(float)), 10, 50) >= 0.98


def test_labels_of_sparse_text_equal_scikit_learn(data_folder):
    loaded = np.load(data_folder / "cluto_re0.npz")
    X = sparse.csr_matrix((loaded["data"], loaded["indices"], loaded["indptr"]), shape=tuple(loaded["shape"]))
    assert equal_share(X.astype(float).log1p(), 10, 40) >= 0.99


def test_labels_of_large_noise_equal_scikit_learn():
    """Many objects, many steps, no clusters: a point wrongly passed over even once would change the rest."""
    assert equal_share(np.random.default_rng(0).random((20_000, 20)), 15, 3, max_iter=120) == 1


def test_a_run_depends_on_its_own_stream_alone():
    X, weights = blobs(400, 5), np.random.default_rng(0).random((40, 5))
    k = np.tile([2, 5, 9, 14], 10)
    for init in ("random", "k-means++"):
        whole = kmeans_runs(X, k, weights=weights, seed=7, init=init)
        for threads in (2, 5):
            again = kmeans_runs(X, k, weights=weights, seed=7, init=init, threads=threads)
            assert_array_equal(again.labels, whole.labels)
            assert_array_equal(again.inertia, whole.inertia)
        some = np.array([31, 3, 18])
        alone = kmeans_runs(X, k[some], weights=weights[some], units=some, seed=7, init=init)
        assert_array_equal(alone.labels, whole.labels[some])
        other = kmeans_runs(X, k, weights=weights, seed=8, init=init)
        assert (other.labels != whole.labels).any(axis=1).mean() > 0.5


@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1, 1e6, 1e100])
@pytest.mark.parametrize("shift", [0, 1e6])
def test_scale_and_place_of_the_data_do_not_matter(scale, shift):
    X = np.round(blobs(300, 4), 3)
    plain = kmeans_runs(X, [6] * 10)
    moved = kmeans_runs((X + shift) * scale, [6] * 10)
    assert_array_equal(moved.labels, plain.labels)
    assert_allclose(moved.inertia / scale**2, plain.inertia, rtol=1e-6)


def test_inertia_never_grows_and_max_iter_shows():
    X = np.random.default_rng(0).random((2000, 3))
    last = kmeans_runs(X, [10] * 5, max_iter=1)
    assert (last.steps == 1).all()
    for steps in range(2, 40):
        now = kmeans_runs(X, [10] * 5, max_iter=steps)
        assert (now.inertia <= last.inertia * (1 + 1e-12)).all()
        last = now
    done = kmeans_runs(X, [10] * 5)
    assert (done.steps < 300).all()
    assert (done.seconds > 0).all()


def test_all_clusters_are_used_even_after_one_step_and_one_for_every_object():
    X = blobs(60, 2)
    for max_iter in (1, 2, 300):
        found = kmeans_runs(X, 20, init=np.zeros((5, 20), int), max_iter=max_iter)
        assert all(len(np.unique(row)) == 20 for row in found.labels)
    X = X[:50]
    for init in ("random", "k-means++"):
        found = kmeans_runs(X, 50, init=init)
        assert_array_equal(np.sort(found.labels[0]), np.arange(50))
        assert found.inertia[0] == 0


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("init", ["random", "k-means++"])
def test_fewer_distinct_objects_than_clusters(kind, init):
    X = np.repeat([[0.1, 0.7], [0.3, 0.3], [5.1, 0.0]], 30, axis=0)
    found = kmeans_runs(kind(X), [7] * 20, init=init)
    for row, inertia, steps in zip(found.labels, found.inertia, found.steps, strict=True):
        assert len(np.unique(row)) == 3
        assert len(np.unique(row.reshape(3, 30), axis=1)[0]) == 1
        assert inertia < 1e-12
        assert steps < 10


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_degenerate_tables(kind):
    nothing = kind(np.zeros((9, 4)))
    for init in ("random", "k-means++"):
        found = kmeans_runs(nothing, 3, init=init)
        assert not found.labels.any()
        assert found.inertia[0] == 0
    found = kmeans_runs(kind(blobs(40, 4)), 3, weights=np.zeros((2, 4)))
    assert not found.labels.any()
    assert not found.inertia.any()
    one = kmeans_runs(kind([[3.0, 4.0]]), 1)
    assert_array_equal(one.labels, [[0]])
    assert one.inertia[0] == 0


def test_kmeans_plus_plus_starts_better():
    X = blobs(2000, 2, spread=0.05)
    plain, far = (kmeans_runs(X, [6] * 50, init=init).inertia.mean() for init in ("random", "k-means++"))
    assert far < 0.8 * plain


test_bad_input_gets_a_sentence = refusals(
    ({"X": [[0.0], [np.nan]]}, "missing or infinite value"),
    ({"X": [[0.0], [1e150]]}, "squares overflow"),
    ({"X": [["a"], ["b"]]}, "text"),
    ({"X": np.zeros((0, 3))}, "has no rows"),
    ({"n_clusters": 3}, "between 1 and 2"),
    ({"n_clusters": 0}, "between 1 and 2"),
    ({"weights": [[1.0, 2.0]]}, "weights have shape"),
    ({"n_clusters": 2, "init": [[0]]}, "starts name"),
    ({"n_clusters": 2, "init": [[0, 2]]}, "starts name"),
    ({"n_clusters": 2, "init": "kmeans++"}, "did you mean 'k-means\\+\\+'"),
    call=lambda options: kmeans_runs(**{"X": [[0.0], [1.0]], "n_clusters": 1} | options),
)


def test_a_run_validates_its_table_once(monkeypatch):
    tables = []
    monkeypatch.setattr(kmeans, "check_matrix", lambda X: tables.append(X) or X)
    generate(np.random.default_rng(0).normal(size=(20, 3)), 600, methods="minima", n_clusters=3, progress=False)
    assert len(tables) == 1
