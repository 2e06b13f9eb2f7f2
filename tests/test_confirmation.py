"""How far a few clusterings confirm one another: against the plain definition, on noise, and on planted clusters."""

from __future__ import annotations

import numpy as np
import pytest

import consilience as cs
from consilience.consensus.rows.problem import check_problem, label_tables
from consilience.consensus.trust.confidence import (
    Assessment,
    confirmed_posterior,
    heaviest_first,
    matched,
    owners_of_labels,
    what_others_say,
)
from oracle import trust as plain

pytestmark = pytest.mark.full_effort


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
    rng = np.random.default_rng(3)
    labels = planted(40, 3, 4, 0.4, rng)[0]
    labels[rng.random(labels.shape) < missing] = -1
    problem = check_problem(cs.Ensemble.from_codes(labels.astype(np.int32)), 3)
    own = cs.combine(labels, 3, "vote").labels[problem.first]
    order, place = heaviest_first(problem, own)
    objects = np.flatnonzero(problem.inverse >= 0)
    columns, answer = labels[objects].T, own[problem.inverse[objects]]
    tau, found = Assessment(problem, own).discount, confirmed_posterior(Assessment(problem, own))
    share = np.bincount(answer) / len(answer)
    rank, owners = np.argsort(order), owners_of_labels(label_tables(problem, place, 3))
    others = [plain.what_others_say(columns, answer, 3, q, rank) for q in range(4)]
    for row, said in zip(range(4), what_others_say(problem.labels, owners, 3), strict=True):
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
