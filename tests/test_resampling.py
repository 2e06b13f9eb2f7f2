"""The confidence: shares of resamples, clusters matched one to one, and how far a few clusterings confirm one another."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import consilience as cs
from consilience.consensus.rows.error_model import error_posterior
from consilience.consensus.rows.problem import check_problem, label_tables, spread_evenly
from consilience.consensus.trust import confidence as resampling
from consilience.consensus.trust.confidence import Assessment, alike, confirmed_posterior, matched, resampled_shares
from consilience.generation.kmeans import kmeans_runs
from consilience.generation.methods.graph import even_place
from oracle import trust as plain
from samples import noisy_copies

pytestmark = pytest.mark.full_effort


def kmeans_labels(seed=0, n=90, r=8):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return np.asarray(kmeans_runs(X, np.arange(r) % 4 + 3, seed=seed, max_iter=50).labels).T


@pytest.fixture(scope="module")
def answer():
    labels = kmeans_labels()
    problem = check_problem(labels, 4)
    return problem, cs.combine(labels, 4, "walk").labels[problem.first]


def test_shares_of_resamples(answer):
    problem, labels = answer
    shares = resampled_shares(problem, labels)
    assert shares.shape == (problem.n_rows, 4)
    assert (shares >= 0).all()
    assert (shares.sum(axis=1) <= 1 + 1e-12).all()
    whole = shares * resampling.RESAMPLES
    assert_allclose(whole, whole.round(), atol=1e-9)
    assert_array_equal(shares, resampled_shares(problem, labels))
    assert shares[np.arange(len(labels)), labels].mean() > 0.5


def test_clusterings_that_are_all_the_same_are_sure_in_every_resample():
    labels = np.tile(np.repeat([0, 1, 2], 5)[:, None], 6)
    problem = check_problem(labels, 3)
    own = labels[problem.first, 0]
    assert_array_equal(resampled_shares(problem, own), np.eye(3)[own])


def test_half_of_the_clusterings_or_as_many_drawn_anew():
    for m in (5, 8):
        for b in range(6):
            copies = resampling._copies([np.arange(m)], b)
            assert copies.sum() == (-(-m // 2) if b % 2 else m)
            assert copies.max() == 1 or b % 2 == 0


def test_clusterings_that_are_spread_evenly_are_exchanged_for_their_like():
    labels = kmeans_labels(r=20)
    info = {"method": ["graph"] * 20, "place": np.linspace(0, 0.95, 20)}
    even = check_problem(cs.Ensemble.from_codes(labels.astype(np.int32), info=info), 4)
    assert even.even
    for broken in ({"method": ["graph"] * 20}, {**info, "place": [0.5] * 20}, {**info, "place": [np.nan, *[0.5] * 19]}):
        assert not check_problem(cs.Ensemble.from_codes(labels.astype(np.int32), info=broken), 4).even
    ens = cs.Ensemble.from_codes(labels.astype(np.int32), info=info)
    assert not check_problem(ens[:, :10], 4).even, "a part of them is not spread"
    varied = {**info, "around": [*[np.nan] * 19, 3]}
    assert not check_problem(cs.Ensemble.from_codes(labels.astype(np.int32), info=varied), 4).even
    for n, start in ((2, 0.1), (7, 0.9), (12, 0.3), (24, 0.7), (100, 0.5)):
        places = [even_place(start, unit) for unit in range(n)]
        info_n = {"method": ["graph"] * n, "place": places}
        assert spread_evenly(cs.Ensemble.from_codes(np.tile([[0], [1]], n).astype(np.int32), info=info_n))
    assert_array_equal(alike(check_problem(labels, 4)), [np.arange(20)])
    groups = alike(even)
    assert [len(group) for group in groups] == [7, 7, 6]
    assert sorted(np.concatenate(groups)) == list(range(20))
    ends = [(even.sizes[group].min(), even.sizes[group].max()) for group in groups]
    assert all(low <= high for (_, low), (high, _) in pairwise(ends))
    for b in range(6):
        drawn = [resampling._copies(groups, b)[group] for group in groups]
        assert [part.sum() for part in drawn] == ([3, 4, 3] if b % 2 else [7, 7, 6])
        assert np.max(np.concatenate(drawn)) == 1 or b % 2 == 0


def test_an_even_ensemble_is_as_sure_as_others_of_its_kind_agree():
    """Coarse and fine clusterings by turns: two clusters, of which one always splits; resamples by chance would have too few fine ones."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 30)
    columns = [np.where(rng.random(90) < 0.1, rng.integers(3, size=90), truth) for _ in range(12)]
    columns = [np.minimum(column, 1) if i % 2 else column for i, column in enumerate(columns)]
    labels = np.column_stack(columns).astype(np.int32)
    info = {"method": ["graph"] * 12, "place": np.linspace(0, 0.9, 12)}
    plain = check_problem(labels, 3)
    even = check_problem(cs.Ensemble.from_codes(labels, info=info), 3)
    own = cs.combine(labels, 3, "walk").labels[plain.first]
    sure = [resampling.resampled_confidence(resampled_shares(p, own), own) @ p.weights / 90 for p in (plain, even)]
    assert sure[0] < sure[1] <= 1


@pytest.mark.parametrize("seed", range(8))
def test_clusters_are_matched_as_well_as_can_be(seed):
    rng = np.random.default_rng(seed)
    k, others = 4, 3 + seed % 3
    labels, found, weights = rng.integers(0, k, 30), rng.integers(0, others, 30), rng.random(30)
    labels[:k], found[:others] = np.arange(k), np.arange(others)
    place = matched(labels, found, weights, k)
    assert len(place) == others
    used = place[place >= 0]
    assert len(set(used)) == len(used) == min(k, others)

    def common(places):
        return weights[np.array(places)[found] == labels].sum()

    each = [*range(k), *[-1] * others]
    assert common(place) == pytest.approx(max(common(places) for places in set(permutations(each, others))))


def test_alike_errors_are_resampled_and_independent_ones_are_not(answer):
    problem, labels = answer
    found, shares = Assessment(problem, labels), resampled_shares(problem, labels)
    assert found.errors_correlate
    own = shares[np.arange(len(labels)), labels]  # between it and the agreement of two resamples
    assert_allclose(found.confidence, (own + (shares**2).sum(axis=1)) / 2)
    assert_allclose(found.posterior.sum(axis=1), 1)
    noisy, truth = noisy_copies(n=200, k=4, r=8, noise=0.3)
    independent = check_problem(noisy, 4)
    found = Assessment(independent, truth[independent.first])
    assert not found.errors_correlate
    assert_array_equal(found.posterior, error_posterior(independent, truth[independent.first])[0])


def test_a_tree_of_groups_and_rows_beyond_the_leaves(monkeypatch):
    labels = kmeans_labels(n=400)
    problem = check_problem(labels, 4)
    own = cs.combine(labels, 4, "walk").labels[problem.first]
    whole = resampling.resampled_confidence(resampled_shares(problem, own), own)
    monkeypatch.setattr(resampling, "GROUPS", 40)
    grouped = resampling.resampled_confidence(resampled_shares(problem, own), own)
    assert np.abs(np.average(grouped - whole, weights=problem.weights)) < 0.1
    monkeypatch.setattr(resampling, "LEAVES", 60)
    few = resampled_shares(problem, own)
    assert few.shape == (problem.n_rows, 4)
    assert (few.sum(axis=1) <= 1 + 1e-12).all()


def test_rare_clusters_that_no_leaf_is_in(monkeypatch):
    """The last code of a clustering may belong to one row, which the rows that stand for all need not hold."""
    rng = np.random.default_rng(0)
    labels = np.minimum(rng.geometric(0.25, size=(3000, 8)) - 1, 30)
    monkeypatch.setattr(resampling, "LEAVES", 30)
    problem = check_problem(cs.Ensemble(labels), 4)
    shares = resampled_shares(problem, np.arange(problem.n_rows) % 4)
    assert_allclose(shares.sum(axis=1), 1)


def planted(n, k, m, noise, rng):
    """Two ensembles of noisy copies of one partition."""
    truth = rng.integers(k, size=n)
    both = []
    for _ in range(2):
        labels = np.tile(truth[:, None], (1, m))
        changed = rng.random(labels.shape) < noise
        labels[changed] = rng.integers(k, size=int(changed.sum()))
        both.append(labels)
    return both


@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_the_posterior_is_what_the_definition_says(missing):
    labels, _ = noisy_copies(40, 3, 4, 0.4, missing=missing, seed=3)
    problem = check_problem(cs.Ensemble.from_codes(labels.astype(np.int32)), 3)
    own = cs.combine(labels, 3, "vote").labels[problem.first]
    order, place = resampling.heaviest_first(problem, own)
    objects = np.flatnonzero(problem.inverse >= 0)
    columns, answer = labels[objects].T, own[problem.inverse[objects]]
    tau, found = Assessment(problem, own).discount, confirmed_posterior(Assessment(problem, own))
    share = np.bincount(answer) / len(answer)
    rank, owners = np.argsort(order), resampling.owners_of_labels(label_tables(problem, place, 3))
    others = [plain.what_others_say(columns, answer, 3, q, rank) for q in range(4)]
    for row, said in zip(range(4), resampling.what_others_say(problem.labels, owners, 3), strict=True):
        q = problem.given.columns[row]
        np.testing.assert_array_equal(np.append(order, -1)[said[problem.inverse[objects]]], others[q])
    for i in range(0, len(objects), 3):
        weights = np.log(share)
        for q in range(4):
            column = columns[q]
            if column[i] < 0:
                continue
            labeled = column[column >= 0]
            width = int(column.max()) + 1
            for c in range(3):
                inside = (others[q] == c) & (column >= 0) & (np.arange(len(column)) != i)
                count = np.count_nonzero(inside & (column == column[i]))
                prior = width * np.mean(labeled == column[i])
                weights[c] += tau * np.log((count + prior) / (np.count_nonzero(inside) + width))
        chances = np.exp(weights - weights.max())
        np.testing.assert_allclose(found[problem.inverse[objects[i]]], chances / chances.sum(), rtol=1e-9)


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("noise", [0.1, 0.5, 1.0])
def test_a_few_clusterings_say_how_far_another_few_would_agree(m, noise):
    """On labels drawn at random the confidence was .6 to .99 where another ensemble confirms a fifth to a third."""
    rng, sure, same = np.random.default_rng(m), [], []
    for _ in range(3):
        one, two = (cs.combine(labels, 4, "walk") for labels in planted(300, 4, m, noise, rng))
        place = matched(one.labels, two.labels, np.ones(300), 4)
        sure.append(one.confidence.mean())
        same.append(np.mean(place[two.labels] == one.labels))
    assert abs(np.mean(sure) - np.mean(same)) < 0.1


def test_one_clustering_is_confirmed_by_nothing():
    one = cs.combine([[0] * 6 + [1] * 3 + [2]], 3)
    np.testing.assert_allclose(one.confidence, [0.6] * 6 + [0.3] * 3 + [0.1])


def test_the_confidence_of_a_few_does_not_depend_on_the_numbers_of_clusters():
    rng = np.random.default_rng(0)
    for _ in range(10):
        labels = np.stack([rng.permutation(np.repeat(np.arange(3), 8)) for _ in range(3)], axis=1)
        problem = check_problem(labels, 3)
        own, new = rng.permutation(np.repeat(np.arange(3), 8))[problem.first], rng.permutation(3)
        one, two = Assessment(problem, own), Assessment(problem, new[own])
        np.testing.assert_allclose(confirmed_posterior(one), confirmed_posterior(two)[:, new], rtol=1e-9)
        np.testing.assert_allclose(one.confidence, two.confidence, rtol=1e-9)
