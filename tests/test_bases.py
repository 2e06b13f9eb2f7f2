"""Metrics × subspaces, density and Gaussian mixtures: planted clusters, what is drawn, noise, and new objects."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

import consilience as cs
from consilience.generation import METHODS, Variations, extend
from consilience.generation.methods import describe
from consilience.generation.methods.hdbscan_and_gaussian import FORMS, GaussianModel
from consilience.generation.methods.landmarks import METRICS, rows_for
from consilience.generation.plan import Plan
from consilience.generation.predict import Labeler
from consilience.generation.runner import Runner
from samples import refuses


@pytest.fixture(scope="module")
def wide():
    """Profiles of four kinds over 60 columns, each row times a size of its own: near by correlation, not by distance."""
    rng = np.random.default_rng(0)
    known = np.repeat(np.arange(4), 60)
    profiles = rng.normal(size=(4, 60))[known] + rng.normal(scale=0.5, size=(240, 60))
    return profiles * rng.lognormal(sigma=0.8, size=(240, 1)), known


def test_rows_have_the_distances_of_the_metric():
    X = np.random.default_rng(0).normal(size=(20, 6)) + 1
    for metric in METRICS[1:]:
        squares = cdist(rows_for(X, metric), rows_for(X, metric), "sqeuclidean")
        np.testing.assert_allclose(squares / 2, cdist(X, X, metric), atol=1e-12)
    as_sparse = rows_for(sparse.csr_matrix(X), "cosine")
    np.testing.assert_allclose(as_sparse.toarray(), rows_for(X, "cosine"))


def test_metrics_find_profiles_of_different_sizes(wide):
    X, known = wide
    ensemble = cs.generate(X, 20, (4, 8), "metrics", random_state=0)
    assert set(ensemble.info["metric_number"]) == {0, 1, 2}
    shares = [np.count_nonzero(weights) / 60 for weights in ensemble.info["weights"]]
    assert 0.15 < min(shares) < 0.4 < 0.6 < max(shares) < 0.85
    assert adjusted_rand_score(known, cs.combine(ensemble, 4, random_state=0).labels) > 0.95
    plain = cs.combine(cs.generate(X, 20, (4, 8), "minima", random_state=0), 4, random_state=0)
    assert adjusted_rand_score(known, plain.labels) < 0.9


def test_columns_that_may_share_a_unit_get_back_a_share_of_their_own_scale():
    X = np.random.default_rng(0).normal(size=(200, 3)) * [1, 2, 4]
    info = cs.generate(X, 5, 3, "landmarks", random_state=0).info
    for share, weights in zip(info["own_scale"], info["weights"], strict=True):
        np.testing.assert_allclose(weights, (X.std(axis=0) / np.median(X.std(axis=0))) ** share)
    assert cs.generate(X, 2, 3, "landmarks", standardize=False).info["weights"].isna().all()
    assert cs.generate(X * [1, 1, 1000], 2, 3, "landmarks").info["weights"].isna().all()  # of other units
    people = pd.DataFrame({"income": X[:, 2], "age": X[:, 0], "plan": np.where(X[:, 1] > 0, "free", "pro")})
    assert cs.generate(people, 2, 3, "landmarks").info["weights"].isna().all()  # columns of different kinds


def test_density_finds_moons_and_leaves_noise_without_a_label():
    X, known = make_moons(500, noise=0.05, random_state=0)
    far = np.random.default_rng(1).uniform(-8, 8, size=(25, 2))
    ensemble = cs.generate(np.concatenate([X, far]), 12, 2, "density", random_state=0)
    missing = ensemble.labels < 0
    assert missing[500:].mean() > 0.5
    noisy = ensemble.info["note"].notna().to_numpy()
    np.testing.assert_array_equal(noisy, missing.any(axis=0))
    found = cs.combine(ensemble, 2, random_state=0).labels
    assert adjusted_rand_score(known, found[:500]) > 0.9
    assert describe(ensemble.info.loc[0]).startswith("HDBSCAN")


def test_smaller_clusters_where_all_would_be_noise():
    X = np.random.default_rng(0).uniform(size=(60, 2))
    assert (cs.generate(X, 10, 2, "density", random_state=0).labels >= 0).any(axis=0).all()
    refuses("landmarks", METHODS["density"].check, 50_001)


@pytest.mark.parametrize("form", FORMS)
def test_gaussian_models_label_as_scikit_learn(form):
    X, _ = make_blobs(300, 3, centers=4, random_state=0)
    fitted = GaussianMixture(4, covariance_type=form, random_state=0).fit(X)
    model = GaussianModel(form, fitted.weights_, fitted.means_, fitted.precisions_cholesky_)
    np.testing.assert_array_equal(model.label(X), fitted.predict(X))


def test_gaussians_find_clusters_of_different_spread():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.3, size=(200, 2)), rng.normal((4, 0), 3, size=(200, 2))])
    known = np.repeat([0, 1], 200)
    found = {m: cs.generate(X, 8, 2, m, random_state=0).labels.T for m in ("gaussian", "minima")}
    best = {method: max(adjusted_rand_score(known, one) for one in labels) for method, labels in found.items()}
    assert best["gaussian"] > 0.85 > best["minima"] + 0.1


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_gaussians_do_not_depend_on_the_unit_of_the_table(unit):
    X, known = make_blobs(150, 3, centers=3, cluster_std=0.5, random_state=0)
    usual, other = (cs.generate(X * by, 8, 3, "gaussian", standardize=False).labels for by in (1, unit))
    assert all(adjusted_rand_score(*pair) > 0.99 for pair in zip(usual.T, other.T, strict=True))
    assert max(adjusted_rand_score(known, one) for one in other.T) > 0.95


@pytest.mark.parametrize("method", ["metrics", "density", "gaussian"])
def test_made_again_alone_and_for_new_objects(method, wide):
    X = wide[0]
    ensemble = cs.generate(X, 4, (3, 6), method, random_state=1)
    np.testing.assert_array_equal(Variations(X).remake(ensemble.info.loc[2]), ensemble.labels[:, 2])
    runner = Runner(X, Plan.checked(methods=method, n_clusters=(3, 6)), keeps_predictors=True)
    made = runner.run(4, 1)
    labeler = pickle.loads(pickle.dumps(Labeler.of(runner, made)))
    assert (labeler.label(X) == made.labels).mean() > 0.999
    assert bool(runner.predictors) == (method != "density")


def test_only_who_labels_new_objects_keeps_what_that_needs(wide, monkeypatch):
    made = []

    class Watched(Runner):
        def __init__(self, *args, **how):
            super().__init__(*args, **how)
            made.append(self)

    for module in ("by_blocks", "predict"):
        monkeypatch.setattr(sys.modules[f"consilience.generation.{module}"], "Runner", Watched)
    ensemble = cs.generate(wide[0], 3, 3, "metrics+gaussian", progress=False)
    Variations(wide[0]).remake(ensemble.info.loc[2])
    extend(ensemble, wide[0], wide[0][:5])
    assert len(made) == 3
    assert not any(runner.predictors for runner in made)
