"""Majority vote: the alignment by enumeration, the alternation's promise, and weights."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from consilience import Ensemble
from consilience._check import InputError
from consilience.consensus.methods import vote
from consilience.consensus.methods.vote import MajorityVote, align
from consilience.consensus.rows.problem import check_problem, label_tables
from consilience.datasets import noisy_labels
from consilience.measures import nmi
from samples import noisy_copies, random_labels


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 4), size=st.integers(1, 6))
def test_alignment_is_the_best_of_all_maps(seed, k, size):
    table = np.random.default_rng(seed).integers(0, 6, (k, size)).astype(float)
    maps = [m for m in itertools.product(range(k), repeat=size) if len(set(m)) == min(k, size)]
    best = max(sum(table[c, y] for y, c in enumerate(m)) for m in maps)
    found = align(table)
    assert len(set(found)) == min(k, size)
    assert sum(table[c, y] for y, c in enumerate(found)) == best


def agreement_by_definition(problem, labels):
    total = 0.0
    for column, table in zip(problem.labels.T, label_tables(problem, labels, problem.n_clusters), strict=True):
        known = column >= 0
        total += problem.weights[known] @ (align(table)[column[known]] == labels[known])
    return total / (problem.weights @ (problem.labels >= 0).sum(axis=1))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    r=st.integers(1, 6),
    size=st.integers(1, 8),
    holes=st.sampled_from([0.0, 0.3, 0.8]),
)
def test_more_rounds_never_agree_less(seed, n, r, size, holes):
    labels = random_labels(seed, n, r, size, holes, labeled=True)
    weights = np.random.default_rng(seed).random(n) * 10.0 ** np.arange(n).clip(0, 8) + 1e-3
    rows = len(np.unique(labels, axis=0))
    for k in {2, min(3, rows), rows} if rows >= 2 else set():
        problem = check_problem(labels, k, weights)
        start = np.arange(n) % k
        values = [MajorityVote(init=start, max_iter=i)._combine(problem).extras["agreement"] for i in (1, 2, 3, 100)]
        assert np.all(np.diff(values) > -1e-9)
        end = MajorityVote(init=start)._combine(problem)
        assert end.extras["agreement"] == pytest.approx(agreement_by_definition(problem, end.labels), abs=1e-6)
        assert_allclose(end.membership.sum(axis=1), 1)
        again = MajorityVote(init=problem.to_objects(end.labels, -1))._combine(problem)
        assert again.extras["agreement"] >= end.extras["agreement"] - 1e-9


def test_a_label_that_the_sample_of_rows_lacks():
    labels, truth = noisy_copies(20_000, 5)
    labels[17, 3] = 5
    found = MajorityVote(5, random_state=0).fit(labels)
    assert nmi(found.labels_, truth) > 0.75


def test_ties_leave_the_start_alone():
    labels = [[0, 0, 1, 1], [0, 1, 1, 0]]
    for start in ([0, 0, 1, 1], [0, 1, 1, 0]):
        assert_array_equal(MajorityVote(2, init=start).fit(labels).labels_, start)


def test_start_of_objects_that_differ_within_a_row():
    labels = np.array([[0, 0], [0, 0], [0, 0], [1, 1], [1, 1], [2, 2]])
    found = MajorityVote(3, init=[1, 1, 0, -1, -1, 2]).fit(labels)
    assert_array_equal(found.labels_, [0, 0, 0, 1, 1, 2])


@pytest.mark.parametrize("start", ["best", "clusterings"])
def test_same_seed_same_labels_also_from_a_sample(start, monkeypatch):
    monkeypatch.setattr(vote, "SAMPLE", 300)
    ensemble, truth = noisy_labels(2000, 6, 8, 0.4, random_state=1)
    first, second = (MajorityVote(6, init=start, random_state=3).fit(ensemble) for _ in range(2))
    assert first.n_rows_ > 300
    assert_array_equal(first.labels_, second.labels_)
    assert nmi(truth, first.labels_) > 0.9


def test_input_is_refused():
    labels = [[0, 0, 1, 1], [0, 1, 1, 1]]
    for parameters, words in [
        ({"init": "fast"}, "unknown init"),
        ({"init": [0, 1]}, "2 labels for 4 objects"),
        ({"init": [0, 1, 2, 2]}, "3 clusters"),
        ({"init": [-1, -1, -1, -1]}, "no label"),
    ]:
        with pytest.raises(InputError, match=words):
            MajorityVote(2, **parameters).fit(labels)
    with pytest.raises(InputError, match="quadratic"):
        MajorityVote(3, init="clusterings").fit(Ensemble(labels))
