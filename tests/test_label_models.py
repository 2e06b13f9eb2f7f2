"""Models of rows of labels: what they are fitted to, and what they say of rows they have not seen."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import digamma
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import consilience as cs
from consilience.consensus import BCE, NBCE, MixtureModel
from consilience.consensus.methods import bce, mixture
from consilience.consensus.methods import label_model as label_tables
from consilience.consensus.rows.problem import check_problem
from consilience.datasets.scenarios import noisy_labels
from consilience.measures import nmi
from oracle.label_models import em_step, membership_bound, membership_phi, membership_row, mixture_joint
from samples import first_of, noisy_copies, refuses

MODELS = {"mixture": MixtureModel, "bce": BCE, "nbce": NBCE}
FAST = {"nbce": {"max_iter": 60, "n_chains": 2}}
some_copies = partial(noisy_copies, n=90, k=3, r=4, noise=0.2)
every_model = pytest.mark.parametrize("model", MODELS)


def fitted(model, labels, k=3, **options):
    return MODELS[model](k, random_state=0, **FAST.get(model, {}), **options).fit(labels)


def all_rows(sizes, missing=False):
    return np.array(list(product(*(range(-1 if missing else 0, size) for size in sizes))))


@every_model
def test_the_rows_of_fit_are_no_exception(model):
    labels, _ = some_copies(missing=0.2)
    labels[4] = -1
    found = fitted(model, labels)
    some = (labels >= 0).any(axis=1)
    if model == "nbce":  # whose answer is made from samples of these very objects, not from what they predict
        assert np.mean(found.predict(labels)[some] == found.labels_[some]) > 0.95
        return
    assert_array_equal(found.predict(labels)[some], found.labels_[some])
    assert_allclose(found.predict_proba(labels)[some], found.membership_[some], atol=1e-6)


@every_model
def test_score_and_perplexity_are_the_same_likelihood(model):
    train, _ = some_copies()
    test, _ = some_copies(n=30, seed=1, missing=0.3)
    found = fitted(model, train)
    assert found.score(test) < 0
    known = np.count_nonzero(test >= 0)
    assert found.perplexity(test) == pytest.approx(np.exp(-found.score(test) * len(test) / known))
    assert 1 < found.perplexity(test) < 3  # a uniform guess


@every_model
def test_new_rows_find_their_cluster(model):
    train, truth = some_copies(noise=0.1)
    new, new_truth = some_copies(n=60, noise=0.1, seed=2)
    found = fitted(model, train)
    names = {found.labels_[truth == c][0]: c for c in range(3)}
    assert nmi(truth, found.labels_) > 0.8
    assert np.mean([names[c] for c in found.predict(new)] == new_truth) > 0.9
    new[:, 1:3] = -1  # clusterings held out
    assert np.mean([names[c] for c in found.predict(new)] == new_truth) > 0.85


@every_model
def test_a_row_without_labels_says_nothing(model):
    labels, _ = some_copies()
    found = fitted(model, labels)
    nothing = np.full((2, 4), -1)
    assert found.predict(nothing).tolist() == [-1, -1]
    prior = found.predict_proba(nothing)
    assert prior.shape == (2, found.n_clusters_)
    assert_allclose(prior.sum(axis=1), 1)
    assert prior.min() > 0.05
    assert found.score(nothing) == pytest.approx(0, abs=1e-12)
    refuses("at least one known label", found.perplexity, nothing)


@every_model
def test_a_label_that_fitting_never_saw_costs_but_says_nothing(model):
    labels, _ = some_copies(missing=0.1)
    found = fitted(model, labels)
    row, known = np.array([[7, 1, 1, -1]]), np.array([[-1, 1, 1, -1]])
    assert_allclose(found.predict_proba(row), found.predict_proba(known))
    labeled = np.count_nonzero(labels[:, 0] >= 0)
    assert found.score(row) == pytest.approx(found.score(known) - np.log(labeled + 1))
    assert found.perplexity(row) == pytest.approx(np.exp(-found.score(row) / 3))
    assert found.predict([[9], [9], [9], [9]]).tolist() == [-1]


@every_model
@pytest.mark.parametrize("number", first_of([2, 4]))
def test_the_rows_that_there_can_be_add_up_to_one(model, number):
    found = fitted(model, some_copies(missing=0.1)[0][:, :number])
    every = np.exp([found.score(new[None]) for new in all_rows([4] * number)])  # the label 3 is new in every clustering
    assert every.sum() == pytest.approx(1, abs=1e-9)


@every_model
def test_a_clustering_without_labels_is_not_in_the_model(model):
    labels, _ = some_copies()
    wide = np.insert(labels, 1, -1, axis=1)
    one, two = fitted(model, labels), fitted(model, wide)
    assert two.label_codes_[1] == {}
    assert one.score(labels) == pytest.approx(two.score(wide))
    wide[:, 1] = 3
    assert one.perplexity(labels) == pytest.approx(two.perplexity(wide))


@every_model
def test_new_rows_are_matched_by_the_names_of_their_labels(model, tmp_path):
    """Names in another order, a label that fitting never saw, a table that was saved between."""
    labels, _ = some_copies()
    names = np.array(["T cell", "B cell", "NK"], object)
    found = fitted(model, cs.Ensemble({f"run {q}": names[column] for q, column in enumerate(labels.T)}))
    rows = labels[:6].copy()
    expected = found.predict_proba({f"run {q}": names[column] for q, column in enumerate(rows.T)})
    backwards = cs.Ensemble({f"run {q}": names[column] for q, column in enumerate(rows[::-1].T)})
    assert_allclose(found.predict_proba(backwards), expected[::-1])
    backwards.save(tmp_path / "rows")
    assert_allclose(found.predict_proba(tmp_path / "rows"), expected[::-1])
    text = names[rows]
    text[:, 0] = "macrophage"
    assert_allclose(found.predict_proba(text), found.predict_proba(np.where(text == "macrophage", None, text)))
    assert found.score(text) < found.score(np.where(text == "macrophage", None, text))


@every_model
def test_objects_of_no_weight_teach_no_labels(model):
    labels, _ = some_copies()
    weights = np.ones(len(labels))
    labels[0, 0], weights[0] = 8, 0
    found = MODELS[model](3, random_state=0, **FAST.get(model, {})).fit(labels, sample_weight=weights)
    assert list(found.label_codes_[0]) == [0, 1, 2]
    assert found.score(labels) == pytest.approx(fitted(model, labels[1:]).score(labels))


@every_model
def test_what_cannot_be_matched_is_refused(model):
    labels, _ = some_copies()
    found = fitted(model, np.array(["a", "b", "c"])[labels])
    refuses("knows 4 clusterings and these rows have 2", found.predict, np.array([["a", "b"]]))
    for numbers in (labels, cs.Ensemble(labels)):
        refuses("the label 0 is a number, and those it is matched with are text", found.predict, numbers)
    numbers = fitted(model, labels)
    refuses("'a' is text, and those it is matched with are numbers", numbers.predict, [["a"], ["b"], ["c"], ["a"]])
    with pytest.raises(NotFittedError):
        MODELS[model](3).predict(labels)


def test_the_number_of_clusters_by_cross_validation():
    ens, _ = noisy_labels(300, 4, 8, noise=0.2, random_state=0)
    search = GridSearchCV(MixtureModel(random_state=0), {"n_clusters": [2, 3, 4, 6]}, cv=3).fit(ens.labels)
    assert search.best_params_ == {"n_clusters": 4}


@pytest.mark.parametrize("smoothing", [0, 0.1, 2])
def test_mixture_is_what_it_says(smoothing):
    labels, _ = some_copies(missing=0.2)
    found = fitted("mixture", labels, smoothing=smoothing)
    rows = all_rows([3, 3, 3, 3], missing=True)
    joint = np.array([mixture_joint(row, found.weights_, found.shares_) for row in rows])
    assert_allclose(np.exp(found._log_joint(rows.astype(np.int32))), joint, rtol=1e-10)
    labeled = (labels >= 0).sum(axis=0)
    reserve = (labels >= 0) @ np.log1p(1 / labeled)  # what labels that fitting never saw would have
    assert found.score(labels) * len(labels) == pytest.approx(found.log_likelihood_ - reserve.sum())
    likelihood = sum(np.log(mixture_joint(row, found.weights_, found.shares_).sum()) for row in labels)
    assert found.log_likelihood_ == pytest.approx(likelihood)
    assert found.weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize("smoothing", [0, 0.3])
def test_em_never_falls_and_ends_where_its_equations_hold(smoothing):
    labels, _ = some_copies(noise=0.5, missing=0.1)
    found = fitted("mixture", labels, smoothing=smoothing, tol=0, max_iter=20_000)
    assert np.diff(found.history_).min() > -1e-9
    assert found.converged_
    rows, counts = np.unique(labels, axis=0, return_counts=True)
    weights, shares = em_step(rows, counts, found.weights_, found.shares_, smoothing)
    assert_allclose(weights, found.weights_, atol=1e-6)
    for new, old in zip(shares, found.shares_, strict=True):
        assert_allclose(new, old, atol=1e-6)
    stopped = fitted("mixture", labels, smoothing=smoothing, max_iter=3)
    assert (stopped.n_iter_, stopped.converged_) == (3, False)


def test_em_steps_are_those_of_the_oracle():
    rng = np.random.default_rng(0)
    labels, _ = some_copies(n=20, noise=0.5, missing=0.3)
    problem = check_problem(labels, 3)
    rows, weights = label_tables.LabelRows.of(problem), rng.dirichlet(np.ones(3))
    shares = [rng.dirichlet(np.ones(3), 3) for _ in range(4)]  # (clusters × labels) of every clustering
    soft = np.array([mixture_joint(row, weights, shares) for row in problem.labels])
    soft /= soft.sum(axis=1, keepdims=True)
    found = mixture.expectation_maximization(rows, soft, 0.2, 3, 0)
    for _ in range(3):
        weights, shares = em_step(problem.labels, problem.weights, weights, shares, 0.2)
    assert_allclose(np.exp(found.log_weights), weights, rtol=1e-10)
    for mine, theirs in zip(np.split(np.exp(found.log_shares), rows.offsets[1:-1]), shares, strict=True):
        assert_allclose(mine.T, theirs, rtol=1e-10)
    assert np.diff(mixture.expectation_maximization(rows, soft, 0.2, 50, 0).history).min() > -1e-9


def test_without_smoothing_what_never_was_has_no_chance():
    labels = np.array([[0, 0]] * 5 + [[1, 1]] * 5)
    found = fitted("mixture", labels, 2, smoothing=0)
    impossible = [[0], [1]]
    assert found.score(impossible) == -np.inf
    assert found.perplexity(impossible) == np.inf
    assert_allclose(found.predict_proba(impossible), [[0.5, 0.5]])
    assert np.isfinite(fitted("mixture", labels, 2, smoothing=1e-3).perplexity(impossible))


@pytest.fixture(scope="module")
def mixed():
    labels, _ = some_copies(noise=0.4, missing=0.1)
    return labels, fitted("bce", labels, tol=1e-13, max_iter=20_000)


def test_the_bound_never_falls(mixed):
    found = mixed[1]
    assert np.diff(found.history_).min() > -1e-8
    assert found.bound_ == found.history_[-1]
    assert found.converged_


def test_bce_ends_where_its_equations_hold(mixed):
    labels, found = mixed
    offsets, table = found._table()
    gamma = bce.infer(labels.astype(np.int32), offsets, found.alpha_, table)
    tables = [np.full(share.shape, 0.1) for share in found.shares_]
    for row, own in zip(labels, gamma, strict=True):
        phi = membership_phi(row, own, found.shares_)
        assert_allclose(found.alpha_ + np.sum(phi, axis=0), own, atol=1e-6)
        for q, part in zip(np.flatnonzero(row >= 0), phi, strict=True):
            tables[q][:, row[q]] += part
    for old, counts in zip(found.shares_, tables, strict=True):
        assert_allclose(counts / counts.sum(axis=1, keepdims=True), old, atol=1e-5)
    logs = (digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))).mean(axis=0)
    gradient = digamma(found.alpha_.sum()) - digamma(found.alpha_) + logs
    assert_allclose(gradient, 0, atol=1e-4)


def test_the_bound_is_that_of_the_definition_and_below_the_likelihood(mixed):
    labels, found = mixed
    offsets, table = found._table()
    rows, counts = np.unique(labels, axis=0, return_counts=True)
    gamma = bce.infer(rows.astype(np.int32), offsets, found.alpha_, table)
    each = zip(rows, gamma, strict=True)
    bounds = np.array([membership_bound(row, found.alpha_, found.shares_, g) for row, g in each])
    prior = 0.1 * np.log(table).sum()
    assert counts @ bounds + prior == pytest.approx(found.bound_, abs=1e-4)
    exact = np.log([membership_row(row, found.alpha_, found.shares_) for row in rows])
    assert (bounds <= exact + 1e-10).all()
    # The mean over draws of θ stands for the integral: as good as 2,000 draws are.
    assert_allclose(found._log_rows(rows.astype(np.int32)), exact, atol=0.25)
    assert counts @ found._log_rows(rows.astype(np.int32)) == pytest.approx(counts @ exact, rel=0.01)


def test_mixed_objects_have_mixed_memberships():
    rng = np.random.default_rng(0)
    theta = np.repeat([[1, 0], [0, 1], [0.5, 0.5]], 60, axis=0)
    labels = (rng.random((180, 20)) > theta[:, :1]).astype(int)
    found = fitted("bce", labels, 2)
    strongest = found.membership_.max(axis=1)
    assert strongest[:120].min() > 0.9
    assert strongest[120:].mean() < 0.75
