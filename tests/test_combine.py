"""combine: the slide example, the choice among methods, the number of clusters, confidence."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment

import consilience as cs
from consilience.consensus import METHODS, ANMISearch, Consensus, MajorityVote, floaters
from consilience.consensus.combine import combined_labels
from consilience.consensus.methods.anmi_search import greedy_start
from consilience.consensus.methods.information_and_quadratic import problem_views
from consilience.consensus.rows.problem import check_problem
from consilience.consensus.trust.confidence import Assessment
from consilience.engine.search import Engine
from consilience.measures import adjusted_rand, anmi, contingency, nmi
from samples import first_of, noisy_copies, refusals

EXAMPLE = [[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 3, 3, 3], [1, 2, None, 1, 2, None, None]]


def is_right(truth, labels):
    """Whether each object's cluster is matched with its class."""
    rows, columns = linear_sum_assignment(contingency(truth, labels), maximize=True)
    match = dict(zip(columns, rows, strict=True))
    return np.array([match.get(c, -1) for c in labels]) == truth


def test_the_slide_example():
    result = cs.combine(EXAMPLE, 3)
    assert result.labels.tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert result.anmi == pytest.approx(0.7178, abs=1e-4)


def test_auto_is_a_model_of_errors_where_clusterings_err_independently():
    labels, truth = noisy_copies(noise=0.4, seed=1)
    result = cs.combine(labels, 10)
    assert result.method == "dawid_skene"
    assert result.labels.tolist() == cs.combine(labels, 10, "dawid_skene").labels.tolist()
    best = max(nmi(truth, cs.combine(labels, 10, method).labels) for method in ("vote", "quadratic", "hbgf", "walk"))
    assert nmi(truth, result.labels) >= best - 0.03


def test_auto_is_the_walk_where_clusterings_err_alike():
    X = np.random.default_rng(0).normal(size=(150, 2))
    labels = cs.generate(X, 12, n_clusters=(3, 8), random_state=0)
    result = cs.combine(labels, 4)
    assert result.method == "walk"
    assert result.labels.tolist() == cs.combine(labels, 4, "walk").labels.tolist()


def test_auto_is_the_walk_where_mcla_makes_too_few_clusters():
    labels = np.random.default_rng(0).integers(0, 2, (60, 4))
    assert cs.combine(labels, 9).method == "walk"


def test_labels_alone_are_asked_for_and_found_as_combine_does():
    rng, truth = np.random.default_rng(0), np.arange(90) % 3
    # six clusters each, three in common
    labels = np.column_stack([truth * 2 + rng.integers(0, 2, 90) for _ in range(8)])
    whole = cs.combine(labels, None, "nbce", max_iter=40)
    assert whole.n_clusters == 3
    assert combined_labels(labels, None, "nbce", max_iter=40).tolist() == whole.labels.tolist()


@pytest.mark.parametrize("method", first_of(["auto", "vote", "quadratic", "nbce"], 3))
def test_auto_takes_the_method_that_is_asked_for(method):
    labels, truth = noisy_copies(n=200, k=5, noise=0.1)
    result = cs.combine(labels, "auto", method)
    assert (result.method, result.n_clusters) == ("dawid_skene" if method == "auto" else method, 5)
    assert nmi(truth, result.labels) > 0.98
    said = "5 clusters by NBCE (prior tsb" if method == "nbce" else "two halves of the clusterings agree on 5 clusters"
    assert said in repr(result)


def test_nbce_says_where_it_bounds_instead_of_sampling(monkeypatch):
    labels, _ = noisy_copies(n=200, k=5, noise=0.05)
    fractions = cs.combine(labels, "auto", "nbce", sample_weight=np.random.default_rng(0).random(200) + 0.5)
    monkeypatch.setattr(sys.modules["consilience.consensus.combine"], "SAMPLED", 150)
    for result in (fractions, cs.combine(labels, "auto", "nbce")):
        assert (result.method, result.n_clusters) == ("nbce", 5)
        assert "5 clusters by NBCE (vb, prior tsb)" in result.note


test_bad_requests = refusals(
    ({"method": "vot"}, "did you mean 'vote'"),
    ({"n_clusters": "many"}, "n_clusters must be a whole number or 'auto'; got 'many'"),
    ({"n_clusters": 1}, "at least 2"),
    ({"method": "vote", "max_itr": 3}, "did you mean 'max_iter'"),
    ({"max_iter": 3}, "name it with method="),
    call=lambda how: cs.combine(EXAMPLE, **how),
)


@pytest.mark.parametrize(("n", "p", "bar"), [(400, 0.3, 0.03), (400, 0.5, 0.06), (2000, 0.5, 0.03), (2000, 0.6, 0.04)])
def test_confidence_is_calibrated(n, p, bar):
    """Of the objects with confidence about x, about x are right (expected calibration error over eight bins)."""
    sure, right = [], []
    for seed in range(5):
        labels, truth = noisy_copies(n=n, noise=p, seed=seed)
        found = MajorityVote(10, random_state=0).fit(labels)
        sure.append(found.confidence_)
        right.append(is_right(truth, found.labels_))
    sure, right = np.concatenate(sure), np.concatenate(right)
    bins = np.digitize(sure, [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99])
    error = sum(abs(sure[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins))
    assert error < bar


def test_support_is_the_share_that_agrees_and_confidence_a_probability():
    labels, _ = noisy_copies(n=400, k=4, noise=0.5)
    ens = cs.Ensemble(labels, ids=[f"o{i}" for i in range(400)])
    for method in ("vote", "quadratic"):
        result = cs.combine(ens, 4, method)
        owners = ([np.bincount(result.labels[c == y], minlength=4).argmax() for y in range(4)] for c in labels.T)
        agree = np.column_stack([np.array(own)[c] == result.labels for own, c in zip(owners, labels.T, strict=True)])
        np.testing.assert_allclose(result.support, agree.mean(axis=1))
        assert not np.allclose(result.support, result.confidence)
        assert (result.estimator.support_ == result.support).all()
        frame = result.to_frame()
        assert list(frame) == ["id", "cluster", "confidence", "support"]
        assert frame["id"].tolist() == list(ens.ids)
        weak = floaters(ens, result)
        pd.testing.assert_frame_equal(weak, floaters(ens, result.labels))
        assert set(weak["id"]) == set(ens.ids[result.support <= 0.5]) == set(ens.ids[result.floating])
        assert np.isclose(weak["confidence"], result.confidence[[int(i[1:]) for i in weak["id"]]]).all()


def test_copies_of_a_clustering_count_once():
    labels, _ = noisy_copies(n=300, k=5, r=4, noise=0.3)
    once = check_problem(labels, 5)
    often = check_problem(np.repeat(labels, 5, axis=1), 5)
    answer = MajorityVote(5, random_state=0).fit(labels).labels_
    one, five = (Assessment(each, answer[each.first]) for each in (once, often))
    assert one.discount > 0.7
    assert five.discount == pytest.approx(one.discount / 5, rel=0.3)


@pytest.mark.parametrize("method", first_of(["vote", "quadratic", "mcla", "sccc", "anmi"], 4))
def test_the_unit_of_fractional_weights_does_not_matter(method):
    labels, _ = noisy_copies(n=200, k=4, noise=0.3)
    weights = np.random.default_rng(0).random(200) + 0.5
    one = cs.combine(labels, 4, method, sample_weight=weights)
    for unit in (1 / 400, 1e-6, 1e4):
        other = cs.combine(labels, 4, method, sample_weight=weights * unit)
        assert other.labels.tolist() == one.labels.tolist()
        np.testing.assert_allclose(other.confidence, one.confidence, atol=1e-9)
        assert other.anmi == pytest.approx(one.anmi)


def test_weights_count_in_every_choice():
    good, _ = noisy_copies(n=200, k=4, r=8, noise=0.1)
    noise = np.random.default_rng(1).integers(0, 10, (1000, 8))
    labels, weights = np.vstack([good, noise]), np.repeat([1, 0], [200, 1000])
    assert cs.combine(labels, "auto", sample_weight=weights).n_clusters == 4
    result = cs.combine(labels, 4, sample_weight=weights)
    assert result.method == "dawid_skene"
    assert result.anmi == pytest.approx(anmi(good, result.labels[:200]), abs=1e-9)


@pytest.mark.parametrize("seed", first_of(range(5)))
@pytest.mark.parametrize("p", [0.3, 0.6])
def test_anmi_search_is_never_below_greedy_or_its_starts(seed, p):
    labels, _ = noisy_copies(noise=p, seed=seed)
    found = ANMISearch(10, random_state=0).fit(labels)
    assert found.anmi_ == pytest.approx(anmi(labels, found.labels_), abs=1e-9)
    assert found.anmi_ >= max(found.init_anmi_.values()) - 1e-12
    assert found.anmi_ >= max(found.init_polished_.values()) - 1e-12
    problem = check_problem(labels, 10)
    views = problem_views(problem, problem.coverage)
    greedy = Engine(views, 10, objective="normalized", keep_clusters=False).search(greedy_start(problem, views))
    assert found.anmi_ >= greedy.objective / problem.coverage.sum() - 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_objects_that_are_all_alike_are_one_cluster(method):
    result = cs.combine(np.zeros((6, 3), int), "auto", method)
    assert result.labels.tolist() == [0] * 6
    assert result.confidence.tolist() == [1] * 6


def test_a_consensus_is_saved_and_opened(tmp_path):
    labels, _ = noisy_copies(n=60, k=3)
    ens = cs.Ensemble(labels, ids=[f"o{i}" for i in range(60)])
    for method, options in (("auto", {}), ("nbce", {"max_iter": 20, "n_chains": 1})):
        one = cs.combine(ens, 3, method, **options)
        path = tmp_path / method
        one.save(path)
        again = Consensus.load(path)
        pd.testing.assert_frame_equal(again.to_frame(), one.to_frame())
        np.testing.assert_array_equal(again.membership, one.membership)
        assert repr(again) == repr(one)
        assert again != one
        assert again.estimator is None
    assert cs.measures.nmi(one.ensemble.labels[:, 0], one.labels) == 1
    assert one.ensemble.ids.tolist() == ens.ids.tolist()


@pytest.mark.parametrize("shares", [(0.25,) * 4, (0.88, 0.04, 0.04, 0.04)])
def test_auto_finds_noisy_copies_of_groups_of_any_size(shares):
    rng = np.random.default_rng(0)
    known = rng.choice(4, 3000, p=shares)
    copies = np.stack([np.where(rng.random(3000) < 0.3, rng.integers(0, 4, 3000), known) for _ in range(12)], axis=1)
    assert adjusted_rand(known, cs.combine(copies, 4).labels) > 0.95
