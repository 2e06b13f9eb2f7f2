"""The walk, the vote, Dawid and Skene and SCCC, each against its definition; stable components and floaters."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import consilience as cs
from consilience import Ensemble, stability
from consilience.consensus import MCLA, ClusterWalk, DawidSkene, floaters, stable_components
from consilience.consensus.methods import sccc as module
from consilience.consensus.methods.sccc import SCCC
from consilience.consensus.methods.vote import MajorityVote, align
from consilience.consensus.rows.cluster_similarity import Groups, Overlaps, nearest_clusters
from consilience.consensus.rows.error_model import error_posterior
from consilience.consensus.rows.problem import check_problem, label_tables
from consilience.consensus.rows.row_tree import choose_leaves, narrowed
from consilience.datasets import noisy_labels
from consilience.measures import adjusted_rand, anmi, nmi
from oracle import row_distances
from oracle import walk as oracle
from oracle.label_models import one_iteration
from samples import random_labels, refuses, same_partition

ensembles = {
    "seed": st.integers(0, 10**6),
    "n": st.integers(5, 24),
    "r": st.integers(1, 6),
    "size": st.integers(2, 4),
    "holes": st.sampled_from([0.0, 0.3]),
}
quick = settings(max_examples=25)
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


@given(**ensembles | {"n": st.integers(2, 40), "size": st.integers(1, 8), "holes": st.sampled_from([0.0, 0.3, 0.8])})
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


def test_start_of_objects_that_differ_within_a_row():
    labels = np.array([[0, 0], [0, 0], [0, 0], [1, 1], [1, 1], [2, 2]])
    found = MajorityVote(3, init=[1, 1, 0, -1, -1, 2]).fit(labels)
    assert_array_equal(found.labels_, [0, 0, 0, 1, 1, 2])


def test_input_is_refused():
    labels = [[0, 0, 1, 1], [0, 1, 1, 1]]
    for init, words in [([0, 1], "2 labels for 4 objects"), ([0, 1, 2, 2], "3 clusters")]:
        refuses(words, MajorityVote(2, init=init).fit, labels)
    refuses("quadratic", MajorityVote(3, init="clusterings").fit, Ensemble(labels))


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


def test_better_than_its_start_and_as_sure_as_it_is_right():
    gains, sure, right = [], [], []
    for seed in range(4):
        ensemble, truth = noisy_labels(400, 10, 8, 0.7, random_state=seed)
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


def test_no_cluster_is_given_up():
    labels = random_labels(3, 30, 5, 6)
    start = MCLA(6, random_state=0).fit(labels)
    assert DawidSkene(6, prior=1e-3, random_state=0).fit(labels).n_clusters_ == start.n_clusters_


def by_the_paper(problem, gap):
    """Section 5.3, step by step: seeds and the seed of every row."""
    away = row_distances(problem.labels.T, problem.offsets, np.ones(problem.offsets[-1])) * problem.n_clusterings
    seeds = []
    for i in sorted(range(problem.n_rows), key=lambda i: -problem.weights[i]):
        if len(seeds) < problem.n_clusters and (away[i, seeds] >= gap - 1e-9).all():
            seeds.append(i)
    if len(seeds) < problem.n_clusters:
        return None
    labels = away[:, seeds].round(9).argmin(axis=1)
    labels[seeds] = range(len(seeds))
    return seeds, labels


@given(**ensembles | {"n": st.integers(2, 60)}, k=st.integers(2, 5))
def test_equal_to_the_paper(seed, n, r, size, k, holes):
    labels = random_labels(seed, n, r, size, holes, labeled=True)
    k = min(k, len(np.unique(labels, axis=0)))
    if k < 2:
        return
    problem = check_problem(labels, k)
    r = problem.n_clusterings
    expected = {g: found for g in range(r + 1) if (found := by_the_paper(problem, g)) is not None}
    for gap in range(r + 1):
        if gap in expected:
            answer = SCCC(gap=gap)._combine(problem)
            assert_array_equal(answer.extras["seeds"], problem.as_given(problem.labels[expected[gap][0]]))
            assert_array_equal(answer.labels, expected[gap][1])
        else:
            refuses("smaller gap", SCCC(gap=gap)._combine, problem)
    everything = SCCC()._combine(problem)
    low = 0 if (problem.labels < 0).any() else 1
    assert_array_equal(everything.extras["gaps"], [g for g in expected if g >= low])


def test_seeds_found_far_down_the_list(monkeypatch):
    ensemble, _ = noisy_labels(500, 5, 6, 0.5, random_state=0)
    usual = SCCC(5).fit(ensemble)
    for most in (module.DISTANCES, 3):
        monkeypatch.setattr(module, "FIRST", 2)
        monkeypatch.setattr(module, "DISTANCES", most)
        assert_array_equal(SCCC(5).fit(ensemble).labels_by_gap_.labels, usual.labels_by_gap_.labels)


def test_labels_are_those_with_the_highest_anmi():
    ensemble, _ = noisy_labels(noise=0.3, random_state=2)
    found = SCCC(10).fit(ensemble)
    values = [anmi(ensemble, column) for column in found.labels_by_gap_.labels.T]
    assert len(set(np.round(values, 6))) > 1
    assert found.gap_ == found.gaps_[np.argmax(values)]
    assert nmi(found.labels_by_gap_.labels[:, np.argmax(values)], found.labels_) == pytest.approx(1)
    assert_allclose(found.stability_.mean, stability(found.labels_by_gap_).mean)
    assert found.labels_by_gap_.info["gap"].tolist() == found.gaps_.tolist()
    assert found.seeds_.shape == (10, 8)


def test_stable_components():
    labels = [["a", "a", "b", "a", "b", None], [0, 0, 1, 1, 1, 0]]
    table = stable_components(Ensemble(labels, ids=list("uvwxyz")))
    assert table["size"].tolist() == [2, 2, 1, 1]
    assert table["objects"].tolist() == [["u", "v"], ["w", "y"], ["x"], ["z"]]
    assert table["labels"].tolist() == [(0, 0), (1, 1), (0, 1), (-1, 0)]
    assert table["share"].sum() == pytest.approx(1)
    assert len(stable_components(labels, top=1)) == 1
    assert stable_components(np.zeros((9, 1), int))["objects"].tolist() == [[0, 1, 2, 3, 4]]
    refuses("top", stable_components, labels, top=0)


def test_floaters_are_those_whose_clusterings_do_not_agree():
    ensemble, truth = noisy_labels(300, 3, 9, 0.1, random_state=0)
    labels = np.array(ensemble.labels)
    wander = [7, 8, 9]
    labels[wander] = [[0, 0, 0, 0, 1, 1, 1, 2, 2]] * 3
    labels[10] = -1
    consensus = truth.copy()
    consensus[wander] = 0
    consensus[11] = -1
    table = floaters(labels, consensus)
    assert set(wander) <= set(table["id"])
    assert not {10, 11} & set(table["id"])
    first = table[table["id"] == 7].iloc[0]
    assert (first["cluster"], first["second"], first["labeled"]) == (0, 1, 9)
    assert (first["support"], first["second_support"]) == pytest.approx((4 / 9, 3 / 9))
    assert (np.diff(table["support"]) >= 0).all()
    assert len(floaters(labels, consensus, threshold=1.0)) == 298
    assert set(floaters(labels, consensus, threshold=0.4)["id"]).isdisjoint(wander)


def test_floaters_tell_apart_objects_of_one_row():
    labels = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    table = floaters(Ensemble(labels, ids=list("abcd")), [0, 0, 1, 0])
    assert table["id"].tolist() == ["c"]  # of two objects with labels 1, 1 the larger cluster's keeps them
    refuses("3 labels for 4 objects", floaters, labels, [0, 0, 1])
    refuses("no object", floaters, labels, [-1, -1, -1, -1])
