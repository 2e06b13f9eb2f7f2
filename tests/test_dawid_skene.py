"""Clusterings that err independently: EM against its definition, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import consilience as cs
from consilience.consensus import MCLA, DawidSkene
from consilience.consensus.rows.error_model import error_posterior
from consilience.consensus.rows.problem import check_problem
from consilience.measures import adjusted_rand
from oracle.error_model import one_iteration
from samples import random_labels


@pytest.mark.parametrize("holes", [0.0, 0.3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_iteration_by_definition(seed, holes):
    labels = random_labels(seed, 40, 4, 3, holes, labeled=True)
    problem = check_problem(labels, 3, np.random.default_rng(seed).random(40) + 0.5)  # no ties
    start = np.random.default_rng(seed).integers(0, 3, problem.n_rows)
    found, reliability = error_posterior(problem, start, prior=7.0, max_iter=1)
    expected, right = one_iteration(problem.labels, problem.weights, np.eye(3)[start], 7.0)
    assert_allclose(found, expected, rtol=1e-6)
    assert_allclose(reliability, right, rtol=1e-9)


def noisy(seed):
    return cs.datasets.noisy_labels(400, 10, 8, 0.7, random_state=seed)


def test_better_than_its_start_and_as_sure_as_it_is_right():
    gains, sure, right = [], [], []
    for seed in range(4):
        ensemble, truth = noisy(seed)
        found = cs.combine(ensemble, 10, random_state=0)
        assert found.method == "dawid_skene"
        start = MCLA(10, random_state=0).fit(ensemble).labels_
        gains.append(adjusted_rand(truth, found.labels) - adjusted_rand(truth, start))
        names = [np.bincount(truth[found.labels == c]).argmax() for c in range(10)]
        sure.append(found.confidence.mean())
        right.append(np.mean(np.array(names)[found.labels] == truth))
    assert np.mean(gains) > 0
    assert np.mean(sure) == pytest.approx(np.mean(right), abs=0.05)


def test_errors_of_a_kind_are_learned_where_there_are_many_objects():
    rng, n, k = np.random.default_rng(0), 4000, 5
    truth, wrong = rng.integers(0, k, n), rng.dirichlet(np.full(k, 0.3), (7, k))
    columns = [
        np.where(rng.random(n) < 0.45, (rng.random((n, 1)) > wrong[q][truth].cumsum(axis=1)).sum(axis=1), truth)
        for q in range(7)
    ]
    labels = np.minimum(np.column_stack(columns), k - 1)
    tables, coin = DawidSkene(k, random_state=0).fit(labels), DawidSkene(k, prior=1e9, random_state=0).fit(labels)
    assert adjusted_rand(truth, tables.labels_) > adjusted_rand(truth, coin.labels_) + 0.01


def test_who_is_reliable_in_the_order_of_the_ensemble():
    rng, truth = np.random.default_rng(1), np.arange(600) % 4
    shares = np.array([0.1, 0.7, 0.3, 0.5, 0.2])
    labels = np.column_stack([np.where(rng.random(600) < p, rng.integers(0, 4, 600), truth) for p in shares])
    found = DawidSkene(4, random_state=0).fit(labels)
    assert_allclose(found.reliability_, 1 - shares * 3 / 4, atol=0.05)
    assert_allclose(found.membership_.sum(axis=1), 1)
    assert_array_equal(found.membership_.argmax(axis=1), found.labels_)


def test_a_sample_of_the_rows_carries_it(monkeypatch):
    ensemble, truth = noisy(0)
    whole = DawidSkene(10, random_state=0).fit(ensemble)
    monkeypatch.setattr("consilience.consensus.rows.error_model.SAMPLE", 250)
    some = DawidSkene(10, random_state=0).fit(ensemble)
    assert adjusted_rand(truth, some.labels_) > adjusted_rand(truth, whole.labels_) - 0.05
    assert (some.labels_ != whole.labels_).any()


def test_no_cluster_is_given_up():
    labels = random_labels(3, 30, 5, 6)
    start = MCLA(6, random_state=0).fit(labels)
    assert DawidSkene(6, prior=1e-3, random_state=0).fit(labels).n_clusters_ == start.n_clusters_
