"""Evidence accumulation: the tree against SciPy's on all objects, weights, missing labels, and the approximation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import is_valid_linkage, linkage
from scipy.spatial.distance import squareform

from consilience.consensus import EvidenceAccumulation
from consilience.consensus.methods.evidence import accumulate, leaf_rows
from consilience.consensus.rows.problem import Problem, check_problem, row_distances
from consilience.consensus.rows.row_tree import cut_tree, mean_association, weighted_linkage
from consilience.datasets import noisy_labels
from consilience.measures import adjusted_rand, nmi
from samples import random_labels

LINKAGES = ["average", "single", "complete"]


def uncollapsed(problem):
    """One row per object, in the order of their rows, as if these had never been collapsed; and the rows."""
    rows = np.sort(problem.inverse)
    return Problem(problem.labels[rows], np.ones(len(rows)), problem.n_clusters, np.arange(len(rows))), rows


def test_distances_by_definition():
    labels = random_labels(0, 12, 4, 3, missing=0.4, labeled=True)
    found = row_distances(labels, labels)
    for i, a in enumerate(labels):
        for j, b in enumerate(labels):
            both = (a >= 0) & (b >= 0)
            assert found[i, j] == pytest.approx((a != b)[both].mean() if both.any() else 1.0, abs=1e-15)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), method=st.sampled_from(LINKAGES), copies=st.sampled_from([1, 4]))
def test_the_tree_is_that_of_scipy_where_weights_stand_for_repeated_items(seed, method, copies):
    rng = np.random.default_rng(seed)
    square, weights = squareform(rng.random(8 * 7 // 2)), rng.integers(1, copies + 1, 8)
    repeated = square[np.ix_(*[np.repeat(np.arange(8), weights)] * 2)]
    expected = linkage(squareform(repeated), method)
    found = weighted_linkage(square.copy(), weights.astype(float), method)
    assert is_valid_linkage(found)
    assert_allclose(found[:, 2], expected[-7:, 2])
    if copies == 1:
        assert_allclose(found, expected)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 60),
    r=st.integers(1, 5),
    size=st.integers(1, 4),
    k=st.integers(2, 5),
    method=st.sampled_from(LINKAGES),
)
def test_collapsing_rows_changes_nothing(seed, n, r, size, k, method):
    labels = random_labels(seed, n, r, size, labeled=True)
    k = min(k, len(np.unique(labels, axis=0)))
    if k < 2:
        return
    collapsed = check_problem(labels, k)
    few = EvidenceAccumulation(linkage=method)._combine(collapsed)
    everyone, rows = uncollapsed(collapsed)
    assert adjusted_rand(few.labels[rows], EvidenceAccumulation(linkage=method)._combine(everyone).labels) == 1
    assert len(np.unique(few.labels)) == k


def test_membership_is_the_mean_co_association():
    labels = random_labels(3, 40, 5, 3, labeled=True)
    problem = check_problem(labels, 3)
    clusters = np.arange(problem.n_rows) % 3
    agree = 1 - row_distances(problem.labels, problem.labels)
    means = np.stack(
        [np.average(agree[:, clusters == c], axis=1, weights=problem.weights[clusters == c]) for c in range(3)]
    )
    assert_allclose(mean_association(problem, problem, clusters), means.T)


def test_too_many_rows_join_and_it_is_said():
    ensemble, truth = noisy_labels(3000, 5, 8, 0.3, random_state=0)
    rough = EvidenceAccumulation(5, memory_budget=8 * 300**2, random_state=0).fit(ensemble)
    assert rough.sampled_
    assert rough.linkage_.shape == (299, 4)
    assert rough.linkage_rows_.shape == (300, 8)
    assert nmi(truth, rough.labels_) > 0.9


@pytest.mark.parametrize("seed", range(2))
def test_ties_are_ties_despite_rounding(seed):
    """Averages of thirds are rounded differently in different orders."""
    ensemble, _ = noisy_labels(400, 4, 3, 0.6, random_state=seed)
    collapsed = check_problem(ensemble, 4)
    everyone, rows = uncollapsed(collapsed)
    few = EvidenceAccumulation()._combine(collapsed).labels[rows]
    assert adjusted_rand(few, EvidenceAccumulation()._combine(everyone).labels) == 1


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_join_the_cluster_they_are_most_like(weighted):
    problem = check_problem(random_labels(2, 900, 6, 4, missing=0.5, labeled=True), 3)
    worth = np.random.default_rng(0).random(24) + 0.5 if weighted else np.ones(24)
    leaves, weights = leaf_rows(problem, 8 * 100**2, 3)
    found = accumulate(problem, worth, 8 * 100**2, 3)
    labels = found.labels
    assert (len(leaves), found.extras["sampled"]) == (100, True)
    assert weights.sum() == pytest.approx(problem.weights.sum())
    assert_array_equal(labels[leaves], cut_tree(found.extras["linkage"], 3))
    for i in np.setdiff1d(np.arange(problem.n_rows), leaves)[:40]:
        shared, joint = np.zeros(3), np.zeros(3)
        for j, weight in zip(leaves, weights, strict=True):
            both = (problem.labels[i] >= 0) & (problem.labels[j] >= 0)
            same = both & (problem.labels[i] == problem.labels[j])
            shared[labels[j]] += weight * worth[(problem.offsets[:-1] + problem.labels[i])[same]].sum()
            joint[labels[j]] += weight * both.sum()
        means = np.divide(shared, joint, out=np.zeros(3), where=joint > 0)
        assert means[labels[i]] == pytest.approx(means.max())
