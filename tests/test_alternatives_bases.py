"""The models of counts: expectation maximization and the bottleneck, against their definitions."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multinomial

from consilience._check import InputError
from consilience.alternatives import CountBottleneck, MultinomialMixture
from consilience.alternatives.count_bases import log_profiles
from consilience.engine.information import objective_of
from consilience.engine.views import count_views
from consilience.measures import matched_accuracy


def mixture(n=300, d=8, k=3, length=60, seed=0):
    rng = np.random.default_rng(seed)
    profiles = rng.dirichlet(np.ones(d), k)
    truth = rng.integers(0, k, n)
    return np.array([rng.multinomial(length, profiles[c]) for c in truth]), truth, profiles


def test_the_posterior_is_bayes_rule_and_the_bound_grows():
    X, _, _ = mixture()
    model = MultinomialMixture(3, random_state=0).fit(X)
    profiles = np.exp(model.log_profiles_)
    np.testing.assert_allclose(profiles.sum(axis=1), 1)
    likelihood = np.array([[multinomial.pmf(x, x.sum(), p) for p in profiles] for x in X[:20]]) * model.weights_
    np.testing.assert_allclose(
        model.predict_proba(X[:20]), likelihood / likelihood.sum(axis=1, keepdims=True), atol=1e-9
    )
    assert (model.predict(X) == model.labels_).all()
    bounds = [
        MultinomialMixture(3, max_iter=t, tol=0, smoothing=1e-9, random_state=0).fit(X).lower_bound_
        for t in range(1, 8)
    ]
    assert (np.diff(bounds) > -1e-9).all()
    model = MultinomialMixture(3, max_iter=200, tol=0, smoothing=1e-9, random_state=0).fit(X)
    scores = X @ model.log_profiles_.T + np.log(model.weights_)
    assert model.lower_bound_ == pytest.approx(np.logaddexp.reduce(scores, axis=1).mean())


def test_smoothing_and_the_information_of_the_bottleneck():
    counts = np.array([[4.0, 0.0, 2.0], [0.0, 6.0, 0.0]])
    spread = 0.5 * 3 * counts.sum(axis=0) / 12
    expected = (counts + spread) / (counts + spread).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(log_profiles(counts, 0.5)), expected)
    X, _, _ = mixture()
    for search in ("sequential", "annealing"):
        found = CountBottleneck(3, search=search, random_state=0).fit(X)
        assert found.objective_ == pytest.approx(objective_of(count_views([X]), found.labels_, 3))


@pytest.mark.parametrize("model", [MultinomialMixture(3), CountBottleneck(3), CountBottleneck(3, search="annealing")])
def test_it_finds_what_is_planted(model):
    X, truth, _ = mixture()
    scores = [matched_accuracy(truth, model.set_params(random_state=s).fit(X).labels_) for s in range(4)]
    assert max(scores) > 0.95
    fresh, known, _ = mixture(seed=0, n=600)
    best = model.set_params(random_state=int(np.argmax(scores))).fit(X)
    assert matched_accuracy(known, best.predict(fresh)) > 0.9


@pytest.mark.parametrize("model", [MultinomialMixture(3, random_state=0), CountBottleneck(3, random_state=0)])
def test_sparse_dense_and_words_never_seen(model):
    X, _, _ = mixture()
    wide = np.hstack([X, np.zeros((300, 2), int)])
    dense, thin = model.fit(wide).labels_.copy(), model.fit(sparse.csr_matrix(wide)).labels_
    assert (dense == thin).all()
    wide[:, -1] = 3  # a word that no object had tells nothing apart
    assert matched_accuracy(dense, model.predict(sparse.csr_matrix(wide))) > 0.99


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (MultinomialMixture(0), "n_clusters"),
        (MultinomialMixture(2, smoothing=0), "smoothing"),
        (MultinomialMixture(2, max_iter=0), "max_iter"),
        (MultinomialMixture(2, tol=-1), "tol"),
        (CountBottleneck(2, search="best"), "unknown search"),
        (CountBottleneck(400), "400 clusters of 300 objects"),
        (MultinomialMixture(400), "400 clusters of 300 objects cannot be made"),
        (CountBottleneck(2, cooling=1), "cooling"),
    ],
)
def test_bad_options(model, sentence):
    with pytest.raises(InputError, match=sentence):
        model.fit(mixture()[0])
