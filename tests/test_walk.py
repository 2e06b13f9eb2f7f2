"""The walk over clusters against its definition on all objects, every copy of a clustering a column of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import consilience as cs
from consilience.consensus import ClusterWalk
from consilience.consensus.rows.cluster_similarity import Groups, Overlaps, nearest_clusters
from consilience.consensus.rows.problem import check_problem
from consilience.consensus.rows.row_tree import choose_leaves, narrowed
from consilience.measures import adjusted_rand
from oracle import walk as oracle
from samples import noisy_copies, random_labels, same_partition

ensembles = {
    "seed": st.integers(0, 10**6),
    "n": st.integers(5, 24),
    "r": st.integers(1, 5),
    "size": st.integers(2, 4),
    "holes": st.sampled_from([0.0, 0.3]),
}
quick = settings(max_examples=25, deadline=None, derandomize=True)
SINGLE = {"rtol": 2e-5, "atol": 2e-6}  # similarities are single


def drawn(seed, n, r, size, holes):
    """A problem, and the same with every object and every copy of a clustering by itself."""
    rng = np.random.default_rng(seed)
    labels = random_labels(seed, n, r, size, holes, labeled=True)
    problem = check_problem(labels, None, rng.random(n) + 0.5 if seed % 2 else rng.integers(1, 4, n))
    copies = rng.integers(0, 3, problem.n_clusterings)
    copies[rng.integers(problem.n_clusterings)] = 2
    return problem, copies.astype(float), np.repeat(problem.labels, copies, axis=1)


def blocks(likeness, copies, problem):
    """Of the likeness of all clusters of copied columns, that of the first copy of each clustering, times the copies."""
    found, begin = [], 0
    for size, often in zip(problem.sizes, copies.astype(int), strict=True):
        found.append(often * likeness[begin : begin + size, begin : begin + size] if often else np.zeros((size, size)))
        begin += size * often
    return found


@quick
@given(**ensembles)
def test_weights_and_overlaps(seed, n, r, size, holes):
    problem, copies, _ = drawn(seed, n, r, size, holes)
    overlaps = Overlaps.of(problem)
    assert_allclose(overlaps.jaccard, oracle.jaccard(problem.labels, problem.weights), **SINGLE)
    assert_allclose(overlaps.weights(), oracle.cluster_weights(problem.labels, problem.weights), rtol=1e-9)
    once = np.maximum(copies, 1)
    often = np.repeat(problem.labels, once.astype(int), axis=1)
    expected = oracle.cluster_weights(often, problem.weights, 0.7)
    firsts = np.concatenate([[0], np.cumsum(problem.sizes * once.astype(int))[:-1]])
    at = np.concatenate([np.arange(begin, begin + k) for begin, k in zip(firsts, problem.sizes, strict=True)])
    assert_allclose(overlaps.weights(once, 0.7), expected[at], rtol=1e-9)


@quick
@given(**ensembles, steps=st.integers(1, 3), theta=st.sampled_from([0.2, 0.4, 2.0]))
def test_likeness_of_clusters(seed, n, r, size, holes, steps, theta):
    problem, copies, often = drawn(seed, n, r, size, holes)
    found = Overlaps.of(problem).similarity(copies, theta, steps)
    expected = oracle.likeness(often, problem.weights, theta, steps)
    for mine, theirs in zip(found.blocks, blocks(expected, copies, problem), strict=True):
        assert_allclose(mine, theirs, **SINGLE)


@quick
@given(**ensembles)
def test_similarity_of_rows_groups_and_clusters(seed, n, r, size, holes):
    problem, copies, often = drawn(seed, n, r, size, holes)
    similarity = Overlaps.of(problem).similarity(copies)
    weights, rng = problem.weights, np.random.default_rng(seed)
    total, both = oracle.shared_similarity(often, weights)
    r = often.shape[1]
    assert_allclose(similarity.of_rows(problem.labels, weights), oracle.shrunk(total, both, weights, r), **SINGLE)
    some = rng.integers(0, problem.n_rows, 7)
    few = oracle.shrunk(total[np.ix_(some, some)], both[np.ix_(some, some)], np.ones(7), r)
    assert_allclose(similarity.of_rows(problem.labels[some]), few, **SINGLE)
    groups = rng.integers(0, 3, problem.n_rows)
    groups = np.unique(groups, return_inverse=True)[1].reshape(-1)
    mass = np.bincount(groups, weights)
    mine = weights * (groups == np.arange(len(mass))[:, None]) / mass[:, None]
    expected = oracle.shrunk(mine @ total @ mine.T, mine @ both @ mine.T, mass, r)
    assert_allclose(similarity.of_groups(Groups.of(problem, groups)), expected, **SINGLE)
    k = int(groups.max()) + 1
    expected = oracle.group_similarity(total, both, np.arange(problem.n_rows), groups, weights)
    found = similarity.to_clusters(problem, groups, k + 1)
    assert_allclose(found[:, :k], expected, **SINGLE)
    assert (found[:, k] == -1).all()  # an empty cluster
    assert_array_equal(similarity.to_clusters(problem, groups, k + 1, problem.labels[some]), found[some])


@quick
@given(**ensembles, k=st.integers(2, 4), theta=st.sampled_from([0.4, 1.0]), steps=st.integers(1, 2))
def test_the_walk_on_all_objects(seed, n, r, size, holes, k, theta, steps):
    labels, often = random_labels(seed, n, r, size, holes, labeled=True), np.random.default_rng(seed).integers(1, 4, n)
    if len(np.unique(labels, axis=0)) < k:
        return
    every = np.repeat(labels, often, axis=0)
    expected, scores, clear = oracle.cluster_walk(every, np.ones(len(every)), k, theta, steps)
    if clear < 1e-4:  # a tie may be broken either way
        return
    found = ClusterWalk(n_clusters=k, theta=theta, steps=steps).fit(labels, sample_weight=often)
    assert same_partition(np.repeat(found.labels_, often), expected)
    share = scores / scores.sum(axis=1, keepdims=True)
    names = [expected[np.repeat(found.labels_, often) == c][0] for c in range(k)]
    assert_allclose(np.repeat(found.membership_, often, axis=0), share[:, names], rtol=1e-3, atol=1e-4)
    assert not found.sampled_
    assert found.n_clusterings_used_ == (labels.max(axis=0) >= 0).sum()


def test_rows_beyond_the_leaves_join_what_they_are_most_similar_to():
    X = np.random.default_rng(0).normal(size=(500, 4)) + 4 * np.eye(4)[np.arange(500) % 4]
    ensemble = cs.generate(X, 12, n_clusters=(4, 9), random_state=0)
    whole, some = ClusterWalk(n_clusters=4).fit(ensemble), ClusterWalk(n_clusters=4, max_leaves=60).fit(ensemble)
    problem = check_problem(ensemble, 4)
    assert (whole.sampled_, some.sampled_) == (False, True)
    assert len(whole.linkage_) == problem.n_rows - 1
    assert len(some.linkage_) == 59
    assert adjusted_rand(whole.labels_, some.labels_) > 0.9
    similarity = Overlaps.of(problem).similarity()
    rows = some.labels_[problem.first]
    moved, _ = nearest_clusters(problem, similarity, rows, 4)
    assert_array_equal(moved, rows)  # nobody is more similar to another cluster
    leaves, weights = choose_leaves(problem, 60)
    assert len(np.unique(leaves)) == 60
    assert weights.sum() == pytest.approx(problem.weights.sum())
    assert problem.weights[leaves].sum() >= np.sort(problem.weights)[-30:].sum()
    assert "walk clustered a sample of the" in cs.combine(ensemble, 4, "walk", max_leaves=60).note


def test_rows_outside_every_cluster_join_but_no_cluster_is_emptied():
    labels = np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1]]).T
    problem = check_problem(labels, 2)
    similarity = Overlaps.of(problem).similarity()
    start = np.full(problem.n_rows, -1)
    by_object = problem.inverse
    start[by_object[0]], start[by_object[5]] = 0, 1
    found, scores = nearest_clusters(problem, similarity, start, 2)
    assert same_partition(found[by_object], [0, 0, 0, 1, 1, 1])
    assert scores.shape == (problem.n_rows, 2)
    lone = np.arange(problem.n_rows)  # every row a cluster: some would be left empty
    assert_array_equal(nearest_clusters(problem, similarity, lone, problem.n_rows)[0], lone)


def test_many_clusterings_are_narrowed_but_every_row_keeps_a_label():
    labels = random_labels(0, 60, 8, 5)
    labels[:20, :] = -1
    labels[:20, 7] = np.arange(20) % 4
    problem = check_problem(labels, 3)
    few = narrowed(problem, 10)
    assert few.n_clusterings < problem.n_clusterings
    assert (few.labels >= 0).any(axis=1).all()
    assert narrowed(problem, 10**6) is problem
    assert narrowed(problem, 1).n_clusterings >= 2


def test_clusterings_that_share_no_object():
    labels = np.full((8, 2), -1)
    labels[:4, 0], labels[4:, 1] = [0, 0, 1, 1], [0, 0, 1, 1]
    overlaps = Overlaps.of(check_problem(labels, 2))
    assert np.isfinite(overlaps.similarity(np.array([2.0, 0.0])).blocks[0]).all()
    assert same_partition(ClusterWalk(n_clusters=4).fit(labels).labels_, np.repeat([0, 1, 2, 3], 2))


def test_torn_clusters_of_no_weight_are_no_cause_for_warnings():
    labels, _ = noisy_copies(n=60, k=4, r=6, noise=0.8)
    found = ClusterWalk(n_clusters=4, theta=0.001).fit(labels)
    assert np.isfinite(found.membership_).all()
    assert found.n_clusters_ == 4
