"""EnsembleClusterer: what it finds, what it says of new objects, and that scikit-learn's tools take it for one of theirs."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import HDBSCAN, Birch
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import consilience as cs
from consilience import EnsembleClusterer
from consilience.consensus.how_many.by_data import has_gaps
from consilience.datasets.scenarios import gaussians_8d5k
from consilience.generation import METHODS
from consilience.measures import adjusted_rand
from samples import refuses


@pytest.fixture(scope="module")
def blobs():
    return gaussians_8d5k(400, random_state=3)


def quick(n_clusters=5, **options):
    return EnsembleClusterer(n_clusters, **{"n_clusterings": 20, "method": "quadratic", "random_state": 0, **options})


def test_it_is_generate_and_combine(blobs):
    X, known = blobs
    model = quick().fit(X)
    assert adjusted_rand(known, model.labels_) > 0.9
    assert adjusted_rand(cs.combine(model.ensemble_, 5, "quadratic").labels, model.labels_) == 1
    np.testing.assert_array_equal(model.labels_, model.consensus_.labels)
    np.testing.assert_array_equal(model.support_, model.consensus_.support)
    np.testing.assert_array_equal(model.confidence_, model.consensus_.confidence)
    assert model.ensemble_.n_clusterings == 20
    assert model.ensemble_.n_clusters.min() >= 5
    assert model.ensemble_.n_clusters.max() <= 20


@pytest.mark.parametrize("methods", METHODS)
def test_the_data_itself_gets_its_own_labels_again(methods, blobs):
    X, known = blobs
    model = quick(methods=methods).fit(X[:300])
    rows = model._model.labeler.label(X[:300])
    made = model.ensemble_.labels
    assert (rows == made)[made >= 0].mean() > 0.999  # objects at equal distance from two means may go either way
    assert (model.predict(X[:300]) == model.labels_).mean() > (0.995 if methods != "objects" else 0.97)
    assert adjusted_rand(known[300:], model.predict(X[300:])) > 0.85
    shares = model.predict_proba(X[300:])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(X[300:]))
    np.testing.assert_array_equal(model.predict_proba(X[:300]).argmax(axis=1), model.predict(X[:300]))
    assert 0.5 < model.score(X[300:]) <= 1


def test_fewer_clusters_than_asked_for_get_a_warning(blobs, monkeypatch):
    combine = "consilience.consensus.how_many.by_data.combine"
    monkeypatch.setattr(combine, lambda ensemble, *_, **__: cs.combine(ensemble, 4, "quadratic"))
    with pytest.warns(ConvergenceWarning, match="has 4 clusters, fewer than n_clusters=5: ask for fewer") as told:
        assert quick().fit(blobs[0]).n_clusters_ == 4
    assert told[0].filename == __file__


@pytest.mark.parametrize("base", [Birch(), HDBSCAN(min_cluster_size=10, copy=True)], ids=["Birch", "HDBSCAN"])
def test_other_clusterers_label_by_the_nearest_object(base, blobs):
    X, _ = blobs
    model = quick(base=base, methods="features+objects", n_clusterings=12).fit(X)
    rows, made = model._model.labeler.label(X), model.ensemble_.labels
    whole = (model.ensemble_.info["method"] == "features").to_numpy()
    np.testing.assert_array_equal(rows[:, whole], made[:, whole])
    assert (model.predict(X) == model.labels_).mean() > 0.9
    assert model.predict(X + 0.001).min() >= -1


def test_sparse_data_and_one_column(blobs):
    X, _ = blobs
    few = np.where(X > 0.5, X, 0)
    as_sparse, dense = quick(standardize=False).fit(sparse.csr_matrix(few)), quick(standardize=False).fit(few)
    assert adjusted_rand(as_sparse.labels_, dense.labels_) > 0.9
    np.testing.assert_array_equal(as_sparse.predict(sparse.csr_array(few)), as_sparse.labels_)
    assert quick(3, methods="minima").fit(X[:, :1]).n_clusters_ == 3
    assert quick(3).fit(X[:, :1]).n_clusters_ == 3


def test_numbers_of_clusters(blobs):
    X, _ = blobs
    one = quick(1).fit(X)
    assert one.labels_.tolist() == [0] * 400
    assert one.score(X) == 1
    assert quick(None).fit(X).n_clusters_ == 11  # the middle of 2 … 20
    assert quick(None, base_n_clusters=4).fit(X).n_clusters_ == 4
    assert quick("auto", n_clusterings=8, base_n_clusters=(4, 6)).fit(X[:80]).n_clusters_ in range(2, 9)
    assert quick("auto", n_clusterings=6, method="auto", base_n_clusters=3).fit(X[:60]).n_clusters_ >= 2
    for wrong, says in (
        (quick(500), "500 clusters need as many objects"),
        (quick(n_clusterings=0), "n_clusterings must be"),
        (quick(methods="minimal"), "did you mean 'minima'"),
        (quick(""), "n_clusters must be a whole number or 'auto'; got ''"),
    ):
        refuses(says, wrong.fit, X[:40])


def test_objects_that_are_all_alike_in_pairs():
    X = np.repeat([[0.0, 1], [5, 5], [9, 0]], 20, axis=0)
    assert quick(None).fit(X).n_clusters_ <= 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert quick(3).fit(np.c_[X, np.ones(60)]).n_clusters_ == 3  # a constant column is not worth a warning here


def test_another_seed_is_another_ensemble_and_a_model_keeps_no_data(blobs):
    one, other = (quick(methods="minima+features", random_state=seed).fit(blobs[0][:300]) for seed in (0, 1))
    assert (one.ensemble_.labels != other.ensemble_.labels).any()
    assert len(pickle.dumps(one)) < 400_000  # labels and means, not the data


def test_in_a_pipeline_and_a_grid_search(blobs):
    X, known = blobs
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(8)])
    chain = make_pipeline(MinMaxScaler().set_output(transform="pandas"), quick()).fit(frame)
    assert adjusted_rand(known, chain.predict(frame)) > 0.9
    assert chain[-1].feature_names_in_.tolist() == list(frame)
    few = quick(methods="minima", n_clusterings=10)
    grid = GridSearchCV(few, {"n_clusters": [3, 9], "methods": ["minima", "features"]}, cv=2).fit(X)
    assert grid.best_params_["n_clusters"] == 3
    by_known = GridSearchCV(few, {"n_clusters": [3, 5, 9]}, cv=2, scoring="adjusted_rand_score").fit(X, known)
    assert by_known.best_params_ == {"n_clusters": 5}
    assert by_known.predict(X).shape == (400,)


@pytest.mark.parametrize(
    ("n", "columns", "apart"), [(30, 2, 6), (50, 1, 10), pytest.param(100, 2, 10, marks=pytest.mark.slow)]
)
def test_two_clusters_far_apart_are_two(n, columns, apart):
    truth = np.repeat([0, 1], n)
    X = np.random.default_rng(1).normal(size=(2 * n, columns)) + apart * truth[:, None]
    assert quick(2).fit(X).scales_ is None
    found = EnsembleClusterer(random_state=0).fit(X)
    assert adjusted_rand(found.labels_, truth) > 0.95
    assert not found.doubt_
    assert "gaps in the data" in found.note_ or found.scales_["real"].any()
    numbers = found.scales_["n_clusters"].to_numpy()
    assert numbers[0] == found.n_clusters_
    assert found.consensus_.scale_labels.shape == (2 * n, len(numbers))
    assert (found.consensus_.scale_labels.max(axis=0) + 1).tolist() == sorted(numbers)


def test_a_cloud_that_is_cut_has_no_gaps():
    for seed, columns in enumerate((1, 2, 5)):
        X = np.random.default_rng(seed).normal(size=(300, columns)) * np.r_[5, np.ones(columns - 1)]
        for k in (2, 3, 5):
            edges = np.quantile(X[:, 0], np.arange(1, k) / k)
            assert not has_gaps(X, np.searchsorted(edges, X[:, 0]))
    found = quick("auto").fit(X)
    assert "chance" in found.doubt_
    assert "no number of clusters is more stable than chance" in found.note_
