"""The experiments of Strehl and Ghosh 2002: what they promise of views, parts and clusterers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.cluster import AgglomerativeClustering, KMeans

from consilience import Ensemble
from consilience._check import InputError
from consilience.consensus import combine
from consilience.datasets.scenarios import gaussians_8d5k
from consilience.measures import nmi
from papers.strehl2002.robust import robust_centralized
from papers.strehl2002.scenarios import _subsets, feature_distributed, object_distributed
from papers.strehl2002.similarities import SIMILARITIES, kmeans_by
from papers.strehl2002.som import SOM


def test_features_are_subsetst():
    rng = np.random.default_rng(0)
    hands = _subsets(8, 12, 3, rng)
    assert all(len(set(hand)) == 3 for hand in hands)
    used = np.bincount(np.concatenate(hands), minlength=8)
    assert used.max() - used.min() <= 1
    assert len(set(map(tuple, hands))) > 6


def test_views_are_clusterings_of_their_features():
    X, _ = gaussians_8d5k(200, random_state=0)
    ensemble = feature_distributed(X, 5, n_views=3, n_features=4, base=AgglomerativeClustering(), random_state=1)
    for features, labels in zip(ensemble.info["features"], ensemble.labels.T, strict=True):
        assert_array_equal(labels, AgglomerativeClustering(5).fit_predict(X[:, features]))
    assert ensemble.info["method"].tolist() == ["AgglomerativeClustering"] * 3


def test_views_of_sparse_data_and_what_can_be_stored(tmp_path):
    X, _ = gaussians_8d5k(100, random_state=0)
    dense, thin = (feature_distributed(data, 5, random_state=0) for data in (X, csr_matrix(X)))
    assert dense.info["features"].tolist() == thin.info["features"].tolist()
    dense.save(tmp_path / "views")
    assert [list(f) for f in Ensemble.load(tmp_path / "views").info["features"]] == dense.info["features"].tolist()


@pytest.mark.parametrize("coverage", [1.0, 1.1, 1.25, 2.0, 4.0])
def test_parts_cover_the_objects(coverage):
    X, _ = gaussians_8d5k(503, random_state=0)
    ensemble = object_distributed(X, 5, n_parts=4, coverage=coverage, random_state=0)
    known = ensemble.labels >= 0
    assert known.any(axis=1).all()
    assert known.sum() == pytest.approx(coverage * 503, abs=1)
    assert np.ptp(known.sum(axis=0)) <= 2
    assert_array_equal(ensemble.n_clusters, [5] * 4)
    assert_array_equal(ensemble.info["n_objects"], known.sum(axis=0))


def test_parts_see_only_their_objects():
    X, _ = gaussians_8d5k(200, random_state=3)
    ensemble = object_distributed(X, 5, coverage=1.5, base=AgglomerativeClustering(), random_state=1)
    for labels in ensemble.labels.T:
        part = labels >= 0
        assert_array_equal(labels[part], AgglomerativeClustering(5).fit_predict(X[part]))


def test_ten_clusterers():
    X, truth = gaussians_8d5k(300, cluster_std=0.05, random_state=0)
    ensemble = robust_centralized(X, 5, random_state=0)
    made = list(zip(ensemble.info["method"], ensemble.info["similarity"], strict=True))
    assert len(set(made)) == 10
    scores = [nmi(truth, column) for column in ensemble.labels.T]
    assert min(scores) > 0.8
    assert_array_equal(robust_centralized(X, 5, random_state=0).labels, ensemble.labels)
    tiny = robust_centralized(X[::60], 2, random_state=0)
    assert tiny.labels.shape == (5, 10)


def test_similarities_by_definition():
    rng = np.random.default_rng(0)
    X, Y = rng.random((4, 5)), np.vstack([np.zeros(5), rng.random((2, 5))])
    x, y = X[1], Y[2]
    expected = {
        "euclidean": 1 / (1 + np.linalg.norm(x - y)),
        "cosine": x @ y / np.sqrt(x @ x * (y @ y)),
        "correlation": np.corrcoef(x, y)[0, 1],
        "extended Jaccard": x @ y / (x @ x + y @ y - x @ y),
    }
    for name, similarity in SIMILARITIES.items():
        assert similarity(X, Y)[1, 2] == pytest.approx(expected[name])
        assert np.isfinite(similarity(X, Y)).all()


def test_cosine_clusters_directions():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 50)
    X = (np.eye(3)[truth] + rng.normal(0, 0.05, (150, 3))) * rng.uniform(0.1, 10, (150, 1))
    ensemble = robust_centralized(X, 3, random_state=0)
    scores = {
        key: nmi(truth, column)
        for key, column in zip(
            zip(ensemble.info["method"], ensemble.info["similarity"], strict=True), ensemble.labels.T, strict=True
        )
    }
    assert scores["k-means", "cosine"] > 0.95 > scores["k-means", "euclidean"]
    assert scores["graph", "cosine"] > 0.95


@pytest.mark.parametrize("name", ["cosine", "correlation", "extended Jaccard"])
def test_every_object_is_nearest_to_its_mean(name):
    X, _ = gaussians_8d5k(200, cluster_std=0.3, random_state=0)
    labels = kmeans_by(X, 5, name, 0)
    means = np.array([X[labels == c].mean(axis=0) for c in range(5)])
    assert_array_equal(SIMILARITIES[name](X, means).argmax(axis=1), labels)


def test_units_of_a_map_are_means():
    rng = np.random.default_rng(0)
    X = np.repeat([0.0, 10.0], 200)[:, None] + rng.normal(0, 1, (400, 1))
    for seed in range(5):
        assert_allclose(np.sort(SOM(2, random_state=seed).fit(X).cluster_centers_[:, 0]), [0, 10], atol=0.25)


def test_map_finds_clusters_and_orders_its_units():
    X, truth = gaussians_8d5k(400, cluster_std=0.05, random_state=1)
    assert nmi(truth, SOM(5, random_state=0).fit_predict(X)) > 0.9
    line = np.random.default_rng(0).uniform(0, 1, (500, 1))
    chain = SOM(7, random_state=0).fit(line)
    assert chain.grid_ == (1, 7)
    steps = np.diff(chain.cluster_centers_[:, 0])
    assert (steps > 0).all() or (steps < 0).all()
    assert SOM(12, random_state=0).fit(line).grid_ == (3, 4)
    with pytest.raises(InputError, match="needs as many objects"):
        SOM(5).fit(line[:3])


def test_views_alone_are_poor_and_together_good():
    """As in the slides: near 1 on all features, about .7 on a pair of them, and combined better than the best pair."""
    everything, views, gains = [], [], []
    for seed in range(5):
        X, truth = gaussians_8d5k(random_state=seed)
        everything.append(nmi(truth, KMeans(5, n_init=10, random_state=0).fit_predict(X)))
        ensemble = feature_distributed(X, 5, random_state=seed)
        alone = [nmi(truth, column) for column in ensemble.labels.T]
        views += alone
        gains.append(nmi(truth, combine(ensemble, 5, "quadratic", random_state=0).labels) - max(alone))
    assert np.mean(everything) > 0.98
    assert 0.6 < np.mean(views) < 0.8
    assert np.mean(gains) > 0.05


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X: feature_distributed(X, 5, n_features=9), "features"),
        (lambda X: object_distributed(X, 5, coverage=0.9), "coverage"),
        (lambda X: object_distributed(X, 5, n_parts=30), "fewer parts"),
        (lambda X: object_distributed(X, 101), "cannot fill"),
        (lambda X: robust_centralized(csr_matrix(X), 5), "dense"),
        (lambda X: robust_centralized(X, 5, n_neighbors=0), "n_neighbors"),
    ],
)
def test_bad_input(call, words):
    X, _ = gaussians_8d5k(100, random_state=0)
    with pytest.raises(InputError, match=words):
        call(X)
