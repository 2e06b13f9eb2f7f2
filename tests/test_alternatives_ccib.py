"""The coordinated conditional bottleneck (its terms, the move that coordinates groups, the rule for λ), and the models of counts."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multinomial

from consilience.alternatives import CCIB, CountBottleneck, MultinomialMixture, ccib
from consilience.alternatives.ccib import conditional_views, coordinate, reweigh
from consilience.alternatives.count_bases import log_profiles
from consilience.datasets import orthogonal_multinomials
from consilience.engine.annealing import anneal
from consilience.engine.objective import objective_of
from consilience.engine.views import count_views
from consilience.measures import matched_accuracy, nmi
from oracle.sweep import mutual_information
from samples import refusals


def tables(X, labels, k):
    return np.array([X[labels == c].sum(axis=0) for c in range(k)])


def small(n=30, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(2, (n, d)) + 1, rng.integers(0, 3, n).astype(np.int32), rng.integers(0, 3, n).astype(np.int32)


def test_the_views_give_the_two_terms():
    X, groups, labels = small()
    views = conditional_views(sparse.csr_matrix(X), groups, 0.7)
    share = [X[groups == z].sum() / X.sum() for z in range(3)]
    inside = sum(s * mutual_information(tables(X[groups == z], labels[groups == z], 3)) for z, s in enumerate(share))
    whole = mutual_information(tables(X, labels, 3))
    assert objective_of(views, labels, 3) == pytest.approx(inside + 0.7 * whole)
    assert objective_of(reweigh(views, conditional=1, whole=0), labels, 3) == pytest.approx(inside)
    assert objective_of(reweigh(views, conditional=0, whole=1), labels, 3) == pytest.approx(whole)
    groups[:10] = -1  # objects of no group count in the whole only
    views, known = conditional_views(sparse.csr_matrix(X), groups, 0.7), groups >= 0
    alone = conditional_views(sparse.csr_matrix(X[known]), groups[known], 0.0)
    assert objective_of(reweigh(views, conditional=1, whole=0), labels, 3) == pytest.approx(
        objective_of(alone, labels[known], 3)
    )
    assert objective_of(reweigh(views, conditional=0, whole=1), labels, 3) == pytest.approx(whole)
    X, groups, labels = small(60, seed=7)
    found = coordinate(sparse.csr_matrix(X), groups, labels, 3)
    views = conditional_views(sparse.csr_matrix(X), groups, 1.0)
    assert objective_of(views, found, 3) >= objective_of(views, labels, 3)
    assert (coordinate(sparse.csr_matrix(X), groups, found, 3) == found).all()


@pytest.mark.parametrize("seed", range(5))
def test_coordination_is_the_best_renumbering(seed):
    X, groups, labels = small(seed=seed)
    groups %= 2
    found = coordinate(sparse.csr_matrix(X), groups, labels, 3)
    best = max(  # of two groups it is enough to renumber one
        mutual_information(tables(X, np.where(groups == 1, np.array(names)[labels], labels), 3))
        for names in itertools.permutations(range(3))
    )
    assert mutual_information(tables(X, found, 3)) == pytest.approx(best)
    for z in (0, 1):
        assert nmi(found[groups == z], labels[groups == z]) == pytest.approx(1)  # inside a group only the names change


def test_annealing_ends_near_the_best_and_fills_empty_clusters():
    X, _, hidden = orthogonal_multinomials(2, random_state=1)
    views = count_views([X[:, 1:]])
    found = anneal(views, 2, cooling=1.3, rng=np.random.default_rng(0))
    assert objective_of(views, found, 2) > 0.98 * objective_of(views, hidden, 2)
    # More clusters than the counts can tell apart: some stay equal to the end, and none may be left without objects.
    X = np.repeat([[9, 1], [1, 9]], 10, axis=0)
    found = anneal(count_views([X]), 5, cooling=2, rng=np.random.default_rng(0))
    assert np.bincount(found, minlength=5).min() > 0


@pytest.mark.parametrize("search", ["sequential", "annealing"])
@pytest.mark.parametrize("keep", ["all", "best"])
def test_it_finds_the_hidden_grouping(search, keep):
    X, given, hidden = orthogonal_multinomials(3, random_state=2)
    found = CCIB(3, search=search, keep=keep, n_init=3, trade_off=0.1, random_state=0).fit(X, given)
    assert matched_accuracy(hidden, found.labels_) > 0.97
    assert found.redundancy_ < 0.01
    assert found.confidence_.shape == (450,)
    np.testing.assert_allclose(found.membership_.sum(axis=1), 1)
    assert (np.diff(np.bincount(found.labels_)) <= 0).all()
    assert found.objective_ == pytest.approx(found.conditional_information_ + 0.1 * found.information_)


def test_the_path_and_the_rule():
    X, given, _ = orthogonal_multinomials(4, 0.6, random_state=0)
    found = CCIB(4, n_init=3, random_state=0).fit(X, given)
    kept = found.path_["conditional_information"].to_numpy()
    assert found.path_["trade_off"].tolist() == list(ccib.PATH)
    free = found.path_["trade_off"][kept >= 0.99 * kept.max()]
    assert found.trade_off_ == free.max() < ccib.PATH[-1]
    assert (np.diff(found.path_["information"]) > -1e-9).all()  # coordination grows with its weight


def test_missing_groups_several_groupings_and_none():
    X, given, hidden = orthogonal_multinomials(2, random_state=0)
    holes = np.where(np.arange(200) % 4 == 0, -1, given)
    found = CCIB(2, n_init=3, random_state=0).fit(X, holes)
    assert matched_accuracy(hidden, found.labels_) > 0.95
    both = CCIB(2, n_init=3, random_state=0).fit(X, [given, hidden])
    assert max(nmi(given, both.labels_), nmi(hidden, both.labels_)) < 0.05
    plain = CCIB(2, n_init=3, random_state=0).fit(X)
    assert np.isnan(plain.redundancy_)
    assert plain.conditional_information_ == pytest.approx(plain.information_)


X, GIVEN, HIDDEN = orthogonal_multinomials(2, random_state=0)

test_bad_options_get_one_sentence = refusals(
    ({"n_clusters": 1}, "n_clusters"),
    ({"n_clusters": 500}, "500 clusters of n_samples = 200"),
    ({"trade_off": -1}, "trade_off must be"),
    ({"trade_off": "best"}, "trade_off must be a number or 'auto'"),
    ({"search": "greedy"}, "unknown search"),
    ({"n_init": 0}, "n_init"),
    ({"keep": "some"}, "choice of runs to keep"),
    ({"max_iter": 0}, "max_iter"),
    ({"cooling": 1.0}, "cooling"),
    call=lambda options: CCIB(**{"n_clusters": 2} | options).fit(X, GIVEN),
)

test_bad_data_get_one_sentence = refusals(
    ((X - 50, GIVEN), "Negative values in data passed to CCIB"),
    ((X * 0, GIVEN), "200 rows of the data are all zero"),
    ((X, [0, 1, 0]), "of 3 objects, the data of 200"),
    ((X, GIVEN * 0), "one group only"),
    ((X, [np.where(HIDDEN == 0, GIVEN, -1), np.where(HIDDEN == 1, GIVEN, -1)]), "no groups together"),
    call=lambda given: CCIB(2).fit(*given),
)


# The models of counts: expectation maximization and the bottleneck, against their definitions.


def mixture(n=300, d=8, k=3, length=60, seed=0):
    rng = np.random.default_rng(seed)
    profiles = rng.dirichlet(np.ones(d), k)
    truth = rng.integers(0, k, n)
    return np.array([rng.multinomial(length, profiles[c]) for c in truth]), truth, profiles


COUNTS, KINDS, _ = mixture()


def test_the_posterior_is_bayes_rule_and_the_bound_grows():
    model = MultinomialMixture(3, random_state=0).fit(COUNTS)
    profiles = np.exp(model.log_profiles_)
    np.testing.assert_allclose(profiles.sum(axis=1), 1)
    likelihood = np.array([[multinomial.pmf(x, x.sum(), p) for p in profiles] for x in COUNTS[:20]]) * model.weights_
    np.testing.assert_allclose(
        model.predict_proba(COUNTS[:20]), likelihood / likelihood.sum(axis=1, keepdims=True), atol=1e-9
    )
    assert (model.predict(COUNTS) == model.labels_).all()
    bounds = [
        MultinomialMixture(3, max_iter=t, tol=0, smoothing=1e-9, random_state=0).fit(COUNTS).lower_bound_
        for t in range(1, 8)
    ]
    assert (np.diff(bounds) > -1e-9).all()
    model = MultinomialMixture(3, max_iter=200, tol=0, smoothing=1e-9, random_state=0).fit(COUNTS)
    scores = COUNTS @ model.log_profiles_.T + np.log(model.weights_)
    assert model.lower_bound_ == pytest.approx(np.logaddexp.reduce(scores, axis=1).mean())


def test_smoothing_and_the_information_of_the_bottleneck():
    counts = np.array([[4.0, 0.0, 2.0], [0.0, 6.0, 0.0]])
    spread = 0.5 * 3 * counts.sum(axis=0) / 12
    expected = (counts + spread) / (counts + spread).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(log_profiles(counts, 0.5)), expected)
    for search in ("sequential", "annealing"):
        found = CountBottleneck(3, search=search, random_state=0).fit(COUNTS)
        assert found.objective_ == pytest.approx(objective_of(count_views([COUNTS]), found.labels_, 3))


@pytest.mark.parametrize("model", [MultinomialMixture(3), CountBottleneck(3), CountBottleneck(3, search="annealing")])
def test_it_finds_what_is_planted(model):
    scores = [matched_accuracy(KINDS, model.set_params(random_state=s).fit(COUNTS).labels_) for s in range(4)]
    assert max(scores) > 0.95
    fresh, known, _ = mixture(seed=0, n=600)
    best = model.set_params(random_state=int(np.argmax(scores))).fit(COUNTS)
    assert matched_accuracy(known, best.predict(fresh)) > 0.9


@pytest.mark.parametrize("model", [MultinomialMixture(3, random_state=0), CountBottleneck(3, random_state=0)])
def test_sparse_dense_and_words_never_seen(model):
    wide = np.hstack([COUNTS, np.zeros((300, 2), int)])
    dense, thin = model.fit(wide).labels_.copy(), model.fit(sparse.csr_matrix(wide)).labels_
    assert (dense == thin).all()
    wide[:, -1] = 3  # a word that no object had tells nothing apart
    assert matched_accuracy(dense, model.predict(sparse.csr_matrix(wide))) > 0.99


test_bad_options_of_the_models = refusals(
    (MultinomialMixture(0), "n_clusters"),
    (MultinomialMixture(2, smoothing=0), "smoothing"),
    (MultinomialMixture(2, max_iter=0), "max_iter"),
    (MultinomialMixture(2, tol=-1), "tol"),
    (CountBottleneck(2, search="best"), "unknown search"),
    (CountBottleneck(400), "400 clusters of 300 objects"),
    (MultinomialMixture(400), "400 clusters of 300 objects cannot be made"),
    (CountBottleneck(2, cooling=1), "cooling"),
    call=lambda model: model.fit(COUNTS),
)
