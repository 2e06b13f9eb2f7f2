"""Organizing: distances, groups, branches and their consensus; the tree: its cuts, its layout, and the compactness curve against Eq. 3
itself; maps in the plane; scores of every clustering, and the null of the best of g groups."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, leaves_list
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans
from sklearn.metrics import davies_bouldin_score, silhouette_score

import consilience as cs
from consilience._kernels import encode_codes
from consilience.datasets import load_beads
from consilience.measures import accuracy, adjusted_rand, compactness, jaccard
from consilience.measures.pairwise import sample_objects
from consilience.meta import group_consensus, maps, organize, score
from consilience.meta import tree as trees
from consilience.meta.group_consensus import GroupLabels, group_confidence
from consilience.meta.maps import make_map
from consilience.meta.tree import LINKAGES
from samples import refusals, refuses, same_partition, three_kinds

ENS, KINDS, TRUTHS = three_kinds()
HOLED = three_kinds(missing=0.1)[0]


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
    assert coarse.cut(height=9.0).n_groups == 1
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
    monkeypatch.setattr(trees, "pairwise", None)
    monkeypatch.setattr(trees, "sketch_differences", None)


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
        call=lambda options: organize(ENS, **options),
    )
)

APART = np.array([[0, -1, 0], [1, -1, 0], [-1, 0, 1], [-1, 1, 1]])

test_other_bad_input_is_refused = refusals(
    (lambda: organize(APART), "'0' and '1' share no labeled object"),
    (lambda: organize(APART, measure="rand", sketch=50), "random pairs of objects is labeled in both"),
    (lambda: organize({"a": [0, 1, 1], "b": [None] * 3, "c": [0, 0, 1]}), "'b' has no label at all"),
    (lambda: organize([[0], [0]], measure="rand", sketch=5), "only one object"),
    (lambda: organize([[0, 1, 1]]), "only one clustering"),
    (lambda: organize(ENS, 3).branch(37), "no node 37"),
)


@pytest.mark.parametrize("which", [0, 4, -1, [], [1.5], "all", True, [19]])
def test_members_of_no_group_are_refused(which):
    refuses(r"choose a group|numbered 0 to 18|numbered 1 to 3", organize(ENS, 3).members, which)


@pytest.mark.parametrize(
    ("missing", "measure", "sizes"),
    [
        (0.0, "cluster_difference", (1000, 8000)),
        (0.2, "cluster_difference", (1000, 8000)),
        (0.2, "shared_information", (600, 1500)),
    ],
)
def test_a_sketch_is_as_good_as_it_says(missing, measure, sizes):
    ens, kinds, _ = three_kinds(n_objects=3000, sizes=(40, 30, 20), noise=0.3, missing=missing)
    exact = organize(ens, 3, "average", measure=measure, sketch=None).distances
    for n_pairs in sizes:
        meta = organize(ens, 3, "average", measure=measure, sketch=n_pairs)
        assert meta.n_pairs == n_pairs
        rmse = np.sqrt(np.mean((meta.distances - exact) ** 2))
        # All estimates share their pairs of objects, so the error of one sketch is one draw: within a quarter of the stated one.
        assert 0.75 < rmse / meta.standard_error < 1.25
        assert same_partition(meta.groups, kinds)
        again, other = (
            organize(ens, 3, measure=measure, sketch=n_pairs, random_state=seed).distances for seed in (0, 1)
        )
        assert_array_equal(again, meta.distances)
        assert (other != again).any()


def test_every_pair_of_two_objects_is_the_same_pair():
    found, error = trees.sketch_differences(cs.Ensemble([[0, 0], [0, 1]]), 10, seed=0)
    assert found.tolist() == [1.0]
    assert error == 0


def test_auto_sketches_where_exact_distances_take_long(monkeypatch):
    for large, costly, options, wanted in (
        (trees.LARGE, trees.COSTLY, {}, None),
        (100, 10_000, {"measure": "nmi"}, 60),
        (100, 10_000, {}, trees.PAIRS),
        (100, 10_000, {"sketch": None}, None),
        (100, 120 * 19 * 18 // 2, {}, None),
    ):
        monkeypatch.setattr(trees, "LARGE", large)
        monkeypatch.setattr(trees, "COSTLY", costly)
        monkeypatch.setattr(trees, "OBJECTS", 60)
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
    for seed in range(2, 4):
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


# --- the tree and the maps ---


def some_distances(m, seed=0, ties=False):
    """Not Euclidean, not even a metric: the identities must hold all the same."""
    drawn = np.random.default_rng(seed).random(m * (m - 1) // 2)
    return np.round(drawn, 1) if ties else drawn


def grown(distances, linkage="average"):
    """The tree and its curve."""
    tree = trees.grow(distances, linkage)
    return tree, trees.compactness_curve(tree, distances, linkage)


@pytest.mark.parametrize("linkage", trees.LINKAGES)
@pytest.mark.parametrize("ties", [False, True])
def test_curve_is_eq_3_of_every_cut(linkage, ties):
    distances = some_distances(25, 3, ties)
    (tree, curve), matrix = grown(distances, linkage), squareform(distances)
    expected = [compactness(matrix, trees.cut(tree, g)[1], metric="precomputed") for g in curve["n_groups"]]
    np.testing.assert_allclose(curve["compactness"], expected, atol=1e-12)
    assert curve["jump"].isna().tolist() == [True] + [False] * 24
    np.testing.assert_allclose(curve["jump"][1:], -np.diff(expected), atol=1e-12)


@given(m=st.integers(2, 20), seed=st.integers(0, 99), linkage=st.sampled_from(trees.LINKAGES), ties=st.booleans())
def test_cuts_are_nested_and_numbered_by_size(m, seed, linkage, ties):
    distances = some_distances(m, seed, ties)
    tree = trees.grow(distances, linkage)
    order, first, sizes = trees.layout(tree)
    np.testing.assert_array_equal(order, leaves_list(tree))
    for g in range(1, m + 1):
        nodes, groups = trees.cut(tree, g)
        counts = np.bincount(groups, minlength=g + 1)[1:]
        assert len(nodes) == g == len(counts)
        assert (np.diff(counts) <= 0).all()
        assert counts.min() > 0
        np.testing.assert_array_equal(sizes[nodes], counts)
        for group, node in enumerate(nodes, 1):
            leaves = np.sort(order[first[node] : first[node] + sizes[node]])
            np.testing.assert_array_equal(leaves, np.flatnonzero(groups == group))
        if not ties:
            assert same_partition(groups, fcluster(tree, g, "maxclust"))
        if g > 1:
            coarser = trees.cut(tree, g - 1)[1]
            assert len(np.unique(np.column_stack([groups, coarser]), axis=0)) == g  # a group has one group above it


def test_equal_sizes_are_numbered_by_first_clustering():
    distances = squareform(np.array([[0, 9, 1, 9], [9, 0, 9, 0.5], [1, 9, 0, 9], [9, 0.5, 9, 0]]))
    assert trees.cut(trees.grow(distances, "average"), 2)[1].tolist() == [1, 2, 1, 2]


def test_a_height_makes_the_groups_that_are_complete_there():
    tree, curve = grown(some_distances(15))
    for height in (0.0, float(tree[4, 2]), 9.0):
        n, _ = trees.number_of_groups(tree, curve, None, height)
        assert same_partition(trees.cut(tree, n)[1], fcluster(tree, height, "distance"))


@pytest.mark.parametrize("linkage", trees.LINKAGES)
@pytest.mark.parametrize("differing", [1, 2, 5])
def test_auto_does_not_part_equal_items(linkage, differing):
    kind = np.arange(20) % differing
    matrix = squareform(some_distances(5) + 0.5)[np.ix_(kind, kind)]
    distances = squareform(np.where(kind[:, None] == kind, 0, matrix))
    tree, curve = grown(distances, linkage)
    most = trees.candidate_jumps(curve)["n_groups"].max()
    assert np.isnan(most) if differing == 1 else most == differing
    n, note = trees.number_of_groups(tree, curve)
    assert n <= differing
    assert ("equal ones" in note) == (differing == 1)
    groups = trees.cut(tree, n)[1]
    assert all(len(set(groups[kind == one])) == 1 for one in range(differing))


def test_auto_takes_the_sharpest_jump_within_thirty():
    tree, curve = grown(some_distances(60))
    jumps = trees.candidate_jumps(curve)
    assert set(jumps["n_groups"]) == set(range(2, 31))
    assert (np.diff(jumps["bend"]) <= 0).all()
    best = max(range(2, 31), key=lambda g: curve["jump"][g - 1] - curve["jump"][g])
    n, note = trees.number_of_groups(tree, curve, "auto", None)
    assert n == jumps["n_groups"][0] == best
    assert "not a truth" in note


def test_looking_up_condensed_distances():
    distances, some, others = some_distances(11), np.array([7, 1, 4]), np.array([0, 4, 10])
    matrix = trees.square(distances)
    np.testing.assert_array_equal(matrix, squareform(distances).astype(np.float32))
    np.testing.assert_allclose(
        trees.totals(distances, some, others), matrix[np.ix_(some, others)].sum(axis=1), rtol=1e-6
    )
    assert trees.medoid_of(distances, some, others) == others[matrix[np.ix_(others, some)].sum(axis=1).argmin()]


SPACE = pdist(np.random.default_rng(0).normal(size=(150, 12)))


def test_points_of_the_plane_are_found_again():
    points = np.random.default_rng(0).normal(size=(60, 2))
    found = make_map(pdist(points))
    assert found.stress < 1e-3
    np.testing.assert_allclose(pdist(found.xy), pdist(points), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("block", [2**18, 300])  # rows at a time: all, and seven
def test_distortion_is_what_it_is_defined_as(monkeypatch, block):
    monkeypatch.setattr(maps, "BLOCK", block)
    distances = pdist(np.random.default_rng(0).normal(size=(40, 12)))
    found = make_map(distances)
    d = pdist(found.xy)
    fit = (d @ distances) ** 2 / ((d @ d) * (distances @ distances))
    assert found.stress == pytest.approx(np.sqrt(1 - fit), abs=1e-4)
    pairs = zip(squareform(distances), squareform(d), strict=True)  # of every row the nearest is itself
    kept = [len(set(np.argsort(given)[1:11]) & set(np.argsort(drawn)[1:11])) for given, drawn in pairs]
    assert found.neighbors_kept == pytest.approx(np.mean(kept) / 10, abs=1e-6)
    assert found.n_neighbors == 10


def test_every_step_lowers_the_stress():
    errors = [np.square(pdist(make_map(SPACE, max_iter=n).xy) - SPACE).sum() for n in (1, 2, 5, 20, 100)]
    assert (np.diff(errors) < 0).all()


def test_a_neighbor_map_keeps_more_neighbors():
    near, far = make_map(SPACE, "neighbors"), make_map(SPACE)
    assert near.neighbors_kept > far.neighbors_kept
    assert near.stress > far.stress


@pytest.mark.parametrize("kind", ["mds", "neighbors"])
def test_the_same_seed_gives_the_same_map(kind):
    meta = organize(three_kinds(noise=0.4)[0], 3)
    one, again = meta.map(kind), meta.map(kind, random_state=0)
    assert one.xy.shape == (19, 2)
    np.testing.assert_array_equal(one.xy, again.xy)


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("kind", ["mds", "neighbors"])
def test_few_and_equal_clusterings(kind, m):
    found = make_map(np.ones(m * (m - 1) // 2), kind)
    assert found.xy.shape == (m, 2)
    assert np.isfinite(found.xy).all()
    if kind == "mds" and m < 4:
        np.testing.assert_allclose(pdist(found.xy), 1, atol=1e-3)
    equal = make_map(np.zeros(10))
    assert (equal.xy == 0).all()
    assert equal.stress == 0


test_bad_options_are_refused = refusals(
    ({"kind": "umap"}, "unknown kind of map 'umap'"),
    ({"kind": "neighbors", "max_iter": 10}, "at least 250"),
    call=lambda options: make_map(np.ones(3), **options),
)


@pytest.mark.slow
def test_a_neighbor_map_in_stages_is_as_good(monkeypatch):
    distances = pdist(np.random.default_rng(5).random((200, 6)))
    whole, steps = make_map(distances, "neighbors"), []
    monkeypatch.setattr(maps, "ALONE", 100)
    staged = make_map(distances, "neighbors", step=lambda: steps.append(1))
    assert len(steps) == maps.STAGES
    assert staged.neighbors_kept > 0.95 * whole.neighbors_kept
    np.testing.assert_array_equal(staged.xy, make_map(distances, "neighbors").xy)


# --- scores of every clustering, against the functions they come from, and the null of the best of g groups ---


X = np.random.default_rng(5).normal(size=(120, 3)) + TRUTHS[0][:, None]


def test_scores_are_those_of_the_functions():
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    known = {"a": TRUTHS[0], "b": np.where(TRUTHS[1] == 0, -1, TRUTHS[1])}
    found = score(HOLED, scaled, known=known, measures=["compactness", "accuracy", "silhouette", "davies_bouldin"])
    named = ["compactness", "accuracy:a", "accuracy:b", "silhouette", "davies_bouldin"]
    assert list(found.columns) == ["name", "clusters", *named]
    np.testing.assert_allclose(found["compactness"], compactness(scaled, HOLED))
    for column, row in zip(HOLED.labels.T, found[named[1:]].to_numpy(), strict=True):
        there = (scaled[column >= 0], column[column >= 0])
        own = (accuracy(known["a"], column), accuracy(known["b"], column))
        assert row.tolist() == pytest.approx([*own, silhouette_score(*there), davies_bouldin_score(*there)])


def test_by_default_what_there_is_data_for():
    assert list(score(HOLED, X).columns)[2:] == ["compactness"]
    assert list(score(HOLED, known=TRUTHS[0]).columns)[2:] == ["accuracy:known"]
    assert list(score(HOLED, X, known=pd.DataFrame({"t": TRUTHS[0]})).columns)[2:] == ["compactness", "accuracy:t"]


def test_distances_and_sparse_data():
    both = ["compactness", "silhouette"]
    plain = score(HOLED, X, measures=both, standardize=False)
    given = score(HOLED, squareform(pdist(X)), measures=both, metric="precomputed")
    pd.testing.assert_frame_equal(plain, given)
    spread = score(HOLED, sparse.csr_matrix(X), measures=[*both, "davies_bouldin"], standardize=False)
    pd.testing.assert_frame_equal(plain, spread[plain.columns])


def test_a_sample_of_the_objects():
    some, again, whole = (score(HOLED, X, measures="silhouette", n_sample=n)["silhouette"] for n in (60, 60, 120))
    pd.testing.assert_series_equal(some, again)
    assert 0 < np.abs(some - whole).mean() < 0.1


def test_stability_is_the_mean_agreement_with_variations():
    ens = cs.Ensemble(HOLED.labels, info={"shift": np.arange(19)})
    calls = []

    def variations(row, n, *, jitter, random_state):
        calls.append((int(row["shift"]), n, jitter, random_state))
        rng = np.random.default_rng([random_state, int(row["shift"])])
        made = np.repeat(ens.labels[:, [int(row["shift"])]], n, axis=1)
        return cs.Ensemble(np.where(rng.random(made.shape) < jitter, 0, made))

    how = {"measures": ["variation_stability"], "variations": variations}
    found = score(ens, X, n_variations=3, jitter=0.2, **how)["variation_stability"]
    assert calls == [(j, 3, 0.2, 0) for j in range(19)]
    made = variations(ens.info.iloc[4], 3, jitter=0.2, random_state=0)
    assert found[4] == pytest.approx(np.mean([jaccard(ens.labels[:, 4], column) for column in made.labels.T]))
    np.testing.assert_array_equal(score(ens, X, jitter=1e-9, **how)["variation_stability"], 1)


def test_stability_of_generated_clusterings():
    beads = load_beads()
    ens = cs.generate(beads, 12, n_clusters=4)
    name = "variation_stability"
    near, far = (score(ens, beads, measures=[name], jitter=jitter)[name] for jitter in (0.01, 1.0))
    assert near.between(0.6, 1).all()
    assert near.mean() > far.mean() + 0.1
    refuses("info", score, ens.labels, beads, measures=["variation_stability"])


test_bad_input_is_refused = refusals(
    ({}, "nothing to score by"),
    ({"measures": ["compactness"]}, "compactness needs X"),
    ({"X": X, "measures": ["accuracy"]}, "accuracy needs known"),
    ({"X": X, "measures": ["beauty"]}, "unknown measure 'beauty'"),
    ({"X": X, "metric": "precomputed", "measures": ["davies_bouldin"]}, "needs the data itself"),
    ({"X": X, "measures": ["silhouette"], "n_sample": 1}, "n_sample"),
    ({"X": np.zeros((3, 2)), "measures": ["silhouette"]}, "3 rows for 120 objects"),
    ({"X": np.full((120, 2), np.inf), "measures": ["silhouette"]}, "missing or infinite value"),
    ({"known": [1, 2]}, "2 for 120 objects"),
    call=lambda options: score(HOLED, **options),
)

test_bad_scores_of_the_null_are_refused = refusals(
    ({"scores": {"a": [1, 2, 3]}}, "'a' are 3 for 120 objects"),
    ({"scores": {}}, "no score"),
    ({"scores": None}, "no score"),
    ({"scores": TRUTHS[0], "n_shuffles": 0}, "n_shuffles"),
    call=lambda options: organize(HOLED, 3).null(**options),
)


@pytest.mark.slow
def test_large_data_is_scored_on_the_one_sample():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(5200, 2)), rng.integers(0, 3, (5200, 2))
    objects = sample_objects(5200)
    assert len(objects) == 2000
    found = score(labels, X, standardize=False)["compactness"]
    np.testing.assert_allclose(found, compactness(X[objects], cs.Ensemble(labels[objects])))
    distances = squareform(pdist(X))
    np.testing.assert_allclose(score(labels, distances, metric="precomputed")["compactness"], found)
    ens = cs.generate(X, 2, n_clusters=3, progress=False)
    np.testing.assert_allclose(score(ens, X)["compactness"], ens.info["compactness"], rtol=1e-9)


@pytest.fixture(scope="module")
def meta():
    return organize(three_kinds(noise=0.3)[0], 3)


def test_groups_of_a_kind_beat_shuffled_ones(meta):
    scores = dict(zip(("one", "two", "three"), TRUTHS, strict=True))
    found = meta.null(scores, n_shuffles=19, method="evidence", random_state=1)
    assert found.table.index.tolist() == ["one", "two", "three"]
    assert (found.table["best"] > found.table["null_mean"] + 2 * found.table["null_sd"]).sum() >= 2
    assert found.table["p_value"].min() == 1 / 20
    for kind, group in enumerate(found.table["group"]):
        assert KINDS[meta.medoid(group)] == kind


def test_the_table_follows_from_groups_and_shuffles(meta):
    found = meta.null({"a": TRUTHS[0]}, n_shuffles=6)
    assert found.groups["size"].tolist() == meta.sizes.tolist()
    assert found.groups["a"].tolist() == [accuracy(TRUTHS[0], meta.consensus(g).labels) for g in meta.numbers]
    best, shuffled = found.groups["a"].max(), found.shuffled["a"]
    wanted = [best, shuffled.mean(), shuffled.std(), (1 + (shuffled >= best).sum()) / 7]
    assert found.table.loc["a"].drop("group").tolist() == pytest.approx(wanted)


def test_clusterings_of_one_kind_are_no_better_than_shuffled():
    ens, _, truths = three_kinds(sizes=(30, 0, 0), noise=0.4, seed=2)
    found = organize(ens, 5).null(truths[0], n_shuffles=19, random_state=1)
    assert found.table["p_value"].iloc[0] > 0.05


def test_shuffles_have_the_same_sizes_and_all_clusterings(meta, monkeypatch):
    columns, seen = [tuple(column) for column in meta.ensemble.labels.T], []
    assert len(set(columns)) == 19

    def spy(ensemble, n_clusters):
        seen.append(np.array([columns.index(tuple(column)) for column in ensemble.labels.T]))
        return ensemble.labels[:, 0]

    monkeypatch.setattr("consilience.meta.scores.quick_labels", spy)
    meta.null(lambda labels: 0.0, n_shuffles=2)
    for begin in (0, 3, 6):
        assert [len(members) for members in seen[begin : begin + 3]] == [9, 6, 4]
        assert sorted(np.concatenate(seen[begin : begin + 3])) == list(range(19))
    assert any((a[:4] != b[:4]).any() for a, b in zip(seen[3:6], seen[6:9], strict=True))


def test_scores_come_in_many_forms(meta):
    spread = lambda labels: float(len(np.unique(labels)))  # noqa: E731
    by_name = meta.null({"known": TRUTHS[0], "spread": spread}, n_shuffles=2)
    assert set(by_name.table.index) == {"known", "spread"}
    assert meta.null(TRUTHS[0].tolist(), n_shuffles=2).table.index.tolist() == ["known"]
    alone = meta.null(spread, n_shuffles=1).table.iloc[0]
    assert alone["best"] == 4
    assert np.isnan(alone["null_sd"])


def test_the_same_seed_gives_the_same_null(meta):
    one, again, more = (meta.null(TRUTHS[0], n_shuffles=n, random_state=5).shuffled for n in (3, 3, 5))
    pd.testing.assert_frame_equal(one, again)
    pd.testing.assert_frame_equal(one, more.head(3))  # every shuffle has its own stream
    assert not one.equals(meta.null(TRUTHS[0], n_shuffles=3, random_state=6).shuffled)
