"""Organizing: distances, groups, branches and their consensus."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans

import consilience as cs
from consilience._kernels import encode_codes
from consilience.measures import accuracy, adjusted_rand
from consilience.meta import group_consensus, organize
from consilience.meta import tree as distances
from consilience.meta.group_consensus import GroupLabels, group_confidence
from consilience.meta.tree import LINKAGES
from samples import refusals, refuses, same_partition, three_kinds

ENS, KINDS, _ = three_kinds()


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("measure", ["cluster_difference", "rand", "nmi", "adjusted_rand", "variation_of_information"])
def test_kinds_of_clusterings_are_found(linkage, measure):
    meta = organize(ENS, 3, linkage, measure=measure)
    assert same_partition(meta.groups, KINDS)
    assert meta.cut("auto").n_groups == 3
    if measure == "nmi":  # similarities become distances
        assert_allclose(squareform(meta.distances), 1 - cs.pairwise(ENS, "nmi"), atol=1e-12)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_names_and_order_do_not_matter(linkage):
    ens, _, _ = three_kinds(noise=0.4)
    meta = organize(ens, 5, linkage)
    rng = np.random.default_rng(1)
    renamed = np.column_stack([rng.permutation(4)[column] for column in ens.labels.T])
    assert organize(cs.Ensemble(renamed), 5, linkage).groups.tolist() == meta.groups.tolist()
    assert organize(ens[rng.permutation(120)], 5, linkage).groups.tolist() == meta.groups.tolist()
    assert_array_equal(organize(ens, 5, linkage, n_jobs=2, random_state=9).tree, meta.tree)
    order = rng.permutation(19)
    assert same_partition(organize(ens[:, order], 5, linkage).groups, meta.groups[order])


def test_cutting_again_shares_the_tree():
    meta = organize(ENS, 19)
    coarse = meta.cut(3)
    assert coarse.tree is meta.tree
    assert same_partition(coarse.groups, KINDS)
    assert meta.n_groups == 19
    assert coarse.cut(height=2.0).n_groups == 1
    assert organize(ENS, height=float(coarse.heights.max())).n_groups == 3
    assert (meta.heights == 0).all()
    assert_allclose(meta.cut(1).heights, meta.tree[-1, 2])


def test_branches_and_medoids():
    ens, _, _ = three_kinds(noise=0.3)
    meta = organize(ens, 3)
    matrix = squareform(meta.distances)
    for group, node in zip(meta.numbers, meta.nodes, strict=True):
        members = meta.branch(node)
        assert_array_equal(members, meta.members(group))
        best = members[matrix[np.ix_(members, members)].mean(axis=1).argmin()]
        assert meta.medoids[group - 1] == meta.medoid(group) == meta.medoid(members) == best
    assert meta.branch(7).tolist() == [7]
    assert meta.branch(36).tolist() == list(range(19))
    assert_array_equal(meta.members(meta.groups == 1), meta.members(1))


def test_consensus_of_a_group_says_what_its_kind_says():
    ens, kinds, truths = three_kinds(noise=0.12)
    meta = organize(ens, 3)
    for group in meta.numbers:
        found = meta.consensus(group, method="evidence")
        assert adjusted_rand(truths[kinds[meta.medoid(group)]], found.labels) > 0.9
        assert found.method == "evidence"
    assert_array_equal(meta.consensus(meta.branch(meta.nodes[1])).labels, meta.consensus(2).labels)
    assert adjusted_rand(ens.labels[:, 4], meta.consensus([4]).labels) == 1
    assert meta.consensus(n_clusters=7, method="quadratic").n_clusters == 7


@pytest.fixture
def no_work(monkeypatch):
    """Distances cannot be computed: options are refused before any work."""
    monkeypatch.setattr(distances, "pairwise", None)
    monkeypatch.setattr(distances, "sketch_differences", None)


test_bad_options_are_refused_before_any_work = pytest.mark.usefixtures("no_work")(
    refusals(
        ({"linkage": "median"}, "unknown linkage 'median'"),
        ({"measure": "accuracy"}, "unknown symmetric measure 'accuracy'"),
        ({"n_groups": 20}, "20 groups cannot be made of 19 clusterings"),
        ({"n_groups": 2, "height": 0.1}, "one of n_groups and height"),
        ({"n_groups": None}, "one of n_groups and height"),
        ({"n_groups": 0}, "at least 1"),
        ({"n_groups": "many"}, "a whole number or 'auto'; got 'many'"),
        ({"height": float("nan")}, "height must be"),
        ({"sketch": 2**24 + 1}, "at most 16,777,216 pairs"),
        ({"sketch": 100, "measure": "nmi"}, "a sketch estimates cluster_difference or rand, not nmi"),
        call=lambda options: organize(ENS, **options),
    )
)

APART = np.array([[0, -1, 0], [1, -1, 0], [-1, 0, 1], [-1, 1, 1]])

test_other_bad_input_is_refused = refusals(
    (lambda: organize(APART), "'0' and '1' share no labeled object"),
    (lambda: organize(APART, sketch=50), "random pairs of objects is labeled in both"),
    (lambda: organize({"a": [0, 1, 1], "b": [None] * 3, "c": [0, 0, 1]}), "'b' has no label at all"),
    (lambda: organize([[0], [0]], sketch=5), "only one object"),
    (lambda: organize([[0, 1, 1]]), "only one clustering"),
    (lambda: organize(ENS, 3).branch(37), "no node 37"),
)


@pytest.mark.parametrize("which", [0, 4, -1, [], [1.5], "all", True, [19]])
def test_members_of_no_group_are_refused(which):
    refuses(r"choose a group|numbered 0 to 18|numbered 1 to 3", organize(ENS, 3).members, which)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_sketch_is_as_good_as_it_says(missing):
    ens, kinds, _ = three_kinds(n_objects=3000, sizes=(40, 30, 20), noise=0.3, missing=missing)
    exact = squareform(cs.pairwise(ens), checks=False)
    for n_pairs in (1000, 8000):
        meta = organize(ens, 3, "average", sketch=n_pairs)
        assert meta.n_pairs == n_pairs
        rmse = np.sqrt(np.mean((meta.distances - exact) ** 2))
        # All estimates share their pairs of objects, so the error of one sketch is one draw: within a quarter of the stated one.
        assert 0.75 < rmse / meta.standard_error < 1.25
        assert same_partition(meta.groups, kinds)
        again, other = (organize(ens, 3, sketch=n_pairs, random_state=seed).distances for seed in (0, 1))
        assert_array_equal(again, meta.distances)
        assert (other != again).any()


def test_every_pair_of_two_objects_is_the_same_pair():
    found, error = distances.sketch_differences(cs.Ensemble([[0, 0], [0, 1]]), 10, seed=0)
    assert found.tolist() == [1.0]
    assert error == 0


def test_auto_sketches_where_exact_distances_take_long(monkeypatch):
    for large, costly, options, wanted in (
        (distances.LARGE, distances.COSTLY, {}, None),
        (100, 10_000, {}, distances.PAIRS),
        (100, 10_000, {"measure": "nmi"}, None),
        (100, 10_000, {"sketch": None}, None),
        (100, 120 * 19 * 18 // 2, {}, None),
    ):
        monkeypatch.setattr(distances, "LARGE", large)
        monkeypatch.setattr(distances, "COSTLY", costly)
        assert organize(ENS, **options).n_pairs == wanted


def test_real_clusterings(data_folder):
    data = np.load(data_folder / "vowel.npz")
    X = (data["X"] - data["X"].mean(axis=0)) / data["X"].std(axis=0)
    weights = 100 ** np.random.default_rng(0).random((120, 10)) ** 2
    runs = [KMeans(15, init="random", n_init=1, random_state=i).fit_predict(X * w) for i, w in enumerate(weights)]
    ens = cs.Ensemble(np.array(runs).T)
    meta = organize(ens, 16, "ward")
    best = max(accuracy(data["y"], meta.consensus(group, method="evidence").labels) for group in meta.numbers)
    assert best > accuracy(data["y"], meta.consensus(method="evidence").labels)


@pytest.mark.slow
def test_groups_of_clusterings_of_the_vowels_know_speakers_and_vowels(data_folder):
    data, found = np.load(data_folder / "vowel.npz"), []
    for seed in range(2, 7):
        meta = organize(cs.generate(data["X"].astype(float), 5000, random_state=seed, progress=False), 16, "ward")
        said = [meta.consensus(group, method="evidence").labels for group in meta.numbers]
        found.append([max(accuracy(data[known], labels) for labels in said) for known in ("y2", "y")])
    speaker, vowel = np.mean(found, axis=0)
    assert speaker >= 0.335
    assert vowel >= 0.44


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(6, 60), holes=st.sampled_from([0.0, 0.3]))
def test_what_the_explorer_shows_of_a_branch_is_its_consensus(seed, n, holes):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, (n, 9))
    labels[:, rng.integers(0, 2, 9) == 0] %= 2
    labels[rng.random(labels.shape) < holes] = -1
    labels[:2] = np.arange(2)[:, None]  # every two clusterings share objects
    meta = cs.organize(labels, 3)
    members = meta.branch(2 * 9 - 2 - seed % 3)
    some, slow = meta.ensemble[:, members], meta.consensus(members)
    group = GroupLabels.of(some)
    [shown] = group.answers([None])
    assert_array_equal(shown, slow.labels)
    assert_allclose(group.support(shown), slow.support)
    assert_allclose(group_confidence(some, shown), slow.confidence, atol=1e-9)


@pytest.mark.parametrize("missing", [0, 0.3, 0.9])
def test_where_labels_are_many_a_sample_is_combined_and_the_rest_placed(monkeypatch, missing):
    monkeypatch.setattr(group_consensus, "BLOCK", 1000)
    ens, known = cs.datasets.noisy_labels(25_000, 5, 21, 0.3, random_state=0)
    labels = ens.labels.copy()
    labels[np.random.default_rng(0).random(labels.shape) < missing] = -1
    steps = []
    plain, coded = (
        GroupLabels(lambda some, table=table: table[:, some], 25_000, ens.n_clusters, step=lambda: steps.append(1))
        for table in (np.ascontiguousarray(labels.T), encode_codes(labels))
    )
    assert plain.is_sampled
    assert "2,000 of 25,000 objects were combined" in plain.note
    one, finer = coded.answers([None, 7])
    assert_array_equal(one, plain.answers([None])[0])
    assert_array_equal(finer, coded.answers([7])[0])
    assert (one.max(), finer.max()) == (4, 6)
    assert_array_equal(one < 0, (labels < 0).all(axis=1))
    there = one >= 0
    assert adjusted_rand(one[there], known[there]) > {0: 0.95, 0.3: 0.85, 0.9: 0.2}[missing]
    assert_array_equal(plain.support(one), coded.support(one))
    assert len(steps) > 50
    refuses("2,000 objects that are combined have only", plain.answers, [5000])
